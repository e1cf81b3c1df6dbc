// The files of clients/console: a test compares the list with the folder. See embedded_files.c.
#include "embedded_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../../clients/console/index.html"
};
static const unsigned char console_css[] = {
#embed "../../clients/console/console.css"
};
static const unsigned char console_js[] = {
#embed "../../clients/console/console.js"
};

#define FILE_OF(name, bytes) { name, bytes, sizeof bytes }

static const struct embedded_file console[] = {
    FILE_OF("index.html", index_html),
    FILE_OF("console.css", console_css),
    FILE_OF("console.js", console_js),
};

const struct embedded_file *embedded_console(void) { return console; }

const size_t embedded_console_count = sizeof console / sizeof console[0];
