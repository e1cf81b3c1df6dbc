// The floor: the least that a server on sockets can do. It knows no names, no protocol and no
// state. Ready-made bytes go to a fixed group, with one write a connection and turn of its loop;
// what it costs is what the kernel costs.

#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD = 4, EVENTS_MAX = 1024, OUT_CAPACITY = 1 << 20 };

// A connection; `account` is known from its first eight bytes on.
struct member {
    bool is_here, is_blocked;
    uint32_t account;
    size_t waiting;
    char *out;
};

static struct member *by_fd;
static int *fd_of;
static uint32_t *touched, touched_count;
static uint32_t accounts_max, group_size, message_bytes;
static char message[HEAD + PAYLOAD_BYTES_MAX];
static int poll_fd;
// A delivery that is lost or doubled, to see that the load's checks see it.
static const char *fault_wanted;
static uint32_t published;

static void watch(int fd, uint32_t events, int operation) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (epoll_ctl(poll_fd, operation, fd, &event) != 0) fail("floor: epoll_ctl: %m");
}

static void put_digits(char *text, int count, uint32_t number) {
    for (int digit = count - 1; digit >= 0; digit--, number /= 10)
        text[digit] = (char)('0' + number % 10);
}

static void deliver(uint32_t account) {
    struct member *member = &by_fd[fd_of[account]];
    if (member->waiting + message_bytes > OUT_CAPACITY) fail("floor: a client does not read");
    if (member->waiting == 0) touched[touched_count++] = account;
    memcpy(member->out + member->waiting, message, message_bytes);
    member->waiting += message_bytes;
}

static void publish(uint32_t publisher, uint32_t number) {
    enum { FAULTY = 10 };
    bool is_faulty = ++published == FAULTY;
    put_digits(message + HEAD, NUMBER_DIGITS, number);
    put_digits(message + HEAD + NUMBER_DIGITS, PUBLISHER_DIGITS, publisher);
    uint32_t first = publisher - publisher % group_size;
    for (uint32_t other = first; other < first + group_size; other++) {
        if (other == publisher) continue;
        bool is_tampered = is_faulty && other >= first + group_size / 2;
        if (!is_tampered || strcmp(fault_wanted, "lose") != 0) deliver(other);
        if (is_tampered && strcmp(fault_wanted, "double") == 0) deliver(other);
        is_faulty = is_faulty && !is_tampered;
    }
}

static void flush(int fd) {
    struct member *member = &by_fd[fd];
    ssize_t sent = write(fd, member->out, member->waiting);
    if (sent < 0 && errno != EAGAIN) fail("floor: write: %m");
    if (sent < 0) sent = 0;
    member->waiting -= (size_t)sent;
    if (member->waiting > 0) memmove(member->out, member->out + sent, member->waiting);
    if ((member->waiting > 0) != member->is_blocked) {
        member->is_blocked = member->waiting > 0;
        watch(fd, member->is_blocked ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
    }
}

static void flush_touched(void) {
    for (uint32_t index = 0; index < touched_count; index++) {
        int fd = fd_of[touched[index]];
        if (!by_fd[fd].is_blocked) flush(fd);
    }
    touched_count = 0;
}

static void accept_one(int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
    if (fd < 0) fail("floor: accept: %m");
    if ((uint32_t)fd >= accounts_max + 64) fail("floor: too many connections");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!by_fd[fd].out && !(by_fd[fd].out = malloc(OUT_CAPACITY))) fail("floor: out of memory");
    watch(fd, EPOLLIN, EPOLL_CTL_ADD);
}

static void receive(int fd) {
    // Eight bytes are sent at once, and read as they were sent: nothing is ever halfway.
    uint32_t words[2 * 512];
    ssize_t got = read(fd, words, sizeof words);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) exit(0);
    if (got % 8 != 0) fail("floor: half a message");
    for (ssize_t at = 0; at < got / 4; at += 2) {
        if (words[at] >= accounts_max) fail("floor: no such account");
        if (by_fd[fd].is_here) {
            publish(words[at], words[at + 1]);
            continue;
        }
        by_fd[fd].is_here = true;
        fd_of[words[at]] = fd;
        if (write(fd, "", 1) != 1) fail("floor: write: %m");
    }
}

static int listen_somewhere(void) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0
        || listen(listener, 4096) != 0
        || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        fail("floor: no listener: %m");
    printf("ready on 127.0.0.1:%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

int floor_serve(
    uint32_t accounts, uint32_t group, uint32_t payload_bytes, const char *fault) {
    fault_wanted = fault;
    accounts_max = accounts;
    group_size = group;
    message_bytes = HEAD + payload_bytes;
    by_fd = calloc(accounts + 64, sizeof *by_fd);
    fd_of = calloc(accounts, sizeof *fd_of);
    touched = calloc(accounts, sizeof *touched);
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!by_fd || !fd_of || !touched || poll_fd < 0) fail("floor: cannot begin");
    memset(message, 'x', sizeof message);
    memcpy(message, &payload_bytes, HEAD);
    int listener = listen_somewhere();
    watch(listener, EPOLLIN, EPOLL_CTL_ADD);
    for (;;) {
        struct epoll_event events[EVENTS_MAX];
        int count = epoll_wait(poll_fd, events, EVENTS_MAX, -1);
        for (int index = 0; index < count; index++) {
            int fd = events[index].data.fd;
            if (fd == listener) {
                accept_one(listener);
            } else {
                if (events[index].events & EPOLLOUT) flush(fd);
                if (events[index].events & ~(uint32_t)EPOLLOUT) receive(fd);
            }
        }
        flush_touched();
    }
}
