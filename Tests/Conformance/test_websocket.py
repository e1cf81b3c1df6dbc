"""WebSocket: the handshake, messages, control frames, ends, and pings of silent clients.

That WebSocket carries everything else, too, is what `run --carrier websocket` shows.
"""

import json
import os
import re
import signal
import socket
import struct
import tempfile
import threading
import time

import websocket
from porchlight import WAIT, Case, request
from websocket import CLOSE, PING, PONG, TEXT, message

# What carries the frames makes no difference to these tests.
CARRIED = False


class Plain:
    """A connection on which a test writes and reads bytes and frames."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), WAIT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()
        self.last_id = 0

    def send(self, data):
        self.socket.sendall(data)

    def fill(self):
        """Whether something came before the end of the stream."""
        try:
            got = self.socket.recv(65536)
        except ConnectionResetError:
            got = b""
        self.buffer += got
        return bool(got)

    def head(self):
        """The status and the fields of an HTTP answer; its body stays."""
        while b"\r\n\r\n" not in self.buffer:
            if not self.fill():
                raise AssertionError("no whole answer: %r" % bytes(self.buffer))
        head, _, rest = bytes(self.buffer).partition(b"\r\n\r\n")
        self.buffer = bytearray(rest)
        lines = head.decode("latin-1").split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines[1:])
        return int(lines[0].split(" ")[1]), fields

    def upgrade(self, **options):
        head, key = websocket.request(**options)
        self.send(head)
        status, fields = self.head()
        if status != 101:
            raise AssertionError("rejected with %d" % status)
        if fields["Sec-WebSocket-Accept"].encode() != websocket.accept(key):
            raise AssertionError("another key: %r" % fields)
        return fields

    def rest(self):
        """Everything up to the end of the stream."""
        while self.fill():
            pass
        return bytes(self.buffer)

    def frame(self):
        """The next frame: its opcode and payload; None at the end of the stream."""
        while True:
            found = websocket.parse(self.buffer)
            if found:
                opcode, payload, count = found
                del self.buffer[:count]
                return opcode, payload
            if not self.fill():
                return None

    def json(self):
        opcode, payload = self.frame()
        if opcode != TEXT:
            raise AssertionError("opcode %d: %r" % (opcode, payload))
        return json.loads(payload)

    def call(self, method, params=None):
        self.last_id += 1
        self.send(message(json.dumps(request(method, params or {}, self.last_id))))
        while True:
            got = self.json()
            if got.get("id") == self.last_id:
                return got["result"]

    def login(self, account, device="d1", **more):
        self.call("login", {"account": account, "device": device, **more})
        if self.json()["method"] != "synced":
            raise AssertionError("not synced")
        return self

    def ending(self):
        """Up to the end of the stream: the parameters of `close`, and the close frame's payload."""
        note = None
        while True:
            frame = self.frame()
            if frame is None:
                raise AssertionError("no close frame")
            opcode, payload = frame
            if opcode == CLOSE:
                if self.rest():
                    raise AssertionError("something came after the close frame")
                return note, payload
            if opcode == TEXT and payload:
                got = json.loads(payload)
                if got.get("method") == "close":
                    note = got["params"]

    def close(self):
        self.socket.close()


class WebSockets(Case):
    def plain(self, service=None):
        return self.keep(Plain((service or self.service).port))

    def upgraded(self, **options):
        plain = self.plain()
        plain.upgrade(**options)
        return plain

    def ends(self, plain, code, word=None, note=4400):
        """Checks the end: its notification, and the code and reason of its close frame."""
        params, payload = plain.ending()
        self.assertEqual(params and params["code"], note, params)
        self.assertEqual(struct.unpack(">H", payload[:2])[0], code, payload)
        if word is not None:
            self.assertEqual(payload[2:].decode(), word)
        return params


