"""Connection loops whose thread is stopped, as by a debugger, while the others run."""

import contextlib
import ctypes
import http.client
import os
import re
import signal
import time

from descriptors import free_port
from support import WAIT, Service, Skip, case, require, say

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long
ALL = 0x40000000  # __WALL


def threads(service):
    """The ids of the service's threads by name."""
    folder = "/proc/%d/task" % service.pid
    found = {}
    for task in os.listdir(folder):
        with open("%s/%s/comm" % (folder, task)) as file:
            found[file.read().strip()] = int(task)
    return found


@contextlib.contextmanager
def held(thread):
    """One thread is stopped, as under a debugger."""
    if LIBC.ptrace(PTRACE_SEIZE, thread, None, None) != 0:
        raise Skip("threads cannot be traced here (errno %d)" % ctypes.get_errno())
    require(LIBC.ptrace(PTRACE_INTERRUPT, thread, None, None) == 0, "it was not interrupted")
    os.waitpid(thread, ALL)
    try:
        yield
    finally:
        LIBC.ptrace(PTRACE_DETACH, thread, None, None)


def answers(client, wait=1.0):
    """Whether a client is answered."""
    try:
        client.ok("ping", wait=wait)
        return True
    except TimeoutError:
        return False


def read_to(client, seen, value, count, wait=10.0):
    """Reads until so many events with a value have come, and adds all to what it has seen."""
    end = time.monotonic() + wait
    while sum(event["value"] == value for event in seen[-count * 20:]) < count:
        require(time.monotonic() < end, "%s is not sent value %d", client.account, value)
        seen += client.drain(0)


@case("a connection loop is stalled: others are served, and its clients are right after it",
      quick=True)
def loop_stalled():
    with Service("--rate-limits", "off", "--loops", "3") as service:
        names = threads(service)
        require({"loop 0", "loop 1", "loop 2", "engine", "store"} <= set(names), "threads: %s", names)
        watchers = [service.login("w%d" % n) for n in range(9)]
        publishers = [service.login("p%d" % n) for n in range(6)]
        for watcher in watchers:
            watcher.subscribe(*["p%d" % n for n in range(6)])
        server = service.server()
        text, last = "x" * 1000, {}
        with held(names["loop 1"]):
            server = server if answers(server) else None
            silent = [client for client in watchers if not answers(client, 0.3)]
            require(len(silent) == 3, "%d of 9 watchers are not answered", len(silent))
            lively = [client for client in publishers if answers(client, 0.3)]
            require(len(lively) == 4, "%d of 6 publishers are answered", len(lively))
            others = [client for client in watchers if client not in silent]
            seen = {client: [] for client in others}
            before, slowest = service.memory_kibibytes(), 0
            for value in range(10000, 10400):
                for client in lively:
                    begin = time.monotonic()
                    client.ok("publish", {"type": 1, "value": value, "ext": text})
                    slowest = max(slowest, time.monotonic() - begin)
                    last[client.account] = value
                # They read on, before an outbox is full.
                if value % 20 == 0:
                    for client in others:
                        read_to(client, seen[client], value, len(lively))
            more = service.memory_kibibytes() - before
            require(slowest < 3, "a publish took %.1f s", slowest)
            # 1,600 events of 2 KB to three connections would be 10 MB and more.
            require(more < 8 << 10, "%d KiB more", more)
            for client in others:
                seen[client] += client.drain(0.3)
                count = len([e for e in seen[client] if e["value"] >= 10000])
                require(count == 1600, "a watcher of another loop got %d events", count)
            newcomers = [service.login("n%d" % n) for n in range(6)]
            require(all(answers(client) for client in newcomers), "a new client is not answered")
            begin = time.monotonic()
            asker = service.server()
            metrics = asker.ok("metrics")["text"]
            took = time.monotonic() - begin
            require(took < 0.5, "metrics took %.1f s", took)
            require("porchlight_loops_stalled 1\n" in metrics, "no loop counts as stalled")
            require(asker.ok("stats")["loopsStalled"] == 1, "stats has no stalled loop")
            why = asker.ok("why", {"subscriber": silent[0].account, "publisher": "p0", "type": 1})
            require("bytesWaiting" not in why["subscriber"]["sessions"][0], "%s", why)
        for client in silent:
            newest, end = {}, time.monotonic() + 10
            while time.monotonic() < end and any(newest.get(k) != v for k, v in last.items()):
                for event in client.drain(0.2):
                    require(newest.get(event["publisher"], 0) <= event["value"],
                            "older after newer")
                    newest[event["publisher"]] = event["value"]
            require(all(newest.get(k) == v for k, v in last.items()), "%s is not %s", newest, last)
        service.stop()
        say("slowest publish %.2f s, %d KiB more; metrics within %.1f s", slowest, more, took)


