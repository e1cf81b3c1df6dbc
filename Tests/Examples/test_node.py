"""examples/node: who gets a token, what is in it, and what the page shows."""

import base64
import contextlib
import json
import os
import re
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from support import ROOT, WAIT, Program, node
from porchlight import Case, Service

FOLDER = os.path.join(ROOT, "examples", "node")
PLAYWRIGHT = os.path.join(ROOT, ".build", "playwright", "bin", "python")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


def claims(token):
    """The header and the claims of a token, not verified."""
    return [json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
            for part in token.split(".")[:2]]


class Listening(Service):
    """A service with HTTP, for the SDK's files."""

    def start(self, *flags):
        super().start(*flags)
        self.http = "http://" + re.search(r"http on ([\d.:]+)", self.ready).group(1)


@unittest.skipUnless(node(), "it needs Node 20 or later")
class Example(Case):
    flags = None

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(
            prefix="porchlight-conf-"))
        cls.key, public = os.path.join(cls.folder, "jwt.key"), os.path.join(cls.folder, "jwt.pub")
        for words in (("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
                       "-out", cls.key), ("pkey", "-in", cls.key, "-pubout", "-out", public)):
            subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=WAIT)
        # The grace is long, so that only a logout is seen at once.
        cls.presence = Listening("--auth", "jwt", "--jwt-key", public, "--http", "127.0.0.1:0",
                                 "--disconnect-grace", "60")
        cls.addClassCleanup(cls.presence.close)
        cls.backend = Program(
            node(), os.path.join(FOLDER, "server.js"), PORT="0", JWT_KEY=cls.key,
            PORCHLIGHT=cls.presence.http,
            PORCHLIGHT_SOCKET="ws://127.0.0.1:%d/v1/socket" % cls.presence.port)
        cls.addClassCleanup(cls.backend.close)

    def sign_in(self, account, password=None, cookie=None, **headers):
        """The status and the cookie that is set, with its attributes."""
        body = urllib.parse.urlencode(
            {"account": account, "password": password or account + "-secret"})
        fields = {**headers, **({"Cookie": cookie} if cookie else {})}
        status, got, _ = self.backend.ask("POST", "/login", body, fields)
        return status, got["Set-Cookie"]

    def session(self, account):
        status, cookie = self.sign_in(account)
        self.assertEqual(status, 303)
        return cookie.split(";")[0]

    def token(self, cookie, path="/token"):
        headers = {"Cookie": cookie} if cookie else {}
        status, _, body = self.backend.ask("GET", path, headers=headers)
        return body.decode() if status == 200 else status


class Tokens(Example):
    def test_the_service_accepts_them_as_the_account(self):
        for account in ("alice", "bob"):
            token = self.token(self.session(account))
            client = self.keep(self.presence.connect())
            welcome = client.ok("login", {"token": token, "device": "d"})
            self.assertEqual(welcome["account"], account)

    def test_many_of_them(self):
        # A signature in the wrong encoding would be of another length from time to time.
        cookie = self.session("alice")
        for _ in range(50):
            token = self.token(cookie)
            self.assertEqual(len(token.split(".")[2]), 86)
        client = self.keep(self.presence.connect())
        client.ok("login", {"token": token, "device": "d"})

    def test_what_they_say(self):
        header, said = claims(self.token(self.session("alice"), "/token?account=bob&sub=bob"))
        self.assertEqual(header, {"alg": "ES256", "typ": "JWT"})
        self.assertEqual(set(said), {"sub", "exp"})
        self.assertEqual(said["sub"], "alice")
        self.assertAlmostEqual(said["exp"], time.time() + 600, delta=60)

    def test_none_without_a_session(self):
        right = self.session("alice")
        for cookie in (None, "session=", "session=" + "A" * 43, right[:-1], right + "A",
                       right.replace("session", "Session"), "x" + right):
            self.assertEqual(self.token(cookie), 401, cookie)
        for cookie in (right, "a=b; " + right, right + "; c=d"):
            self.assertEqual(claims(self.token(cookie))[1]["sub"], "alice")

    def test_they_are_not_kept_by_caches(self):
        _, headers, _ = self.backend.ask("GET", "/token", headers={"Cookie": self.session("alice")})
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertIsNone(headers["Access-Control-Allow-Origin"])


