"""The log is not read: a journal or a pipe that stands still must not stop the service."""

import contextlib
import os
import re
import signal

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


class Unread(Service):
    """Its log is a pipe, to read which would not end."""

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
        metrics = service.server().ok("metrics")["text"]
        dropped = re.search(r"^porchlight_log_lines_dropped_total (\d+)$", metrics, re.M).group(1)
        require(dropped != "0", "no line was dropped")
        require(set(read_all(pipe)) == {"x"}, "a line was written to a full pipe")
        service.signal(signal.SIGTERM)
        service.wait()
        said = read_all(pipe).splitlines()
        os.close(pipe)
        require(said[0].endswith(" warning porchlight: log lines were dropped count=" + dropped),
                "it said %s after %s were dropped", said, dropped)
        require(any("stopping" in line for line in said), "it said %s", said)
