"""vCards (XEP-0054) and what presence says of their pictures (XEP-0153)."""

import asyncio
import base64
import hashlib
import os
import re
import tempfile
import unittest

from service import Served, XMPPService
from stream import Stream
from test_slixmpp import WAIT, Person, ended

PING = "<iq type='get' id='%s'><ping xmlns='urn:xmpp:ping'/></iq>"
CARD = "<vCard xmlns='vcard-temp'>%s</vCard>"
NOT_FOUND = ("<error type='cancel'><item-not-found "
             "xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>")
BYTES_MAX = 98_304


class Clients:
    """Streams that get and set cards."""

    def stream(self, name, presence="<presence/>", service=None):
        stream = Stream((service or self.service).xmpp_port)
        self.addCleanup(stream.close)
        stream.login(name, "d1")
        stream.send(presence + PING % "in")
        stream.until("id='in'")
        return stream

    def set(self, stream, content, to=None):
        return self.exchange(stream, "set", CARD % content if content else
                             "<vCard xmlns='vcard-temp'/>", to)

    def get(self, stream, to=None):
        return self.exchange(stream, "get", "<vCard xmlns='vcard-temp'/>", to)

    def exchange(self, stream, kind, content, to=None):
        """The answer to an iq, from its type on."""
        stream.send("<iq type='%s' id='q'%s>%s</iq>"
                    % (kind, " to='%s'" % to if to else "", content) + PING % "behind")
        said = stream.until("id='behind'")
        found = re.search("<iq type='(result|error)' id='q'.*(?=<iq type='result' id='behind')",
                          said, re.DOTALL)
        self.assertTrue(found, said[-1000:])
        return found.group(0)

    def assert_none(self, answer):
        self.assertTrue(answer.endswith(NOT_FOUND), answer[-500:])

    def assert_card(self, answer, content):
        self.assertTrue(answer.startswith("<iq type='result'"), answer[:500])
        self.assertTrue(answer.endswith(">" + CARD % content + "</iq>"), answer[-500:])