class Sessions(Example):
    def test_wrong_passwords_and_names(self):
        for account, password in (
                ("alice", "bob-secret"), ("alice", " "), ("alice", "alice-secret "),
                ("alice", "alice-secreT"), ("Alice", "alice-secret"), ("dave", "dave-secret"),
                ("__proto__", "x"), ("", "x")):
            self.assertEqual(self.sign_in(account, password), (403, None), (account, password))

    def test_the_cookie_is_for_the_browser_alone(self):
        _, cookie = self.sign_in("alice")
        attributes = [part.strip() for part in cookie.split(";")[1:]]
        for attribute in ("HttpOnly", "SameSite=Strict", "Path=/"):
            self.assertIn(attribute, attributes)

    def test_each_login_has_a_secret_of_its_own(self):
        first = self.session("alice")
        _, second = self.sign_in("bob", cookie=first)
        self.assertNotEqual(first, second.split(";")[0])
        self.assertEqual(self.token(first), 401, "the browser's session before")
        self.assertEqual(claims(self.token(second.split(";")[0]))[1]["sub"], "bob")

    def test_a_secret_that_was_not_given_is_not_taken_over(self):
        planted = "session=" + "A" * 43
        _, cookie = self.sign_in("alice", cookie=planted)
        self.assertNotEqual(cookie.split(";")[0], planted)
        self.assertEqual(self.token(planted), 401)

    def test_a_logout_ends_it(self):
        cookie = self.session("alice")
        self.assertEqual(self.backend.ask("POST", "/logout", headers={"Cookie": cookie})[0], 303)
        self.assertEqual(self.token(cookie), 401)

    def test_forms_of_other_sites_are_rejected(self):
        own = "http://127.0.0.1:%d" % self.backend.port
        for origin in ("http://evil.example", "null", own + "0",
                       "http://localhost:%d" % self.backend.port):
            self.assertEqual(self.sign_in("alice", Origin=origin), (404, None), origin)
        self.assertEqual(self.sign_in("alice", Origin=own)[0], 303)

    def test_long_forms_and_unknown_paths_do_no_harm(self):
        with contextlib.suppress(OSError):
            self.assertEqual(self.backend.ask("POST", "/login", "a" * 100_000)[0], 400)
        for path in ("/../server.js", "/server.js", "/__proto__", "//", "/page/login.html"):
            self.assertEqual(self.backend.ask("GET", path)[0], 404)
        self.assertEqual(self.backend.ask("GET", "/")[0], 200)


class Limits(Example):
    def send(self, text):
        connection = socket.create_connection(("127.0.0.1", self.backend.port), timeout=WAIT)
        self.addCleanup(connection.close)
        connection.sendall(text.encode())
        return connection

    def test_slow_requests_are_ended(self):
        head = "POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        slow = [self.send(head), self.send(head + "Content-Length: 100\r\n\r\na")]
        for connection in slow:
            self.assertIn(connection.recv(1000)[:12], (b"HTTP/1.1 408", b""))
        self.assertEqual(self.sign_in("alice")[0], 303)

    def test_guesses_do_not_delay_the_logins_of_others(self):
        guess = ("POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 20\r\n\r\n"
                 "account=a&password=b")
        last = "GET /server.js HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        # Those of one connection are read at once, however slow this machine is.
        connection = self.send(40 * guess + last)
        said = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        codes = [int(code) for code in re.findall(rb"HTTP/1\.1 (\d+)", said)]
        self.assertEqual(codes, 32 * [403] + 8 * [503] + [404])
        self.assertEqual(said.count(b"\r\nRetry-After: 1\r\n"), 8)
        self.assertEqual(self.sign_in("alice")[0], 303)


class Page(Example):
    def test_its_policy_and_what_it_loads(self):
        _, headers, body = self.backend.ask("GET", "/friends.js")
        self.assertNotIn(b"{{", body)
        self.assertIn(b'from "%s/sdk/porchlight.min.js"' % self.presence.http.encode(), body)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        _, _, form = self.backend.ask("GET", "/")
        self.assertIn(b'action="/login"', form)

    @unittest.skipUnless(os.access(PLAYWRIGHT, os.X_OK) and os.access(CHROMIUM, os.X_OK),
                         "its page needs Chromium and Playwright: run make test-browser")
    def test_two_people_see_each_other(self):
        done = subprocess.run(
            [PLAYWRIGHT, "-B", os.path.join(os.path.dirname(__file__), "browser.py"), CHROMIUM,
             "http://127.0.0.1:%d/" % self.backend.port],
            capture_output=True, text=True, timeout=3 * WAIT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-3000:])
