// As embedded_files.c.
#include "embedded_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../../clients/demo/index.html"
};
static const unsigned char index_css[] = {
#embed "../../clients/demo/index.css"
};
static const unsigned char index_js[] = {
#embed "../../clients/demo/index.js"
};
static const unsigned char person_html[] = {
#embed "../../clients/demo/person.html"
};
static const unsigned char person_css[] = {
#embed "../../clients/demo/person.css"
};
static const unsigned char person_js[] = {
#embed "../../clients/demo/person.js"
};
static const unsigned char network_js[] = {
#embed "../../clients/demo/network.js"
};
static const unsigned char people_js[] = {
#embed "../../clients/demo/people.js"
};
static const unsigned char report_js[] = {
#embed "../../clients/demo/report.js"
};
static const unsigned char trial_js[] = {
#embed "../../clients/demo/trial.js"
};
static const unsigned char colours_css[] = {
#embed "../../clients/demo/colours.css"
};
static const unsigned char push_js[] = {
#embed "../../clients/demo/push.js"
};
static const unsigned char icon_svg[] = {
#embed "../../clients/demo/icon.svg"
};

#define FILE_OF(name, bytes) { name, bytes, sizeof bytes }

static const struct embedded_file demo[] = {
    FILE_OF("index.html", index_html),
    FILE_OF("index.css", index_css),
    FILE_OF("index.js", index_js),
    FILE_OF("person.html", person_html),
    FILE_OF("person.css", person_css),
    FILE_OF("person.js", person_js),
    FILE_OF("network.js", network_js),
    FILE_OF("people.js", people_js),
    FILE_OF("report.js", report_js),
    FILE_OF("trial.js", trial_js),
    FILE_OF("colours.css", colours_css),
    FILE_OF("push.js", push_js),
    FILE_OF("icon.svg", icon_svg),
};

const struct embedded_file *embedded_demo(void) { return demo; }

const size_t embedded_demo_count = sizeof demo / sizeof demo[0];
