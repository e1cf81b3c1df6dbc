"""XMPP over WebSocket (RFC 7395), by hand, beside XMPP over TCP and the native protocol."""

import re
import socket
import unittest

import websocket
from framed import CLOSE, FRAMING, OPEN, STREAMS, SUBPROTOCOL, Framed
from porchlight import Service
from service import Served, XMPPService
from stream import Stream

PING = "<iq xmlns='jabber:client' type='get' id='%s'><ping xmlns='urn:xmpp:ping'/></iq>"
ROSTER = "<query xmlns='jabber:iq:roster'>%s</query>"


def iq(kind, id, content):
    return "<iq xmlns='jabber:client' type='%s' id='%s'>%s</iq>" % (kind, id, content)


class Handshake(Served, unittest.TestCase):
    is_plain = True

    def connect(self, **options):
        client = Framed(self.service.port, **options)
        self.addCleanup(client.close)
        return client

    def rejected(self, status, words, **options):
        client = self.connect(**options)
        self.assertIn("HTTP/1.1 %d " % status, client.head)
        with self.assertRaises(EOFError):
            while True:
                client.receive()
        self.assertIn(words, client.rest.decode())

    def test_the_subprotocol_is_confirmed(self):
        for fields in ((SUBPROTOCOL,), ("Sec-WebSocket-Protocol: porchlight.v1, xmpp",),
                       ("Sec-WebSocket-Protocol: other", SUBPROTOCOL)):
            client = self.connect(fields=fields)
            self.assertTrue(client.is_open, client.head)
            self.assertIn("Sec-WebSocket-Protocol: xmpp", client.head.split("\r\n"))

    def test_another_subprotocol(self):
        words = "offer the subprotocol xmpp"
        self.rejected(400, words, fields=())
        self.rejected(400, words, fields=("Sec-WebSocket-Protocol: porchlight.v1",))
        self.rejected(400, words, fields=("Sec-WebSocket-Protocol: XMPP",))
        # That of XMPP is not that of the native protocol.
        self.rejected(400, "porchlight.v1", path="/v1/socket")

    def test_other_paths(self):
        for path in ("/xmpp//", "/xmpp-websockets", "/v1/xmpp"):
            self.rejected(404, "/v1/socket", path=path)
        for path in ("/xmpp?a=b", "/xmpp/", "/xmpp-websocket", "/xmpp-websocket/"):
            self.assertTrue(self.connect(path=path).is_open)

    def test_without_xmpp_there_is_no_such_path(self):
        service = Service()
        self.addCleanup(service.close)
        for fields in ((SUBPROTOCOL,), (), ("Sec-WebSocket-Protocol: other",)):
            client = Framed(service.port, fields=fields)
            self.addCleanup(client.close)
            self.assertIn("HTTP/1.1 404 ", client.head)
        with socket.create_connection(("127.0.0.1", service.port)) as plain:
            plain.settimeout(30)
            plain.sendall(b"GET /xmpp HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b"HTTP/1.1 404 ", plain.recv(4096))

    def test_a_page_of_another_origin(self):
        # Without authentication only pages of this machine.
        self.rejected(403, "origin", fields=(SUBPROTOCOL, "Origin: https://evil.example"))
        self.assertTrue(self.connect(fields=(SUBPROTOCOL, "Origin: http://localhost")).is_open)


class Messages(Served, unittest.TestCase):
    is_plain = True

    def connect(self):
        client = Framed(self.service.port)
        self.addCleanup(client.close)
        return client

    def login(self, name, device="d1"):
        client = self.connect()
        client.login(name, device)
        return client

    def stream(self, name, device="d1"):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.login(name, device)
        return stream

    def test_login(self):
        client = self.connect()
        client.send("<open xmlns='%s' to='localhost' version='1.0' xml:lang='de' "
                    "from='amy@localhost'/>" % FRAMING)
        self.assertRegex(client.read(), "^<open xmlns='%s' version='1.0' xml:lang='en' id='[^']+' "
                                        "from='localhost' to='amy@localhost'/>$" % FRAMING)
        features = client.read()
        self.assertRegex(features, "^<stream:features xmlns:stream='%s'>" % STREAMS)
        self.assertIn("<mechanism>PLAIN</mechanism>", features)
        self.assertNotIn("starttls", features)
        first = re.search("id='([^']+)'", client.said[0]).group(1)
        client.send("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>AGFteQB4"
                    "</auth>")
        self.assertEqual(client.read(), "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>"
                                        "</success>")
        client.send(OPEN)
        self.assertNotIn(first, client.read())
        self.assertIn("<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>", client.read())
        client.send(iq("set", "b", "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                                   "<resource>web</resource></bind>"))
        bound = client.read()
        self.assertIn("<iq xmlns='jabber:client' type='result' id='b'><bind ", bound)
        self.assertIn("<jid>amy@localhost/web</jid>", bound)

    def test_several_messages_at_once_and_bytes_one_by_one(self):
        client = self.login("bea")
        client.send(PING % "p1", "<presence xmlns='jabber:client'/>\n", PING % "p2")
        self.assertIn("id='p1'", client.read())
        self.assertIn("<presence xmlns='jabber:client' from='bea@localhost/d1'", client.read())
        self.assertIn("id='p2'", client.read())
        for byte in websocket.message(PING % "p3"):
            client.socket.sendall(bytes([byte]))
        self.assertIn("id='p3'", client.read())
        # In fragments, with a ping of the WebSocket between them.
        text = (PING % "p4").encode()
        client.socket.sendall(
            websocket.message(text[:9], final=False) + websocket.message(b"?", websocket.PING)
            + websocket.message(text[9:], opcode=0))
        self.assertIn("id='p4'", client.read())
        self.assertEqual(client.pongs, [b"?"])

    def test_roster_presence_and_chat_between_the_three_framings(self):
        web, tcp = self.login("cleo"), self.stream("dan")
        native = self.service.login("eve", "phone", messages=True)
        self.addCleanup(native.close)
        web.send("<presence xmlns='jabber:client'/>")
        web.until("<presence")
        tcp.send("<presence><show>away</show></presence>")
        tcp.until("from='dan@localhost/d1'")

        web.send(iq("get", "r1", "<query xmlns='jabber:iq:roster'/>"))
        self.assertIn("<query xmlns='jabber:iq:roster'></query>", web.until("id='r1'"))
        web.send("<presence xmlns='jabber:client' to='dan@localhost' type='subscribe'/>")
        self.assertIn("ask='subscribe'", web.until("jabber:iq:roster"))
        tcp.until("type='subscribe'")
        tcp.send("<presence to='cleo@localhost' type='subscribed'/>"
                 "<presence to='cleo@localhost' type='subscribe'/>")
        web.until("type='subscribed'")
        self.assertIn("<presence xmlns='jabber:client' from='dan@localhost/d1' to='cleo@localhost'>"
                      "<show>away</show></presence>", web.until("from='dan@localhost/d1'"))
        web.send("<presence xmlns='jabber:client' to='dan@localhost' type='subscribed'/>")
        tcp.until("from='cleo@localhost/d1' to='dan@localhost'/>")
        # An event for several clients, of which some share its bytes.
        other = self.stream("cleo", "d2")
        other.send("<presence/>")
        other.until("from='dan@localhost/d1'")
        tcp.send("<presence><status>Hello &amp; welcome</status></presence>")
        self.assertIn("<status>Hello &amp; welcome</status>",
                      web.until("<presence xmlns='jabber:client' from='dan@localhost/d1'"))
        self.assertNotIn("jabber:client", other.until("welcome</status></presence>"))

        web.send("<message xmlns='jabber:client' to='dan@localhost/d1' id='m1' type='chat'>"
                 "<body>你好</body><x xmlns='urn:other'/></message>")
        self.assertIn("<body>你好</body><x xmlns='urn:other'/>", tcp.until("</message>"))
        tcp.send("<message to='cleo@localhost/d1' id='m2' type='chat'><body>Yes?</body></message>")
        self.assertIn("<message xmlns='jabber:client' from='dan@localhost/d1' ",
                      web.until("<body>Yes?</body>"))
        web.send("<message xmlns='jabber:client' to='eve@localhost' id='m3' type='chat'>"
                 "<body>native</body></message>")
        got, = native.note("messages")["params"]["messages"]
        self.assertEqual((got["from"], got["body"]), ("cleo", "native"))
        native.ok("send", {"accounts": ["cleo"], "device": "d1", "body": "back"})
        web.until("<body>back</body>")

        web.send("<presence xmlns='jabber:client' type='unavailable'/>")
        self.assertIn("type='unavailable'", tcp.until("type='unavailable'/>"))

    def test_a_client_ends_its_stream(self):
        client = self.login("flo")
        client.send("<presence xmlns='jabber:client'/>", CLOSE)
        said = client.end()
        self.assertEqual(said[-1], CLOSE)
        self.assertEqual(client.code, 1000)
        # Without a login.
        client = self.connect()
        client.send(OPEN, CLOSE)
        self.assertEqual(client.end()[-1], CLOSE)

    def test_a_client_closes_its_websocket(self):
        watcher = self.service.login("gil", "d1")
        self.addCleanup(watcher.close)
        watcher.subscribe("hal")
        client = self.login("hal")
        client.send("<presence xmlns='jabber:client'/>")
        self.assertEqual(watcher.event()["cause"], "login")
        client.send(b"\x03\xe9", opcode=websocket.CLOSE)
        client.end()
        self.assertEqual(client.code, 1001)
        self.assertEqual(watcher.event()["cause"], "disconnect")

    def test_a_replaced_client(self):
        first = self.login("ida")
        self.login("ida")
        said = first.end()
        self.assertIn("<stream:error xmlns:stream='%s'><conflict " % STREAMS, said[-2])
        self.assertEqual(said[-1], CLOSE)
        self.assertEqual(first.code, 1000)

    def error(self, condition, *messages, opened=True, opcode=websocket.TEXT, code=1000):
        """What a client sends is answered with a stream error."""
        client = self.connect()
        client.send(*([OPEN] if opened else []))
        client.send(*messages, opcode=opcode)
        said = client.end()
        self.assertTrue(said[0].startswith("<open "), said)
        self.assertIn("<stream:error xmlns:stream='%s'><%s " % (STREAMS, condition), said[-2])
        self.assertEqual(said[-1], CLOSE)
        self.assertEqual(client.code, code)
        return said[-2]

    def test_what_is_no_message(self):
        one = "exactly one complete element"
        ping = PING % "1"
        self.assertIn(one, self.error("not-well-formed", ping + ping))
        self.assertIn(one, self.error("not-well-formed", ping[:-3]))
        self.assertIn(one, self.error("not-well-formed", ping + "x"))
        self.assertIn(one, self.error("not-well-formed", "<a"))
        self.error("not-well-formed", "<a></b>")
        self.error("not-well-formed", "<iq xmlns='jabber:client'><b:c/></iq>")
        self.error("not-well-formed", "<a xmlns='jabber:client'>&#0;</a>")
        for text in (" ", "\n", "", "text", " " + ping, "</stream:stream>", "</s>"):
            self.error("bad-format", text)
        for text in ("<!-- -->", "<?xml version='1.0'?>" + ping, "<!DOCTYPE a>", "<a>&b;</a>"):
            self.error("restricted-xml", text)
        self.error("invalid-namespace", "<presence/>")
        self.error("unsupported-stanza-type", "<presence xmlns='jabber:server'/>")
        self.error("unsupported-stanza-type", "<other xmlns='%s'/>" % FRAMING)
        self.error("policy-violation", "<a xmlns='b'>" + "<c>" * 1_100 + "</c>" * 1_100 + "</a>")

    def test_what_opens_no_stream(self):
        self.error("bad-format", PING % "1", opened=False)
        self.error("bad-format", "<stream:stream xmlns='jabber:client' to='localhost' "
                                 "xmlns:stream='%s' version='1.0'>" % STREAMS, opened=False)
        self.error("bad-format", OPEN)
        self.error("host-unknown", OPEN.replace("localhost", "other.example"), opened=False)
        self.error("unsupported-version", OPEN.replace("1.0", "0.9"), opened=False)
        self.error("not-authorized", "<presence xmlns='jabber:client'/>")

    def test_after_the_login_the_stream_is_opened_again(self):
        client = self.connect()
        client.authenticate("joe")
        client.until("<success")
        client.send(PING % "1")
        said = client.end()
        self.assertIn("<bad-format ", said[-2])

    def test_starttls_is_rejected(self):
        client = self.connect()
        client.send(OPEN, "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        said = client.end()
        self.assertIn("<failure xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>", said)

    def test_messages_of_other_kinds(self):
        self.error("bad-format", OPEN, opcode=websocket.BINARY, code=1003)
        self.error("unsupported-encoding", b"<a b='\xff'/>", code=1007)
        self.error("policy-violation", "<a xmlns='b'>%s</a>" % ("x" * 12_000), code=1009)

    def test_a_message_after_the_login_is_as_long_as_a_stanza(self):
        web, tcp = self.login("kim"), self.stream("leo")
        tcp.send("<presence/>")
        body = "长" * 15_000
        web.send("<message xmlns='jabber:client' to='leo@localhost' type='chat' id='m'><body>%s"
                 "</body></message>" % body)
        self.assertIn(body, tcp.until("</message>"))
        # One from the service whose length has eight bytes.
        for number in range(70):
            web.send(iq("set", "s%d" % number, ROSTER % (
                "<item jid='%d@localhost' name='%s'/>" % (number, "n" * 1_000))))
            web.until("id='s%d'" % number)
        web.send(iq("get", "long", "<query xmlns='jabber:iq:roster'/>"))
        self.assertGreater(len(web.until("id='long'")), 70_000)
        web.send("<message xmlns='jabber:client' to='leo@localhost' type='chat'><body>%s</body>"
                 "</message>" % ("x" * 262_144))
        said = web.end()
        self.assertIn("<policy-violation ", said[-2])
        self.assertEqual(web.code, 1009)

    def test_shutdown(self):
        service = XMPPService(plain=True)
        self.addCleanup(service.close)
        client = Framed(service.port)
        self.addCleanup(client.close)
        client.login("mia", "d1")
        service.terminate()
        said = client.end()
        self.assertIn("<system-shutdown ", said[-2])
        self.assertEqual(said[-1], CLOSE)


class Encryption(unittest.TestCase):
    """TLS is of the connection."""

    @classmethod
    def setUpClass(cls):
        cls.service = XMPPService("--listen-tls", "127.0.0.1:0")
        cls.addClassCleanup(cls.service.close)

    def connect(self, over_tls):
        service = self.service
        client = Framed(service.tls_port, service.authority) if over_tls else Framed(service.port)
        self.addCleanup(client.close)
        return client

    def test_without_tls_no_password_is_asked_for(self):
        client = self.connect(over_tls=False)
        client.send(OPEN)
        said = client.end()
        self.assertTrue(said[0].startswith("<open "), said)
        self.assertIn("<policy-violation ", said[1])
        self.assertIn("connect by wss", said[1])
        self.assertEqual(said[2:], [CLOSE])

    def test_over_tls(self):
        amy, bob = self.connect(over_tls=True), self.connect(over_tls=True)
        self.assertNotIn("starttls", amy.authenticate("amy"))
        amy.until("<success")
        bob.login("bob", "d1")
        bob.send("<presence xmlns='jabber:client'/>")
        bob.until("<presence")
        amy.send(OPEN)
        amy.until("<stream:features")
        amy.send(iq("set", "b", "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>"))
        amy.until("<jid>amy@localhost/")
        amy.send("<message xmlns='jabber:client' to='bob@localhost' type='chat'><body>你好</body>"
                 "</message>")
        bob.until("<body>你好</body>")
        bob.send(CLOSE)
        self.assertEqual((bob.end()[-1], bob.code), (CLOSE, 1000))
