// XMPP presence (RFC 6121). Each account's roster holds the others of its group with a
// subscription both ways, made before the server starts. To subscribe is here to send the
// initial presence: the server tells all contacts, and tells the client who of them is there.

#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPENED = 1, REOPENED, BOUND };

static void send_text(struct client *client, const char *text) {
    client_send(client, text, strlen(text));
}

static void open_stream(struct client *client) {
    send_text(
        client,
        "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' "
        "to='localhost' version='1.0'>");
}

static void begin(struct client *client) {
    client->step = OPENED;
    open_stream(client);
}

static size_t base64(char *out, const unsigned char *bytes, size_t count) {
    static const char set[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = 0;
    for (size_t at = 0; at < count; at += 3) {
        size_t here = count - at < 3 ? count - at : 3;
        uint32_t bits = 0;
        for (size_t byte = 0; byte < 3; byte++)
            bits = bits << 8 | (byte < here ? bytes[at + byte] : 0);
        for (size_t digit = 0; digit < 4; digit++)
            out[length++] = digit <= here ? set[bits >> (18 - 6 * digit) & 63] : '=';
    }
    return length;
}

// SASL PLAIN: the password is the account's name.
static void authenticate(struct client *client) {
    char name[NAME_BYTES + 1], secret[64], text[128], out[256];
    name_of(client->account, name);
    int count = snprintf(secret, sizeof secret, "%c%s%c%s", 0, name, 0, name);
    size_t length = base64(text, (const unsigned char *)secret, (size_t)count);
    snprintf(
        out, sizeof out,
        "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>%.*s</auth>",
        (int)length, text);
    send_text(client, out);
}

static void bind_device(struct client *client) {
    send_text(
        client,
        "<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
        "<resource>d</resource></bind></iq>");
}

static void subscribe(struct client *client) { send_text(client, "<presence/>"); }

static void publish(struct client *client, uint32_t number) {
    (void)number;
    char out[PAYLOAD_BYTES_MAX + 64];
    int count = snprintf(
        out, sizeof out, "<presence><status>%.*s</status></presence>",
        (int)settings.payload_bytes, payload);
    client_send(client, out, (size_t)count);
}

void xmpp_send_message(struct client *client, uint32_t recipient) {
    char name[NAME_BYTES + 1], out[PAYLOAD_BYTES_MAX + 128];
    name_of(recipient, name);
    int count = snprintf(
        out, sizeof out, "<message type='chat' to='%s@localhost'><body>%.*s</body></message>", name,
        (int)settings.payload_bytes, payload);
    client_send(client, out, (size_t)count);
}

void xmpp_ask(struct client *client) {
    send_text(
        client, "<iq type='get' id='p' to='localhost'><ping xmlns='urn:xmpp:ping'/></iq>");
}

void xmpp_set_available(struct client *client, bool is_available) {
    send_text(client, is_available ? "<presence/>" : "<presence type='unavailable'/>");
}

static bool has(const char *stanza, size_t count, const char *text) {
    return memmem(stanza, count, text, strlen(text)) != NULL;
}

static bool starts(const char *stanza, size_t count, const char *text) {
    return count >= strlen(text) && memcmp(stanza, text, strlen(text)) == 0;
}

// The account whose device a presence is from.
static uint32_t sender_of(const char *tag, size_t count) {
    static const char opening[] = " from='u";
    const char *from = memmem(tag, count, opening, sizeof opening - 1);
    if (!from) fail("a presence without sender: %.*s", (int)count, tag);
    return digits(from + sizeof opening - 1, NAME_BYTES - 1);
}

// Whether this contact's initial presence has come before. ejabberd sends one twice, as what the
// contact says and as the answer to a probe, where both become available at the same time.
static bool is_repeated(const struct client *client, uint32_t contact) {
    static bool *heard;
    if (!heard && !(heard = calloc(settings.accounts, settings.group))) fail("out of memory");
    uint32_t first = group_first(client->account);
    if (contact < first || contact - first >= settings.group)
        fail("a presence of another group: of account %u", contact);
    bool *mark = &heard[(size_t)client->account * settings.group + (contact - first)];
    bool before = *mark;
    *mark = true;
    return before;
}

// The text of an element without attributes; null if there is none.
static const char *text_of(
    const char *stanza, size_t count, const char *opening, const char *closing, size_t *length
) {
    const char *text = memmem(stanza, count, opening, strlen(opening));
    if (!text) return NULL;
    text += strlen(opening);
    // Servers escape angle brackets in texts.
    const char *last = stanza + count, *end = memchr(text, closing[0], (size_t)(last - text));
    if (!end || !starts(end, (size_t)(last - end), closing)) return NULL;
    *length = (size_t)(end - text);
    return text;
}

static void message_came(struct client *client, const char *stanza, size_t count) {
    size_t length;
    const char *text = text_of(stanza, count, "<body>", "</body>", &length);
    if (!text || has(stanza, count, "type='error'")) fail("unexpected: %.*s", (int)count, stanza);
    message_delivered(client, text, length);
}

static void iq_came(struct client *client, const char *stanza, size_t count) {
    if (has(stanza, count, "type='get'")) {
        // What asks whether the client is there, or has what it was sent.
        size_t length;
        const char *id = text_of(stanza, count, " id='", "'", &length);
        if (!id) fail("an iq without id: %.*s", (int)count, stanza);
        char out[256];
        int bytes = snprintf(out, sizeof out, "<iq type='result' id='%.*s'/>", (int)length, id);
        client_send(client, out, (size_t)bytes);
    } else if (!has(stanza, count, "type='result'")) {
        fail("unexpected: %.*s", (int)count, stanza);
    } else if (client->step == BOUND) {
        client_answered(client);
    } else {
        client->step = BOUND;
        client_ready(client);
    }
}

static void presence_came(struct client *client, const char *stanza, size_t count) {
    if (settings.messages > 0) return;
    // Its own attributes, so that no text is searched for them: the load must be faster than what
    // it measures.
    size_t tag = (size_t)((const char *)memchr(stanza, '>', count) - stanza);
    // Of contacts who have not come yet.
    if (has(stanza, tag, " type='unavailable'")) return;
    if (has(stanza, tag, " type='")) fail("unexpected: %.*s", (int)count, stanza);
    uint32_t sender = sender_of(stanza, tag);
    // A client hears of itself, too: that is not a delivery to a subscriber.
    if (sender == client->account) return;
    size_t length;
    const char *status = text_of(stanza, count, "<status>", "</status>", &length);
    if (status) {
        payload_delivered(client, status, length);
    } else if (is_repeated(client, sender)) {
        if (settings.driver != &ejabberd_driver)
            fail("a presence came once more: %.*s", (int)count, stanza);
    } else if (++client->heard == settings.group - 1) {
        client_subscribed(client);
    }
}

static void stanza_came(struct client *client, const char *stanza, size_t count) {
    if (starts(stanza, count, "<presence")) {
        presence_came(client, stanza, count);
    } else if (starts(stanza, count, "<stream:features")) {
        if (client->step == OPENED) authenticate(client);
        else bind_device(client);
    } else if (starts(stanza, count, "<success")) {
        client->step = REOPENED;
        open_stream(client);
    } else if (starts(stanza, count, "<iq")) {
        iq_came(client, stanza, count);
    } else if (starts(stanza, count, "<message")) {
        message_came(client, stanza, count);
    } else {
        fail("unexpected: %.*s", (int)count, stanza);
    }
}

// The end of the stanza that begins at `at`, or null. Servers escape angle brackets in texts and
// attributes, so tags can be found by them.
static const char *stanza_end(const char *at, const char *end) {
    int depth = 0;
    while (at < end && (at = memchr(at, '<', (size_t)(end - at)))) {
        const char *close = memchr(at, '>', (size_t)(end - at));
        if (!close) return NULL;
        if (at[1] == '/') depth--;
        else if (close[-1] != '/') depth++;
        at = close + 1;
        if (depth == 0) return at;
    }
    return NULL;
}

static size_t consume(struct client *client, const char *bytes, size_t count) {
    const char *at = bytes, *end = bytes + count;
    while (at < end) {
        const char *next;
        size_t left = (size_t)(end - at);
        if (starts(at, left, "<?xml") || starts(at, left, "<stream:stream")) {
            // Opens, and has its end with the connection's.
            const char *close = memchr(at, '>', left);
            if (!close) break;
            next = close + 1;
        } else {
            if (!(next = stanza_end(at, end))) break;
            stanza_came(client, at, (size_t)(next - at));
        }
        at = next;
    }
    return (size_t)(at - bytes);
}

const struct driver xmpp_driver = {"xmpp", false, begin, subscribe, publish, consume};
// The same clients, of our service.
const struct driver ours_xmpp_driver = {"ours-xmpp", false, begin, subscribe, publish, consume};
const struct driver ejabberd_driver = {"ejabberd", false, begin, subscribe, publish, consume};
