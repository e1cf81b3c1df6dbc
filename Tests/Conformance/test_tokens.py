"""Login by token, its expiry, `refresh`, and which tokens are valid. Made here, by hand."""

import base64
import hashlib
import hmac
import http.server
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from porchlight import BINARY, WAIT, Case, Service
from test_start import Rejecting

SECRET = b"a secret of thirty-two bytes, or more"
OTHER = b"another secret of thirty-two bytes, no less"


def part(thing):
    data = thing if isinstance(thing, bytes) else json.dumps(thing).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(sub="alice", life=3600, secret=SECRET, header=None, **claims):
    """A JWT by HS256 that ends in `life` seconds; claims that are None are left out."""
    said = {"sub": sub, "exp": int(time.time()) + life, **claims}
    said = {key: value for key, value in said.items() if value is not None}
    text = part(header or {"alg": "HS256", "typ": "JWT"}) + "." + part(said)
    return text + "." + part(hmac.new(secret, text.encode(), hashlib.sha256).digest())


class Folder(Case):
    """Files for keys, in a folder that is removed."""

    def setUp(self):
        super().setUp()
        self.folder = self.new_folder()

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, 0o600)
        return path

    def enter(self, text, device="d1", service=None):
        """A client that has tried to log in with a token, and the answer."""
        client = self.keep((service or self.service).connect())
        return client, client.call("login", {"token": text, "device": device})


