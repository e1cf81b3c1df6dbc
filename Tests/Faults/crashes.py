"""kill -9 at any moment, and the end in order."""

import os
import random
import signal
import threading
import time

from support import Closed, Rejected, Service, case, require, room_for, say


class Writer(threading.Thread):
    """An account that subscribes and unsubscribes without pause, and notes what it was told.

    `settled` holds what was answered: publisher → whether it is watched. `open` is what was
    asked and not answered; that may have happened or not.
    """

    def __init__(self, service, account, settled, seed):
        super().__init__(daemon=True)
        self.service, self.account, self.settled = service, account, settled
        self.random = random.Random(seed)
        self.open = {}
        self.seq = 0
        self.answers = 0
        self.fault = None

    def run(self):
        try:
            client = self.service.login(self.account)
            while True:
                self.change(client)
        except (Closed, OSError):
            pass
        except Rejected as rejected:
            self.fault = "rejected: %s" % rejected

    def change(self, client):
        names = ["p%d" % self.random.randrange(200) for _ in range(self.random.randrange(1, 8))]
        if self.random.random() < 0.1:
            self.seq = max(self.seq, client.ok("publish", {
                "type": 1, "value": 10000 + self.random.randrange(9), "expiry": 3600,
                "onlineOnly": self.random.random() < 0.5})["seq"])
            return
        isWanted = self.random.random() < 0.6
        self.open = dict.fromkeys(names, isWanted)
        if isWanted:
            client.subscribe(*names)
        else:
            client.ok("unsubscribe", {"type": 1, "publishers": names})
        self.settled.update(self.open)
        self.open = {}
        self.answers += 1


def check(service, writers):
    """Compares what a restarted service knows with what it had answered before."""
    for writer in writers:
        client = service.login(writer.account, "check")
        known = client.subscriptions()
        for name, isWanted in writer.settled.items():
            if name in writer.open:
                continue
            require((name in known) == isWanted, "%s → %s: answered %s, is %s", writer.account,
                    name, isWanted, name in known)
        seq = client.ok("publish", {"type": 1, "value": 10000, "expiry": 3600})["seq"]
        require(seq > writer.seq, "seq %d after %d", seq, writer.seq)
        writer.seq = seq
        # What was under way has happened or not; from here on that is known.
        writer.settled.update((name, name in known) for name in writer.open)
        client.close()


def crash_loop(rounds, seed):
    seeds = random.Random(seed)
    settled = [{} for _ in range(8)]
    seqs = [0] * 8
    slowest, answers = 0, 0
    with Service("--rate-limits", "off", start=False) as service:
        for round in range(rounds):
            slowest = max(slowest, service.start())
            writers = [Writer(service, "w%d" % number, settled[number], seeds.random())
                       for number in range(8)]
            for writer, seq in zip(writers, seqs):
                writer.seq = seq
                writer.start()
            time.sleep(seeds.uniform(0.02, 0.6))
            service.kill()
            for writer in writers:
                writer.join(10)
                require(writer.fault is None, "%s", writer.fault)
            slowest = max(slowest, service.start())
            check(service, writers)
            answers += sum(writer.answers for writer in writers)
            seqs = [writer.seq for writer in writers]
            service.kill()
        require(answers > rounds * 5, "hardly anything was written: %d", answers)
        require(slowest < 5, "a start took %.1f s", slowest)
    say("%d rounds, seed %d: %d changes answered, slowest start %.2f s", rounds, seed, answers,
        slowest)


@case("kill -9 while writing, a few rounds", quick=True)
def kill_9():
    crash_loop(6, 1)


@case("kill -9 while writing, many rounds")
def kill_9_long():
    crash_loop(int(os.environ.get("FAULTS_ROUNDS", "60")), 2)


@case("kill -9 during startup, repeatedly", quick=True)
def kill_9_at_start():
    randoms = random.Random(3)
    with Service("--rate-limits", "off") as service:
        client = service.login("a")
        for page in range(30):
            client.subscribe(*["p%d" % number for number in range(page * 100, page * 100 + 100)])
        client.close()
        service.kill()
        ready = service.start()
        service.kill()
        for round in range(25):
            service.launch()
            time.sleep(randoms.uniform(0, ready * 1.2))
            service.kill()
        took = service.start()
        require(len(service.login("a").subscriptions()) == 3000, "subscriptions are missing")
        say("25 starts cut short within %.2f s; then a start in %.2f s", ready * 1.2, took)


@case("kill -9 while a database is being created", quick=True)
def kill_9_at_creation():
    randoms = random.Random(4)
    for round in range(12):
        with Service(start=False) as service:
            service.launch()
            time.sleep(randoms.uniform(0, 0.12))
            service.kill()
            service.start()
            service.login("a").subscribe("b")
    say("12 times; each started afterwards")


@case("kill -9: a publisher that does not reconnect is sent as `3 restart`, others are not",
      quick=True)
def restart_grace():
    # Long enough for two logins on a slow machine.
    with Service("--restart-grace", "10", "--rate-limits", "off") as service:
        watcher = service.login("w")
        watcher.subscribe("back", "gone")
        # No response waits for a session's write; a request that is answered later is stored later.
        for name in ("back", "gone"):
            service.login(name).subscribe("nobody")
        service.kill()
        service.start()
        watcher = service.login("w")
        back = service.login("back")
        first = watcher.event()
        seen = [first, *watcher.drain(1)]
        require([(event["publisher"], event["value"], event["cause"]) for event in seen]
                == [("gone", 3, "restart")], "the watcher saw %s", seen)
        back.close()


@case("SIGTERM with 5,000 clients: each is closed with 4503, exit code 0 within 10 s")
def sigterm_crowd():
    count = 5000
    room_for(count + 500)
    with Service("--rate-limits", "off", prefix=["prlimit", "--nofile=20000"]) as service:
        clients = [service.login("c%d" % number) for number in range(count)]
        took = service.stop()
        codes = [client.reason() for client in clients]
        require(codes.count(4503) == count, "%d of %d heard 4503, others %s", codes.count(4503),
                count, set(codes))
        require(took < 10, "the end took %.1f s", took)
        say("%d clients, the end took %.2f s", count, took)
        for client in clients:
            client.close()


@case("SIGTERM, also twice, with clients that read nothing: exit code 0 within 15 s", quick=True)
def sigterm_deaf():
    with Service("--rate-limits", "off") as service:
        deaf = [service.connect(receive_bytes=2048).login("d%d" % n) for n in range(5)]
        for client in deaf:
            client.subscribe(*["p%d" % n for n in range(50)])
        publishers = [service.login("p%d" % n) for n in range(50)]
        for value in range(200):
            publishers[value % 50].ok("publish", {
                "type": 1, "value": 10000 + value, "ext": "x" * 4000})
        service.signal(signal.SIGTERM)
        service.signal(signal.SIGTERM)
        begin = time.monotonic()
        code = service.wait(60)
        took = time.monotonic() - begin
        require(code == 0, "exit code %s", code)
        require(took < 15, "the end took %.1f s", took)
        say("the end took %.2f s", took)
