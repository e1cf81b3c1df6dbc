"""TLS: what is agreed on, which certificate is served, and what SIGHUP does."""

import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

import tls
from porchlight import BINARY, LOOPS, WAIT, Case, Client, Service


class Secured(Case):
    flags = None

    @classmethod
    def setUpClass(cls):
        if LOOPS:
            raise unittest.SkipTest("TLS needs one connection loop")
        super().setUpClass()

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="porchlight-conf-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.certificate, self.key = tls.make_certificate(self.folder)

    def serve(self, *names, **options):
        """A service with a certificate for each name, the first one for the default."""
        pairs = [tls.make_certificate(self.folder, name) for name in names] or \
            [(self.certificate, self.key)]
        return self.keep(Service(
            "--listen-tls", "127.0.0.1:0", "--tls-certificate", ",".join(c for c, _ in pairs),
            "--tls-key", ",".join(k for _, k in pairs), **options))

    def served(self, service, name):
        """The common name of the certificate that a client of `name` is served."""
        made = tls.context()
        plain = socket.create_connection(("127.0.0.1", service.tls_port), timeout=WAIT)
        with made.wrap_socket(plain, server_hostname=name) as client:
            der = client.getpeercert(binary_form=True)
        text = subprocess.run(["openssl", "x509", "-inform", "DER", "-noout", "-subject"],
                              input=der, capture_output=True, check=True).stdout.decode()
        return re.search(r"CN = (\S+)", text).group(1)

    def speak(self, connection):
        client = Client.over(connection)
        self.keep(client)
        return client


class Handshakes(Secured):
    def test_a_client_speaks_over_tls_and_another_without(self):
        s = self.serve()
        watcher = self.speak(tls.connect(s.tls_port)).login("w")
        watcher.subscribe("p")
        publisher = self.keep(s.connect()).login("p")
        publisher.publish(10001)
        self.assertEqual(watcher.event()["publisher"], "p")

    def test_the_certificate_is_chosen_by_name(self):
        s = self.serve("a.example", "b.example", "c.example")
        for name in ("a.example", "b.example", "c.example", "B.Example"):
            self.assertEqual(self.served(s, name), name.lower())
        self.assertEqual(self.served(s, "d.example"), "a.example")
        self.assertEqual(self.served(s, None), "a.example")

    def test_application_protocols(self):
        s = self.serve()
        for offered, chosen in ((["porchlight"], "porchlight"), (["http/1.1"], "http/1.1"),
                                (["h2", "http/1.1"], "http/1.1"), ([], None)):
            with self.subTest(offered=offered):
                client = tls.connect(s.tls_port, made=tls.context(offered))
                self.assertEqual(client.tls.selected_alpn_protocol(), chosen)
                client.close()
        with self.assertRaisesRegex(ssl.SSLError, "no application protocol"):
            tls.connect(s.tls_port, made=tls.context(["h2"]))

    def test_old_versions_are_refused(self):
        s = self.serve()
        for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            made = tls.context()
            made.set_ciphers("ALL:@SECLEVEL=0")
            made.minimum_version = made.maximum_version = version
            with self.assertRaises(ssl.SSLError):
                tls.connect(s.tls_port, made=made)
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            made = tls.context()
            made.minimum_version = made.maximum_version = version
            self.speak(tls.connect(s.tls_port, made=made)).login("v%d" % version)

    def test_what_is_not_tls_is_closed(self):
        s = self.serve()
        plain = socket.create_connection(("127.0.0.1", s.tls_port), timeout=WAIT)
        self.keep(plain)
        plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertEqual(plain.recv(100), b"")

    def test_a_handshake_that_stops_ends_with_the_time_for_the_login(self):
        s = self.serve()
        plain = socket.create_connection(("127.0.0.1", s.tls_port), timeout=2 * WAIT)
        self.keep(plain)
        plain.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        began = time.monotonic()
        self.assertEqual(plain.recv(100), b"")
        self.assertGreater(time.monotonic() - began, 8)

    def test_after_a_half_close_requests_are_answered(self):
        s = self.serve()
        client = self.speak(tls.connect(s.tls_port)).login("a")
        ids = [client.post("ping") for _ in range(3)]
        client.half_close()
        for id in ids:
            self.assertIn("result", client.answer(id))
        client.eof()

    def test_sessions_are_resumed(self):
        s = self.serve()
        made = tls.context()
        made.maximum_version = ssl.TLSVersion.TLSv1_2
        first = made.wrap_socket(socket.create_connection(("127.0.0.1", s.tls_port)),
                                 server_hostname="one.example")
        session = first.session
        first.close()
        again = made.wrap_socket(socket.create_connection(("127.0.0.1", s.tls_port)),
                                 server_hostname="one.example", session=session)
        self.assertTrue(again.session_reused)
        again.close()


class Reloads(Secured):
    def reload(self, s):
        before = len(s.log_text())
        s.signal(signal.SIGHUP)
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            said = s.log_text()[before:]
            if "read again" in said or "nothing was changed" in said:
                return said
            time.sleep(0.01)
        self.fail("no word of SIGHUP")

    def test_new_connections_get_the_new_certificate_and_old_ones_stay(self):
        s = self.serve("a.example")
        client = self.speak(tls.connect(s.tls_port)).login("a")
        certificate, key = (os.path.join(self.folder, "a.example" + end)
                            for end in (".crt", ".key"))
        for number in range(3):
            name = "n%d.example" % number
            for new, old in zip(tls.make_certificate(self.folder, name), (certificate, key)):
                os.replace(new, old)
            self.reload(s)
            self.assertEqual(self.served(s, "x.example"), name)
            self.assertIn("time", client.ok("ping"))

    def test_a_broken_file_keeps_the_old_certificate_and_says_so(self):
        s = self.serve("a.example")
        path = os.path.join(self.folder, "a.example.crt")
        with open(path, "w") as file:
            file.write("text")
        said = self.reload(s)
        self.assertIn("nothing was changed", said)
        self.assertIn("%s given with --tls-certificate has no certificate in PEM form" % path, said)
        self.assertEqual(self.served(s, None), "a.example")

    def test_a_key_of_another_certificate_is_refused_at_startup(self):
        other = tls.make_certificate(self.folder, "b.example")[1]
        os.chmod(self.key, 0o644)
        for key, words in ((other, "does not belong"), (self.key, "can be read by all users")):
            done = subprocess.run(
                [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", self.folder + "/d",
                 "--listen-tls", "127.0.0.1:0", "--tls-certificate", self.certificate,
                 "--tls-key", key], capture_output=True, timeout=WAIT)
            self.assertEqual(done.returncode, 64)
            self.assertIn("%s given with --tls-key" % key, done.stderr.decode())
            self.assertIn(words, done.stderr.decode())

    def test_with_several_connection_loops_is_refused_at_startup(self):
        done = subprocess.run(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", self.folder + "/d",
             "--listen-tls", "127.0.0.1:0", "--tls-certificate", self.certificate,
             "--tls-key", self.key, "--loops", "2"], capture_output=True, timeout=WAIT)
        self.assertEqual(done.returncode, 64)
        self.assertIn("TLS needs one connection loop", done.stderr.decode())
