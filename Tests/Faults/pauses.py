"""Processes that stand still: the service's, and those of its clients."""

import contextlib
import signal
import socket
import time

from support import WAIT, Closed, Service, case, require, say


def frozen(seconds, count):
    # The watchdog does not count the time in which it does not run either.
    with Service("--rate-limits", "off", "--heartbeat", "5", "--disconnect-grace", "1",
                 env={"PORCHLIGHT_WATCHDOG_SECONDS": "5"}) as service:
        watcher = service.login("w")
        talkers = [service.login("t%d" % number) for number in range(count)]
        silent = [service.login("s%d" % number) for number in range(5)]
        for start in range(0, count, 100):
            watcher.subscribe(*["t%d" % n for n in range(start, min(count, start + 100))])
        watcher.subscribe(*["s%d" % n for n in range(5)])
        for client in talkers + silent:
            client.ok("ping")
        watcher.drain(0.3)
        service.signal(signal.SIGSTOP)
        # It stands still before they speak: what they say is not what wakes it.
        time.sleep(0.5)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for client in talkers + [watcher]:
                client.keep_alive()
            time.sleep(2)
        service.signal(signal.SIGCONT)
        begin = time.monotonic()
        closed = 0
        for client in talkers:
            try:
                client.ok("ping")
            except (Closed, OSError):
                closed += 1
        require(closed == 0, "%d of %d clients that sent something were closed", closed, count)
        took = time.monotonic() - begin
        watcher.keep_alive()
        lost = set()
        while len(lost) < 5:
            lost.add(watcher.event(lambda event: event["value"] == 3)["publisher"])
        lost |= {event["publisher"] for event in watcher.drain(1) if event["value"] == 3}
        lost = sorted(lost)
        require(not [name for name in lost if name.startswith("t")],
                "told as lost though they spoke: %s", lost[:5])
        require(lost == ["s%d" % n for n in range(5)], "of the silent ones, told as lost: %s", lost)
        say("%d s; %d clients answered within %.2f s afterwards; the 5 silent ones are gone",
            seconds, count, took)


@case("the service is stopped for 9 s: clients that sent something are not closed", quick=True)
def service_frozen():
    frozen(9, 200)


@case("the service is stopped for 60 s")
def service_frozen_long():
    frozen(60, 1000)


@case("a client is stopped while 100 MB are published: little memory, correct states after",
      quick=True)
def client_frozen():
    count = 50
    with Service("--rate-limits", "off") as service:
        frozen, lively = service.connect(receive_bytes=4096).login("f"), service.login("l")
        publishers = [service.login("p%d" % n) for n in range(count)]
        for client in (frozen, lively):
            client.subscribe(*["p%d" % n for n in range(count)])
        lively.drain(0.3)
        before = service.memory_kibibytes()
        text = "x" * 4000
        begin = time.monotonic()
        rounds, published = 0, 0
        most = 0
        while time.monotonic() - begin < 4:
            for number, publisher in enumerate(publishers):
                publisher.ok("publish", {"type": 1, "value": 10000 + rounds, "ext": text})
                published += 1
            rounds += 1
            lively.drain(0.001)
            most = max(most, service.memory_kibibytes())
        last = 10000 + rounds - 1
        newest = {}
        end = time.monotonic() + WAIT
        while time.monotonic() < end and set(newest.values()) != {last}:
            for event in frozen.drain(0.2):
                if event["type"] == 1 and event["value"] >= 10000:
                    require(newest.get(event["publisher"], 0) <= event["value"], "older after newer")
                    newest[event["publisher"]] = event["value"]
        wrong = {name: value for name, value in newest.items() if value != last}
        require(len(newest) == count and not wrong, "not up to date: %s", wrong)
        require(most - before < 16 << 10, "%d KiB more", most - before)
        say("%d events of 4 KB, %d KiB of memory at most; every newest state arrived", published,
            most - before)


