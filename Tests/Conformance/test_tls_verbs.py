"""The command's verbs over TLS: what they accept, and what they say if they do not."""

import os
import re
import socket
import ssl
import subprocess
import threading

import tls
from porchlight import BINARY, Service
from test_tls import Secured

# What carries the frames makes no difference to these tests.
CARRIED = False


class Verbs(Secured):
    def setUp(self):
        super().setUp()
        self.authority = tls.make_authority(self.folder)
        self.certificate, self.key = tls.sign(self.authority, self.folder, "one.example")

    def run_verb(self, *words, port, trusted=True, host="127.0.0.1", over_tls=True):
        """The end of a verb that connects."""
        flags = ["--connect", "%s:%d" % (host, port)] + (["--tls"] if over_tls else [])
        if trusted:
            flags += ["--ca", self.authority[0] if trusted is True else trusted]
        return subprocess.run([BINARY, *words, *flags], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)

    def rejected(self, port, reason, **options):
        """A verb that cannot connect, and says why in one line."""
        done = self.run_verb("query", "bob", port=port, **options)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertEqual(done.stderr, "Error: Cannot connect to %s:%d over TLS: %s\n" % (
            options.get("host", "127.0.0.1"), port, reason))

    def test_verbs_connect(self):
        s = self.serve()
        for words in (["query", "bob"], ["stats"], ["top", "--once"], ["why", "alice", "bob"]):
            with self.subTest(words=words):
                done = self.run_verb(*words, port=s.tls_port)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done)
                self.assertTrue(done.stdout)

    def test_a_session_is_held(self):
        s = self.serve()
        words = ["--connect", "localhost:%d" % s.tls_port, "--tls", "--ca", self.authority[0]]
        watching = subprocess.Popen([BINARY, "watch", "bob", *words], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watching.communicate)
        self.addCleanup(watching.terminate)
        self.assertIn("bob", watching.stdout.readline())
        publisher = self.keep(s.connect()).login("bob")
        publisher.publish(10001)
        self.assertIn("login", watching.stdout.readline())
        self.assertIn("10001", watching.stdout.readline())
        watching.terminate()
        self.assertEqual(watching.wait(60), 0)

    def test_load_tests(self):
        s = self.keep(Service(
            "--listen-tls", "127.0.0.1:0", "--tls-certificate", self.certificate, "--tls-key",
            self.key, "--rate-limits", "off", "--disconnect-grace", "60"))
        for words in (["storm", "--accounts", "60", "--group", "5"],
                      ["fanout", "--accounts", "40", "--group", "20", "--duration", "0.1"]):
            done = self.run_verb("bench", *words, "--process", str(s.process.pid), "--json",
                                 port=s.tls_port)
            self.assertEqual(done.returncode, 0, done)
            self.assertTrue(done.stdout.startswith("{"), done)
        # Clients of the storm connect twice.
        self.assertRegex(s.server().ok("metrics")["text"],
                         r"porchlight_tls_handshakes_total\{kind=\"full\"\} 1[6-9]\d\n")

    def test_an_unknown_authority(self):
        s = self.serve()
        for trusted in (False, tls.make_certificate(self.folder, "other")[0]):
            self.rejected(s.tls_port, "its certificate is not from an authority that is trusted "
                         "here. Give the authority's certificate with --ca.", trusted=trusted)

    def test_another_name(self):
        self.certificate, self.key = tls.sign(
            self.authority, self.folder, "two.example", alternatives="DNS:two.example")
        s = self.serve()
        for host in ("127.0.0.1", "localhost"):
            self.rejected(s.tls_port, "its certificate is for another name. Connect to a name in "
                         "the certificate.", host=host)

    def test_an_expired_certificate(self):
        # The service does not start with one.
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(*tls.sign(self.authority, self.folder, "old.example", dates=tls.EXPIRED))
        self.rejected(self.accept_once(made), "its certificate has expired.")

    def test_an_old_version(self):
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.set_ciphers("ALL:@SECLEVEL=0")
        made.load_cert_chain(self.certificate, self.key)
        made.minimum_version = made.maximum_version = ssl.TLSVersion.TLSv1_1
        self.rejected(self.accept_once(made), "it accepts no version of TLS that is supported here "
                     "(1.2 and 1.3).")

    def accept_once(self, made):
        """The port of a peer that makes one handshake."""
        listener = socket.create_server(("127.0.0.1", 0))
        # A verb that never connects fails its test, and does not hold the run.
        listener.settimeout(60)
        self.addCleanup(listener.close)

        def accept():
            try:
                client, _ = listener.accept()
                with client:
                    made.wrap_socket(client, server_side=True).close()
            except OSError:
                pass

        thread = threading.Thread(target=accept)
        thread.start()
        self.addCleanup(thread.join)
        return listener.getsockname()[1]

    def test_the_port_without_tls(self):
        s = self.serve()
        self.rejected(s.port, "it does not speak TLS. Is that the port without TLS? Omit --tls, or "
                     "connect to the service's address for TLS (listen-tls).")

    def test_the_port_for_http(self):
        flags = ["--http-tls", "127.0.0.1:0", "--tls-certificate", self.certificate,
                 "--tls-key", self.key]
        s = self.keep(Service(*flags))
        port = int(s.ready.rsplit(":", 1)[1])
        self.rejected(port, "it speaks TLS, and not this protocol. Is that its port for HTTP "
                     "(http-tls)? Connect to that of listen-tls.")

    def test_a_verb_without_tls_on_the_port_for_it(self):
        s = self.serve()
        done = self.run_verb("query", "bob", port=s.tls_port, trusted=False, over_tls=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("add --tls.", done.stderr)

    def test_files_that_are_no_authority(self):
        empty = os.path.join(self.folder, "empty.pem")
        open(empty, "w").close()
        for path, reason in ((empty, "has no certificate in PEM form."),
                             (empty + "-none", "cannot be read: No such file or directory.")):
            done = self.run_verb("query", "bob", port=1, trusted=path)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr,
                             "Error: The file %s given with --ca %s\n" % (path, reason))

    def test_an_authority_without_tls(self):
        done = self.run_verb("query", "bob", port=1, over_tls=False)
        self.assertEqual(done.returncode, 64)
        self.assertIn("--ca is for connections over TLS: add --tls.", done.stderr)