class Tokens(Folder):
    flags = None

    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.mkdtemp(prefix="porchlight-keys-")
        with open(os.path.join(cls.keys, "secret"), "wb") as file:
            file.write(SECRET + b"\n")
        with open(os.path.join(cls.keys, "server"), "wb") as file:
            file.write(b"a-key-of-an-app-server\n")
        cls.service = Service("--auth", "jwt", "--jwt-key", os.path.join(cls.keys, "secret"),
                              "--jwt-audience", "chat", "--jwt-issuer", "us", "--server-key",
                              os.path.join(cls.keys, "server"), "--disconnect-grace", "2",
                              "--log-level", "debug")

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        shutil.rmtree(cls.keys, True)

    def good(self, sub="alice", **more):
        return token(sub, **{"aud": "chat", "iss": "us", **more})

    def test_a_token_is_an_account(self):
        name = self.name("a")
        text = self.good(name)
        client, answer = self.enter(text)
        self.assertEqual(answer["result"]["account"], name)
        end = json.loads(base64.urlsafe_b64decode(text.split(".")[1] + "=="))["exp"]
        self.assertEqual(answer["result"]["expires"], end * 1000)
        self.assertEqual(client.note("synced")["params"], {"count": 0})
        self.assertEqual(client.subscribe("x")["count"], 1)

    def test_self_asserted_accounts_are_rejected(self):
        client = self.connect()
        for params in ({"account": "alice", "device": "d"}, {"client": "server"},
                       {"account": "alice", "device": "d", "client": "server"}):
            self.rejected(client.call("login", params), 401, "invalid_token")
        self.rejected(client.call("login", {"account": "alice", "device": "d",
                                            "token": self.good()}), 414, "duplicate_field")
        client.ok("login", {"key": "a-key-of-an-app-server"})

    def test_the_command_names_its_own_options(self):
        def says(*words, **variables):
            done = subprocess.run(
                [BINARY, *words, "--connect", "127.0.0.1:%d" % self.service.port],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                env=dict(os.environ, **variables))
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            return done.stderr

        as_account = ["publish", "10001", "--account", "alice"]
        other = self.good(secret=OTHER)
        bad_token, bad_key = self.file("t", other.encode()), self.file("k", b"x" * 40)
        for words in (as_account, ["watch", "bob"]):
            self.assertEqual(
                says(*words), "Error: This service requires a token to log in as an account: give "
                "a file with one as --token-file, or set PORCHLIGHT_TOKEN. (401)\n")
            self.assertEqual(
                says(*words, "--token-file", bad_token), "Error: The token's signature is "
                "invalid. (401) The token is in the file %s given with --token-file.\n"
                % bad_token)
            self.assertEqual(
                says(*words, PORCHLIGHT_TOKEN=other), "Error: The token's signature is invalid. "
                "(401) The token is in the environment's PORCHLIGHT_TOKEN.\n")
        for words in (["query", "bob"], ["why", "a", "b"], ["top", "--once"], ["stats"],
                      as_account + ["--once"]):
            self.assertEqual(
                says(*words), "Error: This service requires a server key: give the file with it "
                "as --server-key. (401)\n")
            self.assertEqual(
                says(*words, "--server-key", bad_key), "Error: The key in the file %s given with "
                "--server-key is not a key of this service. (401)\n" % bad_key)
        self.assertRegex(
            says("bench", "fanout", "--accounts", "4", "--group", "2"),
            r"The service requires credentials \(401\): the load test needs --auth open, and "
            r"--server-key if the service has one\. \(--seed \d+\)\n$")

    def test_what_is_rejected(self):
        now = int(time.time())
        for why, text in {
                "alg": self.good(header={"alg": "none"}),
                "alg ": self.good(header={"alg": "RS256"}),
                "crit": self.good(header={"alg": "HS256", "crit": ["exp"]}),
                "b64": self.good(header={"alg": "HS256", "b64": False}),
                "kid": self.good(header={"alg": "HS256", "kid": "unknown"}),
                "signature": self.good(secret=OTHER),
                "exp": self.good(exp=None), "exp ": self.good(exp="soon"),
                "nbf": self.good(nbf=now + 300), "aud": self.good(aud="mail"),
                "aud ": self.good(aud=None), "iss": self.good(iss="them"),
                "sub": self.good(" x"), "sub ": self.good("x" * 129), "sub  ": self.good(""),
                "JWT": "x", "JWT ": "", "JWT  ": "a.b.c", "JWT   ": "." * 1000}.items():
            with self.subTest(why=why):
                _, answer = self.enter(text)
                self.rejected(answer, 401, "invalid_token", field="token")
                self.assertIn(why.strip(), answer["error"]["message"])
        _, answer = self.enter(self.good(life=-31))
        self.rejected(answer, 401, "expired_token", field="token")
        self.assertIn("result", self.enter(self.good(life=-20, nbf=now + 20))[1])

    def test_a_member_twice_is_rejected(self):
        """One parser takes the first, another the last."""
        end = int(time.time()) + 600
        rest = '"exp":%d,"aud":"chat","iss":"us"' % end
        sound = '{"sub":"a",%s}' % rest
        cases = {
            "sound": ('{"alg":"HS256"}', sound),
            "sub": ('{"alg":"HS256"}', '{"sub":"mallory",%s,"sub":"victim"}' % rest),
            "escaped": ('{"alg":"HS256"}', '{"sub":"a",%s,"s\\u0075b":"a"}' % rest),
            "aud": ('{"alg":"HS256"}', '{"sub":"a",%s,"aud":"chat"}' % rest),
            "exp": ('{"alg":"HS256"}', '{"sub":"a","exp":9999999999,%s}' % rest),
            "other": ('{"alg":"HS256"}', '{"sub":"a",%s,"x":{"y":1,"y":1}}' % rest),
            "alg": ('{"alg":"HS256","alg":"HS256"}', sound),
        }
        for name, (header, claims) in cases.items():
            with self.subTest(name=name):
                text = part(header.encode()) + "." + part(claims.encode())
                text += "." + part(hmac.new(SECRET, text.encode(), hashlib.sha256).digest())
                answer = self.enter(text)[1]
                if name == "sound":
                    self.assertIn("result", answer)
                else:
                    self.rejected(answer, 401, "invalid_token")

    def test_names_are_compared_byte_by_byte(self):
        """U+212B and A with a ring are canonically equivalent to U+00C5."""
        key = self.file("key", SECRET)
        service = self.keep(Service("--auth", "jwt", "--jwt-key", key, "--jwt-audience", "\u00c5",
                                    "--jwt-issuer", "\u00c5K"))
        for aud, iss, valid in (
                ("\u00c5", "\u00c5K", True), (["x", "\u00c5"], "\u00c5K", True),
                ("\u212b", "\u00c5K", False), ("A\u030a", "\u00c5K", False),
                ("\u00c5", "\u212bK", False), ("\u00c5", "\u00c5\u212a", False)):
            answer = self.enter(token(aud=aud, iss=iss), service=service)[1]
            self.assertEqual("result" in answer, valid, (aud, iss))

    def test_a_byte_order_mark_is_not_part_of_a_secret(self):
        key = self.file("key", b"\xef\xbb\xbf" + SECRET)
        for words in (["serve", "--auth", "jwt", "--jwt-key", key, "--data", self.folder + "/d",
                       "--listen", "127.0.0.1:0"], ["token", "alice", "--for", "1h", "--key", key]):
            done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=60)
            self.assertGreater(done.returncode, 0)
            self.assertIn("%s given with" % key, done.stderr)
            self.assertIn("begins with a byte order mark", done.stderr)

    def test_no_signature_is_no_token(self):
        text = self.good()
        head, body, _ = text.split(".")
        for forged in ("%s.%s." % (head, body), "%s.%s." % (part({"alg": "none"}), body),
                       "%s.%s" % (head, body)):
            self.rejected(self.enter(forged)[1], 401, "invalid_token")

    def test_a_session_ends_with_its_token_and_may_come_back(self):
        watched = self.name("a")
        watcher, answer = self.enter(self.good(self.name("w")))
        self.assertIn("result", answer)
        watcher.subscribe(watched)
        client, answer = self.enter(self.good(watched, life=-28))
        self.assertIn("result", answer)
        self.assertEqual(watcher.event()["cause"], "login")
        closing = client.closing()
        self.assertEqual((closing["code"], closing["reason"]), (4402, "token_expired"))
        client, answer = self.enter(self.good(watched))
        self.assertIn("result", answer)
        client.publish(10000)
        self.assertEqual(watcher.event()["cause"], "publish")
        client.ok("logout")
        self.assertEqual(watcher.event()["cause"], "logout")

    def test_refresh(self):
        name = self.name("a")
        client, answer = self.enter(self.good(name, life=-27))
        self.assertIn("result", answer)
        self.rejected(client.call("refresh", {"token": self.good("somebody")}), 403, "forbidden")
        self.rejected(client.call("refresh", {"token": "x"}), 401, "invalid_token")
        self.rejected(client.call("refresh", {"token": self.good(name, life=-40)}), 401,
                      "expired_token")
        self.rejected(client.call("refresh"), 414, "missing_field", field="token")
        new = self.good(name, life=-26)
        self.assertLess(client.ok("refresh", {"token": new})["expires"], time.time() * 1000)
        long = client.ok("refresh", {"token": self.good(name)})["expires"]
        self.assertGreater(long, time.time() * 1000)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            client.ok("ping")

    def test_only_clients_with_a_token_refresh(self):
        server = self.connect()
        server.ok("login", {"key": "a-key-of-an-app-server"})
        self.rejected(server.call("refresh", {"token": self.good()}), 403, "forbidden")
        self.rejected(self.connect().call("refresh", {"token": self.good()}), 401,
                      "not_logged_in")

    def test_requests_behind_a_login_wait_for_it(self):
        client = self.connect()
        client.post("login", {"token": self.good(self.name("a")), "device": "d"})
        last = [client.post("ping") for _ in range(20)]
        self.assertIn("result", client.answer(1))
        for id in last:
            self.assertIn("result", client.answer(id))

    def test_many_at_once(self):
        clients = []
        for number in range(100):
            # At once: the time for the login runs.
            client = self.connect()
            client.post("login", {"token": self.good("many-%d" % number), "device": "d"})
            clients.append(client)
        for number, client in enumerate(clients):
            self.assertEqual(client.answer(1)["result"]["account"], "many-%d" % number)

    def test_tokens_appear_nowhere(self):
        good, bad = self.good(self.name("secretive")), self.good(self.name("b"), secret=OTHER)
        self.enter(good)
        _, answer = self.enter(bad)
        for text in (good, bad):
            for piece in text.split("."):
                if len(piece) > 30:
                    self.assertNotIn(piece, json.dumps(answer) + self.service.log_text())

    def test_verbs_take_a_token_from_a_file_or_the_environment(self):
        name = self.name("verb")
        path = self.file("token", self.good(name).encode() + b"\n")
        where = ["--connect", "127.0.0.1:%d" % self.service.port]
        for flags, environment in ((["--token-file", path], {}),
                                   ([], {"PORCHLIGHT_TOKEN": self.good(name)})):
            process = subprocess.Popen(
                [BINARY, "publish", "10001", *where, *flags], stdout=subprocess.PIPE,
                env={**os.environ, **environment})
            self.assertIn(b"published as " + name.encode(), process.stdout.readline())
            process.send_signal(2)
            process.wait(60)
            process.stdout.close()


