"""Messages while the service is killed, its disk is full or stalls, and a loop is stalled."""

import os
import random
import signal
import threading
import time

from disk import fill
from loops import answers, held, threads
from support import WAIT, Closed, Rejected, Service, case, require, say, small_disk, stalled_disk


def mail(client, count):
    """The next messages that a client is sent, at least `count`."""
    while len(client.messages) < count:
        client.take()
    out, client.messages = client.messages, []
    return out


def post(client, account, body="x"):
    return client.ok("send", {"accounts": [account], "body": body})["id"]


class Reader(threading.Thread):
    """An account that takes whatever it is sent, and notes what it was answered.

    `first` are the messages that waited when it came, `open` those of a take that was not answered:
    they may be taken or not.
    """

    def __init__(self, service, account):
        super().__init__(daemon=True)
        self.client = service.login(account, messages=True)
        self.taken, self.open, self.fault = [], [], None
        while len(self.taken) < self.client.welcome["waiting"]:
            self.accept(mail(self.client, 1))
        self.first = list(self.taken)

    def accept(self, messages):
        self.open = [message["id"] for message in messages]
        self.client.ok("take", {"id": self.open[-1]})
        self.taken += self.open
        self.open = []

    def run(self):
        try:
            while True:
                self.accept(mail(self.client, 1))
        except (Closed, OSError):
            pass
        except (Rejected, TimeoutError) as error:
            self.fault = "%s" % (error or type(error).__name__)


class Sender(threading.Thread):
    """Sends to the readers without pause, and notes what was answered.

    The store writes in order. So what was taken before a send began is no longer there once that
    send is answered: `sure` has how many of what each reader has taken.
    """

    def __init__(self, service, number, readers, seed):
        super().__init__(daemon=True)
        self.client = service.login("sender-%d" % number)
        self.readers = readers
        self.random = random.Random(seed)
        self.sent = {name: [] for name in readers}
        self.sure = dict.fromkeys(readers, 0)
        self.fault = None

    def run(self):
        try:
            while True:
                names = self.random.sample(sorted(self.readers), self.random.randrange(1, 3))
                taken = {name: len(reader.taken) for name, reader in self.readers.items()}
                id = self.client.ok("send", {
                    "accounts": names, "body": "x" * self.random.choice((1, 4000))})["id"]
                for name in names:
                    self.sent[name].append(id)
                self.sure = taken
        except (Closed, OSError):
            pass
        except Rejected as error:
            # Takes do not keep up.
            if error.reason not in ("inbox_full", "sender_quota"):
                self.fault = "%s" % error


def join(workers):
    for worker in workers:
        worker.join(10)
        require(worker.fault is None, "%s", worker.fault)


@case("kill -9 while messages are sent and taken: none is lost, only the last taken come again",
      quick=True)
def kill_9_messages():
    seeds = random.Random(5)
    names = ("li", "ww", "zh")
    due = {name: set() for name in names}   # answered, and not known to be taken
    taken = {name: [] for name in names}    # in the round before, in order
    sure = dict.fromkeys(names, 0)
    count = again = 0
    with Service("--rate-limits", "off", start=False,
                 env={"PORCHLIGHT_MESSAGES_PER_ACCOUNT_MAX": "1000"}) as service:
        for round in range(6):
            service.start()
            readers = {name: Reader(service, name) for name in names}
            for name, reader in readers.items():
                found = reader.first
                require(found == sorted(set(found)), "%s is sent %s", name, found)
                require(due[name] <= set(found), "lost by %s: %s", name, due[name] - set(found))
                repeated = [id for id in taken[name] if id in set(found)]
                require(repeated == taken[name][len(taken[name]) - len(repeated):],
                        "%s is sent again %s of %s", name, repeated, taken[name])
                require(len(taken[name]) - len(repeated) >= sure[name],
                        "%s is sent again %d of %d, of which %d were gone", name, len(repeated),
                        len(taken[name]), sure[name])
                again += len(repeated)
            senders = [Sender(service, number, readers, seeds.random()) for number in range(3)]
            for worker in [*readers.values(), *senders]:
                worker.start()
            time.sleep(seeds.uniform(0.05, 0.5))
            service.kill()
            join([*readers.values(), *senders])
            for name, reader in readers.items():
                taken[name] = reader.taken
                sure[name] = max(sender.sure[name] for sender in senders)
                sent = {id for sender in senders for id in sender.sent[name]}
                due[name] = (due[name] | sent) - set(reader.taken + reader.open)
                count += len(sent)
        service.start()
        for name in names:
            found = set(Reader(service, name).first)
            require(due[name] <= found, "lost by %s: %s", name, due[name] - found)
    require(count > 30, "hardly anything was sent: %d", count)
    say("6 rounds: %d messages answered, %d taken ones came again", count, again)


@case("the disk is full: messages are rejected with 503, none is lost, they are sent again after it",
      quick=True)
def disk_full_messages():
    with small_disk(6) as disk:
        with Service("--rate-limits", "off", data=os.path.join(disk, "data")) as service:
            zs, li = service.login("zs"), service.login("li", messages=True)
            old = post(zs, "li", "taken")
            require([m["id"] for m in mail(li, 1)] == [old], "another message")
            li.ok("take", {"id": old})
            due = [post(zs, "li", "before")]
            ballast = fill(disk)
            rejected = 0
            for number in range(90):
                try:
                    due.append(post(zs, "li", "x" * 40000))
                except Rejected as error:
                    require((error.code, error.reason) == (503, "store_unavailable"), "%s", error)
                    rejected += 1
                    if rejected == 5:
                        break
            require(rejected, "90 messages found space on a full disk")
            # What was answered is read and handed out, as far as the window has room.
            seen = [m["id"] for m in mail(li, 1)]
            require(seen == due[:len(seen)], "%s, not %s", seen, due)
            os.unlink(ballast)
            begin = time.monotonic()
            while True:
                try:
                    due.append(post(zs, "li", "after"))
                    break
                except Rejected as error:
                    require(error.reason == "store_unavailable", "%s", error)
                    require(time.monotonic() - begin < WAIT, "no recovery")
                    time.sleep(0.05)
            took = time.monotonic() - begin
            service.kill()
            service.start()
            li = service.login("li", messages=True)
            found = []
            while len(found) < len(due):
                new = mail(li, 1)
                li.ok("take", {"id": new[-1]["id"]})
                found += [message["id"] for message in new]
            require(found == due, "%s, not %s", found, due)
            say("%d answered, then 503; messages are taken again %.2f s after there was space",
                len(due) - 1, took)