class Handshake(WebSockets):
    def rejected(self, head, status):
        plain = self.plain()
        plain.send(head)
        got, fields = plain.head()
        self.assertEqual(got, status, head)
        body = plain.rest()
        self.assertEqual(len(body), int(fields["Content-Length"]), body)
        self.assertTrue(fields["Connection"].startswith("close"), fields)
        self.assertLessEqual(len(body), 200)
        return fields

    def test_subprotocol(self):
        offer = "Sec-WebSocket-Protocol: x, porchlight.v1"
        self.assertEqual(
            self.plain().upgrade(fields=[offer])["Sec-WebSocket-Protocol"], "porchlight.v1")
        self.assertNotIn("Sec-WebSocket-Protocol", self.plain().upgrade())

    def test_extensions_are_declined(self):
        offer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
        self.assertNotIn("Sec-WebSocket-Extensions", self.plain().upgrade(fields=[offer]))

    def test_rejections(self):
        def head(path="/v1/socket", **options):
            return websocket.request(path, **options)[0]

        self.rejected(head("/"), 404)
        self.rejected(head("/v1/socket/"), 404)
        self.rejected(head().replace(b"GET", b"POST"), 405)
        self.rejected(head().replace(b"HTTP/1.1", b"HTTP/1.0"), 505)
        fields = self.rejected(head(without=["Upgrade"]), 426)
        self.assertEqual(fields["Upgrade"], "websocket")
        self.rejected(head(without=["Connection"]), 426)
        fields = self.rejected(
            head(without=["Sec-WebSocket-Version"], fields=["Sec-WebSocket-Version: 8"]), 426)
        self.assertEqual(fields["Sec-WebSocket-Version"], "13")
        self.rejected(head(without=["Sec-WebSocket-Key"]), 400)
        self.rejected(head(without=["Host"]), 400)
        self.rejected(head(fields=["Host: again"]), 400)
        self.rejected(head(fields=["Sec-WebSocket-Protocol: graphql-ws"]), 400)
        self.rejected(head(fields=["Content-Length: 5"]), 400)
        self.rejected(head(fields=["Transfer-Encoding: chunked"]), 400)
        self.rejected(head(fields=[b"X: a\x00b"]), 400)
        self.rejected(head(fields=["X: " + "y" * 8192]), 431)
        self.rejected(head(fields=["X: y"] * 65), 431)

    def test_pages_of_other_machines_are_rejected_without_authentication(self):
        for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
            self.rejected(websocket.request(fields=["Origin: " + origin])[0], 403)
        for origin in ("http://localhost:5173", "http://127.0.0.1", "https://[::1]:8443"):
            self.upgraded(fields=["Origin: " + origin])

    def test_origins_that_are_listed(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write("websocket-origins: https://A.example:443, https://b.example:8443\n")
            file.flush()
            service = self.fresh("--config", file.name)
        for origin, status in (("https://a.example", 101), ("https://b.example:8443", 101),
                               ("https://b.example", 403), ("http://localhost", 403)):
            plain = self.plain(service)
            plain.send(websocket.request(fields=["Origin: " + origin])[0])
            self.assertEqual(plain.head()[0], status, origin)
        self.assertIn("origin=http://localhost", service.log_text())
        self.plain(service).upgrade()

    def test_byte_by_byte_and_all_in_one(self):
        plain = self.plain()
        head = websocket.request()[0]
        for at in range(len(head)):
            plain.send(head[at:at + 1])
        self.assertEqual(plain.head()[0], 101)
        plain = self.plain()
        plain.send(head + message(json.dumps(request("login", {
            "account": self.name("a"), "device": "d"}, 1))) + message(""))
        self.assertEqual(plain.head()[0], 101)
        self.assertEqual(plain.json()["id"], 1)
        self.assertEqual(plain.json()["method"], "synced")
        self.assertEqual(plain.frame(), (TEXT, b""))


class Page(WebSockets):
    """What docs/PROTOCOL.md shows is what the service does."""

    def blocks(self, language):
        page = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "PROTOCOL.md")
        with open(page, encoding="utf-8") as file:
            return re.findall(r"(?ms)^```%s\n(.*?)^```" % language, file.read())

    def test_the_handshake(self):
        asked, answered = ((text + "\n").replace("\n", "\r\n").encode()
                           for text in self.blocks("http"))
        plain = self.plain()
        plain.send(asked)
        while len(plain.buffer) < len(answered) and plain.fill():
            pass
        self.assertEqual(bytes(plain.buffer), answered)

    def test_the_frames(self):
        sent, expected = (bytes.fromhex("".join(line[:47] for line in block.split("\n")))
                          for block in self.blocks("hex")[2:])
        web = self.upgraded().login(self.name("bob"))
        web.send(sent)
        self.assertEqual(web.rest(), expected)


