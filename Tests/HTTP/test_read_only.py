"""Keys that may only read, against every operation of the description."""

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import unittest

from api import Case, KEY, Service
from porchlight import BINARY

HERE = os.path.dirname(os.path.abspath(__file__))
READING = "a-key-for-a-console"
SECRET = ("GET /v1/undelivered", "GET /v1/accounts/{account}/devices")  # messages, push addresses


def line(key, rights=" read"):
    return "ops%s sha256:%s" % (rights, hashlib.sha256(key.encode()).hexdigest())


class Keys(Service):
    """A service with a key for everything, and one for reading only."""

    def command(self, *flags):
        command = super().command(*flags)
        self.write(line(READING))
        return command

    def write(self, further):
        with open(self.data + ".keys", "w") as file:
            file.write("%s\n%s\n" % (KEY, further))


class ReadOnly(Case):
    @classmethod
    def setUpClass(cls):
        cls.service = Keys()

    def operations(self):
        """Method, path and public of each: a Swift test compares the page with the table."""
        with open(os.path.join(HERE, "../../docs/openapi.json")) as file:
            paths = json.load(file)["paths"]
        for path, item in paths.items():
            for method, operation in item.items():
                if method != "parameters":
                    yield method.upper(), path, operation.get("security") == []

    def ask_all(self, key):
        """The status and the reason for every operation with this key."""
        for method, path, is_public in self.operations():
            if path == "/v1/feed" or path == "/v1/undelivered" and key == KEY:
                method_to_ask = "HEAD"  # A stream does not end.
            else:
                method_to_ask = method
            filled = re.sub(r"\{type\}", "1", path)
            filled = re.sub(r"\{[a-z]+\}", "x", filled)
            body = {} if method in ("POST", "PUT") else None
            answer = self.ask(method_to_ask, filled, body, key=key)
            reason = answer.reason if answer.status >= 400 and answer.body else None
            yield method, path, is_public, answer.status, reason

    def test_every_operation(self):
        allowed, rejected = [], []
        for method, path, is_public, status, reason in self.ask_all(READING):
            name = "%s %s" % (method, path)
            if (status, reason) == (403, "read_only_key"):
                rejected.append(name)
                self.assertFalse(is_public, name)
                self.assertTrue(method != "GET" or name in SECRET, name)
                self.assertNotEqual(name, "POST /v1/states")
            else:
                allowed.append(name)
                self.assertNotIn(name, SECRET)
                self.assertTrue(method == "GET" or name == "POST /v1/states", name)
                self.assertNotIn(status, (401, 403, 405), name)
        self.assertGreater(len(allowed), 18)
        self.assertIn("DELETE /v1/accounts/{account}/sessions/{device}", rejected)
        self.assertGreater(len(rejected), 16)

    def test_other_keys_may_do_all(self):
        for method, path, _, status, reason in self.ask_all(KEY):
            self.assertNotEqual(reason, "read_only_key", "%s %s" % (method, path))
            self.assertNotEqual(status, 401)

    def test_what_may_be_read_is_read(self):
        self.ask("PUT", "/v1/accounts/read/statuses/1", {"value": 10001}, key=KEY)
        states = self.good("POST", "/v1/states", {"type": 1, "accounts": ["read"]}, key=READING)
        self.assertEqual(states["states"][0]["status"]["value"], 10001)
        state = self.good("GET", "/v1/accounts/read/state", key=READING)
        self.assertEqual(state["status"]["value"], 10001)
        self.assertEqual(self.ask("HEAD", "/v1/stats", key=READING).status, 200)

    def test_what_is_rejected_changes_nothing_and_says_why(self):
        client = self.service.connect()
        client.login("kept", "d")
        path = "/v1/accounts/kept/sessions/d"
        answer = self.problem(403, "read_only_key", "DELETE", path, key=READING)
        self.assertEqual(answer.members, {"key": "ops"})
        self.assertEqual(
            answer.json["detail"], "The key `ops` may only read: GET and HEAD, except of messages "
            "and devices, and POST /v1/states. Use one that was made without --read-only.")
        self.assertEqual(len(self.good("GET", "/v1/accounts/kept/sessions", key=READING)
                             ["sessions"]), 1)
        self.assertEqual(self.good("DELETE", path, key=KEY), {"kicked": 1})

    def test_a_large_body_is_rejected_before_it_is_read(self):
        said = self.service.raw(
            b"PUT /v1/accounts/a/statuses/1 HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 200000\r\n"
            b"Authorization: Bearer " + READING.encode() + b"\r\nExpect: 100-continue\r\n\r\n")
        self.assertTrue(said.startswith(b"HTTP/1.1 403 "), said[:80])

    def test_the_service_says_what_a_key_may_do(self):
        service = self.good("GET", "/v1/service", key=READING)
        self.assertEqual((service["key"], service["access"]), ("ops", "read"))
        service = self.good("GET", "/v1/service", key=KEY)
        self.assertEqual((service["key"], service["access"]), ("key-1", "full"))

    def test_over_the_native_protocol(self):
        reader = self.service.connect()
        reader.ok("login", {"key": READING})
        reader.ok("stats")
        self.assertEqual(reader.ok("sessions", {"account": "n"})["sessions"], [])
        got = reader.call("kick", {"account": "n"})["error"]
        self.assertEqual((got["code"], got["data"]), (403, {"reason": "read_only_key"}))
        self.assertIn("may only read", got["message"])
        for method, params in (("undelivered", {}), ("devices", {"account": "n"})):
            got = reader.call(method, params)["error"]
            self.assertEqual((got["code"], got["data"]), (403, {"reason": "read_only_key"}))
        reader.ok("logout")