def deaf_crowd(service, publishers, count):
    """Clients that read nothing until they are closed; returns the most memory meanwhile."""
    deaf = [service.connect(receive_bytes=4096).login("d%d" % n) for n in range(count)]
    for client in deaf:
        client.subscribe(*["p%d" % n for n in range(len(publishers))])
    most, begin, rounds = 0, time.monotonic(), 0
    # 15 s without progress, and as long again in which the last words can be taken.
    while time.monotonic() - begin < 34:
        if time.monotonic() - begin < 24:
            for publisher in publishers:
                publisher.ok("publish", {"type": 1, "value": 10000 + rounds, "ext": "x" * 4000})
        rounds += 1
        most = max(most, service.memory_kibibytes())
        time.sleep(0.2)
    for client in deaf:
        client.close()
    return most


@case("clients that read nothing are closed after 15 s, and later ones need no more memory")
def client_frozen_for_good():
    count = 300
    with Service("--rate-limits", "off") as service:
        publishers = [service.login("p%d" % n) for n in range(40)]
        before = service.memory_kibibytes()
        first = deaf_crowd(service, publishers, count)
        require(service.descriptors() < 100, "%d descriptors", service.descriptors())
        second = deaf_crowd(service, publishers, count)
        closed = service.server().ok("stats")["closedTooSlow"]
        say("%d KiB before, %d at most with %d deaf clients, %d with as many again; %d closed",
            before, first, count, second, closed)
        # 64 KiB an outbox; the kernel's share does not count. The buffers are kept for others.
        require(first - before < count * 96, "%d KiB for %d deaf clients", first - before, count)
        require(second - first < (first - before) / 4, "%d KiB more the second time",
                second - first)
        require(closed == 2 * count, "%d closed as too slow", closed)


def seconds_until_offline(service, burst):
    """A client sends a burst, reads the answers, and says nothing more; until it is offline."""
    watcher = service.login("watcher")
    watcher.subscribe("ghost")
    ghost = service.connect().login("ghost")
    watcher.event(lambda event: event["online"])
    ghost.socket.sendall(burst)
    begin, offline = time.monotonic(), None
    while not offline and time.monotonic() < begin + 40:
        with contextlib.suppress(TimeoutError, Closed):
            ghost.take(0.05)
        with contextlib.suppress(TimeoutError):
            watcher.event(lambda event: not event["online"], 0.05)
            offline = time.monotonic() - begin
        if int((time.monotonic() - begin) * 20) % 20 == 0:
            watcher.keep_alive()
    require(offline, "it is still online")
    return offline


@case("old unread bytes do not keep a throttled client connected", quick=True)
def throttled_ghost():
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    ping = len(body).to_bytes(4, "big") + body
    with Service("--heartbeat", "5") as service:
        # As much as the kernel takes at once: what arrives later counts from then.
        for name, burst in (("pings", ping * 2400), ("keep-alives", b"\0\0\0\0" * 25000)):
            took = seconds_until_offline(service, burst)
            # 1.5 heartbeats and the grace, as the page on reliability says.
            require(took < 12.5 + 3, "after %s, %.1f s until it was offline", name, took)
            say("after a burst of %s: offline after %.1f s", name, took)


@case("a login list is completed for a half-closed client that reads slowly", quick=True)
def half_closed_reader():
    count = 700
    names = ["p%d" % number for number in range(count)]
    with Service("--rate-limits", "off", "--heartbeat", "5") as service:
        server = service.server()
        for name in names:
            server.ok("publish", {"account": name, "type": 100, "value": 10001, "expiry": 600,
                                  "ext": "x" * 4000})
        for first in range(0, count, 100):
            server.ok("subscribe", {"account": "slow", "type": 100, "expiry": 600,
                                    "publishers": names[first:first + 100], "sync": False})
        slow = service.connect(receive_bytes=8192)
        slow.send("login", {"account": "slow", "device": "d", "sync": "all"})
        slow.socket.shutdown(socket.SHUT_WR)
        begin, got = time.monotonic(), b""
        while chunk := slow.socket.recv(8192):
            got += chunk
            time.sleep(0.035)
        took = time.monotonic() - begin
        require(took > 8, "it took only %.1f s, less than the silence that is allowed", took)
        require(got.count(b'"publisher"') == count, "%d states", got.count(b'"publisher"'))
        require(b'"synced"' in got[-200:], "the end: %r", got[-200:])
        say("%d states in %.1f s", count, took)
