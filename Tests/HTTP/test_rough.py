"""Clients that are slow, too many, or no clients at all; the native service feels none of it."""

import json
import re
import socket
import struct
import threading
import time
import unittest

from api import Case, KEY, Service

HEAD = "Authorization: Bearer %s\r\nHost: localhost\r\n" % KEY


class Rough(Case):
    weight = 40

    def assert_serves(self):
        client = self.service.connect()
        client.login("alive-%d" % time.monotonic_ns(), "d1")
        client.ok("ping")
        client.close()
        self.good("GET", "/v1/stats")

    def test_bytes_that_are_no_http(self):
        for data in (b"hello", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                     b"\x16\x03\x01\x02\x00\x01\x00", b"GET /livez HTTP/1.1\r\nA\x00: b\r\n\r\n",
                     b"POST /v1/states HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                     b"POST /v1/states HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\n" + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\n" + b"X: y\r\n" * 2_000 + b"\r\n",
                     b"GET /" + b"y" * 200_000 + b" HTTP/1.1\r\n\r\n"):
            got = self.service.raw(data, timeout=5)
            self.assertTrue(got == b"" or got.startswith((b"HTTP/1.1 4", b"HTTP/1.1 505 ")), (data[:60], got[:60]))
        self.assert_serves()

    def test_several_hosts_are_rejected(self):
        for second in ("localhost", "example.com", ""):
            got = self.service.raw(
                ("GET /livez HTTP/1.1\r\nHost: localhost\r\nhOST: %s\r\nConnection: close\r\n\r\n"
                 % second).encode())
            self.assertTrue(got.startswith(b"HTTP/1.1 400 "), got)
            self.assertIn(b'"detail":"The request must have one `Host`."', got)

    def test_smuggling_is_rejected(self):
        got = self.service.raw(
            ("POST /v1/states HTTP/1.1\r\n" + HEAD + "Content-Type: application/json\r\n"
             "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
             "0\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n").encode(), timeout=60)
        self.assertFalse(b"alive" in got, got)

    def test_a_body_that_is_too_long_is_not_waited_for(self):
        got = self.service.raw(
            ("POST /v1/states HTTP/1.1\r\n" + HEAD + "Content-Type: application/json\r\n"
             "Content-Length: 1000000000\r\n\r\n{").encode(), timeout=60)
        self.assertIn(b"413", got.split(b"\r\n")[0])
        self.assertIn(b'"limit":262144', got)

    def test_a_body_without_a_length_is_not_waited_for(self):
        with socket.create_connection(("127.0.0.1", self.service.http_port), timeout=60) as stream:
            stream.sendall(("POST /v1/states HTTP/1.1\r\n" + HEAD +
                            "Content-Type: application/json\r\n"
                            "Transfer-Encoding: chunked\r\n\r\n").encode())
            began = time.monotonic()
            with self.assertRaises(OSError):
                while time.monotonic() < began + 60:
                    stream.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n")
                    time.sleep(0.001)
        self.assert_serves()

    def timed_out(self):
        text = self.ask("GET", "/metrics").body.decode()
        return int(re.search(r"(?m)^porchlight_http_connections_timed_out_total (\d+)$", text)[1])

    def test_a_slow_body_is_not_waited_for(self):
        before = self.timed_out()
        with socket.create_connection(("127.0.0.1", self.service.http_port), timeout=60) as stream:
            stream.sendall(("POST /v1/states HTTP/1.1\r\n" + HEAD +
                            "Content-Type: application/json\r\n"
                            "Content-Length: 1000\r\n\r\n").encode())
            began = time.monotonic()
            stream.settimeout(0.5)
            while True:
                try:
                    if stream.recv(100) == b"":
                        break
                except TimeoutError:
                    stream.sendall(b" ")
                except OSError:
                    break
            self.assertLess(time.monotonic() - began, 60)
        self.assertEqual(self.timed_out(), before + 1)

    def test_a_client_that_reads_nothing_is_not_waited_for(self):
        text = "\u0001" * 4000
        names = ["heavy-%d" % n for n in range(60)]
        for name in names:
            self.good("PUT", "/v1/accounts/%s/statuses/7000" % name, {"value": 10000, "ext": text})
        body = json.dumps({"type": 7000, "accounts": names})
        request = ("POST /v1/states HTTP/1.1\r\n%sContent-Type: application/json\r\n"
                   "Content-Length: %d\r\n\r\n%s" % (HEAD, len(body), body)).encode()
        stream = socket.socket()
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.connect(("127.0.0.1", self.service.http_port))
        for _ in range(20):
            stream.sendall(request)
        def gone():
            # An option that only an open connection has a good answer to.
            state = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
            return state not in (1,)
        self.until(gone, 40)
        stream.close()
        self.assert_serves()

    def test_a_client_that_disconnects_in_the_middle_does_no_harm(self):
        for number in range(200):
            stream = socket.create_connection(("127.0.0.1", self.service.http_port))
            body = b'{"type":1,"accounts":["a"]}'
            request = (("POST /v1/states HTTP/1.1\r\n%sContent-Type: application/json\r\n"
                        "Content-Length: %d\r\n\r\n" % (HEAD, len(body))).encode() + body)
            stream.sendall(request[:len(request) * number // 200])
            if number % 2:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            stream.close()
        self.assert_serves()
        def settled():
            text = self.ask("GET", "/metrics").body.decode()
            return "porchlight_http_requests_in_flight 1\n" in text
        self.until(settled)

    def test_a_probe_finds_room_among_many_connections(self):
        held = []
        for _ in range(250):
            stream = socket.create_connection(("127.0.0.1", self.service.http_port), timeout=60)
            stream.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            stream.recv(1000)
            held.append(stream)
        for _ in range(20):
            self.assertEqual(self.ask("GET", "/livez").status, 200)
        for stream in held:
            stream.close()

    def test_many_at_once_each_get_their_own_answer(self):
        wrong = []
        def work(number):
            connection = self.service.open_http()
            for turn in range(60):
                name = "own-%d-%d" % (number, turn)
                answer = self.ask("GET", "/v1/accounts/%s/state" % name, over=connection)
                if answer.status != 200 or answer.json["publisher"] != name:
                    wrong.append(answer)
            connection.close()
        threads = [threading.Thread(target=work, args=(n,)) for n in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Slow(Case):
    """Clients that read a large response slowly get all of it."""

    names = ["large-%d" % number for number in range(60)]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        server = cls.service.connect()
        server.ok("login", {"key": KEY})
        for name in cls.names:
            server.ok("publish", {"account": name, "type": 7000, "value": 10000,
                                  "ext": "\u0001" * 4000})
        server.close()

    def begin(self, version="1.1"):
        """Sends a request whose response has 1.4 MB, more than the kernel keeps for a client."""
        stream = socket.socket()
        stream.settimeout(60)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.connect(("127.0.0.1", self.service.http_port))
        body = json.dumps({"type": 7000, "accounts": self.names})
        stream.sendall(("POST /v1/states HTTP/%s\r\n%sContent-Type: application/json\r\n"
                        "Content-Length: %d\r\n\r\n%s"
                        % (version, HEAD, len(body), body)).encode())
        return stream

    def missing(self, stream):
        """Reads the head of the response. Returns how many bytes of the body are still to come."""
        got = b""
        while b"\r\n\r\n" not in got:
            part = stream.recv(4096)
            self.assertTrue(part, got)
            got += part
        head, _, body = got.partition(b"\r\n\r\n")
        return int(re.search(rb"Content-Length: (\d+)", head)[1]) - len(body)

    def read(self, stream, missing):
        while missing > 0:
            count = len(stream.recv(4096))
            self.assertGreater(count, 0, "%d bytes are missing" % missing)
            missing -= count

    def test_after_a_half_close(self):
        for version in ("1.0", "1.1"):
            stream = self.begin(version)
            stream.shutdown(socket.SHUT_WR)
            self.read(stream, self.missing(stream))
            self.assertEqual(stream.recv(1), b"")
            stream.close()


class FewDescriptors(unittest.TestCase):
    weight = 20

    def test_a_flood_of_connections_passes(self):
        service = Service(files=256)
        streams = []
        try:
            for _ in range(300):
                stream = socket.socket()
                stream.settimeout(2)
                try:
                    stream.connect(("127.0.0.1", service.http_port))
                except OSError:
                    break
                streams.append(stream)
            for stream in streams:
                stream.close()
            # Far beyond what a slow machine needs: it turns a hang into a failure.
            end = time.monotonic() + 60
            while True:
                try:
                    found = service.ask("GET", "/readyz")
                    if found.status == 200:
                        break
                except OSError as error:
                    found = error
                self.assertLess(time.monotonic(), end, found)
            client = service.connect()
            client.login("after", "d1")
        finally:
            service.close()
