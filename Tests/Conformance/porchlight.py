"""A small client of the native protocol and a harness for the service's process.

The client knows nothing but docs/PROTOCOL.md: frames of a 4-byte big-endian length and a JSON-RPC
2.0 body. It reads with bounded waits; a test that would hang fails with `Timeout` instead.
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
import tempfile
import threading
import time
import unittest

import tls
import websocket

BINARY = os.environ.get("PORCHLIGHT_BIN") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", "..", ".build", "debug", "porchlight"))

# Connection loops of every service, if not the default.
LOOPS = os.environ.get("CONFORMANCE_LOOPS")
ENVIRONMENT = dict(os.environ, PORCHLIGHT_LOOPS=LOOPS) if LOOPS else None

# How long a test waits for what must come. A disk may take half a minute for a write.
WAIT = 60.0
# What carries the frames: native or websocket; over the carriers tls and wss, within TLS.
CARRIER = os.environ.get("CONFORMANCE_CARRIER", "native")
CARRIER = {"tls": "native", "wss": "websocket"}.get(CARRIER, CARRIER)
KEEPALIVE = object()
_children_lock = threading.Lock()


class Timeout(AssertionError):
    """Something the page promises did not come in time."""


class Closed(AssertionError):
    """The service closed the connection where a frame was expected."""


def native_only(test):
    """Of a test or a class that is about the native protocol's bytes, or the first of any."""
    return unittest.skipIf(CARRIER != "native", "about the native protocol's bytes")(test)


def frame(body):
    """The bytes of one frame; an object is written as JSON."""
    if not isinstance(body, (bytes, bytearray)):
        body = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return struct.pack(">I", len(body)) + bytes(body)


def request(method, params=None, id=None):
    """A request object; without an id it is a notification."""
    out = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        out["params"] = params
    if id is not None:
        out["id"] = id
    return out


class Service:
    """One process of the service on a port of its own choice."""

    def __init__(self, *flags, data=None, start=True, files=None, environment=None):
        self.own = data is None
        self.data = data or tempfile.mkdtemp(prefix="porchlight-conf-")
        self.flags = [str(f) for f in flags]
        self.process = None
        self.port = None
        self.tls_port = None
        self.files = files
        self.environment = ENVIRONMENT
        if environment:
            self.environment = dict(ENVIRONMENT or os.environ, **environment)
        if start:
            self.start()

    def command(self, *flags):
        own = [str(f) for f in (flags or self.flags)]
        secured = [] if "--tls-certificate" in own else tls.flags_of_run()
        return [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", self.data] + secured + own

    def start(self, *flags):
        self.log = open(os.path.join(self.data + ".log"), "ab")
        with _children_lock:
            self.process = subprocess.Popen(
                self.command(*flags), stdout=subprocess.PIPE, stderr=self.log,
                stdin=subprocess.DEVNULL, env=self.environment)
            if self.files:
                resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE,
                                 (self.files, self.files))
        end = time.monotonic() + 2 * WAIT
        seen = b""
        fd = self.process.stdout.fileno()
        while True:
            left = end - time.monotonic()
            if left <= 0:
                self.kill()
                raise Timeout("no `ready on` line; said %r" % seen)
            if select.select([fd], [], [], left)[0]:
                got = os.read(fd, 4096)
                if not got:
                    raise Closed("exit %r, said %r, log %r" % (
                        self.process.wait(), seen, self.log_text()[-500:]))
                seen += got
                found = re.search(rb"ready on \S*:(\d+)", seen)
                if found and b"\n" in seen:
                    self.ready = seen.decode().strip()
                    self.port = int(found.group(1))
                    found = re.search(rb"tls on \S*:(\d+)", seen)
                    self.tls_port = int(found.group(1)) if found else None
                    return self

    def log_text(self):
        with open(self.data + ".log", "rb") as file:
            return file.read().decode("utf-8", "replace")

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=WAIT):
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Timeout("the service did not end in %s s" % seconds)
        self.process.stdout.close()
        self.log.close()
        return code

    def terminate(self, seconds=WAIT):
        self.signal(signal.SIGTERM)
        return self.wait(seconds)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process and not self.process.stdout.closed:
            self.wait()

    def close(self):
        self.kill()
        if self.own:
            shutil.rmtree(self.data, ignore_errors=True)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.data + ".log")

    def alive(self):
        return self.process.poll() is None

    def connect(self, **options):
        over_tls = tls.OVER_TLS and self.tls_port
        return Client(self.tls_port if over_tls else self.port, over_tls=over_tls, **options)

    def login(self, account, device="d1", **options):
        """A logged-in client; its login list is in `client.list`."""
        return self.connect().login(account, device, **options)

    def server(self, **params):
        """A logged-in app server (`--auth open`)."""
        client = self.connect()
        client.welcome = client.ok("login", {"client": "server", **params})
        return client


