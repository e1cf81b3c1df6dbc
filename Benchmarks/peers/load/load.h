// The load program: one epoll loop that is a thousand clients of one server. What is common to
// all protocols (connections, the workload, its checks) knows a protocol only as a `struct
// driver`; a driver knows bytes, and reports what they mean through the functions below.

#ifndef LOAD_H
#define LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    NAME_BYTES = 8,         // "u" and seven digits.
    NUMBER_DIGITS = 10,     // Of an event, at the beginning of a payload …
    PUBLISHER_DIGITS = 7,   // … and of who published it, behind that.
    PAYLOAD_BYTES_MIN = NUMBER_DIGITS + PUBLISHER_DIGITS,
    PAYLOAD_BYTES_MAX = 8192,
    OUT_BYTES_MAX = 16384,
};

// A client: an account, by its number, and its connection.
struct client {
    int fd;
    uint32_t account;
    int step;               // A driver's own: how far the handshake is.
    uint32_t heard;         // A driver's own: what it has counted.
    uint32_t wants;         // The epoll events that are asked for.
    size_t left_bytes;      // The beginning of a message whose end has not come.
    size_t left_capacity;
    char *left;
    size_t unsent_bytes;    // What the socket did not take.
    char *unsent;
    struct ssl_st *tls;     // OpenSSL's; NULL without TLS.
};

struct driver {
    const char *name;
    // Whether a publish is answered; the next one then waits for the answer, too.
    bool answers_publish;
    // Sends the first bytes of a new connection, if the client speaks first.
    void (*begin)(struct client *);
    // Asks for the events of all others of the client's group.
    void (*subscribe)(struct client *);
    // Publishes event `number`.
    void (*publish)(struct client *, uint32_t number);
    // Takes whole messages and gives how many bytes they were.
    size_t (*consume)(struct client *, const char *bytes, size_t count);
};

extern const struct driver ours_driver, ours_ws_driver, uws_driver, redis_driver, mqtt_driver, nats_driver, xmpp_driver,
    ours_xmpp_driver, ejabberd_driver, floor_driver;

struct settings {
    const struct driver *driver;
    bool is_secure;
    uint16_t port;
    uint32_t accounts, group, window, payload_bytes;
    double single_seconds, saturated_seconds, patience_seconds;
    // Messages instead of events: how many each account sends in a cycle; 0 otherwise.
    uint32_t messages;
};

extern struct settings settings;
// What every peer carries; its first bytes are set for each event.
extern char payload[PAYLOAD_BYTES_MAX];

// What drivers report.
void client_ready(struct client *);
void client_subscribed(struct client *);
void client_answered(struct client *);
void event_delivered(struct client *, uint32_t publisher, uint32_t number);
// As above, where the payload says the rest.
void payload_delivered(struct client *, const char *bytes, size_t count);
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// As the two above, of a message that has waited.
void message_delivered(struct client *, const char *bytes, size_t count);

// What drivers use.
void client_send(struct client *, const char *bytes, size_t count);
void name_of(uint32_t account, char name[NAME_BYTES + 1]);
void payload_set(uint32_t publisher, uint32_t number);
uint32_t digits(const char *text, int count);
uint32_t group_first(uint32_t account);

// TLS (secure.c); without it, the plain calls. `secure_receive` may leave something behind that
// epoll does not know of.
void secure_begin(struct client *);
ssize_t secure_send(struct client *, const char *bytes, size_t count);
ssize_t secure_receive(struct client *, char *bytes, size_t count);
bool secure_has_more(struct client *);

// WebSocket (ws.c). `step` is 1 once it is open; before that, bytes are for `ws_opened`. Both
// functions that read give how many bytes they took.
void ws_begin(struct client *, const char *path);
size_t ws_opened(struct client *, const char *bytes, size_t count);
void ws_send(struct client *, const char *body, size_t count);
size_t ws_next(const char *bytes, size_t count, const char **body, size_t *body_count);

// Parts of a workload (load.c). `workload_turn` reads what has come, for at most so long, and fails
// where nothing has come for too long. `workload_report` has somebody else read the clocks.
void workload_connect(void);
void workload_turn(int wait_ms);
void workload_report(const char *phase, uint64_t delivered, uint32_t published, double seconds);
extern uint32_t answers_out;
// The workload of messages (messages.c), and what it does over XMPP (xmpp.c): sends the payload;
// asks for an answer, which comes when all that was sent before has been read; is sent from now
// on what waits, or nothing.
void messages_run(uint32_t cycles);
void xmpp_send_message(struct client *, uint32_t recipient);
void xmpp_ask(struct client *);
void xmpp_set_available(struct client *, bool);

// The account of what is on its way (check.c).
void check_begin(void);
void check_sent(uint32_t number, uint32_t publisher);
extern uint64_t deliveries, deliveries_out;

// The loop's other half: connections (clients.c).
extern struct client *clients;
void clients_connect(uint32_t account);
// Reads what has come, for at most so long.
void clients_turn(int wait_ms);
double seconds_now(void);

#endif
