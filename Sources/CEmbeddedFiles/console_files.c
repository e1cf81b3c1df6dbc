// The files of clients/console: a test compares the list with the folder. See embedded_files.c.
#include "embedded_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../../clients/console/index.html"
};
static const unsigned char api_js[] = {
#embed "../../clients/console/api.js"
};
static const unsigned char cards_js[] = {
#embed "../../clients/console/cards.js"
};
static const unsigned char chart_js[] = {
#embed "../../clients/console/chart.js"
};
static const unsigned char console_css[] = {
#embed "../../clients/console/console.css"
};
static const unsigned char console_js[] = {
#embed "../../clients/console/console.js"
};
static const unsigned char feed_js[] = {
#embed "../../clients/console/feed.js"
};
static const unsigned char icon_svg[] = {
#embed "../../clients/console/icon.svg"
};
static const unsigned char page_js[] = {
#embed "../../clients/console/page.js"
};

#define FILE_OF(name, bytes) { name, bytes, sizeof bytes }

static const struct embedded_file console[] = {
    FILE_OF("index.html", index_html),
    FILE_OF("api.js", api_js),
    FILE_OF("cards.js", cards_js),
    FILE_OF("chart.js", chart_js),
    FILE_OF("console.css", console_css),
    FILE_OF("console.js", console_js),
    FILE_OF("feed.js", feed_js),
    FILE_OF("icon.svg", icon_svg),
    FILE_OF("page.js", page_js),
};

const struct embedded_file *embedded_console(void) { return console; }

const size_t embedded_console_count = sizeof console / sizeof console[0];
