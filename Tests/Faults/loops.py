"""Stalled connection loops: one thread is stopped as by a debugger, the others run."""

import contextlib
import ctypes
import os
import signal
import time

from support import Service, Skip, case, require, say

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
            stuck = [client for client in watchers if not answers(client, 0.3)]
            require(len(stuck) == 3, "%d of 9 watchers are not answered", len(stuck))
            lively = [client for client in publishers if answers(client, 0.3)]
            require(len(lively) == 4, "%d of 6 publishers are answered", len(lively))
            before, slowest = service.memory_kibibytes(), 0
            for value in range(10000, 10400):
                for client in lively:
                    begin = time.monotonic()
                    client.ok("publish", {"type": 1, "value": value, "ext": text})
                    slowest = max(slowest, time.monotonic() - begin)
                    last[client.account] = value
            more = service.memory_kibibytes() - before
            require(slowest < 3, "a publish took %.1f s", slowest)
            # 1,600 events of 2 KB to three connections would be 10 MB and more.
            require(more < 8 << 10, "%d KiB more", more)
            for client in watchers:
                if client not in stuck:
                    seen = client.drain(0.3)
                    require(len([e for e in seen if e["value"] >= 10000]) == 1600,
                            "a watcher of another loop got %d events", len(seen))
            newcomers = [service.login("n%d" % n) for n in range(6)]
            require(all(answers(client) for client in newcomers), "a new client is not answered")
            begin = time.monotonic()
            asker = service.server()
            metrics = asker.ok("metrics")["text"]
            took = time.monotonic() - begin
            require(took < 0.5, "metrics took %.1f s", took)
            require("porchlight_loops_stalled 1\n" in metrics, "no loop counts as stalled")
            require('porchlight_loop_stale{loop="1"} 1\n' in metrics, "no value is old")
            require(asker.ok("stats")["loopsStalled"] == 1, "stats has no stalled loop")
            why = asker.ok("why", {"subscriber": stuck[0].account, "publisher": "p0", "type": 1})
            require("bytesWaiting" not in why["subscriber"]["sessions"][0], "%s", why)
        for client in stuck:
            newest, end = {}, time.monotonic() + 10
            while time.monotonic() < end and any(newest.get(k) != v for k, v in last.items()):
                for event in client.drain(0.2):
                    require(newest.get(event["publisher"], 0) <= event["value"],
                            "older after newer")
                    newest[event["publisher"]] = event["value"]
            require(all(newest.get(k) == v for k, v in last.items()), "%s is not %s", newest, last)
        service.stop()
        say("slowest publish %.2f s, %d KiB more; metrics within %.1f s", slowest, more, took)


@case("a connection loop of an idle service is stalled: new clients are served by the others",
      quick=True)
def loop_stalled_idle():
    with Service("--rate-limits", "off", "--loops", "3") as service:
        with held(threads(service)["loop 1"]):
            early = [service.connect() for _ in range(3)]
            for number, client in enumerate(early):
                client.send("login", {"account": "e%d" % number, "device": "d1", "sync": "none"})
            # Beyond what a loop may leave them waiting.
            time.sleep(0.6)
            begin = time.monotonic()
            late = [service.login("n%d" % number) for number in range(12)]
            require(all(answers(client) for client in late), "a new client is not answered")
            # Those that it had been given before were given to others.
            for client in early:
                client.take()
            took = time.monotonic() - begin
        service.stop()
        say("15 clients logged in within %.2f s", took)


@case("the connection loop that accepts is stalled: the service says so, and accepts later",
      quick=True)
def accepting_loop_stalled():
    with Service("--rate-limits", "off", "--loops", "2") as service:
        askers = [service.server() for _ in range(2)]
        with held(threads(service)["loop 0"]):
            asker = next(asker for asker in askers if answers(asker))
            require(asker.ok("stats")["accepting"] == 0, "it accepts, as it says")
            waiting = service.connect()
            waiting.send("login", {"account": "a", "device": "d1", "sync": "none"})
        waiting.take()
        require(asker.ok("stats")["accepting"] == 1, "it does not accept, as it says")
        service.stop()


@case("the service is stopped beyond a grace: a client that returned in it caused no event",
      quick=True)
def returned_while_stopped():
    with Service("--rate-limits", "off", "--disconnect-grace", "3", "--loops", "3") as service:
        watcher = service.login("watcher")
        crowd = [service.login("a%d" % n) for n in range(12)]
        watcher.subscribe(*["a%d" % n for n in range(12)])
        for client in crowd:
            client.close()
        # All have been noticed when the service has no connections but these.
        server = service.server()
        end = time.monotonic() + 5
        while server.ok("stats")["connections"] > 2:
            require(time.monotonic() < end, "lost connections are not noticed")
        service.signal(signal.SIGSTOP)
        back = []
        for number in range(10):
            client = service.connect()
            client.send("login", {"account": "a%d" % number, "device": "d1", "sync": "none"})
            back.append(client)
        time.sleep(5)
        service.signal(signal.SIGCONT)
        lost = {event["publisher"] for event in watcher.drain(3) if event["value"] == 3}
        require(lost == {"a10", "a11"}, "told as lost: %s", sorted(lost))
        say("10 clients returned while the service was stopped, 2 did not and were told as lost")


@case("connection loops are stalled and stay so: the service ends all the same")
def loop_stalled_at_the_end():
    with Service("--rate-limits", "off", "--loops", "5") as service:
        clients = [service.login("c%d" % n) for n in range(10)]
        names = threads(service)
        stuck = [names["loop %d" % number] for number in (1, 2, 3, 4)]
        with contextlib.ExitStack() as stack:
            for thread in stuck:
                stack.enter_context(held(thread))
            begin = time.monotonic()
            service.signal(signal.SIGTERM)
            # The tracer has to reap its threads before the process can be.
            for thread in stuck:
                while os.waitpid(thread, ALL | os.WNOHANG)[0] == 0:
                    require(time.monotonic() - begin < 20, "it did not end within 20 s")
                    time.sleep(0.05)
            code = service.wait(5)
            took = time.monotonic() - begin
            require(code == 0, "exit code %s", code)
            require("are abandoned" in service.log_text(), "the log: %s", service.log_text()[-300:])
        # As docs/OPERATIONS.md says, with some time for a busy machine.
        require(took < 11, "it ended after %.1f s", took)
        reasons = []
        for client in clients:
            with contextlib.suppress(TimeoutError, OSError):
                reasons.append(client.reason(1))
        require(reasons.count(4503) == 2, "the clients were told %s", reasons)
        say("it ended within %.1f s", took)
