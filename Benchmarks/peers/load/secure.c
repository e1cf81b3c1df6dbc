// TLS of clients, by OpenSSL: the same calls as `send` and `recv`, which take and give plaintext.
// The certificate is not checked: it was made for this run. All servers encrypt with the same suite,
// so that they are compared and not the suites.

#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

static SSL_CTX *context;

static void make_context(void) {
    context = SSL_CTX_new(TLS_client_method());
    if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION)
        || !SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256"))
        fail("no TLS");
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
}

void secure_begin(struct client *client) {
    if (!context) make_context();
    client->tls = SSL_new(context);
    if (!client->tls || !SSL_set_fd(client->tls, client->fd)) fail("out of memory");
    // The socket still blocks: this is not what is measured.
    if (SSL_connect(client->tls) != 1) fail("account %u: no handshake", client->account);
    int flags = fcntl(client->fd, F_GETFL);
    if (flags < 0 || fcntl(client->fd, F_SETFL, flags | O_NONBLOCK) < 0) fail("fcntl: %m");
}

static ssize_t outcome(struct client *client, int result) {
    switch (SSL_get_error(client->tls, result)) {
    case SSL_ERROR_NONE: return result;
    case SSL_ERROR_ZERO_RETURN: return 0;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: errno = EAGAIN; return -1;
    default: fail("account %u: TLS has failed", client->account);
    }
}

ssize_t secure_send(struct client *client, const char *bytes, size_t count) {
    if (!client->tls) return send(client->fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    return outcome(client, SSL_write(client->tls, bytes, (int)count));
}

ssize_t secure_receive(struct client *client, char *bytes, size_t count) {
    if (!client->tls) return recv(client->fd, bytes, count, MSG_DONTWAIT);
    size_t total = 0;
    // A call gives the content of one record.
    while (total < count) {
        ssize_t got = outcome(
            client, SSL_read(client->tls, bytes + total, (int)(count - total)));
        if (got <= 0) return total > 0 ? (ssize_t)total : got;
        total += (size_t)got;
    }
    return (ssize_t)total;
}

bool secure_has_more(struct client *client) {
    return client->tls && SSL_has_pending(client->tls);
}