class Open(Folder):
    def test_without_keys_no_token_holds(self):
        service = self.fresh()
        client, answer = self.enter(token(), service=service)
        self.rejected(answer, 401, "invalid_token")
        self.assertIn("--jwt-key", answer["error"]["message"])

    def test_the_log_says_which_keys_were_loaded(self):
        path = self.file("key", SECRET)
        service = self.fresh("--auth", "jwt", "--jwt-key", path)
        self.assertRegex(service.log_text(), r"(?m)^\S+ notice porchlight: started auth=jwt "
                         r'data=\S+ jwt-key="HS256 secret" version=')
        der = bytes.fromhex("302a300506032b6570032100") + bytes(range(32))
        pem = (b"-----BEGIN PUBLIC KEY-----\n" + base64.b64encode(der)
               + b"\n-----END PUBLIC KEY-----\n")
        self.file("key", pem)
        self.assertIn('read again, 2 changed jwt-key="Ed25519 public key"', self.reload(service))
        # Without its first line it is not a secret.
        self.file("key", pem.split(b"\n", 1)[1])
        self.assertIn("nothing was changed: The file %s given with --jwt-key contains a public key"
                      % path, self.reload(service))

    def reload(self, service):
        """What a SIGHUP adds to the log."""
        before = len(service.log_text())
        service.signal(signal.SIGHUP)
        end = time.monotonic() + WAIT
        while True:
            said = service.log_text()[before:]
            if "read again" in said or "nothing was changed" in said:
                return said
            self.assertLess(time.monotonic(), end, "no word of SIGHUP")
            time.sleep(0.01)

    def test_with_keys_both_do(self):
        service = self.fresh("--jwt-key", self.file("secret", SECRET))
        self.assertIn("result", self.enter(token(), service=service)[1])
        carol = self.login("carol", service=service)
        self.rejected(carol.call("refresh", {"token": token("carol")}), 401, "invalid_token")

    def test_a_made_token_holds(self):
        path = self.file("secret", SECRET + b"\n")
        service = self.fresh("--auth", "jwt", "--jwt-key", path)
        made = subprocess.run([BINARY, "token", "alice", "--key", path, "--for", "1h"],
                              capture_output=True, timeout=60, check=True)
        _, answer = self.enter(made.stdout.decode().strip(), service=service)
        self.assertEqual(answer["result"]["account"], "alice")
        self.assertLess(abs(answer["result"]["expires"] - time.time() * 1000 - 3600_000), 10_000)


