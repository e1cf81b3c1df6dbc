"""Clients that send what no specification has, and must stay connected."""

import unittest

from test_apps import PING, Apps


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


if __name__ == "__main__":
    unittest.main()
