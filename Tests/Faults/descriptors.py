"""Descriptors run out, or would: clients that are logged in notice nothing, and it passes."""

import collections
import contextlib
import http.client
import http.server
import json
import os
import signal
import socket
import subprocess
import threading
import time

from support import WAIT, Closed, Rejected, Service, case, need, require, room_for, say

FREE = 32  # AdmissionLimits.descriptorsFree


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes what webhooks post."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def receiver():
    """The port of a receiver that takes everything."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.handle_error = lambda *_: None
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class HTTPService(Service):
    """A service with the HTTP API and webhooks; their receivers are down where no port is given."""

    def __init__(self, descriptors, webhooks, *flags, prefix=(), port=None):
        self.http_port = free_port()
        super().__init__(
            "--http", "127.0.0.1:%d" % self.http_port, *flags,
            prefix=["prlimit", "--nofile=%d:%d" % (descriptors, descriptors), *prefix],
            start=False)
        if webhooks:
            secret = os.path.join(self.temporary, "secret")
            with open(secret, "w") as file:
                file.write("s" * 32)
            path = os.path.join(self.temporary, "webhooks.json")
            with open(path, "w") as file:
                json.dump([{"name": "w%d" % number, "secret": secret,
                            "url": "http://127.0.0.1:%d/" % (port or free_port())}
                           for number in range(webhooks)], file)
            self.flags += ["--webhooks", path]
        self.start()

    def get(self, path, wait=5):
        """A request on a connection of its own; the status."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=wait)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()


class Flood:
    """Connections to a port, as fast as one thread makes them, or `perSecond`; `held` of them stay
    open."""

    def __init__(self, port, held, first=b"", perSecond=None):
        self.address, self.held, self.first = ("127.0.0.1", port), held, first
        self.pause = 1 / perSecond if perSecond else 0
        self.count = 0
        self.isOver = False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        open_ones = collections.deque()
        while not self.isOver:
            connection = socket.socket()
            connection.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                connection.connect(self.address)
            open_ones.append(connection)
            self.count += 1
            if self.pause and self.count > self.held:
                time.sleep(self.pause)
            if len(open_ones) > self.held:
                oldest = open_ones.popleft()
                with contextlib.suppress(OSError):
                    if self.first:
                        oldest.send(self.first)
                oldest.close()
        for connection in open_ones:
            connection.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.isOver = True
        self.thread.join()


def under_flood(descriptors, webhooks, seconds, held):
    """Floods both ports with silent connections, and checks all other clients."""
    room_for(held + 600 + 300)
    with HTTPService(descriptors, webhooks, prefix=["taskset", "-c", "0"]) as service:
        inside = service.login("inside")
        most = probes = 0
        # As many silent connections to HTTP as fill it twice, and new ones all the time. (More a
        # second than it can accept would fill the kernel's queue.)
        with Flood(service.port, held) as native, \
                Flood(service.http_port, 600, perSecond=200) as web:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                require(service.is_alive(), "it died: %s", service.log_text()[-300:])
                most = max(most, service.descriptors())
                sent = time.monotonic()
                inside.subscribe("bob%d" % probes)
                require(time.monotonic() - sent < 10, "a subscribe took %.1f s",
                        time.monotonic() - sent)
                require(service.get("/livez") == 200, "/livez")
                probes += 1
                time.sleep(0.05)
        require(service.is_alive(), "it died: %s", service.log_text()[-300:])
        require(most <= descriptors - FREE, "%d of %d descriptors in use", most, descriptors)
        come_back(service, time.monotonic() + WAIT).subscribe("bob")
        say("%d descriptors, %d webhooks: %d + %d connections in %d s, %d in use at most, "
            "%d probes answered", descriptors, webhooks, native.count, web.count, seconds, most,
            probes)


@case("a flood of connections leaves descriptors to the database, HTTP, webhooks and the log",
      quick=True)
def flood_of_strangers():
    need("taskset")
    for descriptors, webhooks in ((256, 16), (1024, 1)):
        under_flood(descriptors, webhooks, 4, 2000)


@case("longer floods, with other limits")
def long_flood_of_strangers():
    need("taskset")
    for descriptors, webhooks, held in (
            (256, 1, 300), (256, 0, 3000), (300, 16, 50), (512, 16, 4000), (1024, 16, 1500),
            (4096, 2, 6000)):
        under_flood(descriptors, webhooks, 15, held)


@case("a flood of HTTP connections: the service lives, and HTTP responds afterwards", quick=True)
def flood_of_http():
    need("taskset")
    room_for(2_300)
    with HTTPService(256, 4, prefix=["taskset", "-c", "0"]) as service:
        inside = service.login("inside")
        most = 0
        with Flood(service.http_port, 2000, first=b"GET /livez HTTP/1.1\r\n") as web:
            end = time.monotonic() + 4
            while time.monotonic() < end:
                most = max(most, service.descriptors())
                inside.ok("ping")
                time.sleep(0.02)
        require(service.is_alive(), "it died: %s", service.log_text()[-300:])
        require(most <= 256 - FREE, "%d of 256 descriptors in use", most)
        require(service.get("/livez", wait=10) == 200, "/livez")
        say("%d connections, %d descriptors in use at most", web.count, most)