class Published(Folder):
    """Keys at a URL, with `openssl` for what signs."""

    flags = None

    def setUp(self):
        super().setUp()
        if not shutil.which("openssl"):
            self.skipTest("no openssl")
        case = self
        self.served, self.count = b"{}", 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                case.count += 1
                self.send_response(200)
                self.end_headers()
                self.wfile.write(case.served)

            def log_message(self, *_):
                pass

        self.site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.site.serve_forever, daemon=True).start()
        self.addCleanup(self.site.server_close)
        self.addCleanup(self.site.shutdown)

    def key(self, name):
        """A private key's file, and its public half as a JWK."""
        path = os.path.join(self.folder, name)
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True)
        public = subprocess.run(["openssl", "pkey", "-in", path, "-pubout", "-outform", "DER"],
                                capture_output=True, check=True).stdout
        return path, {"kty": "OKP", "crv": "Ed25519", "kid": name, "x": part(public[-32:])}

    def make(self, path, kid):
        return subprocess.run(
            [BINARY, "token", "alice", "--key", path, "--kid", kid, "--for", "1h"],
            capture_output=True, timeout=60, check=True).stdout.decode().strip()

    def publish(self, *keys):
        self.served = json.dumps({"keys": keys}).encode()

    def test_keys_are_fetched_and_kept(self):
        path, jwk = self.key("first")
        self.publish(jwk)
        url = "http://127.0.0.1:%d/jwks.json" % self.site.server_address[1]
        service = self.fresh("--auth", "jwt", "--jwt-key", url)
        self.assertIn("result", self.enter(self.make(path, "first"), service=service)[1])
        for number in range(50):
            _, answer = self.enter(self.make(path, "unknown") if number == 0 else
                                   token(header={"alg": "EdDSA", "kid": "u%d" % number}),
                                   service=service)
            self.rejected(answer, 401, "invalid_token")
        self.assertLessEqual(self.count, 3)
        self.site.shutdown()
        self.assertIn("result", self.enter(self.make(path, "first"), device="d2",
                                           service=service)[1])

    def test_tokens_are_not_called_invalid_while_keys_cannot_be_fetched(self):
        path, jwk = self.key("first")
        self.served = b"out of order"
        url = "http://127.0.0.1:%d/jwks.json" % self.site.server_address[1]
        service = self.fresh("--auth", "jwt", "--jwt-key", url)
        data = self.rejected(self.enter(self.make(path, "first"), service=service)[1], 503,
                             "overloaded")
        self.assertGreater(data["retryAfter"], 0)


