"""A service's process, a client of the native protocol, and the list of cases.

Knows nothing of the product but its command line and docs/PROTOCOL.md. Every wait is bounded.
"""

import contextlib
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Conformance"))

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
WAIT = 60.0


class Broken(AssertionError):
    """The service did not do what it promises."""


class Started(Broken):
    """The service started although it must not."""

    def __str__(self):
        return "it started"


class Skip(Exception):
    """The machine does not allow this case, or something is not installed."""


class Closed(Exception):
    """The service has ended the connection."""


class Rejected(Exception):
    """The service has answered with an error."""

    def __init__(self, error):
        super().__init__("%s" % error)
        self.code = error["code"]
        self.reason = error.get("data", {}).get("reason")


def require(holds, message, *values):
    if not holds:
        raise Broken(message % values if values else message)


# Cases

CASES = []


def case(title, quick=False):
    """Registers a case; its name is the function's. Quick ones are for every change."""
    def register(function):
        CASES.append((function.__name__.replace("_", "-"), title, quick, function))
        return function
    return register


def need_root():
    if os.geteuid() != 0:
        raise Skip("needs root")


def need(program):
    if not shutil.which(program):
        raise Skip("%s is not installed" % program)


def room_for(count):
    """Lets this process hold so many descriptors until the end of the case."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count:
        raise Skip("needs %d descriptors, of %d" % (count, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))


def say(text, *values):
    print("    " + (text % values if values else text), flush=True)


# The service

def binary():
    named = os.environ.get("PORCHLIGHT_BIN")
    found = [named] if named else [
        os.path.join(ROOT, ".build", kind, "porchlight") for kind in ("release", "debug")]
    for path in found:
        if os.access(path, os.X_OK):
            return path
    raise SystemExit("no binary: run `swift build -c release --product porchlight` first")


class Service:
    """One process on a port of its own choice; its data go when it is closed."""

    def __init__(self, *flags, data=None, prefix=(), env=None, start=True, host="127.0.0.1"):
        self.temporary = tempfile.mkdtemp(prefix="porchlight-faults-")
        self.data = data or os.path.join(self.temporary, "data")
        self.flags, self.prefix, self.env, self.host = list(flags), list(prefix), env, host
        self.log = os.path.join(self.temporary, "log")
        self.process = None
        self.port = None
        if start:
            self.start()

    def command(self):
        return self.prefix + [binary(), "serve", "--listen", "%s:0" % self.host, "--data",
                              self.data] + self.flags

    def launch(self):
        """Starts without waiting until it is ready."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                env=dict(os.environ, **(self.env or {})))

    def start(self, seconds=60):
        """Starts; returns how many seconds it took until it was ready."""
        begin = time.monotonic()
        self.launch()
        self.ready(seconds)
        return time.monotonic() - begin

    def ready(self, seconds=60):
        """Waits until what was launched is ready."""
        begin, said = time.monotonic(), b""
        while not re.search(rb"ready on .*\n", said):
            left = begin + seconds - time.monotonic()
            ready = left > 0 and select.select([self.process.stdout], [], [], left)[0]
            got = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            if not got:
                self.kill()
                raise Broken("it did not start: %s" % self.log_text()[-400:])
            said += got
        self.port = int(re.search(rb"ready on \S*:(\d+)", said).group(1))
        http = re.search(rb"http on \S*:(\d+)", said)
        self.http_port = int(http.group(1)) if http else None

    def rejection(self, seconds=60):
        """Starts what must not start; returns the exit code and what was said."""
        before = len(self.log_text())
        self.launch()
        ready = select.select([self.process.stdout], [], [], seconds)[0]
        said = os.read(self.process.stdout.fileno(), 4096) if ready else b""
        if b"ready on" in said:
            raise Started()
        if not ready:
            self.kill()
            raise Broken("it neither started nor rejected to")
        code = self.wait(seconds)
        return code, self.log_text()[before:].strip()

    def log_text(self):
        with contextlib.suppress(FileNotFoundError):
            with open(self.log, "rb") as file:
                return file.read().decode("utf-8", "replace")
        return ""

    @property
    def pid(self):
        return self.process.pid

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=60):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Broken("it did not end in %s s" % seconds)
        self.process.stdout.close()
        return self.process.returncode

    def stop(self, seconds=60):
        """SIGTERM; returns how many seconds the end took."""
        begin = time.monotonic()
        self.signal(signal.SIGTERM)
        code = self.wait(seconds)
        require(code == 0, "exit code %s after SIGTERM: %s", code, self.log_text()[-300:])
        return time.monotonic() - begin

    def kill(self):
        if self.is_alive():
            self.process.kill()
            self.process.wait()
        if self.process:
            self.process.stdout.close()

    def close(self):
        self.kill()
        shutil.rmtree(self.temporary, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def memory_kibibytes(self):
        with open("/proc/%d/status" % self.pid) as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))

    def connect(self, **options):
        return Client(self.host, self.port, **options)

    def login(self, account, device="d1", sync="none", **options):
        return self.connect().login(account, device, sync=sync, **options)

    def server(self):
        client = self.connect()
        client.ok("login", {"client": "server"})
        return client


