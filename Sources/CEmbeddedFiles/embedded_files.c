// `#embed` is of C23. In Swift, a literal of 100,000 bytes takes the compiler 20 seconds.
// Tests compare the lists with the folders.
#include "embedded_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi_json[] = {
#embed "../../docs/openapi.json"
};
static const unsigned char sdk_away_js[] = {
#embed "../../clients/js/src/away.js"
};
static const unsigned char sdk_connection_js[] = {
#embed "../../clients/js/src/connection.js"
};
static const unsigned char sdk_contacts_js[] = {
#embed "../../clients/js/src/contacts.js"
};
static const unsigned char sdk_debug_js[] = {
#embed "../../clients/js/src/debug.js"
};
static const unsigned char sdk_device_js[] = {
#embed "../../clients/js/src/device.js"
};
static const unsigned char sdk_dot_js[] = {
#embed "../../clients/js/src/dot.js"
};
static const unsigned char sdk_environment_js[] = {
#embed "../../clients/js/src/environment.js"
};
static const unsigned char sdk_error_js[] = {
#embed "../../clients/js/src/error.js"
};
static const unsigned char sdk_follow_js[] = {
#embed "../../clients/js/src/follow.js"
};
static const unsigned char sdk_hold_js[] = {
#embed "../../clients/js/src/hold.js"
};
static const unsigned char sdk_incoming_js[] = {
#embed "../../clients/js/src/incoming.js"
};
static const unsigned char sdk_index_js[] = {
#embed "../../clients/js/src/index.js"
};
static const unsigned char sdk_messages_js[] = {
#embed "../../clients/js/src/messages.js"
};
static const unsigned char sdk_native_js[] = {
#embed "../../clients/js/src/native.js"
};
static const unsigned char sdk_node_js[] = {
#embed "../../clients/js/src/node.js"
};
static const unsigned char sdk_outgoing_js[] = {
#embed "../../clients/js/src/outgoing.js"
};
static const unsigned char sdk_porchlight_js[] = {
#embed "../../clients/js/src/porchlight.js"
};
static const unsigned char sdk_push_js[] = {
#embed "../../clients/js/src/push.js"
};
static const unsigned char sdk_react_js[] = {
#embed "../../clients/js/src/react.js"
};
static const unsigned char sdk_statuses_js[] = {
#embed "../../clients/js/src/statuses.js"
};
static const unsigned char sdk_subscriber_js[] = {
#embed "../../clients/js/src/subscriber.js"
};
static const unsigned char sdk_token_js[] = {
#embed "../../clients/js/src/token.js"
};
static const unsigned char sdk_topics_js[] = {
#embed "../../clients/js/src/topics.js"
};
static const unsigned char sdk_watch_js[] = {
#embed "../../clients/js/src/watch.js"
};
static const unsigned char sdk_websocket_js[] = {
#embed "../../clients/js/src/websocket.js"
};
static const unsigned char sdk_porchlight_min_js[] = {
#embed "../../clients/js/dist/porchlight.min.js"
};
static const unsigned char sdk_porchlight_min_js_gz[] = {
#embed "../../clients/js/dist/porchlight.min.js.gz"
};
static const unsigned char sdk_away_min_js[] = {
#embed "../../clients/js/dist/away.min.js"
};
static const unsigned char sdk_contacts_min_js[] = {
#embed "../../clients/js/dist/contacts.min.js"
};
static const unsigned char sdk_debug_min_js[] = {
#embed "../../clients/js/dist/debug.min.js"
};
static const unsigned char sdk_dot_min_js[] = {
#embed "../../clients/js/dist/dot.min.js"
};
static const unsigned char sdk_hold_min_js[] = {
#embed "../../clients/js/dist/hold.min.js"
};
static const unsigned char sdk_messages_min_js[] = {
#embed "../../clients/js/dist/messages.min.js"
};
static const unsigned char sdk_push_min_js[] = {
#embed "../../clients/js/dist/push.min.js"
};
static const unsigned char console_index_html[] = {
#embed "../../clients/console/index.html"
};
static const unsigned char console_api_js[] = {
#embed "../../clients/console/api.js"
};
static const unsigned char console_cards_js[] = {
#embed "../../clients/console/cards.js"
};
static const unsigned char console_chart_js[] = {
#embed "../../clients/console/chart.js"
};
static const unsigned char console_console_css[] = {
#embed "../../clients/console/console.css"
};
static const unsigned char console_console_js[] = {
#embed "../../clients/console/console.js"
};
static const unsigned char console_feed_js[] = {
#embed "../../clients/console/feed.js"
};
static const unsigned char console_icon_svg[] = {
#embed "../../clients/console/icon.svg"
};
static const unsigned char console_page_js[] = {
#embed "../../clients/console/page.js"
};
static const unsigned char demo_index_html[] = {
#embed "../../clients/demo/index.html"
};
static const unsigned char demo_index_css[] = {
#embed "../../clients/demo/index.css"
};
static const unsigned char demo_index_js[] = {
#embed "../../clients/demo/index.js"
};
static const unsigned char demo_person_html[] = {
#embed "../../clients/demo/person.html"
};
static const unsigned char demo_person_css[] = {
#embed "../../clients/demo/person.css"
};
static const unsigned char demo_person_js[] = {
#embed "../../clients/demo/person.js"
};
static const unsigned char demo_network_js[] = {
#embed "../../clients/demo/network.js"
};
static const unsigned char demo_people_js[] = {
#embed "../../clients/demo/people.js"
};
static const unsigned char demo_report_js[] = {
#embed "../../clients/demo/report.js"
};
static const unsigned char demo_trial_js[] = {
#embed "../../clients/demo/trial.js"
};
static const unsigned char demo_colours_css[] = {
#embed "../../clients/demo/colours.css"
};
static const unsigned char demo_push_js[] = {
#embed "../../clients/demo/push.js"
};
static const unsigned char demo_icon_svg[] = {
#embed "../../clients/demo/icon.svg"
};

