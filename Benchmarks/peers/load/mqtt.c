// MQTT 3.1.1 at QoS 0. A topic is an account's name.

#include "load.h"

#include <string.h>

enum {
    CONNECT = 0x10, CONNACK = 0x20, PUBLISH = 0x30, SUBSCRIBE = 0x82, SUBACK = 0x90,
    HEAD_MAX = 5, REJECTED = 0x80,
};

// Writes a packet's first bytes: its type and the length of what follows.
static size_t put_head(char *out, int type, size_t rest) {
    size_t count = 0;
    out[count++] = (char)type;
    do {
        char byte = (char)(rest & 0x7f);
        rest >>= 7;
        out[count++] = (char)(byte | (rest > 0 ? 0x80 : 0));
    } while (rest > 0);
    return count;
}

static size_t put_name(char *out, uint32_t account) {
    char name[NAME_BYTES + 1];
    name_of(account, name);
    out[0] = 0;
    out[1] = NAME_BYTES;
    memcpy(out + 2, name, NAME_BYTES);
    return 2 + NAME_BYTES;
}

static void begin(struct client *client) {
    // Version 4, a clean session, no keep-alive.
    static const char fixed[] = {0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0};
    char out[64];
    size_t count = put_head(out, CONNECT, sizeof fixed + 2 + NAME_BYTES);
    memcpy(out + count, fixed, sizeof fixed);
    count += sizeof fixed;
    count += put_name(out + count, client->account);
    client_send(client, out, count);
}

static void subscribe(struct client *client) {
    char out[OUT_BYTES_MAX];
    size_t each = 2 + NAME_BYTES + 1, rest = 2 + each * (settings.group - 1);
    if (rest + HEAD_MAX > sizeof out) fail("the group is too large for a request");
    size_t count = put_head(out, SUBSCRIBE, rest);
    out[count++] = 0;
    out[count++] = 1;
    uint32_t first = group_first(client->account);
    for (uint32_t other = first; other < first + settings.group; other++) {
        if (other == client->account) continue;
        count += put_name(out + count, other);
        out[count++] = 0;
    }
    client_send(client, out, count);
}

static void publish(struct client *client, uint32_t number) {
    (void)number;
    char out[PAYLOAD_BYTES_MAX + 64];
    size_t count = put_head(out, PUBLISH, 2 + NAME_BYTES + settings.payload_bytes);
    count += put_name(out + count, client->account);
    memcpy(out + count, payload, settings.payload_bytes);
    client_send(client, out, count + settings.payload_bytes);
}

static void packet_came(struct client *client, int type, const char *rest, size_t count) {
    switch (type) {
    case PUBLISH:
        if (count < 2 + NAME_BYTES) fail("a message of %zu bytes came", count);
        payload_delivered(client, rest + 2 + NAME_BYTES, count - 2 - NAME_BYTES);
        break;
    case CONNACK:
        if (count != 2 || rest[1] != 0) fail("the connection is rejected");
        client_ready(client);
        break;
    case SUBACK:
        if (count != 2 + settings.group - 1 || memchr(rest + 2, REJECTED, count - 2))
            fail("a subscription is rejected");
        client_subscribed(client);
        break;
    default:
        fail("unexpected packet of type %d", type);
    }
}

static size_t consume(struct client *client, const char *bytes, size_t count) {
    size_t used = 0;
    for (;;) {
        size_t at = used + 1, rest = 0;
        for (int shift = 0;; shift += 7) {
            if (at >= count) return used;
            unsigned char byte = (unsigned char)bytes[at++];
            rest |= (size_t)(byte & 0x7f) << shift;
            if (byte < 0x80) break;
        }
        if (count - at < rest) return used;
        packet_came(client, (unsigned char)bytes[used], bytes + at, rest);
        used = at + rest;
    }
}

const struct driver mqtt_driver = {"mqtt", false, begin, subscribe, publish, consume};
