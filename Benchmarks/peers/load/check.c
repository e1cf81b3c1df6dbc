// A figure without a check is not believed. An event has a countdown of its deliveries, and what
// a client gets of one publisher must rise: a countdown that ends at zero with rising numbers at
// every client leaves room for no loss and no double.

#include "load.h"

#include <stdlib.h>

enum { FLIGHTS = 1 << 16 };

struct flight {
    uint32_t number, publisher, left;
};

uint64_t deliveries, deliveries_out;
static struct flight flights[FLIGHTS];
// The number of the newest event that a client has of each member of its group, plus one.
static uint32_t *newest;

void check_begin(void) {
    newest = calloc((size_t)settings.accounts * settings.group, sizeof *newest);
    if (!newest) fail("out of memory");
}

void check_sent(uint32_t number, uint32_t publisher) {
    struct flight *flight = &flights[number % FLIGHTS];
    if (flight->left > 0) fail("event %u has not come everywhere for very long", flight->number);
    *flight = (struct flight){number, publisher, settings.group - 1};
    deliveries_out += settings.group - 1;
}

void event_delivered(struct client *client, uint32_t publisher, uint32_t number) {
    struct flight *flight = &flights[number % FLIGHTS];
    if (flight->number != number || flight->publisher != publisher || flight->left == 0)
        fail("event %u of %u came once more, or was never sent", number, publisher);
    uint32_t first = group_first(client->account);
    if (publisher < first || publisher >= first + settings.group || publisher == client->account)
        fail("account %u got an event of %u", client->account, publisher);
    uint32_t *last = &newest[(size_t)client->account * settings.group + publisher - first];
    if (*last > number)
        fail("account %u got event %u behind event %u", client->account, number, *last - 1);
    *last = number + 1;
    flight->left--;
    deliveries_out--;
    deliveries++;
}

void payload_delivered(struct client *client, const char *bytes, size_t count) {
    if (count != settings.payload_bytes) fail("a payload of %zu bytes came", count);
    event_delivered(
        client, digits(bytes + NUMBER_DIGITS, PUBLISHER_DIGITS), digits(bytes, NUMBER_DIGITS));
}