class Messages(WebSockets):
    def test_an_event_is_the_same_over_both_carriers(self):
        bob = self.name("bob")
        native, web = self.login(self.name("n")), self.upgraded().login(self.name("w"))
        native.subscribe(bob)
        web.call("subscribe", {"type": 1, "expiry": 600, "publishers": [bob]})
        publisher = self.upgraded().login(bob)
        self.assertEqual(native.note("events"), web.json())
        for ext in ("", "x" * 100, "x" * 4096):
            publisher.call("publish", {"type": 1, "value": 10001, "ext": ext})
            self.assertEqual(native.note("events"), web.json())

    def test_long_answers(self):
        web = self.upgraded().login(self.name("w"))
        names = [self.name("p" + "x" * 90) for _ in range(500)]
        for at in range(0, 500, 100):
            states = web.call("subscribe", {"type": 1, "expiry": 600, "sync": True,
                                            "publishers": names[at:at + 100]})["states"]
            self.assertEqual(len(states), 100)
        got = web.call("subscriptions", {"limit": 500})
        self.assertEqual(len(got["subscriptions"]), 500)
        self.assertGreater(len(json.dumps(got)), 65536)

    def test_keepalive(self):
        web = self.upgraded()
        web.send(message("") + message("", final=False) + message("", 0))
        self.assertEqual([web.frame(), web.frame()], [(TEXT, b"")] * 2)

    def test_fragments_with_control_frames_between_them(self):
        web = self.upgraded()
        body = json.dumps(request("ping", {"text": "κόσμε"}, 7), ensure_ascii=False).encode()
        for step in (1, 5, 40):
            parts = [body[at:at + step] for at in range(0, len(body), step)]
            if len(parts) > 64:
                parts = parts[:63] + [b"".join(parts[63:])]
            for number, part in enumerate(parts):
                web.send(message(part, 0 if number else TEXT, number == len(parts) - 1))
                web.send(message(b"%d" % number, PING) + message(b"?", PONG))
            for number in range(len(parts) - 1):
                self.assertEqual(web.frame(), (PONG, b"%d" % number))
            self.assertEqual(web.json()["error"]["code"], 401)
            self.assertEqual(web.frame(), (PONG, b"%d" % (len(parts) - 1)))

    def test_pipeline_and_pings_keep_their_order(self):
        web = self.upgraded().login(self.name("w"))
        web.send(b"".join(
            message(json.dumps(request("ping", {}, i))) + message(b"%d" % i, PING)
            for i in range(200)))
        for i in range(200):
            self.assertEqual(web.json()["id"], i)
            self.assertEqual(web.frame(), (PONG, b"%d" % i))