class Rejected(Rejecting):
    """What `serve` does not start with."""

    def write(self, content):
        path = os.path.join(self.data, "jwt")
        with open(path, "wb") as file:
            file.write(content)
        return path

    def test_no_key(self):
        self.assertIn("--jwt-key", self.rejects("--auth", "jwt", data=self.data + "/d"))

    def test_keys_that_are_none(self):
        for content in (b"", b"short", b"{", b"{}", b"-----BEGIN PUBLIC KEY-----\nMFkw",
                        b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEfoobarfoobarfoobarfoobarfoobar",
                        b"MCowBQYDK2VwAyEAAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
                        b"JWT_PUBLIC_KEY=MCowBQYDK2VwAyEAAAECAwQFBgcICQoLDA0ODxAREhMUFRYX\n",
                        b"// ours\n" + json.dumps({"keys": [{"kty": "OKP"}]}).encode(),
                        b"https://login.example.com/.well-known/jwks.json\n",
                        b"app sha256:" + b"0" * 64 + b"\n"):
            with self.subTest(content=content):
                said = self.rejects("--auth", "jwt", "--jwt-key", self.write(content),
                                    data=self.data + "/d")
                self.assertIn("--jwt-key", said)
        self.rejects("--jwt-key", self.data + "/none", data=self.data + "/d")
        self.rejects("--jwt-key", "http://keys.example/jwks.json", data=self.data + "/d")

    def test_a_private_key_is_not_needed(self):
        if not shutil.which("openssl"):
            self.skipTest("no openssl")
        path = os.path.join(self.data, "private")
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True)
        said = self.rejects("--auth", "jwt", "--jwt-key", path, data=self.data + "/d")
        self.assertIn("private", said)

    def test_jwt_may_listen_anywhere_if_that_is_said(self):
        flags = ["--auth", "jwt", "--jwt-key", self.write(SECRET)]
        said = self.rejects(*flags, "--listen", "0.0.0.0:0", data=self.data + "/d")
        self.assertIn("listen 0.0.0.0:0 (flag --listen)", said)
        self.assertIn("Without TLS, tokens, passwords and keys can be read and used by others", said)
        self.assertIn("add --i-know-this-is-plain", said)
        service = Service(*flags, "--i-know-this-is-plain", start=False)
        service.command = lambda *flags: [BINARY, "serve", "--listen", "0.0.0.0:0", "--data",
                                          service.data, *service.flags]
        self.keep(service)
        service.start()
        self.assertEqual(service.terminate(), 0)
