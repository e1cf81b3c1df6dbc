"""Messages of XMPP clients: to each other, to native clients and from them, at once and later."""

import asyncio
import re
import signal
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

from service import Served, XMPPService
from stream import Stream
from test_slixmpp import WAIT, Person, ended

PING = "<iq type='get' id='%s'><ping xmlns='urn:xmpp:ping'/></iq>"
TEXT = "今天的天气真好。"


class Messages(Served, unittest.TestCase):
    is_plain = True

    def stream(self, name, presence="<presence/>"):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.login(name, "d1")
        stream.send(presence)
        return stream

    def heard(self, stream, mark):
        """What was received before the answer to a ping."""
        stream.send(PING % mark)
        return stream.until("id='%s'" % mark)

    def write(self, stream, to, id, body="Hello", more="", kind="chat"):
        stream.send("<message to='%s' id='%s' type='%s'><body>%s</body>%s</message>"
                    % (to, id, kind, body, more))
        return self.heard(stream, "after-" + id)

    def take(self, stream):
        """Answers the ping that follows messages. Returns what was received before it."""
        said = stream.until("<ping xmlns='urn:xmpp:ping'/></iq>")
        number = re.search("id='(taken-[0-9]+)'", said).group(1)
        stream.send("<iq type='result' id='%s' to='localhost'/>" % number)
        return said

    def test_between_two_clients(self):
        amy, bob = self.stream("amy"), self.stream("bob")
        self.heard(bob, "here")
        self.assertNotIn("<error", self.write(
            amy, "bob@localhost", "m1", TEXT, "<request xmlns='urn:xmpp:receipts'/>"))
        said = self.take(bob)
        self.assertIn("<message from='amy@localhost/d1' to='bob@localhost' id='m1' type='chat'>"
                      "<body>%s</body><request xmlns='urn:xmpp:receipts'/><stanza-id " % TEXT,
                      said)
        self.assertNotIn("<delay", said)
        # What is not kept goes to a device that is there.
        amy.send("<message to='bob@localhost/d1'><composing "
                 "xmlns='http://jabber.org/protocol/chatstates'/></message>")
        self.assertIn("from='amy@localhost/d1' to='bob@localhost/d1'", bob.until("<composing"))

    def test_a_chat_state_does_not_overtake_texts_that_wait(self):
        """Those that do not fit in the window are sent when there is room."""
        ved, wex = self.stream("ved"), self.stream("wex")
        self.heard(wex, "here")
        state = ("<message to='%s' type='chat'><composing id='%s' "
                 "xmlns='http://jabber.org/protocol/chatstates'/>%s</message>")
        for number in range(3):
            ved.send("<message to='wex@localhost' type='chat'><body>%d%s</body></message>"
                     % (number, "x" * 40_000))
        ved.send(state % ("wex@localhost", "c1", "") + state % ("wex@localhost/d1", "c2", ""))
        unseen = "<body>unseen</body><no-store xmlns='urn:xmpp:hints'/>"
        ved.send(state % ("wex@localhost/d1", "c3", unseen))
        self.assertIn("<policy-violation ", self.heard(ved, "sent"))
        said = self.take(wex) + self.take(wex)
        while "<body>2" not in said:
            said += self.take(wex)
        self.assertNotIn("<composing", said)
        # Its answer was carried out: it is not behind any more.
        self.heard(wex, "free")
        ved.send(state % ("wex@localhost/d1", "c4", ""))
        wex.until("id='c4'/></message>")

    def test_what_is_sent_later_does_not_overtake_a_text(self):
        """RFC 6120, section 10.1: a text is stored first, and still comes first."""
        una, ugo = self.stream("una"), self.stream("ugo")
        self.heard(ugo, "here")
        for number in range(10):
            una.send("<message to='ugo@localhost' type='chat'><body>text-%d</body></message>"
                     "<message to='ugo@localhost' type='chat'><composing id='c%d' "
                     "xmlns='http://jabber.org/protocol/chatstates'/></message>"
                     "<presence to='ugo@localhost'><status>p%d</status></presence>"
                     "<iq to='ugo@localhost/d1' type='get' id='q%d'><query xmlns='jabber:iq:version'/></iq>"
                     % ((number,) * 4))
        una.send("<message to='ugo@localhost' type='chat'><body>last</body></message></stream:stream>")
        said = ugo.until("type='unavailable'")
        found = re.findall("text-[0-9]|last|composing id=.c[0-9]|>p[0-9]|id='[^']*q[0-9]'|unavailable", said)
        places = {word: at for at, word in enumerate(found)}
        for number in range(10):
            text = places["text-%d" % number]
            for later in (">p%d" % number, "composing id='c%d" % number):
                self.assertLess(text, places.get(later, text + 1), found)
        self.assertEqual(found[-2:], ["last", "unavailable"], found)

    def test_one_that_is_offline_gets_it_later(self):
        ann = self.stream("ann")
        long = "长" * 43_690
        self.assertNotIn("<error", self.write(ann, "ben@localhost", "m1", long))
        first = self.stream("ben")
        said = first.until("id='taken-")
        self.assertIn("<body>%s</body><delay xmlns='urn:xmpp:delay' from='localhost' " % long, said)
        # It was not taken: it comes again.
        first.close()
        second = self.stream("ben")
        self.assertIn(long, self.take(second))
        self.heard(second, "taken")
        second.close()
        third = self.stream("ben")
        self.assertNotIn("<message", self.heard(third, "nothing"))

    def test_elements_that_begin_like_a_body(self):
        sue, tim = self.stream("sue"), self.stream("tim")
        self.heard(tim, "here")
        for other in ("<bodyx xmlns='q'/>", "<body xmlns='z'/>", "<body-x xmlns='q' a='/>'/>"):
            for parts in (other + "<body>hi</body>", "<body>hi</body>" + other):
                sue.send("<message to='tim@localhost' type='chat'>%s</message>" % parts)
                said = self.take(tim)
                self.assertIn("<body>hi</body>", said)
                self.assertIn(other.split("/")[0].split(" a=")[0], said)

    def test_native_clients(self):
        cat = self.stream("cat")
        self.heard(cat, "here")
        native = self.service.login("dan", "phone", messages=True)
        self.addCleanup(native.close)
        self.write(cat, "dan@localhost", "m1", TEXT, "<thread>1</thread>")
        message, = native.note("messages")["params"]["messages"]
        self.assertEqual(
            (message["from"], message["fromDevice"], message["body"], message["type"],
             message["xml"]),
            ("cat", "d1", TEXT, "chat", "<thread>1</thread>"))
        # Another stream may have a stanza with this id: it does not identify the message.
        self.assertNotIn("ref", message)
        sent = native.ok("send", {"accounts": ["cat"], "body": "a<b", "ext": "{}", "ref": "n1"})
        said = self.take(cat)
        self.assertIn(
            "<message from='dan@localhost/phone' to='cat@localhost' id='n1' type='chat'>"
            "<body>a&lt;b</body><ext xmlns='urn:porchlight:message:0'>{}</ext>"
            "<stanza-id xmlns='urn:xmpp:sid:0' by='cat@localhost' id='%s'/>" % sent["id"], said)

    def test_the_longest_bodies_in_both_directions(self):
        pam = self.stream("pam")
        self.heard(pam, "here")
        native = self.service.login("quin", "phone", messages=True)
        self.addCleanup(native.close)
        for body in ("x" * 131_072, "长" * 43_690):
            self.assertNotIn("<error", self.write(pam, "quin@localhost", "m", body))
            message, = native.note("messages")["params"]["messages"]
            self.assertEqual(message["body"], body)
            native.ok("take", {"id": message["id"]})
            native.ok("send", {"accounts": ["pam"], "body": body})
            self.assertIn("<body>%s</body>" % body, self.take(pam))

    def test_a_negative_priority_gets_none(self):
        eve = self.stream("eve", "<presence><priority>-1</priority></presence>")
        self.write(eve, "eve@localhost", "m1")
        self.assertNotIn("<message", self.heard(eve, "none"))
        eve.send("<presence/>")
        self.assertIn("id='m1'", self.take(eve))

    def test_a_full_jid_prefers_its_device(self):
        una = self.stream("una")
        tom = self.stream("tom", "<presence><priority>-1</priority></presence>")
        self.heard(tom, "here")
        other = Stream(self.service.xmpp_port)
        self.addCleanup(other.close)
        other.login("tom", "d2")
        other.send("<presence/>")
        self.heard(other, "here")
        self.write(una, "tom@localhost/d1", "m1")
        self.write(una, "tom@localhost/d3", "m2")
        self.assertEqual(re.findall(
            "id='(m[0-9])'", other.until("id='taken-") + self.heard(other, "some")), ["m2"])
        self.assertEqual(
            re.findall("id='(m[0-9])'", tom.until("id='taken-") + self.heard(tom, "one")), ["m1"])
        # It ends without taking: the message is for all that are left.
        tom.close()
        self.assertIn("to='tom@localhost/d1' id='m1'", other.until("id='m1'"))

    def test_what_is_not_stored_goes_to_all_that_are_there(self):
        vic = self.stream("vic")
        readers = [self.stream("wes"), Stream(self.service.xmpp_port)]
        self.addCleanup(readers[1].close)
        readers[1].login("wes", "d2")
        readers[1].send("<presence><priority>-1</priority></presence>")
        for reader in readers:
            self.heard(reader, "here")
        vic.send("<message to='wes@localhost' type='chat' id='s1'><composing "
                 "xmlns='http://jabber.org/protocol/chatstates'/></message>")
        self.write(vic, "wes@localhost", "h1", kind="headline")
        said = readers[0].until("id='h1'")
        self.assertIn("id='s1'", said)
        # What only the service says is left out, also for a full JID, and makes nothing stored.
        for to, id in (("wes@localhost", "f1"), ("wes@localhost/d1", "f2")):
            vic.send("<message to='%s' type='chat' id='%s'>"
                     "<active xmlns='http://jabber.org/protocol/chatstates'/>"
                     "<stanza-id xmlns='urn:xmpp:sid:0' by='wes@localhost' id='1'/>"
                     "<delay xmlns='urn:xmpp:delay' from='localhost' "
                     "stamp='2001-01-01T00:00:00Z'/></message>" % (to, id))
            said = readers[0].until("id='%s'" % id) + readers[0].until("</message>")
            self.assertIn("<active ", said)
            self.assertNotIn("<stanza-id", said)
            self.assertNotIn("<delay", said)
        self.assertNotIn("<message", self.heard(readers[1], "none"))

    def test_what_is_for_a_device_that_has_gone_goes_to_those_that_are_there(self):
        abe, bea = self.stream("abe"), self.stream("bea")
        self.heard(bea, "here")
        state = "<composing xmlns='http://jabber.org/protocol/chatstates'/>"
        for id, kind in (("n1", "normal"), ("c1", "chat")):
            abe.send("<message to='bea@localhost/gone' type='%s' id='%s'>%s</message>"
                     % (kind, id, state))
        self.heard(abe, "sent")
        said = bea.until("id='c1'")
        self.assertIn("to='bea@localhost/gone' type='chat' id='c1'", said)
        self.assertNotIn("id='n1'", said)

    def test_receipts_and_markers_wait(self):
        cal = self.stream("cal")
        for id, more in (("r1", "<received xmlns='urn:xmpp:receipts' id='x'/>"),
                         ("r2", "<displayed xmlns='urn:xmpp:chat-markers:0' id='x'/>")):
            cal.send("<message to='dot@localhost' type='chat' id='%s'>%s</message>" % (id, more))
        self.heard(cal, "sent")
        said = self.take(self.stream("dot")) + ""
        self.assertIn("<received xmlns='urn:xmpp:receipts' id='x'/>", said)
        self.assertIn("<displayed xmlns='urn:xmpp:chat-markers:0' id='x'/>", said)

    def test_a_native_client_answers_a_request_for_a_receipt(self):
        eli = self.stream("eli")
        native = self.service.login("flo", "phone", messages=True)
        self.addCleanup(native.close)
        self.write(eli, "flo@localhost", "q" * 80, "Hi", "<request xmlns='urn:xmpp:receipts'/>")
        message, = native.note("messages")["params"]["messages"]
        self.assertEqual(message["stanzaId"], "q" * 80)
        self.assertNotIn("ref", message)
        native.ok("send", {"accounts": ["eli"], "device": message["fromDevice"],
                           "receipt": message["stanzaId"]})
        said = self.take(eli)
        self.assertIn("<received xmlns='urn:xmpp:receipts' id='%s'/>" % ("q" * 80), said)
        self.assertNotIn("<body", said)

    def test_messages_above_the_rate_wait(self):
        gil = self.stream("gil")
        for number in range(240):
            gil.send("<message to='hob@localhost' id='m%d' type='chat'><body>x</body>"
                     "<x xmlns='u' a='%s'/></message>" % (number, "a" * 5_000))
        said = self.heard(gil, "all")
        # The recipient has no room for more; none is rejected because of the rate.
        self.assertNotIn("<policy-violation ", said)

    def test_copies_of_what_is_not_stored(self):
        enable = "<iq type='set' id='c'><enable xmlns='urn:xmpp:carbons:2'/></iq>"
        state = "<composing xmlns='http://jabber.org/protocol/chatstates'/>"
        ken = self.stream("ken", enable + "<presence/>")
        kenny = Stream(self.service.xmpp_port)
        self.addCleanup(kenny.close)
        kenny.login("ken", "d2")
        kenny.send(enable + "<presence/>")
        liz = self.stream("liz", enable + "<presence/>")
        for each in (ken, kenny, liz):
            self.heard(each, "here")
        ken.send("<message to='liz@localhost' type='chat' id='s1'>%s</message>" % state)
        said = kenny.until("id='s1'") + kenny.until("</message></forwarded></sent></message>")
        self.assertIn("<message from='ken@localhost' to='ken@localhost' type='chat'>"
                      "<sent xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>"
                      "<message xmlns='jabber:client' from='ken@localhost/d1' to='liz@localhost'",
                      said)
        liz.until("id='s1'")
        liz.send("<message to='ken@localhost/d1' type='chat' id='s2'>%s</message>" % state)
        ken.until("id='s2'")
        self.assertIn("<received xmlns='urn:xmpp:carbons:2'>", kenny.until("id='s2'"))
        for more in ("<private xmlns='urn:xmpp:carbons:2'/>", "<no-copy xmlns='urn:xmpp:hints'/>"):
            liz.send("<message to='ken@localhost/d1' type='chat' id='s3'>%s%s</message>"
                     % (state, more))
            ken.until("id='s3'")
        kenny.send(enable.replace("enable", "disable"))
        self.heard(kenny, "disabled")
        liz.send("<message to='ken@localhost/d1' type='chat' id='s4'>%s</message>" % state)
        ken.until("id='s4'")
        self.assertNotIn("<received ", self.heard(kenny, "none"))
        self.assertNotIn("<sent ", self.heard(liz, "end"))

    def test_copies_of_what_is_stored(self):
        enable = "<iq type='set' id='c'><enable xmlns='urn:xmpp:carbons:2'/></iq>"
        mat, nan = self.stream("mat", enable + "<presence/>"), self.stream("nan", enable)
        matt = Stream(self.service.xmpp_port)
        self.addCleanup(matt.close)
        matt.login("mat", "d2")
        matt.send(enable + "<presence/>")
        for each in (mat, matt, nan):
            self.heard(each, "here")
        self.write(mat, "nan@localhost", "k1", TEXT)
        said = matt.until("</message></forwarded></sent></message>")
        self.assertIn("<message xmlns='jabber:client' from='mat@localhost/d1' to='nan@localhost' "
                      "id='k1' type='chat'><body>%s</body>" % TEXT, said)
        self.write(nan, "mat@localhost/d1", "k2", TEXT)
        said = matt.until("</message></forwarded></received></message>")
        self.assertIn("id='k2' type='chat'><body>%s</body>" % TEXT, said)
        self.write(mat, "nan@localhost", "k3", TEXT, "<private xmlns='urn:xmpp:carbons:2'/>")
        self.assertNotIn("<sent ", self.heard(matt, "end"))

    def test_copies_of_what_native_devices_send(self):
        enable = "<iq type='set' id='c'><enable xmlns='urn:xmpp:carbons:2'/></iq>"
        xia, deaf = self.stream("xia", enable), Stream(self.service.xmpp_port)
        self.addCleanup(deaf.close)
        deaf.login("xia", "d2")
        for each in (xia, deaf):
            self.heard(each, "here")
        phone = self.service.login("xia", "phone")
        self.addCleanup(phone.close)
        sent = phone.ok("send", {"accounts": ["xan"], "body": "<x>", "ref": "n1"})
        said = xia.until("</message></forwarded></sent></message>")
        self.assertIn("<message xmlns='jabber:client' from='xia@localhost/phone' "
                      "to='xan@localhost' id='n1' type='chat'><body>&lt;x&gt;</body>", said)
        # One copy for each recipient, and none of what it is sent itself.
        phone.ok("send", {"accounts": ["xan", "xia", "xul"], "body": "y"})
        said = xia.until("to='xul@localhost'")
        self.assertEqual(re.findall("jabber:client' from='xia@localhost/phone' to='([a-z]*)", said),
                         ["xan", "xul"])
        phone.ok("send", {"accounts": ["xul"], "body": "z", "device": "tv"})
        xia.until("to='xul@localhost/tv'")
        # To one of its own devices.
        phone.ok("send", {"accounts": ["xia"], "body": "own", "device": "d2"})
        xia.until("to='xia@localhost/d2'")
        app = self.service.server()
        self.addCleanup(app.close)
        app.ok("send", {"account": "xia", "accounts": ["xan"], "body": "for it"})
        self.assertIn("from='xia@localhost' to='xan@localhost'", xia.until("for it"))
        self.assertNotIn("<sent ", self.heard(deaf, "end"))
        self.assertNotIn("d2'><sent ", self.heard(xia, "end"))

    def test_private_ones_are_not_copied_for_native_devices(self):
        yan = self.stream("yan", "")
        phone = self.service.login("yan", "phone", messages={"sent": True})
        self.addCleanup(phone.close)
        for ref, more in (("p1", "<private xmlns='urn:xmpp:carbons:2'/>"), ("p2", "")):
            self.write(yan, "yul@localhost", ref, TEXT, more)
        self.assertEqual(phone.note("sent")["params"]["sent"][0]["stanzaId"], "p2")

    def test_one_for_its_device_needs_no_presence(self):
        native = self.service.login("jan", "phone")
        self.addCleanup(native.close)
        kay = self.stream("kay", "")
        for device, ref in ((None, "all"), ("d2", "other"), ("d1", "own")):
            native.ok("send", {"accounts": ["kay"], "body": "x", "ref": ref,
                               **({"device": device} if device else {})})
        said = self.take(kay)
        self.assertEqual(re.findall("<message [^>]* id='([a-z]*)'", said), ["own"])
        kay.send("<presence/>")
        self.assertEqual(re.findall("<message [^>]* id='([a-z]*)'", self.take(kay)), ["all"])

    def test_the_window_is_left_when_it_answers(self):
        lea = self.stream("lea")
        for id in ("m1", "m2"):
            self.assertNotIn("<error", self.write(lea, "mia@localhost", id, "x" * 40_000))
        mia = self.stream("mia")
        first = self.take(mia)
        self.assertIn("id='m1'", first)
        self.assertNotIn("id='m2'", first)
        self.assertIn("id='m2'", self.take(mia))

    def test_characters_that_xml_does_not_have(self):
        native = self.service.login("ned", "phone")
        self.addCleanup(native.close)
        ole = self.stream("ole")
        self.heard(ole, "here")
        native.ok("send", {"accounts": ["ole"], "body": "a\u0001b\ufffe", "ext": "\u0002"})
        said = self.take(ole)
        message = said[said.index("<message "):said.index("</message>")] + "</message>"
        self.assertEqual(ElementTree.fromstring(message).find("body").text[0], "a")

    def test_rejections(self):
        fay = self.stream("fay")
        said = self.write(fay, "gus@localhost", "m1", "x" * 131_073)
        self.assertIn("<error type='modify'><policy-violation ", said)
        self.assertNotIn("xxx", said)
        said = self.write(fay, "gus@localhost", "m2", kind="groupchat")
        self.assertIn("<error type='cancel'><service-unavailable ", said)

    def test_strangers_to_accounts_that_approve(self):
        server = self.service.server()
        self.addCleanup(server.close)
        server.ok("setVisibility", {"account": "ivy", "visibility": "approved"})
        hal, ivy = self.stream("hal"), self.stream("ivy")
        said = self.write(hal, "ivy@localhost", "m1")
        self.assertIn("<error type='cancel'><service-unavailable ", said)
        # Nor do they get past that by what is not stored.
        for kind, more in (("headline", ""), ("chat", "<no-store xmlns='urn:xmpp:hints'/>")):
            self.assertNotIn("<error", self.write(hal, "ivy@localhost/d1", "m2", "x", more, kind))
        self.assertNotIn("<message", self.heard(ivy, "none"))
        server.ok("setVisibility", {"account": "ivy", "visibility": "open"})
        self.write(hal, "ivy@localhost/d1", "m3", kind="headline")
        ivy.until("id='m3'")


