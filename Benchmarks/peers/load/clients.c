// Connections. A client owns no buffer while nothing of it is halfway: all read into one.

#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 256 * 1024, EVENTS_MAX = 1024 };

struct client *clients;
static int poll_fd = -1;
static char buffer[READ_BYTES];

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void want(struct client *client, uint32_t events, int operation) {
    struct epoll_event event = {.events = events, .data.u32 = client->account};
    if (epoll_ctl(poll_fd, operation, client->fd, &event) != 0) fail("epoll_ctl: %m");
    client->wants = events;
}

void clients_connect(uint32_t account) {
    if (poll_fd < 0 && (poll_fd = epoll_create1(0)) < 0) fail("epoll_create1: %m");
    struct client *client = &clients[account];
    client->account = account;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0) fail("socket: %m");
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(settings.port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    if (connect(client->fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail("connect: %m");
    int on = 1;
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (settings.is_secure) secure_begin(client);
    want(client, EPOLLIN, EPOLL_CTL_ADD);
    settings.driver->begin(client);
}

void client_send(struct client *client, const char *bytes, size_t count) {
    ssize_t sent = 0;
    if (client->unsent_bytes == 0) {
        sent = secure_send(client, bytes, count);
        if (sent < 0 && errno != EAGAIN) fail("send: %m");
        if (sent < 0) sent = 0;
        if ((size_t)sent == count) return;
        want(client, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
    }
    size_t rest = count - (size_t)sent;
    client->unsent = realloc(client->unsent, client->unsent_bytes + rest);
    if (!client->unsent) fail("out of memory");
    memcpy(client->unsent + client->unsent_bytes, bytes + sent, rest);
    client->unsent_bytes += rest;
}

static void send_rest(struct client *client) {
    ssize_t sent = secure_send(client, client->unsent, client->unsent_bytes);
    if (sent < 0 && errno != EAGAIN) fail("send: %m");
    if (sent <= 0) return;
    client->unsent_bytes -= (size_t)sent;
    memmove(client->unsent, client->unsent + sent, client->unsent_bytes);
    if (client->unsent_bytes == 0) want(client, EPOLLIN, EPOLL_CTL_MOD);
}

static void keep(struct client *client, const char *bytes, size_t count) {
    if (count > client->left_capacity) {
        client->left_capacity = count < 1024 ? 1024 : count;
        free(client->left);
        if (!(client->left = malloc(client->left_capacity))) fail("out of memory");
    }
    if (count > 0) memcpy(client->left, bytes, count);
    client->left_bytes = count;
}

static void receive(struct client *client) {
    size_t count = client->left_bytes;
    if (count == READ_BYTES) fail("account %u gets a message without end", client->account);
    if (count > 0) memcpy(buffer, client->left, count);
    ssize_t got = secure_receive(client, buffer + count, READ_BYTES - count);
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0) fail("account %u: recv: %m", client->account);
    if (got == 0) fail("the server has closed the connection of account %u", client->account);
    count += (size_t)got;
    size_t used = 0;
    // A handshake may change what the bytes behind it mean, so a driver may take less than all.
    while (used < count) {
        size_t taken = settings.driver->consume(client, buffer + used, count - used);
        if (taken == 0) break;
        used += taken;
    }
    keep(client, buffer + used, count - used);
}

void clients_turn(int wait_ms) {
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(poll_fd, events, EVENTS_MAX, wait_ms);
    if (count < 0 && errno != EINTR) fail("epoll_wait: %m");
    for (int index = 0; index < count; index++) {
        struct client *client = &clients[events[index].data.u32];
        if (events[index].events & EPOLLOUT) send_rest(client);
        if (!(events[index].events & ~(uint32_t)EPOLLOUT)) continue;
        do receive(client);
        while (secure_has_more(client));
    }
}