#define FILE_OF(name, bytes) { name, bytes, sizeof bytes }

static const struct embedded_file files[] = {
    FILE_OF("openapi.json", openapi_json),
    FILE_OF("sdk/away.js", sdk_away_js),
    FILE_OF("sdk/connection.js", sdk_connection_js),
    FILE_OF("sdk/contacts.js", sdk_contacts_js),
    FILE_OF("sdk/debug.js", sdk_debug_js),
    FILE_OF("sdk/device.js", sdk_device_js),
    FILE_OF("sdk/dot.js", sdk_dot_js),
    FILE_OF("sdk/environment.js", sdk_environment_js),
    FILE_OF("sdk/error.js", sdk_error_js),
    FILE_OF("sdk/follow.js", sdk_follow_js),
    FILE_OF("sdk/hold.js", sdk_hold_js),
    FILE_OF("sdk/incoming.js", sdk_incoming_js),
    FILE_OF("sdk/index.js", sdk_index_js),
    FILE_OF("sdk/messages.js", sdk_messages_js),
    FILE_OF("sdk/native.js", sdk_native_js),
    FILE_OF("sdk/node.js", sdk_node_js),
    FILE_OF("sdk/outgoing.js", sdk_outgoing_js),
    FILE_OF("sdk/porchlight.js", sdk_porchlight_js),
    FILE_OF("sdk/push.js", sdk_push_js),
    FILE_OF("sdk/react.js", sdk_react_js),
    FILE_OF("sdk/statuses.js", sdk_statuses_js),
    FILE_OF("sdk/subscriber.js", sdk_subscriber_js),
    FILE_OF("sdk/token.js", sdk_token_js),
    FILE_OF("sdk/topics.js", sdk_topics_js),
    FILE_OF("sdk/watch.js", sdk_watch_js),
    FILE_OF("sdk/websocket.js", sdk_websocket_js),
    FILE_OF("sdk/porchlight.min.js", sdk_porchlight_min_js),
    FILE_OF("sdk/porchlight.min.js.gz", sdk_porchlight_min_js_gz),
    FILE_OF("sdk/away.min.js", sdk_away_min_js),
    FILE_OF("sdk/contacts.min.js", sdk_contacts_min_js),
    FILE_OF("sdk/debug.min.js", sdk_debug_min_js),
    FILE_OF("sdk/dot.min.js", sdk_dot_min_js),
    FILE_OF("sdk/hold.min.js", sdk_hold_min_js),
    FILE_OF("sdk/messages.min.js", sdk_messages_min_js),
    FILE_OF("sdk/push.min.js", sdk_push_min_js),
    FILE_OF("console/index.html", console_index_html),
    FILE_OF("console/api.js", console_api_js),
    FILE_OF("console/cards.js", console_cards_js),
    FILE_OF("console/chart.js", console_chart_js),
    FILE_OF("console/console.css", console_console_css),
    FILE_OF("console/console.js", console_console_js),
    FILE_OF("console/feed.js", console_feed_js),
    FILE_OF("console/icon.svg", console_icon_svg),
    FILE_OF("console/page.js", console_page_js),
    FILE_OF("demo/index.html", demo_index_html),
    FILE_OF("demo/index.css", demo_index_css),
    FILE_OF("demo/index.js", demo_index_js),
    FILE_OF("demo/person.html", demo_person_html),
    FILE_OF("demo/person.css", demo_person_css),
    FILE_OF("demo/person.js", demo_person_js),
    FILE_OF("demo/network.js", demo_network_js),
    FILE_OF("demo/people.js", demo_people_js),
    FILE_OF("demo/report.js", demo_report_js),
    FILE_OF("demo/trial.js", demo_trial_js),
    FILE_OF("demo/colours.css", demo_colours_css),
    FILE_OF("demo/push.js", demo_push_js),
    FILE_OF("demo/icon.svg", demo_icon_svg),
};

const struct embedded_file *embedded_files(void) { return files; }

const size_t embedded_files_count = sizeof files / sizeof files[0];