@case("no descriptor is free for a while: the service lives and recovers", quick=True)
def no_descriptor_at_all():
    need("taskset")
    # Many tasks on one processor: the pools of the runtime have work that waits.
    with receiver() as port, HTTPService(
            1024, 16, "--rate-limits", "off", prefix=["taskset", "-c", "0"], port=port) as service:
        inside, other = service.login("inside"), service.login("other")
        inside.subscribe("other")
        web = http.client.HTTPConnection("127.0.0.1", service.http_port, timeout=60)

        def ready():
            web.request("GET", "/readyz")
            response = web.getresponse()
            response.read()
            return response.status

        require(ready() == 200, "not ready")
        number = subprocess.run(["prlimit", "--pid=%d" % service.pid, "--nofile=3:1024"])
        require(number.returncode == 0, "prlimit failed")
        end = time.monotonic() + 8
        value = 10001
        while time.monotonic() < end:
            require(service.is_alive(), "it died with %s: %s", service.process.returncode,
                    service.log_text()[-300:])
            value += 1
            other.ok("publish", {"type": 1, "value": value, "onlineOnly": value % 2 == 0})
            inside.event(lambda event: event["value"] == value)
            ready()
            if value % 100 == 0:
                service.signal(signal.SIGHUP)
        subprocess.run(["prlimit", "--pid=%d" % service.pid, "--nofile=1024:1024"], check=True)
        service.login("late").subscribe("other")
        require(ready() == 200, "not ready afterwards")
        service.stop()
        say("%d changes delivered meanwhile", value - 10001)


def come_back(service, end):
    """Logs in, and again after `retryAfter` if that is asked for."""
    while True:
        with contextlib.suppress(Closed, OSError):
            client = service.connect()
            return client.login("late")
        require(time.monotonic() < end, "still not let in")
        time.sleep(0.1)


@case("descriptors run out: connected clients are served, others wait, the service recovers",
      quick=True)
def descriptors_run_out():
    with Service("--rate-limits", "off", prefix=["prlimit", "--nofile=256:256"]) as service:
        inside = [service.login("in%d" % number) for number in range(20)]
        before = service.descriptors()
        crowd = []
        for number in range(200):
            crowd.append(socket.create_connection(("127.0.0.1", service.port), 5))
        for client in inside:
            client.ok("ping")
        require(service.descriptors() <= 256 - FREE, "%d descriptors", service.descriptors())
        used = cpu_seconds(service.pid)
        begin = time.monotonic()
        while time.monotonic() - begin < 2:
            sent = time.monotonic()
            inside[0].ok("ping")
            require(time.monotonic() - sent < 10, "a ping took %.2f s", time.monotonic() - sent)
            time.sleep(0.02)
        used = cpu_seconds(service.pid) - used
        require(used < 0.5, "%.2f s of CPU in 2 s: it spins", used)
        inside[1].subscribe("in2", "in3")
        inside[2].ok("publish", {"type": 1, "value": 10001, "onlineOnly": False})
        inside[1].event(lambda event: event["value"] == 10001)
        say("%d descriptors, 200 connections at the service, %.2f s of CPU in 2 s",
            service.descriptors(), used)
        for connection in crowd:
            connection.close()
        begin = time.monotonic()
        late = come_back(service, begin + WAIT)
        say("the next one was let in after %.2f s", time.monotonic() - begin)
        late.subscribe("in2")
        while service.descriptors() > before + 2 and time.monotonic() < begin + WAIT:
            time.sleep(0.02)
        require(service.descriptors() <= before + 2, "%d descriptors, %d before",
                service.descriptors(), before)
        require(service.log_text().count("\n") < 20, "the log: %s", service.log_text()[-600:])
        service.kill()
        service.start()
        require(set(service.login("in1").subscriptions()) == {"in2", "in3"}, "not stored")


@case("too few descriptors at startup: the service does not start, and says what it needs", quick=True)
def few_descriptors():
    # With fewer than 13, libuv and libdispatch abort before anything can be said.
    for count in (13, 16, 32, 100, 255):
        with Service(prefix=["prlimit", "--nofile=%d:%d" % (count, count)], start=False) as service:
            code, text = service.rejection()
            require(code > 0, "%d descriptors: ended with %s: %s", count, code, text[-300:])
            require("at least 256" in text and text.count("\n") == 0,
                    "%d descriptors: %r", count, text[:300])
    with Service(prefix=["prlimit", "--nofile=256:256"]) as service:
        service.login("a").subscribe("b")
