"""Settings that are rejected, and what SIGHUP does."""

import os
import shutil
import signal
import ssl
import socket
import subprocess
import tempfile
import time
import unittest

import tls
from porchlight import BINARY, WAIT
from service import DOMAIN, XMPPService
from stream import Stream


class Rejected(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="porchlight-xmpp-")
        self.addCleanup(shutil.rmtree, self.data)

    def rejection(self, *flags):
        """The one sentence with which a start is rejected."""
        said = subprocess.run(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", self.data, *flags],
            capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(said.returncode, 64, said.stderr)
        return said.stderr

    def test_without_a_domain(self):
        self.assertIn("set xmpp-domain", self.rejection(
            "--xmpp-listen", "127.0.0.1:0", "--xmpp-plaintext"))

    def test_something_that_is_no_domain(self):
        for domain in ("a@b", "example.com:5222", "192.0.2.1:5222", "[::1]:5222", "a/b",
                       "a b", "example.com example.org", "-a.com", "a-.com", "a.-b.com", "a..com",
                       "a" * 64 + ".com", "a" * 300, "abc." * 64 + "com"):
            # The second has no XMPP client: the setting is checked for later.
            for listener in (("--xmpp-listen", "127.0.0.1:0", "--xmpp-plaintext"), ()):
                self.assertIn("A domain is a name such as example.com", self.rejection(
                    *listener, "--xmpp-domain=" + domain))

    def test_domains(self):
        for domains in ("example.com", " a.example , b-c.example", "a" * 63 + ".com", "192.0.2.1",
                        "[2001:db8::1]", "m\u00fcnchen.example", "EXAMPLE.com"):
            said = subprocess.run(
                [BINARY, "config", "--xmpp-domain", domains], capture_output=True, text=True,
                timeout=WAIT)
            self.assertEqual((said.returncode, said.stderr), (0, ""), domains)

    def test_without_certificates(self):
        self.assertIn("STARTTLS, which needs tls-certificate and tls-key", self.rejection(
            "--xmpp-listen", "127.0.0.1:0", "--xmpp-domain", DOMAIN))
        self.assertIn("TLS needs a certificate", self.rejection(
            "--xmpp-tls-listen", "127.0.0.1:0", "--xmpp-domain", DOMAIN))

    def test_plain_text_beyond_this_machine(self):
        self.assertIn("passwords and tokens can be read", self.rejection(
            "--xmpp-listen", "0.0.0.0:0", "--xmpp-domain", DOMAIN, "--xmpp-plaintext",
            "--i-know-this-is-open"))

    def test_any_account_beyond_this_machine(self):
        self.assertIn("With --auth open", self.rejection(
            "--xmpp-listen", "0.0.0.0:0", "--xmpp-domain", DOMAIN, "--xmpp-plaintext",
            "--i-know-this-is-plain"))


class Limits(unittest.TestCase):
    def test_are_those_of_the_settings(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("account-bytes-max: 200\ndevice-bytes-max: 4\n"
                       "availability-text-bytes-max: 5\nrequest-text-bytes-max: 3\n")
            file.flush()
            service = XMPPService("--config", file.name, plain=True)
            self.addCleanup(service.close)
            long = "l" * 200
            stream = Stream(service.xmpp_port)
            self.addCleanup(stream.close)
            self.assertIn("<jid>%s@localhost/desk</jid>" % long, stream.login(long, "desk"))
            other = Stream(service.xmpp_port)
            self.addCleanup(other.close)
            self.assertRegex(other.login("bob", "laptop"), "<jid>bob@localhost/[a-z0-9]{4}</jid>")
            stream.send("<presence><status>lunch</status></presence>")
            stream.until("<status>lunch</status></presence>")
            stream.send("<presence id='1'><status>dinner</status></presence>")
            stream.until("<status>dinne</status></presence>")
            other.send("<presence/>")
            other.until("<presence ")
            stream.send("<presence id='1' type='subscribe' to='bob@localhost'>"
                        "<status>Hi, Bob</status></presence>")
            other.until("type='subscribe'><status>Hi,</status></presence>")
            file.seek(0)
            file.write("account-bytes-max: 200\ndevice-bytes-max: 9\n"
                       "availability-text-bytes-max: 6\nrequest-text-bytes-max: 7\n")
            file.truncate()
            file.flush()
            service.signal(signal.SIGHUP)
            end = time.monotonic() + WAIT
            while True:
                stream.send("<presence id='1'><status>dinner</status></presence>"
                            "<presence id='1'><status/></presence>")
                if "<status>dinner</status>" in stream.until("to='%s@localhost'/>" % long):
                    break
                self.assertLess(time.monotonic(), end)
            third = Stream(service.xmpp_port)
            self.addCleanup(third.close)
            self.assertIn("<jid>bob@localhost/laptop</jid>", third.login("bob", "laptop"))


class Reloading(unittest.TestCase):
    def served(self, service):
        """The certificate that the port for XMPP over TLS serves."""
        context = tls.context(["xmpp-client"])
        with socket.create_connection(("127.0.0.1", service.xmpps_port), WAIT) as plain:
            with context.wrap_socket(plain, server_hostname=DOMAIN) as secured:
                return ssl.DER_cert_to_PEM_cert(secured.getpeercert(True))

    def test_a_domain_without_a_certificate_is_named(self):
        missing = ("no certificate of tls-certificate is valid for example.com of xmpp-domain: "
                   "XMPP clients will not connect")
        service = XMPPService()
        self.addCleanup(service.close)
        files = [os.path.join(service.folder, DOMAIN + end) for end in (".crt", ".key")]

        def warnings(domain):
            return subprocess.run(
                [BINARY, "config", "--xmpp-tls-listen", "127.0.0.1:0", "--xmpp-domain", domain,
                 "--tls-certificate", files[0], "--tls-key", files[1]],
                capture_output=True, text=True, timeout=WAIT, check=True).stderr

        self.assertIn("Warning: " + missing, warnings("localhost, example.com"))
        # Certificates have no names for these.
        self.assertEqual(warnings("LOCALHOST, 192.0.2.1, ::1, b\u00fccher.example"), "")
        self.assertNotIn("valid for", service.log_text())
        authority = (service.authority, service.authority.replace(".crt", ".key"))
        tls.sign(authority, service.folder, DOMAIN, alternatives="DNS:*.example.com")
        service.signal(signal.SIGHUP)
        end = time.monotonic() + WAIT
        while "is valid for localhost of xmpp-domain" not in service.log_text():
            self.assertLess(time.monotonic(), end)
        self.assertIn("Warning: " + missing, warnings("chat.example.com, example.com"))

    def test_new_connections_get_the_new_certificate(self):
        service = XMPPService()
        self.addCleanup(service.close)
        before = self.served(service)
        tls.sign((service.authority, service.authority.replace(".crt", ".key")),
                 service.folder, DOMAIN)
        service.signal(signal.SIGHUP)
        end = time.monotonic() + WAIT
        while self.served(service) == before:
            self.assertLess(time.monotonic(), end)
        with open(os.path.join(service.folder, DOMAIN + ".crt")) as file:
            self.assertEqual(self.served(service).split(), file.read().split())


if __name__ == "__main__":
    unittest.main()
