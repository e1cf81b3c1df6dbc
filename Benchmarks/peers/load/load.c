// The workload: connect all, subscribe all, publish one event at a time, publish with a window.
//
//   load PROTOCOL[+tls] PORT ACCOUNTS GROUP WINDOW PAYLOAD SINGLE SATURATED PATIENCE
//
// The last three are seconds: of the two measurements, and without any delivery until those that
// are on their way count as lost.
//
// At the end of each phase, when nothing is on its way, it prints a line `PHASE DELIVERIES EVENTS
// SECONDS` and waits for a line on standard input: meanwhile somebody else can read the clocks
// and the memory of the server. A phase that is measured has a line at its beginning, too.

#include "load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HANDSHAKES_MAX = 100,   // At a time: a listener's queue is not what is measured.
    PUBLISHES_PER_TURN = 64,
};

struct settings settings;
char payload[PAYLOAD_BYTES_MAX];

uint32_t answers_out;
static uint32_t ready, subscribed, answered, events;
static uint32_t *order;

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "load: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

void name_of(uint32_t account, char name[NAME_BYTES + 1]) {
    snprintf(name, NAME_BYTES + 1, "u%07u", account % 10000000);
}

static void set_digits(char *text, int count, uint32_t number) {
    for (int digit = count - 1; digit >= 0; digit--) {
        text[digit] = (char)('0' + number % 10);
        number /= 10;
    }
}

void payload_set(uint32_t publisher, uint32_t number) {
    set_digits(payload, NUMBER_DIGITS, number);
    set_digits(payload + NUMBER_DIGITS, PUBLISHER_DIGITS, publisher);
}

uint32_t digits(const char *text, int count) {
    uint32_t number = 0;
    for (int digit = 0; digit < count; digit++) {
        if (text[digit] < '0' || text[digit] > '9') fail("no number: %.*s", count, text);
        number = number * 10 + (uint32_t)(text[digit] - '0');
    }
    return number;
}

uint32_t group_first(uint32_t account) { return account - account % settings.group; }

void client_ready(struct client *client) {
    (void)client;
    ready++;
}

void client_subscribed(struct client *client) {
    (void)client;
    subscribed++;
}

void client_answered(struct client *client) {
    (void)client;
    if (answers_out == 0) fail("an answer came that nobody waits for");
    answers_out--;
    answered++;
}

void workload_report(const char *phase, uint64_t delivered, uint32_t published, double seconds) {
    char line[16];
    printf("%s %llu %u %.6f\n", phase, (unsigned long long)delivered, published, seconds);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) exit(1);
}

// Fails where nothing has come for too long: waiting for what is lost would hide the loss.
void workload_turn(int wait_ms) {
    static double since;
    static uint64_t seen = UINT64_MAX;
    uint64_t progress = deliveries + ready + subscribed + answered;
    double now = seconds_now();
    if (progress != seen || (deliveries_out == 0 && answers_out == 0 && wait_ms == 0)) {
        seen = progress;
        since = now;
    } else if (now - since > settings.patience_seconds) {
        fail("nothing comes any more: %u ready, %u subscribed, %llu deliveries lost", ready,
             subscribed, (unsigned long long)deliveries_out);
    }
    clients_turn(wait_ms);
}

void workload_connect(void) {
    double begin = seconds_now();
    for (uint32_t begun = 0; ready < settings.accounts;) {
        while (begun < settings.accounts && begun - ready < HANDSHAKES_MAX)
            clients_connect(begun++);
        workload_turn(1000);
    }
    workload_report("connected", 0, 0, seconds_now() - begin);
}

static void subscribe_all(void) {
    double begin = seconds_now();
    for (uint32_t account = 0; account < settings.accounts; account++)
        settings.driver->subscribe(&clients[account]);
    while (subscribed < settings.accounts) workload_turn(1000);
    workload_report("subscribed", 0, 0, seconds_now() - begin);
}

// Neighbours are of different groups, so that a window is spread over all receivers.
static void shuffle(void) {
    order = malloc(settings.accounts * sizeof *order);
    if (!order) fail("out of memory");
    for (uint32_t index = 0; index < settings.accounts; index++) order[index] = index;
    uint64_t state = 42;
    for (uint32_t index = settings.accounts - 1; index > 0; index--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t other = (uint32_t)((state >> 33) % (index + 1)), account = order[index];
        order[index] = order[other];
        order[other] = account;
    }
}

static void publish_next(void) {
    uint32_t publisher = order[events % settings.accounts];
    check_sent(events, publisher);
    if (settings.driver->answers_publish) answers_out++;
    payload_set(publisher, events);
    settings.driver->publish(&clients[publisher], events++);
}

