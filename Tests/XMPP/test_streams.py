"""Streams by hand: what no library sends, and what the service answers."""

import socket
import ssl
import unittest

from service import DOMAIN, XMPPService
from stream import HEADER, Stream

STARTTLS = "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"


class Encryption(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = XMPPService()

    @classmethod
    def tearDownClass(cls):
        cls.service.close()

    def starttls(self, behind=""):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.send(HEADER)
        features = stream.until("</stream:features>")
        self.assertIn("<required/>", features)
        self.assertNotIn("mechanism", features)
        stream.send(STARTTLS + behind)
        stream.until("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        context = ssl.create_default_context(cafile=self.service.authority)
        stream.socket = context.wrap_socket(stream.socket, server_hostname=DOMAIN)
        self.addCleanup(stream.close)
        return stream

    def test_what_is_sent_behind_starttls_is_dropped(self):
        stream = self.starttls("<iq type='set' id='injected'><query xmlns='a'/></iq>" * 20)
        said = stream.login("ida", "d1")
        self.assertNotIn("injected", said)

    def test_no_authentication_without_encryption(self):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.authenticate("ida")
        self.assertIn("<encryption-required/>", stream.until("</failure>"))

    def test_no_handshake(self):
        # Neither a ClientHello nor an end: closed when the time for the login is over.
        with socket.create_connection(("127.0.0.1", self.service.xmpps_port)) as plain:
            plain.settimeout(20)
            plain.sendall(HEADER.encode())
            with self.assertRaises(ssl.SSLError):
                ssl.create_default_context(cafile=self.service.authority).wrap_socket(
                    plain, server_hostname=DOMAIN)


if __name__ == "__main__":
    unittest.main()
