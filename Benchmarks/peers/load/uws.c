// A server made of uWebSockets (uws_server.py): a message is a letter and what it is about. `s` names
// the topics to subscribe to, `p` publishes to the client's own; each is answered by its letter.

#include "load.h"

#include <stdio.h>
#include <string.h>

static void begin(struct client *client) {
    char path[32], name[NAME_BYTES + 1];
    name_of(client->account, name);
    snprintf(path, sizeof path, "/%s", name);
    ws_begin(client, path);
}

static void subscribe(struct client *client) {
    char out[OUT_BYTES_MAX], name[NAME_BYTES + 1];
    size_t count = 1;
    out[0] = 's';
    uint32_t first = group_first(client->account);
    for (uint32_t other = first; other < first + settings.group; other++) {
        if (other == client->account) continue;
        if (count + NAME_BYTES + 2 > sizeof out) fail("the group is too large for a request");
        name_of(other, name);
        count += (size_t)snprintf(out + count, sizeof out - count, "%s ", name);
    }
    ws_send(client, out, count - 1);
}

static void publish(struct client *client, uint32_t number) {
    (void)number;
    char out[PAYLOAD_BYTES_MAX + 1];
    out[0] = 'p';
    memcpy(out + 1, payload, settings.payload_bytes);
    ws_send(client, out, settings.payload_bytes + 1);
}

static size_t consume(struct client *client, const char *bytes, size_t count) {
    if (client->step == 0) {
        size_t used = ws_opened(client, bytes, count);
        if (used > 0) client_ready(client);
        return used;
    }
    size_t used = 0, taken, body_count;
    const char *body;
    while ((taken = ws_next(bytes + used, count - used, &body, &body_count))) {
        used += taken;
        if (body_count == 1 && *body == 's') client_subscribed(client);
        else if (body_count == 1 && *body == 'p') client_answered(client);
        else payload_delivered(client, body, body_count);
    }
    return used;
}

const struct driver uws_driver = {"uws", true, begin, subscribe, publish, consume};
