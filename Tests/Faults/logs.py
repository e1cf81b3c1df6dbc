"""The log is not read: a journal or a pipe that stands still must not stop the service."""

import contextlib
import os
import re
import select
import signal
import time
import tty

from support import Service, case, require


def fill(pipe):
    """Writes to a pipe until it accepts no more."""
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(pipe, b"x" * 4096)


def read_all(pipe):
    got = b""
    with contextlib.suppress(BlockingIOError):
        while True:
            got += os.read(pipe, 65536)
    return got.decode()


def lines_dropped(server):
    metrics = server.ok("metrics")["text"]
    return int(re.search(r"^porchlight_log_lines_dropped_total (\d+)$", metrics, re.M).group(1))


class Unread(Service):
    """Its log is a pipe or a terminal, to read which would not end."""

    def log_text(self):
        return "(not read)"


@case("nothing reads the log: the service goes on, and says later how many lines are missing",
      quick=True)
def log_not_read():
    with Unread("--loops", "2", "--log-level", "info", start=False) as service:
        os.mkfifo(service.log)
        pipe = os.open(service.log, os.O_RDWR | os.O_NONBLOCK)
        fill(pipe)
        # Which logs that it has started.
        service.start()
        clients = [service.login("c%d" % number) for number in range(4)]
        clients[0].subscribe("c1")
        clients[1].ok("publish", {"type": 1, "value": 10001})
        require(clients[0].event()["value"] == 10001, "an event is missing")
        dropped = lines_dropped(service.server())
        require(dropped > 0, "no line was dropped")
        require(set(read_all(pipe)) == {"x"}, "a line was written to a full pipe")
        service.signal(signal.SIGTERM)
        service.wait()
        said = read_all(pipe).splitlines()
        os.close(pipe)
        require(said[0].endswith(" warning porchlight: log lines were dropped count=%d" % dropped),
                "it said %s after %s were dropped", said, dropped)
        require(any("stopping" in line for line in said), "it said %s", said)


def write_keys(path, numbers):
    """Writes a file with a server key for each number."""
    with open(path, "w") as file:
        for number in numbers:
            file.write("number%d sha256:%064x\n" % (number, number))
    os.chmod(path, 0o600)


@case("a terminal does not display the log: the service goes on", quick=True)
def terminal_not_read():
    with Unread(start=False) as service:
        keys = os.path.join(service.temporary, "keys")
        write_keys(keys, range(1))
        service.flags = ["--server-key", keys]
        display, program = os.openpty()
        os.set_blocking(display, False)
        tty.setraw(program)
        service.log = os.ttyname(program)
        service.start()
        client = service.login("a")
        # Lines for each key that is added and removed: more than a terminal has room for.
        for round in range(1, 21):
            write_keys(keys, range(round * 100, round * 100 + 100))
            service.signal(signal.SIGHUP)
            client.ok("ping")
            time.sleep(0.1)
        read_all(display)
        # Of the last line before those that were dropped, a part may be there.
        said, end = "", time.monotonic() + 20
        while " warning porchlight: log lines were dropped count=" not in said:
            require(time.monotonic() < end, "it said %s", said[-300:])
            service.signal(signal.SIGHUP)
            select.select([display], [], [], 1)
            said += read_all(display)
        os.close(program)
        os.close(display)


@case("standard input and error are closed: no socket or file gets their numbers", quick=True)
def standard_descriptors_closed():
    closed = ["sh", "-c", 'exec "$@" <&- 2>&-', "sh"]
    with Service("--log-level", "info", prefix=closed) as service:
        for number in (0, 2):
            name = os.readlink("/proc/%d/fd/%d" % (service.pid, number))
            require(name == "/dev/null", "%d is %s", number, name)
        require(lines_dropped(service.server()) > 0, "no line was dropped")