def livez(port):
    """The status of the health check."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    try:
        connection.request("GET", "/livez")
        return connection.getresponse().status
    finally:
        connection.close()


def ended(service, held_threads, wait):
    """Waits until the service has ended by itself, with threads that are held; returns the code."""
    end = time.monotonic() + wait
    # The tracer has to reap its threads before the process can be.
    for thread in held_threads:
        while os.waitpid(thread, ALL | os.WNOHANG)[0] == 0:
            require(time.monotonic() < end, "it did not end within %d s", wait)
            time.sleep(0.05)
    return service.wait(WAIT)


@case("a connection loop never comes back: back within the restart grace, nobody shown as away",
      quick=True)
def loop_hung():
    options, port = {"PORCHLIGHT_WATCHDOG_SECONDS": "5"}, free_port()
    with Service("--rate-limits", "off", "--loops", "3", "--restart-grace", "10", "--http",
                 "127.0.0.1:%d" % port, env=options) as service:
        names = ["a%d" % n for n in range(9)]
        watcher = service.login("watcher")
        watcher.subscribe(*names)
        # No response waits for a session's write; a request that is answered later is stored later.
        for name in names:
            service.login(name).subscribe("nobody")
        watcher.drain(0.3)
        thread, begin = threads(service)["loop 1"], time.monotonic()
        require(livez(port) == 200, "/livez before")
        with held(thread):
            while livez(port) == 200:
                require(time.monotonic() < begin + 5, "/livez does not notice")
                time.sleep(0.05)
            require(livez(port) == 503, "/livez in between")
            code = ended(service, [thread], 30)
        took = time.monotonic() - begin
        require(code == 70, "exit code %s", code)
        require(re.search("a loop has ended no turn: the process ends.*loop 1", service.log_text()),
                "the log: %s", service.log_text()[-300:])
        require(took > 4, "it ended after %.1f s", took)
        # As a supervisor does.
        service.start()
        watcher = service.login("watcher")
        clients = [service.login(name) for name in names]
        away = [event for event in watcher.drain(12) if event["value"] == 3]
        require(not away, "shown as away: %s", away)
        require(all(answers(client) for client in clients), "a client is not answered")
        service.stop()
        say("it ended after %.1f s", took)


@case("all loops hang while the service stops: the watchdog ends it")
def loop_hung_at_the_end():
    options = {"PORCHLIGHT_WATCHDOG_SECONDS": "3"}
    with Service("--rate-limits", "off", "--loops", "3", env=options) as service:
        names = threads(service)
        hung = [names["loop %d" % number] for number in range(3)]
        with contextlib.ExitStack() as stack:
            for thread in hung:
                stack.enter_context(held(thread))
            service.signal(signal.SIGTERM)
            require(ended(service, hung, 30) == 70, "it ended in another way")
        service.start()
        service.stop()


@case("the service is stopped beyond a grace: a client that returned in it caused no event",
      quick=True)
def returned_while_stopped():
    # Long enough to notice a crowd's end, and to stop the service, on a slow machine.
    with Service("--rate-limits", "off", "--disconnect-grace", "8", "--loops", "3") as service:
        watcher = service.login("watcher")
        crowd = [service.login("a%d" % n) for n in range(12)]
        watcher.subscribe(*["a%d" % n for n in range(12)])
        for client in crowd:
            client.close()
        # All have been noticed when the service has no connections but these.
        server = service.server()
        end = time.monotonic() + WAIT
        while server.ok("stats")["connections"] > 2:
            require(time.monotonic() < end, "lost connections are not noticed")
        service.signal(signal.SIGSTOP)
        back = []
        for number in range(10):
            client = service.connect()
            client.send("login", {"account": "a%d" % number, "device": "d1", "sync": "none"})
            back.append(client)
        time.sleep(9)
        service.signal(signal.SIGCONT)
        lost = {watcher.event(lambda event: event["value"] == 3)["publisher"] for _ in range(2)}
        lost |= {event["publisher"] for event in watcher.drain(1) if event["value"] == 3}
        require(lost == {"a10", "a11"}, "told as lost: %s", sorted(lost))
        say("10 clients returned while the service was stopped, 2 did not and were told as lost")