@case("a connection loop is stalled: messages for its clients are stored, and sent after it",
      quick=True)
def loop_stalled_messages():
    with Service("--rate-limits", "off", "--loops", "3") as service:
        readers = [service.login("r%d" % n, messages=True) for n in range(6)]
        senders = [service.login("s%d" % n) for n in range(3)]
        with held(threads(service)["loop 1"]):
            silent = [client for client in readers if not answers(client, 0.3)]
            require(len(silent) == 2, "%d of 6 readers are not answered", len(silent))
            zs = next(client for client in senders if answers(client, 0.3))
            # More than a session is sent at once, and no more than one stranger may leave.
            sent = {client: [post(zs, client.account, "x" * 4000) for _ in range(25)]
                    for client in readers}
            for client in readers:
                if client not in silent:
                    take_all(client, sent[client])
        for client in silent:
            take_all(client, sent[client])
        say("%d messages for 2 clients of the stalled loop", sum(len(sent[c]) for c in silent))


def take_all(client, due):
    found = []
    while len(found) < len(due):
        new = mail(client, 1)
        found += [message["id"] for message in new]
        left = client.ok("take", {"id": new[-1]["id"]})["waiting"]
    require(found == due and left == 0, "%s is sent %s, not %s", client.account, found, due)


def ask(senders, readers, count):
    """Has each sender send to all readers, without waiting for answers; request numbers by sender.

    The body of a message is `SENDER NUMBER`, and some text, so that it names its request.
    """
    asked = {client: [] for client in senders}
    names = [client.account for client in readers]
    for number in range(count):
        for client in senders:
            body = "%s %d %s" % (client.account, number, "x" * (4000 if number % 8 == 0 else 1))
            asked[client].append(client.send("send", {"accounts": names, "body": body}))
    return asked


def is_silent(client, wait):
    """Whether nothing comes but keep-alives, for so long."""
    end = time.monotonic() + wait
    try:
        while True:
            if client.take(max(0.001, end - time.monotonic())):
                return False
    except TimeoutError:
        return True


def in_sending_order(messages):
    """Whether each sender's messages are numbered from 0, without gaps or repeats."""
    numbers = {}
    for message in messages:
        sender, number, _ = message["body"].split(" ")
        if int(number) != numbers.setdefault(sender, 0):
            return False
        numbers[sender] += 1
    return True


@case("the disk stalls: no message is handed out before it is stored; then each comes once",
      quick=True)
def disk_stalls_messages():
    with Service("--rate-limits", "off",
                 env={"PORCHLIGHT_MESSAGES_PER_ACCOUNT_MAX": "1000"}) as service:
        count = 0
        for calls in ("fdatasync,fsync", "pwrite64", "fdatasync,fsync,pwrite64,ftruncate"):
            senders, readers = people(service)
            before = {client: [post(senders[0], client.account)] for client in readers}
            with stalled_disk(service, calls):
                asked = ask(senders, readers, 20)
                # What waited is handed out and taken.
                for client in readers:
                    take_all(client, before[client])
                require(answers(service.login("other"), 10), "%s: a ping is not answered", calls)
                wait = 0.3
                for client in [*senders, *readers]:
                    require(is_silent(client, wait), "%s: %s is told of what is not stored",
                            calls, client.account)
                    wait = 0.01
            ids = []
            for client, numbers in asked.items():
                own = [client.answer(number)["id"] for number in numbers]
                require(own == sorted(set(own)), "%s: answered out of order: %s", calls, own)
                ids += own
            for client in readers:
                take_all(client, sorted(ids))
            count += len(ids)
        senders, readers = people(service)
        due = [post(senders[0], "li", "answered") for _ in range(5)]
        require([m["id"] for m in mail(readers[0], 5)] == due, "not handed out")
        with stalled_disk(service, "fdatasync,fsync"):
            ask(senders, readers, 20)
            require(answers(service.login("other"), 10), "a ping is not answered")
            service.signal(signal.SIGKILL)
        service.kill()
        service.start()
        found = whole_mail(service.login("li", messages=True))
        ids = [message["id"] for message in found]
        require(ids == sorted(set(ids)), "sent again in the wrong order: %s", ids)
        require(ids[:5] == due, "lost: %s of %s", set(due) - set(ids), due)
        require(in_sending_order(found[5:]), "gaps in %s", [m["body"][:9] for m in found[5:]])
        say("%d messages answered after stalls; after kill -9 all 5 that were answered, and %d of "
            "60 that were not", count, len(found) - 5)


def people(service):
    """Three that send, and two that read messages."""
    return ([service.login("s%d" % number) for number in range(3)],
            [service.login(name, messages=True) for name in ("li", "ww")])


def whole_mail(client):
    """All messages that wait for a client, taken."""
    found = []
    while len(found) < client.welcome["waiting"]:
        found += mail(client, 1)
        client.ok("take", {"id": found[-1]["id"]})
    return found