class Client:
    """One connection, read with bounded waits.

    Events that come are kept in `events`, messages in `messages`.
    """

    def __init__(self, host, port, receive_bytes=None, wait=WAIT):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(wait)
        self.socket.connect((host, port))
        self.buffer = bytearray()
        self.number = 0
        self.events = []
        self.messages = []
        self.expired = []
        self.closing = None

    def send(self, method, params=None):
        self.number += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method,
                           "params": params or {}}).encode()
        try:
            self.socket.sendall(struct.pack(">I", len(body)) + body)
        except (BrokenPipeError, ConnectionResetError):
            raise Closed()
        return self.number

    def keep_alive(self):
        self.socket.sendall(b"\0\0\0\0")

    def take(self, wait=WAIT):
        """The next frame: None for a keep-alive. Events and `close` are noted."""
        end = time.monotonic() + wait
        while True:
            if len(self.buffer) >= 4:
                count = struct.unpack(">I", self.buffer[:4])[0]
                if len(self.buffer) >= 4 + count:
                    body = bytes(self.buffer[4:4 + count])
                    del self.buffer[:4 + count]
                    break
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError()
            self.socket.settimeout(left)
            try:
                got = self.socket.recv(1 << 18)
            except ConnectionResetError:
                got = b""
            if not got:
                raise Closed()
            self.buffer += got
        if not body:
            return None
        frame = json.loads(body)
        if frame.get("method") == "events":
            self.events += frame["params"]["events"]
        if frame.get("method") == "messages":
            self.messages += frame["params"]["messages"]
        if frame.get("method") == "expired":
            self.expired += frame["params"]["publishers"]
        if frame.get("method") == "close":
            self.closing = frame["params"]
        return frame

    def answer(self, number, wait=WAIT):
        end = time.monotonic() + wait
        while True:
            frame = self.take(max(0.001, end - time.monotonic()))
            if frame and frame.get("id") == number:
                if "error" in frame:
                    raise Rejected(frame["error"])
                return frame["result"]

    def ok(self, method, params=None, wait=WAIT):
        return self.answer(self.send(method, params), wait)

    def login(self, account, device="d1", sync="none", **options):
        self.account = account
        self.welcome = self.ok("login", dict(
            {"account": account, "device": device, "sync": sync}, **options))
        while (self.take() or {}).get("method") != "synced":
            pass
        return self

    def subscribe(self, *publishers, expiry=3600, **options):
        return self.ok("subscribe", dict(
            {"type": 1, "expiry": expiry, "publishers": list(publishers)}, **options))

    def subscriptions(self):
        """Everything that the account watches: publisher → when it ends."""
        out, cursor = {}, None
        while True:
            page = self.ok("subscriptions", dict(
                {"limit": 1000}, **({"cursor": cursor} if cursor else {})))
            out.update((entry["publisher"], entry["expires"]) for entry in page["subscriptions"])
            cursor = page.get("cursor")
            if not cursor:
                return out

    def event(self, fits=lambda event: True, wait=WAIT):
        """The next event that fits; those before it are dropped."""
        end = time.monotonic() + wait
        while True:
            while self.events:
                event = self.events.pop(0)
                if fits(event):
                    return event
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError()
            self.take(left)

    def drain(self, seconds):
        """Reads for so long; returns the events."""
        end = time.monotonic() + seconds
        with contextlib.suppress(TimeoutError):
            while True:
                self.take(max(0.001, end - time.monotonic()))
        out, self.events = self.events, []
        return out

    def reason(self, wait=WAIT):
        """Reads to the end; returns the code that the service closed with."""
        end = time.monotonic() + wait
        try:
            while True:
                self.take(max(0.001, end - time.monotonic()))
        except Closed:
            return self.closing["code"] if self.closing else None

    def close(self):
        self.socket.close()


@contextlib.contextmanager
def small_disk(mebibytes):
    """A disk of its own, of that size."""
    need_root()
    folder = tempfile.mkdtemp(prefix="porchlight-faults-disk-")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dm" % mebibytes, "porchlight",
                           folder], capture_output=True)
    if made.returncode:
        os.rmdir(folder)
        raise Skip("mounting is not permitted")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=False)
        os.rmdir(folder)


@contextlib.contextmanager
def stalled_disk(service, calls):
    """A disk on which these system calls of the service do not return until the end of the block.

    They are held by a tracer, so nothing is left behind, also if this process is killed. A service
    that is killed meanwhile is gone once the tracer is.
    """
    need("strace")
    tracer = subprocess.Popen(
        ["strace", "-f", "-e", "trace=" + calls, "-e", "inject=%s:delay_enter=600000000" % calls,
         "-p", str(service.pid), "-o", "/dev/null"], stderr=subprocess.PIPE)
    try:
        # Says so, once, when it holds every thread.
        if b"attached" not in tracer.stderr.readline():
            raise Skip("tracing is not permitted")
        yield
    finally:
        # The kernel lets go of what a tracer held. On SIGINT it would wait for a service that has
        # been killed meanwhile.
        tracer.kill()
        tracer.communicate()
