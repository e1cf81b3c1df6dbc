// WebSocket (RFC 6455), as far as a load needs it: the handshake, whole text messages, no controls.

#include "load.h"

#include <stdio.h>
#include <string.h>

void ws_begin(struct client *client, const char *path) {
    char request[256];
    int count = snprintf(
        request, sizeof request,
        "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        path);
    client_send(client, request, (size_t)count);
}

size_t ws_opened(struct client *client, const char *bytes, size_t count) {
    const char *end = memmem(bytes, count, "\r\n\r\n", 4);
    if (!end) return 0;
    if (memcmp(bytes, "HTTP/1.1 101", 12) != 0) fail("rejected: %.*s", (int)count, bytes);
    client->step = 1;
    return (size_t)(end - bytes) + 4;
}

void ws_send(struct client *client, const char *body, size_t count) {
    static char frame[OUT_BYTES_MAX + 16];
    size_t head = 0;
    frame[head++] = (char)0x81;
    if (count > OUT_BYTES_MAX) fail("a message of %zu bytes", count);
    if (count < 126) {
        frame[head++] = (char)(0x80 | count);
    } else {
        frame[head++] = (char)(0x80 | 126);
        frame[head++] = (char)(count >> 8);
        frame[head++] = (char)count;
    }
    // A masking key of zeros leaves the body as it is.
    memset(frame + head, 0, 4);
    head += 4;
    memcpy(frame + head, body, count);
    client_send(client, frame, head + count);
}

size_t ws_next(const char *bytes, size_t count, const char **body, size_t *body_count) {
    const unsigned char *at = (const unsigned char *)bytes;
    if (count < 2) return 0;
    if (at[0] != 0x81) fail("a frame that begins with %02x", at[0]);
    size_t head = 2, length = at[1];
    if (length == 126) {
        if (count < 4) return 0;
        head = 4;
        length = (size_t)at[2] << 8 | at[3];
    } else if (length == 127) {
        if (count < 10) return 0;
        head = 10;
        length = 0;
        for (int byte = 2; byte < 10; byte++) length = length << 8 | at[byte];
    }
    if (count - head < length || count < head) return 0;
    *body = bytes + head;
    *body_count = length;
    return head + length;
}
