"""The duties of a server of HTTP/1.1 (RFC 9110, 9112), and what a client cannot make it keep."""

import contextlib
import gzip
import json
import os
import signal
import socket
import tempfile
import time
import unittest
from urllib.parse import quote

from api import Case, KEY, Service

HEAD = "Authorization: Bearer %s\r\nHost: localhost\r\n" % KEY
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


def resident(service):
    """The bytes of memory in use."""
    with open("/proc/%d/statm" % service.process.pid) as file:
        return int(file.read().split()[1]) * 4096


class HTTP(Case):
    def connect(self):
        stream = socket.create_connection(("127.0.0.1", self.service.http_port), 20)
        self.addCleanup(stream.close)
        return stream

    def statuses(self, data):
        """The statuses of the responses; nothing in their content looks like one."""
        got = self.service.raw(data)
        return [int(part[:3]) for part in got.split(b"HTTP/1.1 ")[1:]]

    def rejected(self, status, data):
        """The one response to these bytes, which is a problem document, and the last."""
        got = self.service.raw(data)
        head, _, body = got.partition(b"\r\n\r\n")
        self.assertTrue(got.startswith(b"HTTP/1.1 %d " % status), (data[:80], got))
        self.assertIn(b"\r\nContent-Type: application/problem+json", head)
        self.assertIn(b"\r\nConnection: close", head)
        problem = json.loads(body)
        self.assertEqual(problem["status"], status)
        self.assertTrue(problem["reason"] and problem["detail"])
        return problem

    def test_an_upgrade_is_ignored(self):
        for upgrade in (b"h2c", b"x", b"websocket", b"TLS/1.0, h2c"):
            request = (b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                       b"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\nUpgrade: " + upgrade +
                       b"\r\n\r\n")
            self.assertEqual(self.statuses(request * 2 + LIVEZ), [200, 200, 200])
            body = b"PUT /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nUpgrade: x\r\n\r\nabc"
            self.assertEqual(self.statuses(body + LIVEZ), [405, 200])

    def test_a_websocket_is_elsewhere(self):
        for path in (b"/v1/socket", b"/", b"/ws", b"/xmpp"):
            got = self.service.raw(
                b"GET " + path + b" HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\n"
                b"Upgrade: WebSocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                b"Sec-WebSocket-Version: 13\r\n\r\n")
            head, _, body = got.partition(b"\r\n\r\n")
            self.assertTrue(head.startswith(b"HTTP/1.1 426 Upgrade Required\r\n"), got)
            self.assertIn(b"\r\nUpgrade: websocket", head)
            self.assertIn(b"\r\nConnection: Upgrade", head)
            problem = json.loads(body)
            self.assertEqual((problem["status"], problem["reason"]), (426, "upgrade_required"))
            self.assertEqual(
                problem["detail"],
                "This is the HTTP API, which has no WebSocket: connect to /v1/socket at the "
                "address of the setting `listen`, with port 7400 by default.")
        for method in (b"POST", b"HEAD"):
            self.assertEqual(self.statuses(
                method + b" /v1/socket HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
                b"Connection: close\r\n\r\n"), [404])

    def test_connect_is_rejected_and_is_the_last(self):
        for target in (b"a:1", b"/livez", b"http://a/livez"):
            self.rejected(501, b"CONNECT " + target + b" HTTP/1.1\r\nHost: a\r\n\r\n" + LIVEZ)

    def test_the_body_is_wanted_when_the_client_asks(self):
        body = b'{"type":1,"accounts":["a"]}'
        with self.connect() as stream:
            stream.sendall(("POST /v1/states HTTP/1.1\r\n" + HEAD + "Expect: 100-Continue\r\n"
                            "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                            % len(body)).encode())
            answers = stream.makefile("rb")
            self.assertEqual(answers.readline(), b"HTTP/1.1 100 Continue\r\n")
            self.assertEqual(answers.readline(), b"\r\n")
            stream.sendall(body)
            self.assertEqual(answers.readline(), b"HTTP/1.1 200 OK\r\n")

    def test_a_body_that_is_rejected_is_not_wanted(self):
        with self.connect() as stream:
            stream.sendall(b"POST /v1/states HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                           b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n")
            answers = stream.makefile("rb")
            self.assertEqual(answers.readline(), b"HTTP/1.1 401 Unauthorized\r\n")
            # It is discarded if it is sent.
            stream.sendall(b"{}" + LIVEZ)
            self.assertIn(b"HTTP/1.1 200 OK\r\n", answers.read())

    def test_other_expectations_fail(self):
        for field in (b"x", b"100-continue, x", b"200-ok"):
            expecting = b"GET /livez HTTP/1.1\r\nHost: a\r\nExpect: " + field + b"\r\n\r\n"
            self.assertEqual(self.statuses(expecting + LIVEZ), [417, 200])

    def test_the_connection_ends_when_the_client_says_so(self):
        for field in ("close", "Close", "TE, close", "close, TE", "x\r\nConnection: close",
                      " ,,close"):
            request = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: %s\r\n\r\n" % field
            self.assertEqual(self.statuses(request.encode() + LIVEZ), [200], field)
        for field in ("closed", "keep-alive", "TE"):
            request = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: %s\r\n\r\n" % field
            self.assertEqual(self.statuses(request.encode() + LIVEZ), [200, 200], field)

    def test_http_1_0_has_one_response_without_chunks(self):
        for fields in ("", "Host: a\r\n", "Connection: keep-alive\r\n"):
            request = ("GET /livez HTTP/1.0\r\n%s\r\n" % fields).encode()
            self.assertEqual(self.statuses(request + LIVEZ), [200], fields)
        with self.connect() as stream:
            stream.sendall(("GET /v1/feed HTTP/1.0\r\n" + HEAD + "\r\n").encode())
            answers = stream.makefile("rb")
            fields = []
            while (line := answers.readline()) != b"\r\n":
                fields.append(line.lower())
            self.assertIn(b"connection: close\r\n", fields)
            self.assertFalse([line for line in fields if b"transfer-encoding" in line])
            self.assertEqual(answers.readline(), b"retry: 2000\n")

    def test_later_versions_of_http_1_are_read_as_1_1(self):
        self.assertEqual(self.statuses(LIVEZ.replace(b"1.1", b"1.9")), [200])
        for version in (b"0.9", b"2.0", b"3.1"):
            self.rejected(505, LIVEZ.replace(b"1.1", version))

    def test_there_is_one_host(self):
        self.rejected(400, b"GET /livez HTTP/1.1\r\n\r\n")
        self.rejected(400, b"GET /livez HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n")
        self.rejected(400, b"GET /livez HTTP/1.1\r\nHost: a\r\nhOST:\r\n\r\n")
        for host in ("[evil.com]", "[::1].evil.com", "[::1", "a b", "a/b", "a@b", "a:x", "a:99999",
                     "a\u00e9", "a:1:2", ":80", "[::1]x", "[]", "a%", "a\\b", "<a>", "a,b c"):
            request = "GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n" % host
            self.assertEqual(self.statuses(request.encode() + LIVEZ), [400, 200], host)
        for host in ("", "a", "a.example:443", "[::1]:80", "1.2.3.4:", "xn--a", "a_b", "a.", "%41"):
            request = "GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n" % host
            self.assertEqual(self.statuses(request.encode() + LIVEZ), [200, 200], host)

    def test_a_target_may_be_a_whole_url(self):
        for target in ("http://a/livez", "HTTPS://a:1/livez?x"):
            request = "GET %s HTTP/1.1\r\nHost: b\r\n\r\n" % target
            self.assertEqual(self.statuses(request.encode() + LIVEZ), [200, 200], target)
        for target in ("http:///livez", "http://a b/livez", "http://u@a/livez", "livez", "*",
                       "ftp://a/livez"):
            request = "GET %s HTTP/1.1\r\nHost: b\r\n\r\n" % target
            self.assertEqual(self.statuses(request.encode())[0], 400, target)

    def test_a_key_may_follow_several_spaces(self):
        for field in ("Bearer  " + KEY, "bearer     " + KEY, "  BEARER " + KEY + " "):
            request = "GET /v1/stats HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" \
                      "Authorization: %s\r\n\r\n" % field
            self.assertEqual(self.statuses(request.encode()), [200], field)

    def test_an_encoded_body_is_not_taken(self):
        for encoding in ("gzip", "GZIP", "deflate", "br", "identity, gzip"):
            answer = self.problem(
                415, "unsupported_media_type", "POST", "/v1/states",
                gzip.compress(b'{"type":1,"accounts":["a"]}'),
                headers={"Content-Type": "application/json", "Content-Encoding": encoding})
            self.assertEqual(answer.headers["Accept-Encoding"], "identity")
        self.good("POST", "/v1/states", {"type": 1, "accounts": ["a"]},
                  headers={"Content-Type": "application/json", "Content-Encoding": "identity"})

    def test_a_hundred_long_names_fit_into_a_url(self):
        path = "/v1/accounts/%s/subscriptions" % quote("\u5b57" * 42)
        names = ["\u5b57" * 41 + "%03d" % number for number in range(100)]
        self.assertEqual({len(name.encode()) for name in names}, {126})
        self.good("POST", path, {"type": 1, "expiry": 600, "publishers": names})
        query = "&".join("publisher=" + quote(name) for name in names)
        self.assertEqual(len(self.good("GET", path + "?" + query)["subscriptions"]), 100)
        self.assertEqual(self.good("DELETE", path + "?type=1&" + query),
                         {"removed": 100, "count": 0})

    def test_what_is_too_long_is_said_to_be(self):
        long = b"x" * 60_000
        problem = self.rejected(414, b"GET /" + long + b" HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual((problem["reason"], problem["limit"]), ("target_too_long", 49152))
        problem = self.rejected(431, b"GET /livez HTTP/1.1\r\nHost: a\r\nX: " + long + b"\r\n\r\n")
        self.assertEqual((problem["reason"], problem["limit"]), ("fields_too_large", 32768))
        problem = self.rejected(431, b"GET /livez HTTP/1.1\r\n" + b"X: y\r\n" * 101 + b"\r\n")
        self.assertEqual((problem["reason"], problem["limit"]), ("fields_too_large", 100))

    def test_what_is_no_http_has_a_problem_document(self):
        for data in (b"GET\r\n\r\n", b"\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01",
                     b"GET /livez HTTP/1.1\r\nHost : a\r\n\r\n", b"GET  /livez HTTP/1.1\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 2\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
                     b"GET /livez HTTP/1.1\r\n folded: a\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"):
            self.assertEqual(self.rejected(400, data)["reason"], "invalid_request")
        for coding in (b"gzip", b"identity", b"gzip, chunked", b"chunked, chunked"):
            self.rejected(501, b"POST /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + coding
                          + b"\r\n\r\n")
        self.assertEqual(
            self.statuses(b"BREW /livez HTTP/1.1\r\nHost: a\r\n\r\n" + LIVEZ), [501, 200])

    def test_lines_may_end_in_lf_and_be_folded(self):
        self.assertEqual(self.statuses(
            b"GET /livez HTTP/1.1\nHost: a\nX: b\n c\n\nPOST /livez HTTP/1.1\r\nHost: a\r\n"
            b"Transfer-Encoding: CHUNKED\r\n\r\n3;x=y\r\nabc\r\n0\r\nX: y\r\n\r\n" + LIVEZ),
            [200, 405, 200])

    def test_a_client_that_pipelines_does_not_stop_others(self):
        with self.connect() as stream:
            stream.settimeout(30)
            request = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
            stream.sendall(request * 300)
            self.good("GET", "/livez", key=None)
            stream.sendall(LIVEZ)
            got = b""
            while some := stream.recv(65536):
                got += some
            self.assertEqual(got.count(b"HTTP/1.1 200 OK"), 301)


class Idle(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "porchlight.yml")

    def set(self, seconds):
        with open(self.path, "w") as file:
            file.write("http-idle-seconds: %d\n" % seconds)

    def test_a_reload_sets_how_long_idle_connections_are_kept(self):
        self.set(3600)
        service = Service("--config", self.path)
        self.addCleanup(service.close)
        self.set(5)
        service.signal(signal.SIGHUP)
        self.until(lambda: "http-idle-seconds 3600 → 5" in service.log_text())
        begin = time.monotonic()
        # Until the service closes it: the timeout is below the default.
        got = service.raw(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", timeout=60)
        taken = time.monotonic() - begin
        self.assertIn(b"200 OK", got)
        self.assertTrue(5 <= taken < 60, taken)


class Bytes(unittest.TestCase):
    weight = 30
    ROOM = 32 << 20

    def setUp(self):
        self.service = Service("--rate-limits", "off", keys=())
        self.addCleanup(self.service.close)

    def connect(self):
        stream = socket.create_connection(("127.0.0.1", self.service.http_port), 5)
        self.addCleanup(stream.close)
        return stream

    def assert_keeps_little(self, *streams):
        """Sends 160 MB in all, as far as they are taken; some of it comes to nothing."""
        before = resident(self.service)
        block = b"\xff" * (1 << 16)
        for head in streams:
            stream = self.connect()
            stream.settimeout(1)
            try:
                stream.sendall(head)
                for _ in range((160 << 20) // len(block) // len(streams)):
                    stream.sendall(block)
            except OSError:
                pass
            self.assertLess(resident(self.service) - before, self.ROOM, head)
        self.assertEqual(self.service.ask("GET", "/livez").status, 200)

    def test_nothing_is_kept_after_a_request_for_an_upgrade(self):
        request = b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
        self.assert_keeps_little(
            request, b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", request + b"POST ",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

    def test_nothing_is_kept_of_what_is_too_long(self):
        chunked = b"POST /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.assert_keeps_little(
            b"GET /", b"x" * 10, b"GET /livez HTTP/1.1\r\nHost: a\r\nX: ", chunked + b"5;",
            chunked + b"0\r\nX: ", chunked + b"fffffff\r\n",
            b"POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999\r\n\r\n",
            b"GET /v1/feed HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def test_responses_that_are_not_read_are_bounded_together(self):
        names = ["heavy-%d" % number for number in range(500)]
        connection = self.service.open_http(30)
        for name in names:
            answer = self.service.ask("PUT", "/v1/accounts/%s/statuses/7000" % name,
                                      {"value": 10000, "ext": "x" * 4000}, over=connection)
            self.assertEqual(answer.status, 200, answer)
        connection.close()
        body = json.dumps({"type": 7000, "accounts": names})
        request = ("POST /v1/states HTTP/1.1\r\nHost: localhost\r\n"
                   "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                   % (len(body), body)).encode()
        before, streams, statuses = resident(self.service), [], []
        began = time.monotonic()
        for _ in range(80):
            stream = socket.socket()
            self.addCleanup(stream.close)
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stream.settimeout(60)
            stream.connect(("127.0.0.1", self.service.http_port))
            stream.sendall(request)
            streams.append(stream)
        for stream in streams:
            # On a slow machine the first are closed meanwhile, since they read nothing for 15 s.
            with contextlib.suppress(ConnectionError):
                statuses.append(int(stream.recv(12)[9:] or 200))
        self.assertLessEqual(set(statuses), {200, 503})
        # 64 MiB of results, and some that were begun before.
        self.assertLess(resident(self.service) - before, 160 << 20)
        # What is small is answered, and so is what is large when there is room again.
        for method, path in (("GET", "/livez"), ("GET", "/v1/accounts/heavy-1/state?type=7000")):
            self.assertEqual(self.service.ask(method, path).status, 200)
        rejected = self.service.ask("POST", "/v1/states", {"type": 7000, "accounts": names})
        if time.monotonic() < began + 12:
            self.assertEqual(set(statuses), {200, 503})
            self.assertEqual((rejected.status, rejected.reason), (503, "overloaded"))
        for stream in streams:
            stream.close()
        for _ in range(200):
            if self.service.ask("POST", "/v1/states",
                                {"type": 7000, "accounts": names}).status == 200:
                return
        self.fail("the room is not free again")