static void drain(void) {
    while (deliveries_out > 0 || answers_out > 0) workload_turn(1000);
}

static void publish_single(double seconds) {
    for (double end = seconds_now() + seconds; seconds_now() < end;) {
        publish_next();
        drain();
    }
}

static void publish_saturated(double seconds) {
    for (double end = seconds_now() + seconds; seconds_now() < end;) {
        for (int count = 0; count < PUBLISHES_PER_TURN; count++) {
            if (deliveries_out + settings.group - 1 > settings.window) break;
            publish_next();
        }
        workload_turn(1000);
    }
    drain();
}

static void measure(const char *name, void (*publish)(double), double seconds) {
    char phase[32];
    publish(seconds / 10);
    snprintf(phase, sizeof phase, "%s-begins", name);
    workload_report(phase, 0, 0, 0);
    uint64_t delivered = deliveries;
    uint32_t published = events;
    double begin = seconds_now();
    publish(seconds);
    // What would come twice has a moment to come.
    double took = seconds_now() - begin;
    workload_turn(10);
    workload_report(name, deliveries - delivered, events - published, took);
}

// What follows the protocol's name if its clients use TLS.
static const char tls_suffix[] = "+tls";

static bool is_secure(const char *name) {
    size_t count = strlen(name), suffix = strlen(tls_suffix);
    return count > suffix && strcmp(name + count - suffix, tls_suffix) == 0;
}

static const struct driver *driver_named(const char *name) {
    size_t count = strlen(name) - (is_secure(name) ? strlen(tls_suffix) : 0);
    static const struct driver *const all[] = {
        &ours_driver, &ours_ws_driver, &uws_driver, &redis_driver, &mqtt_driver, &nats_driver,
        &ours_xmpp_driver, &xmpp_driver, &ejabberd_driver, &floor_driver,
    };
    for (size_t index = 0; index < sizeof all / sizeof *all; index++)
        if (strlen(all[index]->name) == count && memcmp(all[index]->name, name, count) == 0)
            return all[index];
    fail("no such protocol: %s", name);
}

// `load messages PROTOCOL PORT ACCOUNTS EACH CYCLES PAYLOAD PATIENCE`, see messages.c.
static void read_messages(char **words) {
    settings = (struct settings){
        .driver = driver_named(words[2]), .port = (uint16_t)atoi(words[3]),
        .accounts = (uint32_t)atoi(words[4]), .group = (uint32_t)atoi(words[4]),
        .messages = (uint32_t)atoi(words[5]), .payload_bytes = (uint32_t)atoi(words[7]),
        .patience_seconds = atof(words[8]),
    };
    if (settings.driver != &xmpp_driver && settings.driver != &ours_xmpp_driver)
        fail("no messages over %s", words[2]);
    if (settings.messages == 0) fail("each account sends a message or more");
}

static void read_events(char **words) {
    settings = (struct settings){
        .driver = driver_named(words[1]), .is_secure = is_secure(words[1]),
        .port = (uint16_t)atoi(words[2]), .accounts = (uint32_t)atoi(words[3]),
        .group = (uint32_t)atoi(words[4]), .window = (uint32_t)atoi(words[5]),
        .payload_bytes = (uint32_t)atoi(words[6]), .single_seconds = atof(words[7]),
        .saturated_seconds = atof(words[8]), .patience_seconds = atof(words[9]),
    };
    if (settings.group < 2 || settings.accounts % settings.group != 0)
        fail("the accounts must be whole groups");
}

static void prepare(void) {
    if (settings.accounts < 2) fail("there are two accounts or more");
    if (settings.payload_bytes < PAYLOAD_BYTES_MIN || settings.payload_bytes > PAYLOAD_BYTES_MAX)
        fail("a payload has %d to %d bytes", PAYLOAD_BYTES_MIN, PAYLOAD_BYTES_MAX);
    memset(payload, 'x', sizeof payload);
    clients = calloc(settings.accounts, sizeof *clients);
    if (!clients) fail("out of memory");
}

int main(int count, char **words) {
    bool has_messages = count == 9 && strcmp(words[1], "messages") == 0;
    if (!has_messages && count != 10) fail("see load.c for what it takes");
    if (has_messages) {
        read_messages(words);
        prepare();
        messages_run((uint32_t)atoi(words[6]));
        return 0;
    }
    read_events(words);
    prepare();
    check_begin();
    shuffle();
    workload_connect();
    subscribe_all();
    measure("single", publish_single, settings.single_seconds);
    measure("saturated", publish_saturated, settings.saturated_seconds);
    return 0;
}