class Client:
    """One connection. Notifications that come between answers are kept in `notes`."""

    def __init__(self, port, receive_buffer=None, over_tls=False):
        plain = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.settimeout(WAIT)
        plain.connect(("127.0.0.1", port))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.begin(tls.TLSSocket(plain) if over_tls else plain)

    @classmethod
    def over(cls, connection):
        """A client on a connection that was made already."""
        client = cls.__new__(cls)
        client.begin(connection)
        return client

    def begin(self, connection):
        self.socket = connection
        self.buffer = bytearray()
        self.carrier = None
        self.answers_pings = True
        self.notes = []
        self.last_id = 0
        self.list = []
        self.welcome = None
        self.account = None
        if CARRIER == "websocket":
            self.carrier, rest = websocket.handshake(self.socket)
            self.take(rest)

    # Writing

    def raw(self, data):
        self.socket.settimeout(WAIT)
        try:
            self.socket.sendall(self.carrier.out(data) if self.carrier else data)
        except (ConnectionResetError, BrokenPipeError):
            raise Closed("the connection is closed; notes so far: %r" % self.notes[:5])

    def send(self, body):
        self.raw(frame(body))

    def post(self, method, params=None):
        """Sends a request and returns its id without waiting."""
        self.last_id += 1
        self.send(request(method, params if params is not None else {}, self.last_id))
        return self.last_id

    # Reading

    def fill(self, end):
        left = end - time.monotonic()
        if left <= 0:
            raise Timeout("nothing came; notes so far: %r" % self.notes[:5])
        self.socket.settimeout(left)
        try:
            got = self.socket.recv(262144)
        except socket.timeout:
            raise Timeout("nothing came; notes so far: %r" % self.notes[:5])
        except (ConnectionResetError, BrokenPipeError):
            got = b""
        if not got:
            raise Closed("the connection is closed; notes so far: %r" % self.notes[:5])
        self.take(got)

    def take(self, got):
        """Takes in bytes that were received."""
        if self.carrier:
            got, back = self.carrier.into(got)
            if back and self.answers_pings:
                # Who has closed the connection needs no answer; what it sent before counts.
                with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                    self.socket.sendall(back)
        self.buffer += got

    def read_bytes(self, wait=WAIT):
        """The next frame's body."""
        end = time.monotonic() + wait
        while len(self.buffer) < 4:
            self.fill(end)
        count = struct.unpack(">I", self.buffer[:4])[0]
        if count > 1 << 20:
            raise AssertionError("a server's frame of %d bytes" % count)
        while len(self.buffer) < 4 + count:
            self.fill(end)
        body = bytes(self.buffer[4:4 + count])
        del self.buffer[:4 + count]
        return body

    def read(self, wait=WAIT):
        """The next frame as an object, or KEEPALIVE."""
        body = self.read_bytes(wait)
        return json.loads(body.decode("utf-8")) if body else KEEPALIVE

    def answer(self, id, wait=WAIT):
        """The answer to `id`; notifications before it are kept."""
        end = time.monotonic() + wait
        while True:
            got = self.read(end - time.monotonic())
            if got is KEEPALIVE:
                continue
            if "method" in got:
                self.notes.append(got)
                continue
            if got.get("id") != id:
                raise AssertionError("answer to %r out of turn: %r" % (id, got))
            return got

    def call(self, method, params=None, wait=WAIT):
        return self.answer(self.post(method, params), wait)

    def ok(self, method, params=None, wait=WAIT):
        got = self.call(method, params, wait)
        if "result" not in got:
            raise AssertionError("%s %.200s was rejected: %r" % (method, params, got))
        return got["result"]

    def note(self, method=None, wait=WAIT):
        """The next notification (of that method); others stay."""
        end = time.monotonic() + wait
        at = 0
        while True:
            while at < len(self.notes):
                if method is None or self.notes[at]["method"] == method:
                    return self.notes.pop(at)
                at += 1
            got = self.read(end - time.monotonic())
            if got is not KEEPALIVE:
                if "method" not in got:
                    raise AssertionError("a response without a request: %r" % got)
                self.notes.append(got)

    def event(self, wait=WAIT):
        """The next single event, whatever frame it comes in."""
        note = self.note("events", wait)["params"]
        events = note["events"]
        if len(events) > 1:
            rest = dict(note, events=events[1:])
            self.notes.insert(0, {"jsonrpc": "2.0", "method": "events", "params": rest})
        return events[0]

    def events_until(self, fits, wait=WAIT):
        """Every event up to and with the first that fits."""
        out = []
        end = time.monotonic() + wait
        while True:
            out.append(self.event(end - time.monotonic()))
            if fits(out[-1]):
                return out

    def drain(self):
        """Events that had come before a ping was answered. What the service had to say it said."""
        self.ok("ping")
        out = []
        rest = []
        for note in self.notes:
            if note["method"] == "events":
                out += note["params"]["events"]
            else:
                rest.append(note)
        self.notes = rest
        return out

    def eof(self, wait=WAIT):
        """Waits for the end of the stream; returns the frames before it."""
        out = list(self.notes)
        end = time.monotonic() + wait
        while True:
            try:
                out.append(self.read(end - time.monotonic()))
            except Closed:
                return out

    def closing(self, wait=WAIT):
        """The parameters of `close`, after which the stream must end."""
        frames = self.eof(wait)
        closes = [f for f in frames if f is not KEEPALIVE and f.get("method") == "close"]
        if not closes:
            raise AssertionError("no close notification; frames: %r" % frames[-3:])
        if frames[-1] is not closes[-1]:
            raise AssertionError("something came after close: %r" % frames[-1])
        return closes[-1]["params"]

    def login(self, account, device="d1", **options):
        self.account = account
        self.welcome = self.ok("login", {"account": account, "device": device, **options})
        self.list = []
        while True:
            note = self.note()
            if note["method"] == "synced":
                self.synced = note["params"]
                return self
            if note["method"] == "events" and note["params"].get("sync"):
                self.list += note["params"]["events"]
                self.pages = getattr(self, "pages", []) + [len(note["params"]["events"])]
            else:
                raise AssertionError("not part of the login list: %r" % note)

    def subscribe(self, *publishers, type=1, expiry=3600, **more):
        return self.ok("subscribe", {"type": type, "expiry": expiry,
                                     "publishers": list(publishers), **more})

    def publish(self, value, type=1, **more):
        return self.ok("publish", {"type": type, "value": value, **more})

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)

    def close(self):
        self.socket.close()

    def reset(self):
        """Ends the connection with RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Case(unittest.TestCase):
    """A class of tests with one service between them; names keep them apart."""

    flags = ()
    service = None
    maxDiff = 2000
    _serial = 0

    @classmethod
    def setUpClass(cls):
        if cls.flags is not None:
            cls.service = Service(*cls.flags)

    @classmethod
    def tearDownClass(cls):
        if cls.service:
            cls.service.close()

    def setUp(self):
        self.open = []
        if self.service:
            self.assertTrue(self.service.alive(), "the service has died: " +
                            self.service.log_text()[-2000:])

    def tearDown(self):
        for thing in self.open:
            thing.close()
        if self.service:
            self.assertTrue(self.service.alive(), "this test ended the service: " +
                            self.service.log_text()[-2000:])

    def name(self, stem):
        """An account name no other test of this class uses."""
        Case._serial += 1
        return "%s-%s-%d" % (stem, self._testMethodName[5:30], Case._serial)

    def keep(self, thing):
        self.open.append(thing)
        return thing

    def connect(self):
        return self.keep(self.service.connect())

    def login(self, account, device="d1", service=None, **options):
        return self.keep((service or self.service).login(account, device, **options))

    def server(self):
        return self.keep(self.service.server())

    def fresh(self, *flags, **options):
        """A service of this test alone."""
        return self.keep(Service(*flags, **options))

    def state_with_push(self, watcher, account):
        """The account's state once a device without a connection is reachable by push."""
        end = time.monotonic() + WAIT
        while True:
            state, = watcher.subscribe(account, sync=True)["states"]
            if any(device.get("push") for device in state["online"]):
                return state
            self.assertLess(time.monotonic(), end, state)
            time.sleep(0.02)

    def new_folder(self):
        """A folder of this test alone, which is removed with what is in it."""
        folder = tempfile.TemporaryDirectory(prefix="porchlight-conf-", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        return folder.name

    def rejected(self, answer, code, reason, **data):
        """Checks an error answer: its code, its reason and what data must hold."""
        self.assertEqual(answer.get("jsonrpc"), "2.0", answer)
        self.assertIn("error", answer)
        self.assertNotIn("result", answer)
        error = answer["error"]
        self.assertEqual((error["code"], error.get("data", {}).get("reason")), (code, reason),
                         answer)
        self.assertIsInstance(error["message"], str)
        self.assertTrue(error["message"])
        for key, value in data.items():
            self.assertEqual(error["data"].get(key), value, "data.%s of %r" % (key, answer))
        return error["data"]