class Ends(WebSockets):
    def test_close_is_answered_with_its_code(self):
        for payload in (b"", struct.pack(">H", 1000), struct.pack(">H", 4321) + b"bye"):
            web = self.upgraded().login(self.name("w"))
            web.send(message(payload, CLOSE) + message("too late"))
            note, got = web.ending()
            self.assertIsNone(note)
            self.assertEqual(got, payload[:2])

    def test_before_close_requests_are_answered(self):
        web = self.upgraded().login(self.name("w"))
        web.send(message(json.dumps(request("subscribe", {
            "type": 1, "expiry": 600, "publishers": ["p"]}, 9))) + message(b"", CLOSE))
        web.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(web.json()["id"], 9)
        self.assertEqual(web.frame(), (CLOSE, b""))
        self.assertEqual(web.rest(), b"")

    def test_logout(self):
        web = self.upgraded().login(self.name("w"))
        web.call("logout")
        note, payload = web.ending()
        self.assertIsNone(note)
        self.assertEqual(payload, struct.pack(">H", 1000))

    def test_replaced(self):
        account = self.name("w")
        web = self.upgraded().login(account)
        self.login(account)
        self.ends(web, 4409, "replaced", note=4409)

    def test_what_rfc_6455_forbids(self):
        hello = message("hello")
        for sent, code in (
                (b"\x81\x05hello", 1002), (b"\xc1" + hello[1:], 1002),
                (message("", 3), 1002), (message("", 11), 1002), (message("", 0), 1002),
                (message("a", final=False) + hello, 1002),
                (message("", PING, final=False), 1002), (message("x" * 126, PING), 1002),
                (message("x", CLOSE), 1002), (message(struct.pack(">H", 1005), CLOSE), 1002),
                (b"\x81\xfe\x00\x05" + hello[2:], 1002), (message(b"\xff\xfe"), 1007),
                (message("binary", 2), 1003),
                (message("x", final=False) + message("", 0, final=False) * 64, 1008),
                (websocket.header(TEXT, 16385), 1009),
                (message("x" * 16000, final=False) + websocket.header(0, 400), 1009),
                (websocket.header(TEXT, (1 << 63) - 1), 1009)):
            with self.subTest(sent=sent[:20]):
                web = self.upgraded()
                web.send(message("", PING) + sent)
                said = self.ends(web, code)
                self.assertEqual(said["message"], {
                    1002: "A frame violated RFC 6455.", 1003: "A message was binary; send text.",
                    1007: "A text message was not UTF-8.",
                    1008: "A message had too many fragments.",
                    1009: "A message was too long."}[code])

    def test_limit_after_login(self):
        web = self.upgraded().login(self.name("w"))
        body = json.dumps(request("ping", {}, 1))
        web.send(message(body.ljust(262144)))
        self.assertEqual(web.json()["id"], 1)
        web.send(websocket.header(TEXT, 262145))
        self.ends(web, 1009)

    def test_shutdown(self):
        service = self.fresh()
        web, half = self.plain(service), self.plain(service)
        web.upgrade()
        web.login("w")
        half.send(b"GET /v1/socket HTTP/1.1\r\n")
        web.call("ping")
        # With several loops, one of these is on that of `half`, and is read from after it.
        for number in range(4):
            self.keep(service.login("o%d" % number))
        service.signal(signal.SIGTERM)
        self.ends(web, 4503, "shutting_down", note=4503)
        self.assertEqual(half.head()[0], 503)
        web.close()
        half.close()
        self.assertEqual(service.wait(), 0)

    def test_a_flood_of_pings_is_bounded(self):
        """One that sends pings and reads no pongs is read from more slowly, and disturbs none."""
        web = self.upgraded().login(self.name("w"))
        web.socket.settimeout(1)
        data = message("x" * 125, PING) * 5000
        try:
            for _ in range(20):
                web.send(data)
        except (socket.timeout, ConnectionError):
            pass
        other = self.login(self.name("o"))
        began = time.monotonic()
        other.ok("ping")
        # What no busy machine explains.
        self.assertLess(time.monotonic() - began, 10)


class Silence(WebSockets):
    flags = ("--heartbeat", "5", "--rate-limits", "off")
    weight = 14

    def test_a_client_that_answers_pings_is_not_silent(self):
        tab, dead, busy = (self.upgraded().login(self.name(n)) for n in ("t", "d", "b"))
        end = time.monotonic() + 13
        pings = []

        def answer():
            while time.monotonic() < end:
                tab.socket.settimeout(max(0.01, end - time.monotonic()))
                try:
                    opcode, payload = tab.frame()
                except socket.timeout:
                    return
                if opcode == PING:
                    pings.append(time.monotonic())
                    tab.send(message(payload, PONG))
        thread = threading.Thread(target=answer)
        thread.start()
        while time.monotonic() < end:
            busy.send(message(""))
            self.assertEqual(busy.frame(), (TEXT, b""))
            threading.Event().wait(1)
        thread.join()
        self.ends(dead, 4408, "idle_timeout", note=4408)
        self.assertGreater(len(pings), 0)
        tab.socket.settimeout(WAIT)
        tab.call("ping")

    def test_half_a_request_is_answered_in_http(self):
        half = self.plain()
        half.send(b"GET /v1/socket HTTP/1.1\r\nHost: a\r\n")
        half.socket.settimeout(WAIT)
        self.assertEqual(half.head()[0], 408)

    def test_half_a_message_has_ten_seconds_whatever_comes_between(self):
        web = self.upgraded().login(self.name("w"))
        web.send(message("{", final=False))
        began = time.monotonic()
        web.socket.settimeout(0.5)
        frames = []
        while time.monotonic() - began < WAIT:
            try:
                web.send(message("", PING))
                got = web.frame()
            except socket.timeout:
                continue
            except ConnectionError:
                break
            frames.append(got)
            if got is None or got[0] == CLOSE:
                break
            threading.Event().wait(0.25)
        self.assertIn((CLOSE, struct.pack(">H", 4400) + b"protocol_violation"), frames)
        self.assertGreater(time.monotonic() - began, 9)
