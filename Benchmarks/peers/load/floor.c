// The client's side of the floor: eight bytes tell the server who publishes what, and what comes
// back is a payload behind four bytes.

#include "load.h"

#include <string.h>

enum { HEAD = 4, HELLO = 0xffffffff };

static void tell(struct client *client, uint32_t number) {
    uint32_t words[2] = {client->account, number};
    client_send(client, (const char *)words, sizeof words);
}

static void begin(struct client *client) { tell(client, HELLO); }

// Who watches whom the server knows by itself.
static void subscribe(struct client *client) { client_subscribed(client); }

static void publish(struct client *client, uint32_t number) { tell(client, number); }

static size_t consume(struct client *client, const char *bytes, size_t count) {
    if (client->step == 0) {
        client->step = 1;
        client_ready(client);
        return 1;
    }
    size_t used = 0, message = HEAD + settings.payload_bytes;
    for (; count - used >= message; used += message)
        payload_delivered(client, bytes + used + HEAD, settings.payload_bytes);
    return used;
}

const struct driver floor_driver = {"floor", false, begin, subscribe, publish, consume};