class Reload(unittest.TestCase):
    stream, heard, take = Messages.stream, Messages.heard, Messages.take

    def test_what_was_answered_while_messages_were_off(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as settings:
            self.service = XMPPService("--auth", "open", "--config", settings.name, plain=True)
            self.addCleanup(self.service.close)
            zed = self.service.login("zed", "phone")
            self.addCleanup(zed.close)

            def turn(word):
                settings.seek(0)
                settings.write("messages: %s\n" % word)
                settings.truncate()
                settings.flush()
                self.service.signal(signal.SIGHUP)
                end = time.monotonic() + WAIT
                while ("error" in zed.call("send", {"accounts": ["zed"], "body": "?"})) \
                        != (word == "off"):
                    self.assertLess(time.monotonic(), end)

            amy = self.stream("amy")
            for ref in ("m1", "m2"):
                zed.ok("send", {"accounts": ["amy"], "body": "x" * 40_000, "ref": ref})
            said = amy.until("<ping xmlns='urn:xmpp:ping'/></iq>")
            self.assertIn("id='m1'", said)
            number = re.search("id='(taken-[0-9]+)'", said).group(1)
            turn("off")
            amy.send("<iq type='result' id='%s' to='localhost'/>" % number)
            self.assertNotIn("<message", self.heard(amy, "off"))
            bea = self.stream("bea")
            self.heard(bea, "late")
            turn("on")
            zed.ok("send", {"accounts": ["bea"], "body": "x", "ref": "m3"})
            self.assertIn("id='m3'", self.take(bea))
            self.take(amy)
            self.assertIn("id='m2'", self.take(amy))


class Libraries(Served, unittest.IsolatedAsyncioTestCase):
    """slixmpp, which knows nothing of how messages are taken."""

    is_plain = True

    async def person(self, name):
        person = Person(name)
        person.enable_starttls = person.enable_direct_tls = False
        person.said = asyncio.Queue()
        person.add_event_handler("message", person.said.put_nowait)
        await person.begin(self.service.xmpp_port)
        self.addAsyncCleanup(ended, person)
        await person.appear()
        return person

    async def test_slixmpp(self):
        pia, quin = await self.person("pia"), await self.person("quin")
        for number in range(3):
            pia.send_message("quin@localhost", "%s%d" % (TEXT, number), mtype="chat")
        for number in range(3):
            message = await asyncio.wait_for(quin.said.get(), WAIT)
            self.assertEqual(message["body"], "%s%d" % (TEXT, number))
            self.assertEqual(message["from"].bare, "pia@localhost")
        server = self.service.server()
        self.addCleanup(server.close)
        # It answers the pings by itself.
        while server.ok("stats")["messagesWaiting"]:
            await asyncio.sleep(0)


if __name__ == "__main__":
    unittest.main()