class TryingOut(Secured):
    """`make run-tls`: what it prints can be typed."""

    def start(self):
        script = os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "run-tls")
        serving = subprocess.Popen(
            [script, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0", "--http-tls",
             "127.0.0.1:0", "--log-level", "warning"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            env=dict(os.environ, PORCHLIGHT_BIN=BINARY, FOLDER=self.folder))
        self.addCleanup(serving.stdout.close)
        self.addCleanup(serving.wait)
        self.addCleanup(serving.terminate)
        said = ""
        # What to type comes when the service is ready.
        while "/v1/accounts/bob/state" not in said:
            line = serving.stdout.readline()
            self.assertTrue(line, said)
            said += line
        return serving, said

    def type(self, said, beginning):
        """Runs the line that begins so."""
        line = re.search(r"^  (%s .*)$" % re.escape(beginning), said, re.M).group(1)
        words = line.split()
        if beginning.startswith("porchlight"):
            words[0] = BINARY
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60)

    def test_beside_a_service_on_the_same_port_nothing_is_to_be_typed(self):
        scripts = os.path.join(os.path.dirname(__file__), "..", "..", "scripts")
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            busy, free = "127.0.0.1:%d" % port, "127.0.0.1:0"
            for words, remedy in (
                    (("run-tls", "--listen", busy, "--listen-tls", free, "--http-tls", free),
                     "scripts/run-tls --listen 127.0.0.1:0 --listen-tls 127.0.0.1:7453 --http-tls "
                     "127.0.0.1:7454"),
                    (("run-xmpp", "--listen", free, "--xmpp-listen", busy, "--xmpp-tls-listen",
                      free), "--xmpp-listen 127.0.0.1:5232 --xmpp-tls-listen 127.0.0.1:5233"),
                    (("run-xmpp", "--listen", busy, "--xmpp-listen", free, "--xmpp-tls-listen",
                      free), "scripts/run-xmpp --listen 127.0.0.1:0 --xmpp-listen 127.0.0.1:5232 "
                     "--xmpp-tls-listen 127.0.0.1:5233")):
                with self.subTest(words=words):
                    done = subprocess.run(
                        [os.path.join(scripts, words[0]), *words[1:]], stdin=subprocess.DEVNULL,
                        capture_output=True, text=True, timeout=60,
                        env=dict(os.environ, PORCHLIGHT_BIN=BINARY, FOLDER=self.folder))
                    self.assertEqual((done.returncode, done.stdout), (75, ""), done)
                    self.assertIn("Cannot listen on %s" % busy, done.stderr)
                    self.assertTrue(done.stderr.endswith(remedy + "\n"), done.stderr)

    def test_what_is_printed_works(self):
        first, said = self.start()
        done = self.type(said.replace("--account bob", "--account bob --once"),
                         "porchlight publish")
        self.assertEqual(done.returncode, 0, done)
        done = self.type(said, "curl")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn('"publisher":"bob"', done.stdout)
        first.terminate()
        first.wait()
        # The authority is the same after a restart, and the certificate is another one.
        with open(os.path.join(self.folder, "ca.crt")) as file:
            authority = file.read()
        _, said = self.start()
        with open(os.path.join(self.folder, "ca.crt")) as file:
            self.assertEqual(file.read(), authority)
        done = self.type(said, "curl")
        self.assertEqual(done.returncode, 0, done)
