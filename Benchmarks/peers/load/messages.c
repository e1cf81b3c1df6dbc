// The workload of messages: accounts in a ring, each of which sends messages to the next one.
//
// In a cycle all are away (connected, but not available), and send; the server stores what they
// send. Then all become available, and are sent what waits for them. No message may come before, and
// those of a recipient must come in order, without gaps: so none is lost, doubled or overtaken.
//
// When the server and its disk have had a moment, it prints `stored MESSAGES 0 SECONDS`, `delivered
// MESSAGES 0 SECONDS`, and before both `cycle-begins`, as load.c does for its phases.
//
// At the end all go away and come back once more: what was sent must not be sent again.

#include "load.h"

#include <stdlib.h>

enum {
    SENDS_PER_TURN = 64,
    // So long a server may write in the background what it has already answered.
    REST_MS = 1000,
};

// By recipient: the numbers of the next message that it is sent, and that it gets.
static uint32_t *next_sent, *next_got;

void message_delivered(struct client *client, const char *bytes, size_t count) {
    if (count != settings.payload_bytes) fail("a message of %zu bytes came", count);
    uint32_t sender = digits(bytes + NUMBER_DIGITS, PUBLISHER_DIGITS);
    uint32_t number = digits(bytes, NUMBER_DIGITS), due = next_got[client->account];
    if ((sender + 1) % settings.accounts != client->account)
        fail("account %u got a message of %u", client->account, sender);
    if (number >= next_sent[client->account])
        fail("account %u got message %u, which was never sent", client->account, number);
    if (number < due) fail("account %u got message %u once more", client->account, number);
    if (number > due) fail("account %u got message %u, not %u", client->account, number, due);
    if (deliveries_out == 0) fail("account %u got a message while it was away", client->account);
    next_got[client->account]++;
    deliveries++;
    deliveries_out--;
}

static void rest(void) {
    for (double end = seconds_now() + REST_MS / 1000.0; seconds_now() < end;) workload_turn(10);
    // Patience begins here, not before the rest.
    workload_turn(0);
}

static void set_available(bool is_available) {
    for (uint32_t account = 0; account < settings.accounts; account++)
        xmpp_set_available(&clients[account], is_available);
}

static void wait_for_answers(void) {
    for (uint32_t account = 0; account < settings.accounts; account++) {
        answers_out++;
        xmpp_ask(&clients[account]);
    }
    while (answers_out > 0) workload_turn(1000);
}

static void send_all(void) {
    uint32_t sent = 0;
    for (uint32_t number = 0; number < settings.messages; number++) {
        for (uint32_t account = 0; account < settings.accounts; account++) {
            uint32_t recipient = (account + 1) % settings.accounts;
            payload_set(account, next_sent[recipient]++);
            xmpp_send_message(&clients[account], recipient);
            if (++sent % SENDS_PER_TURN == 0) workload_turn(0);
        }
    }
    wait_for_answers();
}

static void cycle(void) {
    uint64_t count = (uint64_t)settings.accounts * settings.messages;
    double begin = seconds_now();
    workload_report("cycle-begins", 0, 0, 0);
    send_all();
    rest();
    workload_report("stored", count, 0, seconds_now() - begin);
    begin = seconds_now();
    deliveries_out = count;
    set_available(true);
    while (deliveries_out > 0) workload_turn(1000);
    rest();
    workload_report("delivered", count, 0, seconds_now() - begin);
    set_available(false);
    wait_for_answers();
}

void messages_run(uint32_t cycles) {
    next_sent = calloc(settings.accounts, sizeof *next_sent);
    next_got = calloc(settings.accounts, sizeof *next_got);
    if (!next_sent || !next_got) fail("out of memory");
    workload_connect();
    for (uint32_t number = 0; number < cycles; number++) cycle();
    set_available(true);
    wait_for_answers();
    rest();
}
