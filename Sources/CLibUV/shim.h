// What Swift cannot say about libuv: upcasts, the two `data` fields, socket addresses.
// Everything is static inline, so that this stays a header and a module map.
#pragma once
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <uv.h>

// Upcasts: libuv's handles begin with their base's fields, in C a matter of a cast.
static inline uv_handle_t *cuv_tcp_handle(uv_tcp_t *tcp) { return (uv_handle_t *)tcp; }
static inline uv_stream_t *cuv_tcp_stream(uv_tcp_t *tcp) { return (uv_stream_t *)tcp; }
static inline uv_handle_t *cuv_timer_handle(uv_timer_t *timer) { return (uv_handle_t *)timer; }
static inline uv_handle_t *cuv_poll_handle(uv_poll_t *poll) { return (uv_handle_t *)poll; }
static inline uv_handle_t *cuv_signal_handle(uv_signal_t *s) { return (uv_handle_t *)s; }
static inline uv_handle_t *cuv_prepare_handle(uv_prepare_t *p) { return (uv_handle_t *)p; }

// The loop's `data` is its owner; a stream's `data` is its slot number, not a pointer.
static inline void *cuv_owner(const void *handle) {
    return ((const uv_handle_t *)handle)->loop->data;
}
static inline uint32_t cuv_slot(const void *stream) {
    return (uint32_t)(uintptr_t)((const uv_handle_t *)stream)->data;
}
static inline void cuv_set_slot(uv_tcp_t *tcp, uint32_t slot) {
    tcp->data = (void *)(uintptr_t)slot;
}

// Socket addresses: numeric IPv4 or IPv6 only, never a name to be resolved.
static inline int cuv_parse_address(
    const char *host, uint16_t port, struct sockaddr_storage *address, socklen_t *length) {
    *length = sizeof(struct sockaddr_in);
    if (uv_ip4_addr(host, port, (struct sockaddr_in *)address) == 0) return 0;
    *length = sizeof(struct sockaddr_in6);
    return uv_ip6_addr(host, port, (struct sockaddr_in6 *)address);
}
static inline struct sockaddr *cuv_sockaddr(struct sockaddr_storage *address) {
    return (struct sockaddr *)address;
}
// The port stands at the same place in sockaddr_in and sockaddr_in6 (RFC 3493, 3.3).
static inline uint16_t cuv_port(const struct sockaddr_storage *address) {
    return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

// accept4 is a Linux extension that the C module for Swift does not show.
extern int accept4(int, struct sockaddr *, socklen_t *, int);
static inline int cuv_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
static inline int cuv_listening_socket(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
}
static inline int cuv_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
// The port is chosen by connect, which knows the peer, and not by bind.
static inline int cuv_connecting_socket(int family) {
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    int on = 1;
    if (fd >= 0) setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    return fd;
}
static inline int cuv_set_option(int fd, int level, int name, int value) {
    return setsockopt(fd, level, name, &value, sizeof value);
}

// The calls for processors are Linux extensions, too: a mask of bits, here of 1,024.
extern int sched_getaffinity(int, size_t, void *);
extern int sched_setaffinity(int, size_t, const void *);
static inline int cuv_may_run_on(int processor) {
    unsigned char mask[128] = {0};
    if (processor < 0 || processor >= 1024) return 0;
    if (sched_getaffinity(0, sizeof mask, mask) < 0) return 0;
    return mask[processor / 8] >> (processor % 8) & 1;
}
static inline int cuv_pin(int process, int processor) {
    unsigned char mask[128] = {0};
    if (processor < 0 || processor >= 1024) { errno = EINVAL; return -1; }
    mask[processor / 8] = (unsigned char)(1 << (processor % 8));
    return sched_setaffinity(process, sizeof mask, mask);
}

// For a child: it closes what it has inherited, from this descriptor on.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
static inline int cuv_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// Threads: the name of the calling one, its CPU time, and waiting for the end of another one.
static inline void cuv_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline uint64_t cuv_thread_microseconds(void) {
    struct timespec used;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) return 0;
    return (uint64_t)used.tv_sec * 1000000 + (uint64_t)used.tv_nsec / 1000;
}
static inline int cuv_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int failure = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return failure;
}
// The time is one of uv_hrtime.
static inline int cuv_condition_wait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t end) {
    struct timespec time = {(time_t)(end / 1000000000), (long)(end % 1000000000)};
    return pthread_cond_timedwait(condition, mutex, &time);
}

// What has become of the bytes of a TCP socket. glibc's tcp_info ends before tcpi_bytes_acked, and
// linux/tcp.h cannot be included beside netinet/tcp.h: hence the place of that member. The two
// numbers are of one moment, if nothing was acknowledged between the calls.
static inline int cuv_tcp_delivery(
    int socket, uint64_t *handed, uint64_t *acknowledged, uint32_t *milliseconds) {
    union {
        struct tcp_info known;
        uint8_t bytes[256];
    } info;
    enum { ACKNOWLEDGED_AT = 120 };
    uint64_t before = UINT64_MAX;
    int unacknowledged = 0;
    for (int attempt = 0; attempt < 8; attempt++) {
        socklen_t length = sizeof info;
        if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
        if (length < ACKNOWLEDGED_AT + sizeof *acknowledged) return -1;
        memcpy(acknowledged, info.bytes + ACKNOWLEDGED_AT, sizeof *acknowledged);
        if (*acknowledged == before) {
            *handed = *acknowledged + (uint64_t)unacknowledged;
            *milliseconds = info.known.tcpi_last_ack_recv;
            return 0;
        }
        before = *acknowledged;
        if (ioctl(socket, SIOCOUTQ, &unacknowledged) != 0 || unacknowledged < 0) return -1;
    }
    return -1;
}
