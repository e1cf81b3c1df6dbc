"""A hundred thousand messages that wait while the service is killed, and stopped."""

import threading

from messages import mail
from support import Service, case, require, say

ACCOUNTS = 2_000
COUNT = 100_000
SENDERS = 4
# A sender has as many requests without an answer.
AHEAD = 64
# Accounts that take theirs after the kill, and after the stop.
SAMPLE = 100
# Of one sender's requests: how many have one recipient, ten, and a hundred.
SHARES = ((1, 5_000), (10, 500), (100, 150))
BODY = "%d: 今天的天气真好。"


def name(number):
    return "account-%04d" % (number % ACCOUNTS)


class Sender(threading.Thread):
    """An app server's connection that sends a share of the messages, pipelined.

    `sent` has the answered ones in order: the id, the body and the accounts.
    """

    def __init__(self, service, number):
        super().__init__(daemon=True)
        self.client, self.number = service.server(), number
        self.sent, self.fault = [], None

    def requests(self):
        """Bodies and accounts; all requests of all senders name each account as often."""
        place = serial = 0
        for size, count in SHARES:
            for _ in range(count):
                accounts = [name(self.number * ACCOUNTS // SENDERS + place + at)
                            for at in range(size)]
                yield BODY % (serial * SENDERS + self.number), accounts
                place += size
                serial += 1

    def run(self):
        open_ones = []
        try:
            for body, accounts in self.requests():
                number = self.client.send("send", {"accounts": accounts, "body": body})
                open_ones.append((number, body, accounts))
                if len(open_ones) == AHEAD:
                    self.accept(*open_ones.pop(0))
            for each in open_ones:
                self.accept(*each)
        except Exception as error:
            self.fault = error

    def accept(self, number, body, accounts):
        result = self.client.answer(number)
        require(result["recipients"] == len(accounts), "%s", result)
        self.sent.append((result["id"], body, accounts))


def send_all(service):
    """Sends all messages; returns for each account what waits for it, in order."""
    senders = [Sender(service, number) for number in range(SENDERS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join(300)
        require(sender.fault is None, "%s", sender.fault)
        require(not sender.is_alive(), "%d requests are answered in 300 s", len(sender.sent))
        ids = [id for id, _, _ in sender.sent]
        require(ids == sorted(set(ids)), "ids do not rise")
    due = {name(number): [] for number in range(ACCOUNTS)}
    for id, body, accounts in sorted(each for sender in senders for each in sender.sent):
        for account in accounts:
            due[account].append((id, body))
    require(sum(map(len, due.values())) == COUNT, "this test sends %d messages",
            sum(map(len, due.values())))
    require({len(found) for found in due.values()} == {COUNT // ACCOUNTS}, "not evenly")
    return due


def require_waiting(service, count):
    stats = service.server().ok("stats")
    require(stats["messagesWaiting"] == count, "%d messages wait, not %d",
            stats["messagesWaiting"], count)


def take_all(service, account, due):
    """An account logs in, and is sent what waits for it, once and in order."""
    client = service.login(account, messages=True)
    require(client.welcome["waiting"] == len(due), "%d messages wait for %s, not %d",
            client.welcome["waiting"], account, len(due))
    found = []
    while len(found) < len(due):
        new = mail(client, 1)
        client.ok("take", {"id": new[-1]["id"]})
        found += [(message["id"], message["body"]) for message in new]
    require(found == due, "%s is sent %s, not %s", account, found, due)
    client.ok("logout")
    client.close()


def discard_all(service, due):
    """What waits for each account is forgotten, and counted, pipelined."""
    server, accounts = service.server(), list(due)
    for at in range(0, len(accounts), AHEAD):
        numbers = [(account, server.send("discard", {"account": account}))
                   for account in accounts[at:at + AHEAD]]
        for account, number in numbers:
            count = server.answer(number)["discarded"]
            require(count == len(due[account]), "%d messages wait for %s, not %d", count, account,
                    len(due[account]))


@case("100,000 messages wait over kill -9 and a stop: all are counted, none is lost or sent again")
def waiting_messages():
    with Service("--rate-limits", "off") as service:
        # The second start: the database exists.
        service.stop()
        empty = service.start()
        bytes_empty = service.memory_kibibytes() << 10
        due = send_all(service)
        require_waiting(service, COUNT)
        bytes_sent = service.memory_kibibytes() << 10
        service.kill()
        full = service.start()
        bytes_full = service.memory_kibibytes() << 10
        require_waiting(service, COUNT)
        sample = [name(number * (ACCOUNTS // SAMPLE)) for number in range(SAMPLE)]
        for account in sample[:SAMPLE // 2]:
            take_all(service, account, due[account])
            due[account] = []
        left = sum(map(len, due.values()))
        require_waiting(service, left)
        service.stop()
        service.start()
        require_waiting(service, left)
        for account in sample:
            take_all(service, account, due[account])
            due[account] = []
        discard_all(service, due)
        require_waiting(service, 0)
        service.stop()
        service.start()
        require_waiting(service, 0)
        say("starts in %.2f s without messages, in %.2f s with them after kill -9; memory for each:"
            " %.0f bytes after sending, %.0f after the start", empty, full,
            (bytes_sent - bytes_empty) / COUNT, (bytes_full - bytes_empty) / COUNT)
