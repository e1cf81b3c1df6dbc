// Our service: JSON-RPC in frames with four bytes of length, or in messages of a WebSocket
// (docs/PROTOCOL.md). What it sends is
// its own event, not the payload; the payload of the others is as long as that event's object.

#include "load.h"

#include <stdio.h>
#include <string.h>

enum { LOGIN = 1, SUBSCRIBE = 2, PUBLISH = 3, HEAD = 4, FIRST_VALUE = 1000000000 };

static void send_frame(struct client *client, char *frame, size_t count) {
    size_t body = count - HEAD;
    if (settings.driver == &ours_ws_driver) return ws_send(client, frame + HEAD, body);
    for (int byte = 0; byte < HEAD; byte++) frame[byte] = (char)(body >> (24 - 8 * byte));
    client_send(client, frame, count);
}

static void log_in(struct client *client) {
    char frame[256], name[NAME_BYTES + 1];
    name_of(client->account, name);
    int count = snprintf(
        frame + HEAD, sizeof frame - HEAD,
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"login\",\"params\":"
        "{\"account\":\"%s\",\"device\":\"d\",\"sync\":\"none\"}}",
        LOGIN, name);
    send_frame(client, frame, (size_t)count + HEAD);
}

static void subscribe(struct client *client) {
    char frame[OUT_BYTES_MAX], name[NAME_BYTES + 1];
    size_t count = HEAD;
    count += (size_t)snprintf(
        frame + count, sizeof frame - count,
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"subscribe\",\"params\":"
        "{\"type\":1,\"expiry\":86400,\"publishers\":[",
        SUBSCRIBE);
    uint32_t first = group_first(client->account);
    for (uint32_t other = first; other < first + settings.group; other++) {
        if (other == client->account) continue;
        if (count + NAME_BYTES + 16 > sizeof frame) fail("the group is too large for a request");
        name_of(other, name);
        count += (size_t)snprintf(frame + count, sizeof frame - count, "\"%s\",", name);
    }
    memcpy(frame + count - 1, "]}}", 3);
    send_frame(client, frame, count + 2);
}

static void publish(struct client *client, uint32_t number) {
    static char frame[128];
    static size_t count;
    if (count == 0)
        count = HEAD + (size_t)snprintf(
            frame + HEAD, sizeof frame - HEAD,
            "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"publish\",\"params\":"
            "{\"type\":1,\"value\":%u}}",
            PUBLISH, FIRST_VALUE);
    uint32_t rest = FIRST_VALUE + number;
    // The ten digits stand before the two closing braces.
    for (int digit = 0; digit < 10; digit++) {
        frame[count - 3 - (size_t)digit] = (char)('0' + rest % 10);
        rest /= 10;
    }
    send_frame(client, frame, count);
}

static void answered(struct client *client, const char *body, size_t count) {
    if (memmem(body, count, "\"error\"", 7)) fail("rejected: %.*s", (int)count, body);
    switch (digits(body + strlen("{\"jsonrpc\":\"2.0\",\"id\":"), 1)) {
    case LOGIN: client_ready(client); break;
    case SUBSCRIBE: client_subscribed(client); break;
    default: client_answered(client);
    }
}

// An events notification; each event begins with its type, publisher and value.
static void events_came(struct client *client, const char *body, size_t count) {
    static const char opening[] = "{\"type\":1,\"publisher\":\"u";
    static const char between[] = "\",\"value\":";
    const char *at = body, *end = body + count;
    int found = 0;
    while ((at = memmem(at, (size_t)(end - at), opening, sizeof opening - 1))) {
        at += sizeof opening - 1;
        uint32_t publisher = digits(at, NAME_BYTES - 1);
        at += NAME_BYTES - 1;
        if (memcmp(at, between, sizeof between - 1) != 0) fail("odd: %.*s", (int)count, body);
        uint32_t value = digits(at + sizeof between - 1, 10);
        event_delivered(client, publisher, value - FIRST_VALUE);
        // What it has beyond the notification's envelope is the size that all others carry.
        if (found++ == 0 && deliveries == 1)
            printf("event-bytes %zu\n", count - strlen(
                "{\"jsonrpc\":\"2.0\",\"method\":\"events\",\"params\":{\"events\":[]}}"));
        // A second event would open at least this far behind.
        at += 100 < end - at ? 100 : end - at;
    }
    if (found == 0) fail("an event that is none: %.*s", (int)count, body);
}

static void message_came(struct client *client, const char *text, size_t body) {
    static const char answer[] = "{\"jsonrpc\":\"2.0\",\"id\":";
    static const char events[] = "{\"jsonrpc\":\"2.0\",\"method\":\"events\"";
    static const char synced[] = "{\"jsonrpc\":\"2.0\",\"method\":\"synced\"";
    if (body > sizeof events && memcmp(text, events, sizeof events - 1) == 0)
        events_came(client, text, body);
    else if (body > sizeof answer && memcmp(text, answer, sizeof answer - 1) == 0)
        answered(client, text, body);
    else if (body < sizeof synced || memcmp(text, synced, sizeof synced - 1) != 0)
        fail("unexpected: %.*s", (int)body, text);
}

static size_t consume(struct client *client, const char *bytes, size_t count) {
    size_t used = 0;
    while (count - used >= HEAD) {
        const unsigned char *head = (const unsigned char *)bytes + used;
        size_t body = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8
            | head[3];
        if (count - used < HEAD + body) break;
        message_came(client, bytes + used + HEAD, body);
        used += HEAD + body;
    }
    return used;
}

static void begin_web(struct client *client) { ws_begin(client, "/v1/socket"); }

static size_t consume_web(struct client *client, const char *bytes, size_t count) {
    if (client->step == 0) {
        size_t used = ws_opened(client, bytes, count);
        if (used > 0) log_in(client);
        return used;
    }
    size_t used = 0, taken, body_count;
    const char *body;
    while ((taken = ws_next(bytes + used, count - used, &body, &body_count))) {
        used += taken;
        message_came(client, body, body_count);
    }
    return used;
}

const struct driver ours_driver = {"ours", true, log_in, subscribe, publish, consume};
// The floor understands what clients of ours send, and sends what ours sends.
const struct driver floor_driver = {"floor", true, log_in, subscribe, publish, consume};
const struct driver ours_ws_driver = {"ours-ws", true, begin_web, subscribe, publish, consume_web};
