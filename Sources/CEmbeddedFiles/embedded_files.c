// `#embed` is of C23. In Swift, a literal of 100,000 bytes takes the compiler 20 seconds.
#include "embedded_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi_json[] = {
#embed "../../docs/openapi.json"
};
static const unsigned char away_js[] = {
#embed "../../clients/js/src/away.js"
};
static const unsigned char connection_js[] = {
#embed "../../clients/js/src/connection.js"
};
static const unsigned char contacts_js[] = {
#embed "../../clients/js/src/contacts.js"
};
static const unsigned char debug_js[] = {
#embed "../../clients/js/src/debug.js"
};
static const unsigned char device_js[] = {
#embed "../../clients/js/src/device.js"
};
static const unsigned char dot_js[] = {
#embed "../../clients/js/src/dot.js"
};
static const unsigned char environment_js[] = {
#embed "../../clients/js/src/environment.js"
};
static const unsigned char error_js[] = {
#embed "../../clients/js/src/error.js"
};
static const unsigned char follow_js[] = {
#embed "../../clients/js/src/follow.js"
};
static const unsigned char hold_js[] = {
#embed "../../clients/js/src/hold.js"
};
static const unsigned char incoming_js[] = {
#embed "../../clients/js/src/incoming.js"
};
static const unsigned char index_js[] = {
#embed "../../clients/js/src/index.js"
};
static const unsigned char messages_js[] = {
#embed "../../clients/js/src/messages.js"
};
static const unsigned char native_js[] = {
#embed "../../clients/js/src/native.js"
};
static const unsigned char node_js[] = {
#embed "../../clients/js/src/node.js"
};
static const unsigned char outgoing_js[] = {
#embed "../../clients/js/src/outgoing.js"
};
static const unsigned char porchlight_js[] = {
#embed "../../clients/js/src/porchlight.js"
};
static const unsigned char push_js[] = {
#embed "../../clients/js/src/push.js"
};
static const unsigned char react_js[] = {
#embed "../../clients/js/src/react.js"
};
static const unsigned char statuses_js[] = {
#embed "../../clients/js/src/statuses.js"
};
static const unsigned char subscriber_js[] = {
#embed "../../clients/js/src/subscriber.js"
};
static const unsigned char token_js[] = {
#embed "../../clients/js/src/token.js"
};
static const unsigned char topics_js[] = {
#embed "../../clients/js/src/topics.js"
};
static const unsigned char watch_js[] = {
#embed "../../clients/js/src/watch.js"
};
static const unsigned char websocket_js[] = {
#embed "../../clients/js/src/websocket.js"
};
static const unsigned char porchlight_min_js[] = {
#embed "../../clients/js/dist/porchlight.min.js"
};
static const unsigned char porchlight_min_js_gz[] = {
#embed "../../clients/js/dist/porchlight.min.js.gz"
};
static const unsigned char away_min_js[] = {
#embed "../../clients/js/dist/away.min.js"
};
static const unsigned char contacts_min_js[] = {
#embed "../../clients/js/dist/contacts.min.js"
};
static const unsigned char debug_min_js[] = {
#embed "../../clients/js/dist/debug.min.js"
};
static const unsigned char dot_min_js[] = {
#embed "../../clients/js/dist/dot.min.js"
};
static const unsigned char hold_min_js[] = {
#embed "../../clients/js/dist/hold.min.js"
};
static const unsigned char messages_min_js[] = {
#embed "../../clients/js/dist/messages.min.js"
};
static const unsigned char push_min_js[] = {
#embed "../../clients/js/dist/push.min.js"
};

#define FILE_OF(name, bytes) { name, bytes, sizeof bytes }

const struct embedded_file embedded_description = FILE_OF("openapi.json", openapi_json);

static const struct embedded_file sdk[] = {
    FILE_OF("away.js", away_js),
    FILE_OF("connection.js", connection_js),
    FILE_OF("contacts.js", contacts_js),
    FILE_OF("debug.js", debug_js),
    FILE_OF("device.js", device_js),
    FILE_OF("dot.js", dot_js),
    FILE_OF("environment.js", environment_js),
    FILE_OF("error.js", error_js),
    FILE_OF("follow.js", follow_js),
    FILE_OF("hold.js", hold_js),
    FILE_OF("incoming.js", incoming_js),
    FILE_OF("index.js", index_js),
    FILE_OF("messages.js", messages_js),
    FILE_OF("native.js", native_js),
    FILE_OF("node.js", node_js),
    FILE_OF("outgoing.js", outgoing_js),
    FILE_OF("porchlight.js", porchlight_js),
    FILE_OF("push.js", push_js),
    FILE_OF("react.js", react_js),
    FILE_OF("statuses.js", statuses_js),
    FILE_OF("subscriber.js", subscriber_js),
    FILE_OF("token.js", token_js),
    FILE_OF("topics.js", topics_js),
    FILE_OF("watch.js", watch_js),
    FILE_OF("websocket.js", websocket_js),
    FILE_OF("porchlight.min.js", porchlight_min_js),
    FILE_OF("porchlight.min.js.gz", porchlight_min_js_gz),
    FILE_OF("away.min.js", away_min_js),
    FILE_OF("contacts.min.js", contacts_min_js),
    FILE_OF("debug.min.js", debug_min_js),
    FILE_OF("dot.min.js", dot_min_js),
    FILE_OF("hold.min.js", hold_min_js),
    FILE_OF("messages.min.js", messages_min_js),
    FILE_OF("push.min.js", push_min_js),
};

const struct embedded_file *embedded_sdk(void) { return sdk; }

const size_t embedded_sdk_count = sizeof sdk / sizeof sdk[0];
