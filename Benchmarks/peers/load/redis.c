// Redis pub/sub in RESP3, in which a connection that has subscribed may publish, too. A channel
// is an account's name.

#include "load.h"

#include <stdio.h>
#include <string.h>

static void begin(struct client *client) {
    static const char hello[] = "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n";
    client_send(client, hello, sizeof hello - 1);
}

static void subscribe(struct client *client) {
    char out[OUT_BYTES_MAX], name[NAME_BYTES + 1];
    size_t count = (size_t)snprintf(
        out, sizeof out, "*%u\r\n$9\r\nSUBSCRIBE\r\n", settings.group);
    uint32_t first = group_first(client->account);
    for (uint32_t other = first; other < first + settings.group; other++) {
        if (other == client->account) continue;
        if (count + NAME_BYTES + 16 > sizeof out) fail("the group is too large for a request");
        name_of(other, name);
        count += (size_t)snprintf(
            out + count, sizeof out - count, "$%d\r\n%s\r\n", NAME_BYTES, name);
    }
    client_send(client, out, count);
}

static void publish(struct client *client, uint32_t number) {
    (void)number;
    char out[PAYLOAD_BYTES_MAX + 128], name[NAME_BYTES + 1];
    name_of(client->account, name);
    size_t count = (size_t)snprintf(
        out, sizeof out, "*3\r\n$7\r\nPUBLISH\r\n$%d\r\n%s\r\n$%u\r\n", NAME_BYTES, name,
        settings.payload_bytes);
    memcpy(out + count, payload, settings.payload_bytes);
    memcpy(out + count + settings.payload_bytes, "\r\n", 2);
    client_send(client, out, count + settings.payload_bytes + 2);
}

// The number behind a type's byte, and where the next line begins; null where it is incomplete.
static const char *line(const char *at, const char *end, long *number) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop) return NULL;
    *number = 0;
    for (at++; at < stop - 1; at++)
        if (*at >= '0' && *at <= '9') *number = *number * 10 + (*at - '0');
    return stop + 1;
}

// The end of a value; null where it is incomplete.
static const char *skip(const char *at, const char *end) {
    if (at >= end) return NULL;
    char type = *at;
    long number;
    const char *next = line(at, end, &number);
    if (!next) return NULL;
    switch (type) {
    case '$':
        return end - next < number + 2 ? NULL : next + number + 2;
    case '%':
        number *= 2;
        // Falls through.
    case '*':
    case '>':
        for (; number > 0 && next; number--) next = skip(next, end);
        return next;
    default:
        return next;
    }
}

// A push is a message, or says that a subscription is made.
static void pushed(struct client *client, const char *at, const char *end) {
    static const char message[] = ">3\r\n$7\r\nmessage\r\n";
    static const char made[] = ">3\r\n$9\r\nsubscribe\r\n";
    if ((size_t)(end - at) > sizeof message && memcmp(at, message, sizeof message - 1) == 0) {
        const char *text = skip(at + sizeof message - 1, end);
        long count;
        if (!text || !(text = line(text, end, &count))) fail("odd: %.*s", (int)(end - at), at);
        payload_delivered(client, text, (size_t)count);
    } else if ((size_t)(end - at) > sizeof made && memcmp(at, made, sizeof made - 1) == 0) {
        if (++client->heard == settings.group - 1) client_subscribed(client);
    } else {
        fail("unexpected: %.*s", (int)(end - at), at);
    }
}

static size_t consume(struct client *client, const char *bytes, size_t count) {
    const char *at = bytes, *end = bytes + count, *next;
    while ((next = skip(at, end))) {
        switch (*at) {
        case '>': pushed(client, at, next); break;
        case ':': client_answered(client); break;
        case '%': client_ready(client); break;
        default: fail("unexpected: %.*s", (int)(next - at), at);
        }
        at = next;
    }
    return (size_t)(at - bytes);
}

const struct driver redis_driver = {"redis", true, begin, subscribe, publish, consume};
