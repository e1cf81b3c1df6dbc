"""Settings that are refused, and what SIGHUP does."""

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


class Refused(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="porchlight-xmpp-")
        self.addCleanup(shutil.rmtree, self.data)

    def refusal(self, *flags):
        """The one sentence with which a start is refused."""
        said = subprocess.run(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", self.data, *flags],
            capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(said.returncode, 64, said.stderr)
        return said.stderr

    def test_without_a_domain(self):
        self.assertIn("set xmpp-domain", self.refusal(
            "--xmpp-listen", "127.0.0.1:0", "--xmpp-plaintext"))

    def test_something_that_is_no_domain(self):
        self.assertIn("a domain is a name such as example.com", self.refusal(
            "--xmpp-listen", "127.0.0.1:0", "--xmpp-plaintext", "--xmpp-domain", "a@b"))

    def test_without_certificates(self):
        self.assertIn("STARTTLS, which needs tls-certificate and tls-key", self.refusal(
            "--xmpp-listen", "127.0.0.1:0", "--xmpp-domain", DOMAIN))
        self.assertIn("TLS needs a certificate", self.refusal(
            "--xmpp-tls-listen", "127.0.0.1:0", "--xmpp-domain", DOMAIN))

    def test_plain_text_beyond_this_machine(self):
        self.assertIn("passwords and tokens can be read", self.refusal(
            "--xmpp-listen", "0.0.0.0:0", "--xmpp-domain", DOMAIN, "--xmpp-plaintext",
            "--i-know-this-is-open"))

    def test_any_account_beyond_this_machine(self):
        self.assertIn("with --auth open", self.refusal(
            "--xmpp-listen", "0.0.0.0:0", "--xmpp-domain", DOMAIN, "--xmpp-plaintext",
            "--i-know-this-is-plain"))


class Reloading(unittest.TestCase):
    def served(self, service):
        """The certificate that the port for XMPP over TLS serves."""
        context = tls.context(["xmpp-client"])
        with socket.create_connection(("127.0.0.1", service.xmpps_port), WAIT) as plain:
            with context.wrap_socket(plain, server_hostname=DOMAIN) as secured:
                return ssl.DER_cert_to_PEM_cert(secured.getpeercert(True))

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
