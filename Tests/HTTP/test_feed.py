"""The feed as server-sent events: what an app server needs to keep a table."""

import http.client
import json
import os
import socket
import time
import unittest

from api import Case, KEY, Service
import porchlight


class Stream:
    """A reader of the feed, or of what is undelivered."""

    def __init__(self, service, cursor=None, query="", path="/v1/feed"):
        self.connection = service.open_http()
        headers = {"Authorization": "Bearer " + KEY}
        if cursor is not None:
            headers["Last-Event-ID"] = cursor
        self.connection.request("GET", path + query, headers=headers)
        self.response = self.connection.getresponse()
        self.id = cursor or ""
        self.pending = []

    def event(self):
        """The next event: its name and its data; None at the end of the stream."""
        name, data = None, None
        while True:
            line = self.response.readline().decode()
            if not line:
                return None
            line = line.rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("id:"):
                self.id = line[3:].strip()
            elif line.startswith("data: "):
                data = json.loads(line[6:])
            elif not line and name:
                return name, data

    def until(self, name):
        """Every event up to and with the first of this name."""
        got = []
        while not got or got[-1][0] != name:
            event = self.event()
            if event is None:
                raise AssertionError("the stream has ended; got %r" % got)
            got.append(event)
        return got

    def close(self):
        # What has been read of it holds the socket, too.
        self.response.close()
        self.connection.close()


class Feed(Case):
    def setUp(self):
        self.streams = []

    def tearDown(self):
        for stream in self.streams:
            stream.close()

    def stream(self, *positional, **named):
        stream = Stream(self.service, *positional, **named)
        self.streams.append(stream)
        return stream

    def publish(self, account, value):
        return self.good("PUT", "/v1/accounts/%s/statuses/1" % account, {"value": value})

    def test_it_begins_with_the_current_states(self):
        self.publish("first", 10001)
        stream = self.stream()
        self.assertEqual(stream.response.status, 200)
        self.assertEqual(stream.response.headers["Content-Type"], "text/event-stream")
        events = stream.until("synced")
        self.assertEqual(events[0], ("reset", {}))
        states = [e for name, data in events[1:-1] for e in data["events"]]
        self.assertIn(("first", 10001),
                      [(s["publisher"], s.get("status", {}).get("value")) for s in states])
        self.assertTrue(stream.id)

    def test_changes_follow_with_cursors(self):
        stream = self.stream()
        stream.until("synced")
        for value in (10001, 10002):
            self.publish("changing", value)
            name, data = stream.event()
            self.assertEqual((name, data["events"][0]["value"], data["cursor"]),
                             ("change", value, stream.id))

    def test_a_reader_that_reconnects_misses_nothing(self):
        stream = self.stream()
        stream.until("synced")
        self.publish("back", 10001)
        stream.event()
        cursor = stream.id
        stream.close()
        for value in range(10002, 10010):
            self.publish("back", value)
        for again in (self.stream(cursor), self.stream(query="?cursor=" + cursor)):
            seen = []
            while len(seen) < 8:
                name, data = again.event()
                self.assertEqual(name, "change")
                seen += [e["value"] for e in data["events"]]
            self.assertEqual(seen, list(range(10002, 10010)))

    def test_it_can_begin_now(self):
        self.publish("before", 10001)
        stream = self.stream(query="?from=now")
        name, data = stream.event()
        self.assertEqual((name, data), ("now", {"cursor": stream.id}))
        begun = stream.id
        self.publish("after", 10002)
        name, data = stream.event()
        self.assertEqual((name, [e["publisher"] for e in data["events"]]), ("change", ["after"]))
        # A client that reconnects by itself repeats the query.
        again = self.stream(begun, query="?from=now")
        self.assertEqual(again.event(), (name, data))
        # Where its position is lost, it has no table that is to be cleared.
        lost = self.stream("0" * 26, query="?from=now")
        name, data = lost.event()
        self.assertEqual((name, data), ("now", {"cursor": lost.id}))
        self.publish("later", 10003)
        name, data = lost.event()
        self.assertEqual((name, [e["publisher"] for e in data["events"]]), ("change", ["later"]))

    def test_changes_from_now_are_gathered(self):
        stream = self.stream(query="?from=now")
        stream.event()
        # Those after a reconnection, too.
        for is_again in (False, True):
            if is_again:
                stream = self.stream(stream.id, query="?from=now")
            begin, items, seen = time.monotonic(), 0, []
            for value in range(10000, 10040):
                self.publish("gathered", value)
            while len(seen) < 40:
                name, data = stream.event()
                self.assertEqual(name, "change")
                items += 1
                seen += [e["value"] for e in data["events"] if e["publisher"] == "gathered"]
            self.assertEqual(seen, list(range(10000, 10040)))
            # At most five a second, however slow this machine is.
            self.assertGreaterEqual(time.monotonic() - begin, (items - 1) * 0.2)
            stream.close()

    def test_a_beginning_that_is_none(self):
        for query, reason, words in (
                ("from=then", "out_of_range", "`from` must be now."),
                ("from=", "out_of_range", "`from` must be now."),
                ("from=now&from=now", "duplicate_field", "more than once"),
                ("from=now&cursor=" + "0" * 26, "duplicate_field", "together with `cursor`")):
            answer = self.problem(422, reason, "GET", "/v1/feed?" + query)
            self.assertEqual(answer.members, {"field": "from"}, query)
            self.assertIn(words, answer.json["detail"])
        self.assertEqual(self.stream(query="?from=now&cursor=").event()[0], "now")

    def test_a_foreign_cursor_is_reset(self):
        for cursor in ("0" * 26, "nonsense", "é"):
            stream = self.stream(cursor.encode().decode("latin-1"))
            self.assertEqual(stream.event()[0], "reset")
            stream.close()

    def test_what_no_device_has_taken(self):
        path = "/v1/undelivered"
        sent = self.good("POST", "/v1/messages", {"accounts": ["feed-lisi"], "body": "one"})
        first = self.stream(path=path)
        while True:
            (name, data), = first.until("undelivered")
            entries = [e for e in data["undelivered"] if e["account"] == "feed-lisi"]
            if entries:
                break
        self.assertEqual([(e["message"], e["why"], e["body"]) for e in entries],
                         [(sent["id"], "absent", "one")])
        self.assertEqual((name, first.id), ("undelivered", data["cursor"]))
        # It continues after its cursor, in the header or the query.
        self.good("POST", "/v1/messages", {"accounts": ["feed-lisi"], "body": "two"})
        for again in (self.stream(first.id, path=path),
                      self.stream(query="?cursor=" + first.id, path=path)):
            (_, data), = again.until("undelivered")
            self.assertEqual([e["body"] for e in data["undelivered"]], ["two"])
        self.good("DELETE", "/v1/accounts/feed-lisi/messages")

    def test_it_needs_a_key(self):
        self.problem(401, "not_logged_in", "GET", "/v1/feed", key=None)

    def test_head_does_not_stream(self):
        answer = self.ask("HEAD", "/v1/feed")
        self.assertEqual((answer.status, answer.body), (200, b""))

    def test_a_closed_reader_is_not_counted(self):
        stream = self.stream()
        stream.until("synced")
        text = self.ask("GET", "/metrics").body.decode()
        self.assertNotIn("porchlight_http_feed_readers 0\n", text)
        stream.close()
        self.until(self.has_no_readers)

    def has_no_readers(self):
        return "porchlight_http_feed_readers 0\n" in self.ask("GET", "/metrics").body.decode()

    def test_a_closed_reader_behind_other_requests_is_not_counted(self):
        head = "Host: localhost\r\nAuthorization: Bearer %s\r\n\r\n" % KEY
        for ahead in range(4):
            with socket.create_connection(("127.0.0.1", self.service.http_port), 20) as stream:
                requests = ["/livez"] * ahead + ["/v1/feed"]
                stream.sendall("".join("GET %s HTTP/1.1\r\n%s" % (path, head)
                                       for path in requests).encode())
                got = b""
                while b"event: synced" not in got:
                    part = stream.recv(65536)
                    self.assertTrue(part, got)
                    got += part
            # Before the next comment, which would find out that the client has gone.
            self.until(self.has_no_readers)


