// The floor: the least that a server on sockets can do. It has no rules and no state. It knows the
// accounts of a fixed group by their numbers, and understands `login` and `publish` as the load
// tests write them (PresenceBench, Benchmarks/peers/load/ours.c). An event is written once and
// copied to each receiver, with one `write` per connection and turn of its loop: what it costs is
// what the kernel costs.

#define _GNU_SOURCE
#include "cbench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    HEAD = 4,
    NAME_BYTES = 8,
    EVENTS_MAX = 1024,
    IN_CAPACITY = 32 << 10,
    OUT_CAPACITY = 1 << 20,
    EVENT_BYTES_MAX = 16 << 10,
};

// A connection; `account` is known after its login.
struct member {
    bool is_here, is_blocked;
    uint32_t account;
    char name[NAME_BYTES];
    size_t held, waiting;
    char *in, *out;
};

static struct member *by_fd;
static int *fd_of;
static int *touched;
static uint32_t touched_count, accounts_max, group_size, event_bytes_min, published;
static int poll_fd;
static const char *fault_wanted;

static _Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...) {
    va_list words;
    va_start(words, format);
    fputs("floor: ", stderr);
    vfprintf(stderr, format, words);
    fputc('\n', stderr);
    exit(1);
}

static void watch(int fd, uint32_t events, int operation) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (epoll_ctl(poll_fd, operation, fd, &event) != 0) fail("epoll_ctl: %m");
}

static void append(int fd, const char *bytes, size_t count) {
    struct member *member = &by_fd[fd];
    if (member->waiting + count > OUT_CAPACITY) fail("a client does not read");
    if (member->waiting == 0) touched[touched_count++] = fd;
    memcpy(member->out + member->waiting, bytes, count);
    member->waiting += count;
}

static void put_head(char *frame, size_t body) {
    uint32_t head = htonl((uint32_t)body);
    memcpy(frame, &head, HEAD);
}

// Writes the event that the service would send, and spaces up to the size that is asked for.
static size_t put_event(char *frame, const struct member *publisher, unsigned long value) {
    char *at = frame + HEAD;
    at += sprintf(at, "{\"jsonrpc\":\"2.0\",\"method\":\"events\",\"params\":{\"events\":[");
    char *event = at;
    at += sprintf(
        at,
        "{\"type\":1,\"publisher\":\"%.*s\",\"value\":%lu,\"cause\":\"publish\","
        "\"id\":\"0000000100001\",\"seq\":%u,\"time\":1763700000000,\"client\":\"other\","
        "\"device\":\"d\",\"online\":[{\"client\":\"other\",\"device\":\"d\"}],"
        "\"status\":{\"value\":%lu,\"expires\":1763703600000}",
        NAME_BYTES, publisher->name, value, 1048576 + published, value);
    while (at - event + 1 < event_bytes_min) *at++ = ' ';
    at += sprintf(at, "}]}}");
    put_head(frame, (size_t)(at - frame) - HEAD);
    return (size_t)(at - frame);
}

static void publish(const struct member *publisher, unsigned long value) {
    enum { FAULTY = 10 };
    static char frame[EVENT_BYTES_MAX + 1024];
    bool is_faulty = ++published == FAULTY;
    size_t count = put_event(frame, publisher, value);
    uint32_t first = publisher->account - publisher->account % group_size;
    for (uint32_t other = first; other < first + group_size && other < accounts_max; other++) {
        if (other == publisher->account || fd_of[other] < 0) continue;
        bool is_tampered = is_faulty && other >= first + group_size / 2;
        if (!is_tampered || strcmp(fault_wanted, "lose") != 0) append(fd_of[other], frame, count);
        if (is_tampered && strcmp(fault_wanted, "double") == 0)
            append(fd_of[other], frame, count);
        is_faulty = is_faulty && !is_tampered;
    }
}

// What follows `word` in a request; fails if it does not occur.
static const char *after(const char *word, const char *body, size_t count) {
    const char *found = memmem(body, count, word, strlen(word));
    if (!found) fail("no %s in %.*s", word, (int)count, body);
    return found + strlen(word);
}

static void log_in(int fd, const char *name) {
    struct member *member = &by_fd[fd];
    memcpy(member->name, name, NAME_BYTES);
    // Letters of the run, then the number.
    while (*name >= 'a' && *name <= 'z') name++;
    member->account = (uint32_t)strtoul(name, NULL, 10);
    if (member->account >= accounts_max) fail("no such account: %u", member->account);
    member->is_here = true;
    fd_of[member->account] = fd;
}

