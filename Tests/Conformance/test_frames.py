"""§1, frames: lengths, keep-alives, limits, splits, pipelines and garbage."""

import json
import struct
import threading
import time
import unittest

from porchlight import KEEPALIVE, Case, frame, native_only, request

AFTER = 262144
BEFORE = 16384


def padded(size, method="ping", id=1):
    """A ping whose frame body is exactly `size` bytes; unknown fields are ignored."""
    body = json.dumps(request(method, {"pad": ""}, id), separators=(",", ":")).encode()
    pad = b"x" * (size - len(body))
    return body.replace(b'"pad":""', b'"pad":"' + pad + b'"')


class Frames(Case):
    def test_keepalive_is_answered(self):
        c = self.connect()
        c.raw(b"\0\0\0\0")
        self.assertIs(c.read(), KEEPALIVE)

    def test_keepalive_after_login(self):
        c = self.login(self.name("a"))
        c.raw(b"\0\0\0\0" * 3)
        for _ in range(3):
            self.assertIs(c.read(), KEEPALIVE)

    def test_keepalive_keeps_its_place_among_requests(self):
        c = self.login(self.name("a"))
        c.raw(frame(request("ping", {}, 1)) + b"\0\0\0\0" + frame(request("ping", {}, 2)))
        self.assertEqual(c.read()["id"], 1)
        self.assertIs(c.read(), KEEPALIVE)
        self.assertEqual(c.read()["id"], 2)

    def test_before_login_16384_is_taken(self):
        c = self.connect()
        for size in (BEFORE - 1, BEFORE):
            c.send(padded(size))
            self.rejected(c.read(), 401, "not_logged_in")

    def test_before_login_16385_is_closed_without_the_body(self):
        c = self.connect()
        c.raw(struct.pack(">I", BEFORE + 1))
        closing = c.closing()
        self.assertEqual((closing["code"], closing["reason"]), (4400, "protocol_violation"))
        self.assertIsInstance(closing["message"], str)

    def test_after_login_262144_is_taken(self):
        c = self.login(self.name("a"))
        for size in (AFTER - 1, AFTER):
            c.send(padded(size))
            self.assertIn("time", c.read()["result"])

    def test_after_login_262145_is_closed_without_the_body(self):
        c = self.login(self.name("a"))
        c.raw(struct.pack(">I", AFTER + 1))
        self.assertEqual(c.closing()["code"], 4400)

    def test_huge_lengths_are_closed(self):
        for length in (0x80000000, 0xFFFFFFFF, 0x7FFFFFFF, 1 << 20):
            with self.subTest(length=length):
                c = self.connect()
                c.raw(struct.pack(">I", length))
                self.assertEqual(c.closing()["code"], 4400)

    @native_only
    def test_other_protocols_are_told_what_would_be_right(self):
        json = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
        mqtt = b"\x10\x10\0\4MQTT\4\2\0\x3c\0\4test"
        for sent, words in (
                (json, ("JSON", "4-byte length", "big-endian")),
                (struct.pack("<I", len(json)) + json,
                 ("little-endian", "4-byte length", "big-endian")),
                (b"<?xml version='1.0'?><stream:stream>", ("XMPP", "xmpp-listen")),
                (mqtt, ("MQTT",)),
                (b"PROXY TCP4 192.0.2.1 192.0.2.2 50000 7400\r\n",
                 ("PROXY header", "proxy-protocol", "proxies")),
                (b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0",
                 ("PROXY header", "proxy-protocol", "proxies"))):
            with self.subTest(sent=sent):
                c = self.connect()
                c.raw(sent)
                closing = c.closing()
                self.assertEqual((closing["code"], closing["reason"]),
                                 (4400, "protocol_violation"))
                for word in words:
                    self.assertIn(word, closing["message"])

    @native_only
    def test_after_login_they_are_long_frames(self):
        c = self.login(self.name("a"))
        c.raw(b"<stream:stream>")
        self.assertEqual(c.closing()["message"], "A frame was too long.")

    def test_answers_before_the_violation_are_delivered(self):
        c = self.login(self.name("a"))
        c.raw(frame(request("ping", {}, 1)) * 20 + struct.pack(">I", AFTER + 1) + b"rest" * 100)
        frames = c.eof()
        self.assertEqual([f.get("id") for f in frames[:20]], [1] * 20)
        self.assertEqual(frames[20]["params"]["code"], 4400)
        self.assertEqual(len(frames), 21)

    def test_the_larger_limit_holds_right_behind_login_in_one_write(self):
        c = self.connect()
        a = self.name("a")
        c.raw(frame(request("login", {"account": a, "device": "d"}, 1)) + frame(padded(AFTER)))
        self.assertIn("result", c.read())
        self.assertEqual(c.note()["method"], "synced")
        self.assertIn("result", c.read())

    def test_byte_by_byte(self):
        c = self.connect()
        a = self.name("a")
        out = frame(request("login", {"account": a, "device": "d", "client": "ios"}, 1)) + \
            b"\0\0\0\0" + frame(request("ping", {}, "x"))
        for i in range(len(out)):
            c.raw(out[i:i + 1])
        self.assertEqual(c.read()["result"]["account"], a)
        self.assertEqual(c.read()["method"], "synced")
        self.assertIs(c.read(), KEEPALIVE)
        self.assertEqual(c.read()["id"], "x")

    def test_pipeline_of_1000_requests_in_order(self):
        c = self.login(self.name("a"))
        out = b"".join(
            frame(request(("ping", "subscriptions", "nonsense")[i % 3], {}, i))
            for i in range(1000))
        c.raw(out)
        self.assertEqual([c.read()["id"] for _ in range(1000)], list(range(1000)))

    def test_slow_answers_keep_their_place(self):
        """A durable answer waits; a ping behind it must not overtake it."""
        c = self.login(self.name("a"))
        out = b""
        for i in range(0, 200, 2):
            out += frame(request("subscribe", {"type": 1, "expiry": 60,
                                               "publishers": ["p%d" % i]}, i))
            out += frame(request("ping", {}, i + 1))
        c.raw(out)
        self.assertEqual([c.read()["id"] for _ in range(200)], list(range(200)))

    def test_splits_at_every_place_give_the_same_answers(self):
        c = self.login(self.name("a"))
        out = b"".join(frame(request("ping", {}, i)) for i in range(30))
        for step in (3, 5, 7, 11, 64):
            for at in range(0, len(out), step):
                c.raw(out[at:at + step])
            self.assertEqual([c.read()["id"] for _ in range(30)], list(range(30)))

    def test_half_closed_socket_still_gets_its_answers(self):
        c = self.login(self.name("a"))
        c.raw(b"".join(frame(request("ping", {}, i)) for i in range(300)))
        c.half_close()
        frames = c.eof()
        self.assertEqual([f["id"] for f in frames if "id" in f], list(range(300)))

    def test_half_closed_socket_gets_the_durable_answer(self):
        a = self.name("a")
        c = self.login(a)
        c.raw(frame(request("subscribe", {"type": 1, "expiry": 600, "publishers": ["p"]}, 7)))
        c.half_close()
        frames = c.eof()
        self.assertEqual([f["id"] for f in frames if "id" in f], [7])
        again = self.login(a)
        self.assertEqual(again.ok("subscriptions")["count"], 1)

    def test_half_closed_socket_gets_its_whole_login_list(self):
        a = self.name("a")
        first = self.login(a)
        names = [self.name("p%d" % i) for i in range(250)]
        for at in range(0, 250, 50):
            first.subscribe(*names[at:at + 50])
        c = self.connect()
        c.raw(frame(request("login", {"account": a, "device": "d2", "sync": "all"}, 7)))
        c.half_close()
        frames = c.eof()
        self.assertEqual(frames[0]["id"], 7)
        lists = [f["params"]["events"] for f in frames if f.get("method") == "events"]
        self.assertEqual(sorted(e["publisher"] for e in sum(lists, [])), sorted(names))
        self.assertEqual(frames[-1], {"jsonrpc": "2.0", "method": "synced",
                                      "params": {"count": 250}})

    def test_half_closed_socket_gets_the_response_to_its_logout(self):
        # With several loops, it may come in the turn in which the end of the stream is read.
        for _ in range(10):
            crowd = [self.login(self.name("a")) for _ in range(30)]
            for c in crowd:
                c.raw(frame(request("logout", {}, 7)))
                c.half_close()
            for c in crowd:
                self.assertEqual([f["id"] for f in c.eof() if "id" in f], [7])

    def test_cut_frame_gets_no_answer(self):
        c = self.login(self.name("a"))
        c.raw(frame(request("ping", {}, 1)) + frame(request("ping", {}, 2))[:-1])
        c.half_close()
        self.assertEqual([f["id"] for f in c.eof() if "id" in f], [1])

    def test_garbage_is_closed_with_4400(self):
        for words in (b"PUTX / HTTP/1.1\r\nHost: x\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n",
                      b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\xff" * 64,
                      b"<?xml version='1.0'?><stream:stream>"):
            with self.subTest(words=words[:12]):
                c = self.connect()
                c.raw(words)
                self.assertEqual(c.closing()["code"], 4400)

    def test_over_limit_claims_do_not_cost_memory(self):
        def rss():
            with open("/proc/%d/statm" % self.service.process.pid) as file:
                return int(file.read().split()[1]) * 4096
        first = rss()
        idle = []
        for _ in range(300):
            c = self.connect()
            c.raw(struct.pack(">I", BEFORE))     # allowed, and then nothing
            idle.append(c)
        self.login(self.name("hz")).ok("ping")
        self.assertLess(rss() - first, 12 << 20)

    def test_200_connections_pipeline_at_once(self):
        bad = []

        def one(number):
            try:
                c = self.service.login("crowd-%d" % number, "d")
                c.raw(b"".join(frame(request("ping", {}, i)) for i in range(100)))
                ids = [c.answer(i, 30)["id"] for i in range(100)]
                if ids != list(range(100)):
                    bad.append(ids)
                c.close()
            except Exception as fault:
                bad.append(fault)
        threads = [threading.Thread(target=one, args=(i,)) for i in range(200)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
        self.assertEqual(bad[:2], [])


class Dribble(Case):
    """A frame that never ends does not stop the clock of the login."""

    weight = 11

    def test_login_timeout_is_not_extended(self):
        began = time.monotonic()
        quiet, pinger, dribbler, poor = (self.connect() for _ in range(4))
        out = frame(padded(BEFORE))
        at = 0
        while time.monotonic() - began < 9:
            pinger.raw(b"\0\0\0\0")
            dribbler.raw(out[at:at + 10])
            poor.send(request("ping", {}, 1))
            at += 10
            threading.Event().wait(0.25)
        ends = []
        for who, c in (("quiet", quiet), ("pinger", pinger), ("dribbler", dribbler),
                       ("poor", poor)):
            with self.subTest(who):
                closing = c.closing()
                self.assertEqual((closing["code"], closing["reason"]), (4401, "login_timeout"))
                ends.append(time.monotonic() - began)
                self.assertGreater(ends[0], 9.4)
                # One that was given more time for what it has sent ends nine seconds later.
                self.assertLess(ends[-1] - ends[0], 7)