class Readers(unittest.TestCase):
    weight = 30

    def test_are_bounded(self):
        service = Service()
        held = []
        try:
            for _ in range(32):
                held.append(Stream(service))
                self.assertEqual(held[-1].response.status, 200)
            answer = service.ask("GET", "/v1/feed")
            self.assertIn(answer.status, (409, 503))
            self.assertIn(answer.reason, ("overloaded", "feed_quota"))
        finally:
            for stream in held:
                stream.close()
            service.close()

    def test_one_that_is_behind_is_not_paced(self):
        """A reader from now on that has not had all gets it as fast as it reads."""
        service = Service("--rate-limits", "off")
        try:
            stream = Stream(service, query="?from=now")
            stream.event()
            server = service.connect()
            server.ok("login", {"key": KEY})
            for number in range(1500):
                server.ok("publish", {"account": "busy", "type": 1, "value": 10001 + number,
                                      "ext": "x" * 4000})
            begin, items, seen = time.monotonic(), 0, []
            while len(seen) < 1500:
                name, data = stream.event()
                self.assertEqual(name, "change")
                items += 1
                seen += [event["value"] for event in data["events"]]
            self.assertEqual(seen, list(range(10001, 11501)))
            # More than the buffers between hold. With a pause after each they would take 20 s.
            self.assertGreater(items, 100)
            self.assertLess(time.monotonic() - begin, items * 0.1)
            stream.close()
        finally:
            service.close()

    @unittest.skipIf("TSAN_OPTIONS" in os.environ, "a sanitizer takes memory of its own")
    def test_a_slow_reader_needs_no_memory(self):
        service = Service("--rate-limits", "off")
        stream = socket.socket()
        try:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stream.connect(("127.0.0.1", service.http_port))
            stream.sendall(("GET /v1/feed HTTP/1.1\r\nHost: localhost\r\n"
                            "Authorization: Bearer %s\r\n\r\n" % KEY).encode())
            server = service.connect()
            server.ok("login", {"key": KEY})
            def memory():
                with open("/proc/%d/statm" % service.process.pid) as file:
                    return int(file.read().split()[1]) * 4096
            def publish(count):
                for _ in range(count):
                    server.ok("publish", {"account": "noisy", "type": 1, "value": 10001,
                                          "ext": "x" * 4000})
            publish(200)
            before = memory()
            publish(2000)
            # The ring of the feed holds them once, 8.3 KB each, and nothing holds them twice.
            self.assertLess(memory() - before, 2000 * 8500 + (6 << 20))
        finally:
            stream.close()
            service.close()

    def test_streams_end_when_the_service_does(self):
        service = Service()
        try:
            stream = Stream(service)
            stream.until("synced")
            service.signal(15)
            self.assertIsNone(stream.event())
            self.assertEqual(service.wait(), 0)
            stream.close()
            cursor = stream.id
            service.start()
            again = Stream(service, cursor)
            service.ask("PUT", "/v1/accounts/after/statuses/1", {"value": 10001})
            self.assertEqual(again.event()[0], "change")
            again.close()
        finally:
            service.close()
