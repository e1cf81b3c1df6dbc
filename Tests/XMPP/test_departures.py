"""How native and XMPP subscribers learn that an XMPP client is gone: rows of docs/XMPP.md."""

import socket
import struct
import unittest

import walk
from service import Served, XMPPService
from stream import Stream


class Departures(Served, unittest.TestCase):
    flags = ("--disconnect-grace", "0")
    is_plain = True

    def people(self, stem):
        """anna, which sees ben; ben; and a native client that has subscribed to ben."""
        anna, ben = walk.pair(self.service.xmpp_port, stem)
        native = self.service.login(stem + "-native")
        native.subscribe(ben.name)
        for client in (anna, ben, native):
            self.addCleanup(client.close)
        walk.reach("T", anna, ben)
        anna.take()
        return anna, ben, native

    def cause(self, native, value):
        return native.events_until(lambda event: event["value"] == value)[-1]["cause"]

    def assertGone(self, anna):
        stanza = anna.stanza()
        self.assertEqual((stanza.tag, stanza.get("type")), (walk.CLIENT + "presence",
                                                            "unavailable"))

    def test_a_lost_connection(self):
        anna, ben, native = self.people("lost")
        ben.close()
        self.assertEqual(self.cause(native, 3), "disconnect")
        self.assertGone(anna)

    def test_a_reset_behind_what_is_not_answered(self):
        """The white space and the reset often reach the service in one turn of its loop."""
        native = self.service.login("watcher")
        self.addCleanup(native.close)
        names = ["reset%d" % number for number in range(20)]
        native.subscribe(*names)
        seen = {1: set(), 3: set()}

        def hear(value, name):
            while name not in seen[value]:
                event = native.event()
                seen.setdefault(event["value"], set()).add(event["publisher"])

        for name in names:
            stream = Stream(self.service.xmpp_port)
            stream.login(name, "d1")
            stream.send("<presence/>")
            hear(1, name)
            stream.send(" ")
            stream.socket.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            stream.close()
        for name in names:
            hear(3, name)

    def test_the_end_of_the_stream(self):
        anna, ben, native = self.people("ended")
        ben.stream.send("</stream:stream>")
        self.assertEqual(self.cause(native, 2), "logout")
        self.assertGone(anna)

    def test_who_returns_and_hides_at_once_is_sent_no_presence(self):
        service = XMPPService("--disconnect-grace", "30", plain=True)
        self.addCleanup(service.close)
        for has_shown in (True, False):
            ben = Stream(service.xmpp_port)
            self.addCleanup(ben.close)
            ben.login("ben", "d1")
            if has_shown:
                ben.send("<presence/>")
                ben.until("<presence from='ben@localhost/d1' to='ben@localhost'/>")
                ben.close()
        ben.send("<presence type='unavailable'/><iq type='get' id='p'>"
                 "<ping xmlns='urn:xmpp:ping'/></iq>")
        self.assertNotIn("<presence", ben.until("id='p'"))

    def test_a_kick(self):
        anna, ben, native = self.people("kicked")
        server = self.service.server()
        self.addCleanup(server.close)
        server.ok("kick", {"account": ben.name, "reason": "maintenance"})
        self.assertEqual(self.cause(native, 2), "kicked")
        self.assertGone(anna)
        ben.stream.until("<policy-violation ")
        self.assertIn(">maintenance</text>", ben.stream.end())

    def test_a_contact_that_was_gone_before(self):
        anna, ben, native = self.people("before")
        ben.close()
        self.cause(native, 3)
        anna.close()
        again = Stream(self.service.xmpp_port)
        self.addCleanup(again.close)
        again.login(anna.name, "d2")
        for stanza in ("<presence/>", "<presence to='%s' type='probe'/>" % ben.bare):
            again.send(stanza)
            self.assertIn("<delay ", again.until(
                "from='%s' to='%s' type='unavailable'>" % (ben.bare, anna.bare)
            ) + again.until("</presence>"))


if __name__ == "__main__":
    unittest.main()
