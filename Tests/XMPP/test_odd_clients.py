"""Clients that send what no specification has, and must stay connected."""

import unittest

from service import DOMAIN
from stream import HEADER, Stream
from test_apps import PING, Apps

CAPS = "<c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='n' ver='v'/>"


class Types(Apps, unittest.TestCase):
    def test_a_type_that_is_none_is_available(self):
        amy, ben = self.befriend("k-amy", "k-ben")
        for number, (kind, show) in enumerate((
                ("", ""), ("online", ""), ("do not disturb", ""), ("invisible", ""),
                ("Available", ""), ("在线", ""), ("away", "<show>away</show>"),
                ("xa", "<show>xa</show>"), ("dnd", "<show>dnd</show>"),
                ("chat", "<show>chat</show>"))):
            with self.subTest(type=kind):
                ben.send("<presence type='unavailable'/>")
                amy.until("type='unavailable'/>")
                ben.send("<presence type='%s'/>%s" % (kind, PING % ("t%d" % number)))
                self.assertNotIn("<error", ben.until("id='t%d'" % number))
                amy.until("<presence from='k-ben@localhost/d1' to='k-amy@localhost'%s" %
                          (">" + show if show else "/>"))

    def test_a_type_beside_a_show_or_an_address(self):
        amy, ben = self.befriend("l-amy", "l-ben")
        ben.send("<presence type='away'><show>dnd</show></presence>")
        amy.until("to='l-amy@localhost'><show>dnd</show></presence>")
        ben.send("<presence to='l-amy@localhost' type='away'/>")
        amy.until("to='l-amy@localhost'><show>away</show></presence>")

    def test_empty_addresses(self):
        stream = self.stream("empty")
        stream.send("<presence/>")
        stream.until("<presence from='empty@localhost/d1' to='empty@localhost'/>")
        for attributes in ("from=''", "to=''", "from='' to=''"):
            with self.subTest(attributes=attributes):
                stream.send("<presence type='unavailable'/><presence %s/>" % attributes)
                stream.until("type='unavailable'/>")
                stream.until("<presence from='empty@localhost/d1' to='empty@localhost'/>")
        stream.send("<iq type='get' id='e' to=''><query xmlns='jabber:iq:roster'/></iq>")
        said = stream.until("</iq>")
        self.assertIn("<jid-malformed ", said)
        self.assertNotIn("from=''", said)


class Children(Apps, unittest.TestCase):
    ODD = {
        "a namespace with a space": "<x xmlns='my app'/>",
        "one that is not of ASCII": "<x xmlns='我的应用'/>",
        "one with a percent sign": "<x xmlns='http://a/b%20c'/>",
        "one of an inner element": "<x xmlns='u'><y xmlns='my app'/></x>",
        "one of an attribute": "<x xmlns='u' xmlns:p='my app' p:a='b'/>",
        "a long namespace": "<x xmlns='urn:%s'/>" % ("n" * 300),
        "a long value": "<x xmlns='u' data='%s'/>" % ("y" * 5000),
        "many attributes": "<x xmlns='u' %s/>" % " ".join("a%d=''" % n for n in range(40)),
        "many declarations": "<x xmlns='u' %s/>" % " ".join(
            "xmlns:a%d='u'" % n for n in range(40)),
        "a long name": "<%s xmlns='u'/>" % ("n" * 200),
        "a long name of an attribute": "<x xmlns='u' %s=''/>" % ("n" * 200),
        "many namespaces": "<x>%s</x>" % "".join("<y xmlns='u:%d'/>" % n for n in range(30)),
    }

    def test_of_presences_are_left_out(self):
        amy, ben = self.befriend("c-amy", "c-ben")
        for number, (what, odd) in enumerate(self.ODD.items()):
            with self.subTest(what=what):
                status = "<status>%d</status>" % number
                ben.send("<presence>%s%s%s</presence>" % (CAPS, status, odd))
                said = amy.until("<presence from='c-ben@localhost/d1' to='c-amy@localhost'>"
                                 + status)
                self.assertNotIn("<x", said)
                self.assertTrue(amy.until("</presence>").startswith(CAPS))
        self.assertNotIn("<error", self.heard(ben, "after"))

    def test_of_others_are_rejected(self):
        stream, other = self.stream("odd"), self.stream("other")
        for number, (what, odd) in enumerate(self.ODD.items()):
            for to in ("localhost", "odd@localhost", "other@localhost/d1"):
                with self.subTest(what=what, to=to):
                    stream.send("<iq type='get' id='o%d' to='%s'>%s</iq>" % (number, to, odd)
                                + PING % "after")
                    said = stream.until("id='after'")
                    self.assertIn("<iq type='error' id='o%d'" % number, said)
            stream.send("<message to='other@localhost' id='m%d' type='groupchat'><body>Hi</body>"
                        "%s</message>" % (number, odd))
            self.assertIn("<service-unavailable ", stream.until("</message>"))
        self.assertNotIn("<x", self.heard(other, "end"))


class Extensions(Apps, unittest.TestCase):
    """What is not offered, and some clients use without asking."""

    def test_client_state_is_ignored(self):
        stream = self.stream("csi")
        stream.send("<inactive xmlns='urn:xmpp:csi:0'/><active xmlns='urn:xmpp:csi:0'/>"
                    + PING % "after")
        self.assertTrue(stream.until("id='after'").endswith("<iq type='result' id='after'"))

    def test_stream_management_is_enabled_once(self):
        stream = self.stream("sm")
        stream.send("<r xmlns='urn:xmpp:sm:3'/><a xmlns='urn:xmpp:sm:3' h='1'/>" + PING % "after")
        self.assertTrue(stream.until("id='after'").endswith("<iq type='result' id='after'"))
        stream.send("<enable xmlns='urn:xmpp:sm:3' resume='true'/>")
        stream.until("<enabled xmlns='urn:xmpp:sm:3'/>")
        for name in ("enable", "resume"):
            stream.send("<%s xmlns='urn:xmpp:sm:3' previd='x' h='1'/>" % name)
            stream.until("<failed xmlns='urn:xmpp:sm:3'><unexpected-request "
                         "xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>")

    def test_resumption_and_compression_fail_before_bind(self):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.authenticate("early")
        stream.until("<success")
        stream.send(HEADER + "<compress xmlns='http://jabber.org/protocol/compress'><method>zlib"
                    "</method></compress><resume xmlns='urn:xmpp:sm:3' previd='x' h='1'/>")
        stream.until("<failure xmlns='http://jabber.org/protocol/compress'><unsupported-method/>"
                     "</failure><failed xmlns='urn:xmpp:sm:3'>")


class Headers(Apps, unittest.TestCase):
    def test_a_header_that_is_not_due_ends_the_stream(self):
        stream = self.stream("twice")
        stream.send(HEADER)
        said = stream.end()
        self.assertIn("<bad-format ", said)
        self.assertIn("A header is sent only", said)

    def test_a_byte_order_mark_is_ignored(self):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.send("\ufeff<?xml version='1.0'?>" + HEADER)
        self.assertIn("from='%s'" % DOMAIN, stream.until("</stream:features>"))


if __name__ == "__main__":
    unittest.main()
