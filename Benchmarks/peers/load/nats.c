// NATS's text protocol. A subject is an account's name.

#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GREETED = 1, READY, SUBSCRIBED };

// The server speaks first.
static void begin(struct client *client) { (void)client; }

static void say_hello(struct client *client) {
    static const char hello[] =
        "CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":false,\"lang\":\"c\","
        "\"version\":\"1\",\"protocol\":1}\r\nPING\r\n";
    client->step = GREETED;
    client_send(client, hello, sizeof hello - 1);
}

static void subscribe(struct client *client) {
    char out[OUT_BYTES_MAX], name[NAME_BYTES + 1];
    size_t count = 0;
    uint32_t first = group_first(client->account);
    for (uint32_t other = first; other < first + settings.group; other++) {
        if (other == client->account) continue;
        if (count + NAME_BYTES + 32 > sizeof out) fail("the group is too large for a request");
        name_of(other, name);
        count += (size_t)snprintf(
            out + count, sizeof out - count, "SUB %s %u\r\n", name, other - first + 1);
    }
    // Its answer says that all before it are in force.
    memcpy(out + count, "PING\r\n", 6);
    client_send(client, out, count + 6);
}

static void publish(struct client *client, uint32_t number) {
    (void)number;
    char out[PAYLOAD_BYTES_MAX + 64], name[NAME_BYTES + 1];
    name_of(client->account, name);
    size_t count = (size_t)snprintf(out, sizeof out, "PUB %s %u\r\n", name, settings.payload_bytes);
    memcpy(out + count, payload, settings.payload_bytes);
    memcpy(out + count + settings.payload_bytes, "\r\n", 2);
    client_send(client, out, count + settings.payload_bytes + 2);
}

static void ponged(struct client *client) {
    if (client->step == GREETED) client_ready(client);
    else if (client->step == READY) client_subscribed(client);
    else fail("a PONG that nobody asked for");
    client->step++;
}

static bool starts(const char *text, size_t count, const char *word) {
    return count >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

static size_t consume(struct client *client, const char *bytes, size_t count) {
    size_t used = 0;
    for (;;) {
        const char *at = bytes + used, *end = memchr(at, '\n', count - used);
        if (!end) return used;
        size_t length = (size_t)(end + 1 - at);
        if (starts(at, length, "MSG ")) {
            // MSG subject sid bytes: the last word is the payload's length.
            const char *word = end;
            while (word[-1] != ' ') word--;
            size_t body = strtoul(word, NULL, 10);
            if (count - used < length + body + 2) return used;
            payload_delivered(client, end + 1, body);
            length += body + 2;
        } else if (starts(at, length, "INFO ")) {
            if (client->step == 0) say_hello(client);
        } else if (starts(at, length, "PONG")) {
            ponged(client);
        } else if (starts(at, length, "PING")) {
            client_send(client, "PONG\r\n", 6);
        } else {
            fail("unexpected: %.*s", (int)length, at);
        }
        used += length;
    }
}

const struct driver nats_driver = {"nats", false, begin, subscribe, publish, consume};