class FeedPlaces(unittest.TestCase):
    """Keys that may only read get half of the places of feed readers."""

    weight = 10

    def setUp(self):
        self.hook = socket.create_server(("127.0.0.1", 0))
        self.hook.settimeout(20)
        self.held = []

    def tearDown(self):
        for reader in self.held:
            reader.close()
        self.hook.close()

    def file(self, text):
        file = tempfile.NamedTemporaryFile("w")
        self.addCleanup(file.close)
        file.write(text)
        file.flush()
        return file.name

    def read(self, service, key):
        """Reads the feed over HTTP; the status."""
        connection = service.open_http()
        self.held.append(connection)
        connection.request("GET", "/v1/feed?from=now", headers={"Authorization": "Bearer " + key})
        response = connection.getresponse()
        self.held.append(response)
        if response.status != 200:
            self.assertEqual((response.status, json.loads(response.read())["reason"]),
                             (503, "overloaded"))
        return response.status

    def read_natively(self, service, key):
        """The same over the native protocol; the error, or None."""
        client = service.connect()
        self.held.append(client)
        client.ok("login", {"key": key})
        return client.call("feed", {"from": "now"}).get("error")

    def test_they_shut_nobody_out(self):
        service = Keys("--config", self.file("feed-readers-max: 4\n"), "--webhook",
                       "http://127.0.0.1:%d/" % self.hook.getsockname()[1],
                       "--webhook-secret", self.file("a secret of some length\n"))
        self.addCleanup(service.close)
        self.assertEqual([self.read(service, READING) for _ in range(3)], [200, 200, 503])
        self.assertEqual([self.read(service, KEY) for _ in range(3)], [200, 200, 503])
        for key, most in ((READING, 2), (KEY, 4)):
            for _ in range(2):
                self.assertIsNone(self.read_natively(service, key))
            error = self.read_natively(service, key)
            self.assertEqual(error["code"], 419)
            self.assertEqual(error["data"],
                             {"reason": "feed_quota", "limit": most, "count": most})
        # The webhook has a reader all the same.
        self.hook.accept()[0].close()


class ConnectionPlaces(unittest.TestCase):
    """Keys that may only read get half of the connections, and health checks have some."""

    names = ["large-%d" % number for number in range(60)]

    def hold(self, service, key):
        """Asks for 1.4 MB, more than the kernel keeps for a client, and reads the status only."""
        stream = socket.socket()
        self.addCleanup(stream.close)
        stream.settimeout(60)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.connect(("127.0.0.1", service.http_port))
        body = json.dumps({"type": 7000, "accounts": self.names})
        stream.sendall(("POST /v1/states HTTP/1.1\r\nHost: localhost\r\n"
                        "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                        "Content-Length: %d\r\n\r\n%s" % (key, len(body), body)).encode())
        said = b""
        while len(said) < 12:
            part = stream.recv(12 - len(said))
            self.assertTrue(part, "closed without a response")
            said += part
        return int(said[9:])

    def test_they_shut_nobody_out(self):
        service = Keys(files=256)  # An eighth is for HTTP: 32 connections.
        self.addCleanup(service.close)
        server = service.connect()
        server.ok("login", {"key": KEY})
        for name in self.names:
            server.ok("publish", {"account": name, "type": 7000, "value": 10000,
                                  "ext": "\u0001" * 4000})
        server.close()
        held = 0
        # Those that read too slowly are closed after 15 s, so a slow machine may need more.
        while (status := self.hold(service, READING)) == 200:
            held += 1
            self.assertLess(held, 500)
        self.assertEqual(status, 503)
        self.assertGreaterEqual(held, 15)
        for _ in range(10):
            self.assertEqual(service.ask("GET", "/livez", key=None).status, 200)
        answer = service.ask("POST", "/v1/states", {"type": 7000, "accounts": self.names})
        self.assertEqual(len(answer.json["states"]), 60)
        self.assertEqual(service.ask("GET", "/v1/stats").status, 200)
        text = service.ask("GET", "/metrics").body.decode()
        rejected = re.search(r'requests_without_place_total\{party="read_only"\} (\d+)', text)
        self.assertGreater(int(rejected[1]), 0)


class Reload(Case):
    @classmethod
    def setUpClass(cls):
        cls.service = Keys("--log-level", "info")

    def test_rights_change_with_the_file(self):
        path = "/v1/accounts/a/messages"
        self.problem(403, "read_only_key", "DELETE", path, key=READING)
        for rights, status in (("", 200), (" read", 403)):
            self.service.write(line(READING, rights))
            self.service.signal(signal.SIGHUP)
            self.until(lambda: self.ask("DELETE", path, key=READING).status == status)
        self.assertIn("server key replaced: ops", self.service.log_text())


class WithoutKeys(Case):
    options = {"keys": ()}

    def test_the_service_says_that_all_is_allowed(self):
        service = self.good("GET", "/v1/service")
        self.assertEqual(service["access"], "full")
        self.assertNotIn("key", service)


class Verb(unittest.TestCase):
    def make(self, *words):
        return subprocess.run([BINARY, "key", *words], capture_output=True, timeout=60)

    def test_it_makes_them(self):
        done = self.make("console", "--read-only")
        key = done.stdout.decode().strip()
        digest = hashlib.sha256(key.encode()).hexdigest()
        self.assertEqual(done.stderr.decode(), "console read sha256:%s\n" % digest)

    def test_a_key_of_web_push_is_none(self):
        done = self.make("--read-only", "--web-push", "x.key")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"--read-only", done.stderr)
        done = self.make("--read-only", "--web-push", "x.key", "console")
        self.assertIn(b"Give NAME or --web-push FILE, not both.", done.stderr)
        self.assertIn(b"Give NAME for the key of an app server", self.make().stderr)
        self.assertFalse(os.path.exists("x.key"))
