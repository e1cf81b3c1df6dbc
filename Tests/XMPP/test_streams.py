"""Streams by hand: what no library sends, and what the service answers."""

import socket
import ssl
import unittest

from service import DOMAIN, Served
from stream import HEADER, Stream

STARTTLS = "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"


class Encryption(Served, unittest.TestCase):
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


class Limits(Served, unittest.TestCase):
    """What a client cannot do, before its login and after it."""

    is_plain = True

    def stream(self):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        return stream

    def test_a_stanza_before_authentication_ends_the_stream(self):
        stream = self.stream()
        stream.send(HEADER + "<presence to='ida@localhost' type='subscribe'/>")
        self.assertIn("<not-authorized ", stream.end())

    def test_a_stanza_before_bind_ends_the_stream(self):
        stream = self.stream()
        stream.authenticate("ida")
        stream.until("<success")
        stream.send(HEADER + "<iq type='get' id='1'><query xmlns='jabber:iq:roster'/></iq>")
        self.assertIn("<not-authorized ", stream.end())

    def test_nobody_speaks_for_another_account(self):
        ida, eve = self.stream(), self.stream()
        ida.login("ida", "d1")
        eve.login("eve", "d1")
        eve.send("<iq from='max@localhost/d1' to='ida@localhost/d1' type='get' id='1'>"
                 "<ping xmlns='urn:xmpp:ping'/></iq>")
        self.assertIn("<invalid-from ", eve.end())
        ida.send("<iq type='get' id='2'><ping xmlns='urn:xmpp:ping'/></iq>")
        self.assertNotIn("max@localhost", ida.until("id='2'"))

    def test_entities_and_depth_end_the_stream(self):
        for hostile, condition in (
                ("<!DOCTYPE a [<!ENTITY b 'c'>]>", "restricted-xml"),
                ("<iq type='get' id='1'>" + "<a>" * 1000, "policy-violation"),
                ("<presence><status>" + "a" * 2_000_000, "policy-violation")):
            with self.subTest(condition=condition):
                stream = self.stream()
                stream.login("ida", "d1")
                stream.send(hostile)
                self.assertIn("<%s " % condition, stream.end())


if __name__ == "__main__":
    unittest.main()