class Cards(Clients, Served, unittest.TestCase):
    is_plain = True

    def test_own(self):
        amy = self.stream("amy")
        self.assert_none(self.get(amy))
        self.assertEqual(self.set(amy, "<FN>Amy</FN>"),
                         "<iq type='result' id='q' to='amy@localhost/d1'/>")
        self.assert_card(self.get(amy), "<FN>Amy</FN>")
        self.assert_card(self.get(amy, "amy@localhost"), "<FN>Amy</FN>")
        # Another replaces it, and the other clients of the account have it.
        self.set(amy, "<NICKNAME>&lt;A&gt; 小美</NICKNAME>", to="amy@localhost")
        other = Stream(self.service.xmpp_port)
        self.addCleanup(other.close)
        other.login("amy", "d2")
        self.assert_card(self.get(other), "<NICKNAME>&lt;A&gt; 小美</NICKNAME>")
        # An empty one is none.
        self.assertIn("type='result'", self.set(amy, ""))
        self.assert_none(self.get(amy))

    def test_nothing_is_taken_over_byte_for_byte(self):
        bea = self.stream("bea")
        self.exchange(bea, "set", "<v:vCard xmlns:v='vcard-temp' xmlns:x='urn:x' x:a='1'>"
                      "<v:FN>Bea</v:FN><x:y>&#60;/iq></x:y></v:vCard>")
        said = self.get(bea)
        self.assertIn("<vCard xmlns='vcard-temp' xmlns:a1='urn:x' a1:a='1'><FN>Bea</FN>"
                      "<y xmlns='urn:x'>&lt;/iq&gt;</y></vCard></iq>", said)

    def test_who_may_read(self):
        cat, dan = self.stream("cat"), self.stream("dan")
        self.set(cat, "<FN>Cat</FN>")
        server = self.service.server()
        self.addCleanup(server.close)

        def see(visibility):
            server.ok("setVisibility", {"account": "cat", "visibility": visibility})
            return self.get(dan, "cat@localhost")

        # A stranger, as the visibility says.
        self.assert_card(see("open"), "<FN>Cat</FN>")
        nobody = self.get(dan, "nobody@localhost")
        for visibility in "approved", "hidden":
            self.assertEqual(see(visibility).replace("cat@", "nobody@"), nobody)
        # It has asked: that is no reason.
        dan.send("<presence to='cat@localhost' type='subscribe'/>")
        self.assert_none(self.get(dan, "cat@localhost"))
        # It was asked: its user must be able to decide.
        cat.send("<presence to='dan@localhost' type='subscribe'/>")
        dan.until("type='subscribe'")
        for visibility in "open", "approved", "hidden":
            self.assert_card(see(visibility), "<FN>Cat</FN>")
        cat.send("<presence to='dan@localhost' type='unsubscribe'/>" + PING % "1")
        cat.until("id='1'")
        self.assert_none(self.get(dan, "cat@localhost"))
        # A contact.
        cat.send("<presence to='dan@localhost' type='subscribed'/>" + PING % "2")
        cat.until("id='2'")
        for visibility in "open", "approved", "hidden":
            self.assert_card(see(visibility), "<FN>Cat</FN>")

    def test_rejections(self):
        eve = self.stream("eve")
        self.assertIn("<forbidden ", self.set(eve, "<FN>F</FN>", to="fay@localhost"))
        self.assertIn("<forbidden ", self.set(eve, "<FN>F</FN>", to="localhost"))
        self.assert_none(self.get(eve, "localhost"))
        said = self.exchange(eve, "set", "<card xmlns='vcard-temp'/>")
        self.assertIn("<error type='modify'><bad-request ", said)
        # As the service writes it: the limit, and one byte more.
        room = BYTES_MAX - len(CARD % "<FN></FN>")
        self.assertIn("type='result'", self.set(eve, "<FN>%s</FN>" % ("x" * room)))
        said = self.set(eve, "<FN>%s</FN>" % ("y" * (room + 1)))
        self.assertIn("<error type='modify'><policy-violation ", said)
        self.assertIn("at most 98304 bytes", said)
        said = self.set(eve, "<FN>%s</FN>" % ("&amp;" * 20_000))
        self.assertIn("<policy-violation ", said)
        self.assert_card(self.get(eve), "<FN>%s</FN>" % ("x" * room))

    def test_picture_survives_kill(self):
        picture = base64.b64encode(os.urandom(36_000)).decode()
        content = "<PHOTO><TYPE>image/png</TYPE><BINVAL>%s</BINVAL></PHOTO>" % picture
        service = XMPPService(plain=True)
        self.addCleanup(service.close)
        gus = self.stream("gus", service=service)
        self.assertIn("type='result'", self.set(gus, content))
        # Its client has never been available.
        hal = self.stream("hal", presence="", service=service)
        self.assertIn("type='result'", self.set(hal, "<FN>Hal</FN>"))
        hal.send("</stream:stream>")
        hal.end()
        service.kill()
        service.start()
        gus = self.stream("gus", service=service)
        self.assert_card(self.get(gus), content)
        self.assert_card(self.get(gus, "hal@localhost"), "<FN>Hal</FN>")

    def test_room_in_all(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as settings:
            settings.write("vcard-bytes-in-all-max: 9000\n")
            settings.flush()
            service = XMPPService("--config", settings.name, plain=True)
        self.addCleanup(service.close)
        moe, ned = self.stream("moe", service=service), self.stream("ned", service=service)
        half = "<FN>%s</FN>" % ("x" * 900)
        # What it has does not count beside what it sets.
        for content in half, half, "<FN>Moe</FN>", half:
            self.assertIn("type='result'", self.set(moe, content))
        self.assertIn("type='result'", self.set(ned, half))
        said = self.set(ned, "<FN>%s</FN>" % ("x" * 1_000))
        self.assertIn("<error type='wait'><resource-constraint ", said)
        self.assertIn("no room for more vCards", said)
        self.assert_card(self.get(ned), half)
        self.assertIn("type='result'", self.set(moe, ""))
        self.assertIn("type='result'", self.set(ned, "<FN>%s</FN>" % ("x" * 1_000)))

    def test_features(self):
        ida = self.stream("ida")
        for to in "localhost", "ida@localhost":
            said = self.exchange(
                ida, "get", "<query xmlns='http://jabber.org/protocol/disco#info'/>", to)
            self.assertIn("<feature var='vcard-temp'/>", said)

    def test_many_readers(self):
        jim = self.stream("jim")
        content = "<FN>%s</FN>" % ("x" * 60_000)
        self.set(jim, content)
        readers = [self.stream("reader%d" % number, presence="") for number in range(100)]
        for reader in readers:
            reader.send("<iq type='get' id='q' to='jim@localhost'>"
                        "<vCard xmlns='vcard-temp'/></iq>")
        for reader in readers:
            self.assertIn(CARD % content, reader.until("</vCard></iq>"))


class Libraries(Served, unittest.IsolatedAsyncioTestCase):
    """slixmpp, with its plugins for vCards and avatars."""

    is_plain = True

    async def person(self, name):
        person = Person(name, plugins=("xep_0054", "xep_0153"))
        person.enable_starttls = person.enable_direct_tls = False
        await person.begin(self.service.xmpp_port)
        self.addAsyncCleanup(ended, person)
        await person.appear()
        return person

    async def test_avatar(self):
        kim, lee = await self.person("kim"), await self.person("lee")
        kim.send_presence(pto="lee@localhost", ptype="subscribe")
        lee.auto_authorize = kim.auto_authorize = True
        picture = os.urandom(20_000)
        heard = asyncio.Event()
        digest = hashlib.sha1(picture).hexdigest()

        def note(presence):
            if presence["from"].bare == "kim@localhost" \
                    and presence["vcard_temp_update"]["photo"] == digest:
                heard.set()

        lee.add_event_handler("presence", note)
        # The plugin adds the picture to a card that there must be.
        card = kim["xep_0054"].make_vcard()
        card["FN"] = "Kim"
        await asyncio.wait_for(kim["xep_0054"].publish_vcard(vcard=card), WAIT)
        await asyncio.wait_for(kim["xep_0153"].set_avatar(avatar=picture, mtype="image/png"), WAIT)
        await asyncio.wait_for(heard.wait(), WAIT)
        iq = await asyncio.wait_for(lee["xep_0054"].get_vcard("kim@localhost"), WAIT)
        self.assertEqual(iq["vcard_temp"]["PHOTO"]["BINVAL"], picture)
        self.assertEqual(iq["vcard_temp"]["PHOTO"]["TYPE"], "image/png")
        self.assertEqual(iq["vcard_temp"]["FN"], "Kim")


if __name__ == "__main__":
    unittest.main()