static void answer(int fd, const char *body) {
    char frame[128];
    int count = sprintf(frame + HEAD, "%s", body);
    put_head(frame, (size_t)count);
    append(fd, frame, HEAD + (size_t)count);
}

// `body` is followed by a byte that is not a digit.
static void take(int fd, const char *body, size_t count) {
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":";
    static const char synced[] = "{\"jsonrpc\":\"2.0\",\"method\":\"synced\",\"params\":{\"count\":0}}";
    static const char login[] = "\"method\":\"login\"", publishing[] = "\"method\":\"publish\"";
    if (count < sizeof head || memcmp(body, head, sizeof head - 1) != 0) return;
    unsigned long id = strtoul(body + sizeof head - 1, NULL, 10);
    bool is_login = memmem(body, count, login, sizeof login - 1);
    if (is_login) log_in(fd, after("\"account\":\"", body, count));
    if (!is_login && memmem(body, count < 64 ? count : 64, publishing, sizeof publishing - 1)) {
        if (!by_fd[fd].is_here) fail("a publish before the login");
        publish(&by_fd[fd], strtoul(after("\"value\":", body, count), NULL, 10));
    }
    char result[64];
    sprintf(result, "%s%lu,\"result\":{}}", head, id);
    answer(fd, result);
    if (is_login) answer(fd, synced);
}

static void flush(int fd) {
    struct member *member = &by_fd[fd];
    ssize_t sent = write(fd, member->out, member->waiting);
    // A connection that is reset is closed when it is read.
    if (sent < 0) sent = errno == EAGAIN ? 0 : (ssize_t)member->waiting;
    member->waiting -= (size_t)sent;
    if (member->waiting > 0) memmove(member->out, member->out + sent, member->waiting);
    if ((member->waiting > 0) != member->is_blocked) {
        member->is_blocked = member->waiting > 0;
        watch(fd, member->is_blocked ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
    }
}

static void flush_touched(void) {
    for (uint32_t index = 0; index < touched_count; index++) {
        int fd = touched[index];
        if (!by_fd[fd].is_blocked && by_fd[fd].waiting > 0) flush(fd);
    }
    touched_count = 0;
}

static void accept_one(int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
    if (fd < 0) fail("accept: %m");
    if ((uint32_t)fd >= accounts_max + 64) fail("too many connections");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct member *member = &by_fd[fd];
    char *in = member->in ? member->in : malloc(IN_CAPACITY);
    char *out = member->out ? member->out : malloc(OUT_CAPACITY);
    if (!in || !out) fail("out of memory");
    *member = (struct member){.in = in, .out = out};
    watch(fd, EPOLLIN, EPOLL_CTL_ADD);
}

static void end(int fd) {
    struct member *member = &by_fd[fd];
    if (member->is_here) fd_of[member->account] = -1;
    member->is_here = false;
    member->waiting = 0;
    close(fd);
}

static void receive(int fd) {
    struct member *member = &by_fd[fd];
    ssize_t got = read(fd, member->in + member->held, IN_CAPACITY - member->held);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return end(fd);
    size_t count = member->held + (size_t)got, used = 0;
    while (count - used >= HEAD) {
        uint32_t body;
        memcpy(&body, member->in + used, HEAD);
        body = ntohl(body);
        if (body > IN_CAPACITY - HEAD) fail("a request of %u bytes", body);
        if (count - used < HEAD + body) break;
        take(fd, member->in + used + HEAD, body);
        used += HEAD + body;
    }
    member->held = count - used;
    memmove(member->in, member->in + used, member->held);
}

static int listen_somewhere(void) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0
        || listen(listener, 4096) != 0
        || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        fail("no listener: %m");
    printf("ready on 127.0.0.1:%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

void floor_serve(uint32_t accounts, uint32_t group, uint32_t event_bytes, const char *fault) {
    if (event_bytes > EVENT_BYTES_MAX) fail("an event has at most %d bytes", EVENT_BYTES_MAX);
    fault_wanted = fault;
    accounts_max = accounts;
    group_size = group;
    event_bytes_min = event_bytes;
    by_fd = calloc(accounts + 64, sizeof *by_fd);
    fd_of = malloc(accounts * sizeof *fd_of);
    touched = calloc(accounts + 64, sizeof *touched);
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!by_fd || !fd_of || !touched || poll_fd < 0) fail("cannot begin");
    for (uint32_t account = 0; account < accounts; account++) fd_of[account] = -1;
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
