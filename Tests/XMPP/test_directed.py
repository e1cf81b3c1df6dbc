"""Presence for one address (RFC 6121, 4.6): who is told, who is told of the end, and what it costs."""

import os
import socket
import tempfile
import threading
import time
import unittest

import slixmpp
import walk
from service import Served
from stream import Stream
from test_slixmpp import WAIT, Person, ended

# Seconds of a ping that no busy machine explains.
STALL = 10
PING = "<iq type='get' id='%s'><ping xmlns='urn:xmpp:ping'/></iq>"


class Case(Served, unittest.TestCase):
    is_plain = True

    def stream(self, name, device="d1", available=True):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.login(name, device)
        if available:
            stream.send("<presence/>")
        self.drained(stream)
        return stream

    def drained(self, stream):
        """What it was sent up to now."""
        stream.send(PING % "drained")
        said = stream.until("<iq type='result' id='drained'")
        stream.until(">")
        return said


class Ends(Case):
    # Long enough for a login on a slow machine.
    flags = ("--disconnect-grace", "8")

    def test_a_bare_and_a_full_address(self):
        anna, phone, laptop = (
            self.stream("bare-anna"), self.stream("bare-ben", "phone"),
            self.stream("bare-ben", "laptop"))
        anna.send("<presence to='bare-ben@localhost'><show>away</show><c xmlns='u'/></presence>")
        anna.send("<presence to='bare-ben@localhost/phone'/>")
        told = "<presence from='bare-anna@localhost/d1' to='bare-ben@localhost"
        phone.until(told + "'><show>away</show><c xmlns='u'/></presence>")
        phone.until(told + "/phone'/>")
        laptop.until(told + "'><show>away</show><c xmlns='u'/></presence>")
        anna.send("</stream:stream>")
        for ben in (phone, laptop):
            ben.until(told + "' type='unavailable'/>")
            self.assertNotIn("bare-anna", self.drained(ben))

    def test_a_stream_is_ended_by_both_sides(self):
        for _ in range(10):
            anna = self.stream("end-anna")
            anna.send("</stream:stream>")
            anna.socket.shutdown(socket.SHUT_WR)
            self.assertTrue(anna.end().endswith("</stream:stream>"))

    def test_a_lost_connection_ends_with_the_grace(self):
        anna, ben = self.stream("lost-anna"), self.stream("lost-ben")
        anna.send("<presence to='lost-ben@localhost'/>")
        ben.until("<presence from='lost-anna@localhost/d1' to='lost-ben@localhost'/>")
        lost = time.monotonic()
        anna.close()
        ben.until("from='lost-anna@localhost/d1' to='lost-ben@localhost' type='unavailable'/>")
        self.assertGreater(time.monotonic() - lost, 7.5)

    def test_a_client_that_comes_back_in_time_has_not_left(self):
        anna, ben = self.stream("back-anna"), self.stream("back-ben")
        anna.send("<presence to='back-ben@localhost'/>")
        ben.until("<presence from='back-anna@localhost/d1' to='back-ben@localhost'/>")
        anna.close()
        again = self.stream("back-anna")
        # Longer than the grace.
        other = self.stream("back-other")
        other.send("<presence to='back-ben@localhost'/>")
        ben.until("from='back-other@localhost/d1' to='back-ben@localhost'/>")
        other.close()
        self.assertNotIn("back-anna", ben.until(
            "from='back-other@localhost/d1' to='back-ben@localhost' type='unavailable'/>"))
        again.send("<presence type='unavailable'><status>bye</status></presence>")
        ben.until("<presence from='back-anna@localhost/d1' to='back-ben@localhost' "
                  "type='unavailable'><status>bye</status></presence>")

    def test_a_subscriber_is_told_once(self):
        anna, ben = walk.pair(self.service.xmpp_port, "both")
        for person in (anna, ben):
            self.addCleanup(person.close)
        walk.reach("B", anna, ben)
        ben.take()
        anna.stream.send("<presence to='%s'><show>chat</show></presence>" % ben.bare)
        anna.roster()
        ben.roster()
        self.assertEqual(ben.take(), ["available"])
        anna.stream.send("</stream:stream>")
        anna.stream.end()
        ben.roster()
        self.assertEqual(ben.take(), ["unavailable"])


    def test_a_client_hides_from_one_subscriber(self):
        anna, ben = walk.pair(self.service.xmpp_port, "hides")
        for person in (anna, ben):
            self.addCleanup(person.close)
        walk.reach("B", anna, ben)
        ben.take()
        # Three times, since it has a rate limit only.
        for _ in range(3):
            anna.stream.send("<presence to='%s' type='unavailable'><status>bye</status></presence>"
                             % ben.bare)
            ben.stream.until("type='unavailable'><status>bye</status></presence>")
        # For all: it is sent, though it says what it said before.
        anna.stream.send("<presence/>" * 2)
        anna.roster()
        ben.roster()
        self.assertEqual(ben.take(), ["available"])

    def test_a_client_does_not_hide_from_strangers(self):
        anna, ben = self.stream("polite-anna"), self.stream("polite-ben")
        anna.send("<presence to='polite-ben@localhost' type='unavailable'/>" * 3)
        self.drained(anna)
        self.assertEqual(self.drained(ben).count("<presence"), 0)


class EndsOnLoops(Ends):
    flags = ("--disconnect-grace", "8", "--loops", "3")


class Strangers(Case):
    """A client that sends as much of it as it can."""

    COUNT = 10_000

    @classmethod
    def setUpClass(cls):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False) as settings:
            settings.write("requests-per-second: 100000\n")
        cls.addClassCleanup(os.unlink, settings.name)
        cls.flags = ("--config", settings.name)
        super().setUpClass()

    def resident(self):
        with open("/proc/%d/statm" % self.service.process.pid) as file:
            return int(file.read().split()[1]) * 4096

    def flood(self, stream, addresses):
        """Sends presence to each; returns the errors, and the longest ping of another meanwhile."""
        other = self.service.login("other-%d" % id(stream))
        self.addCleanup(other.close)
        text = "".join("<presence to='%s'><status>%s</status></presence>" % (address, "x" * 500)
                       for address in addresses) + PING % "flooded"
        sender = threading.Thread(target=stream.send, args=(text,))
        sender.start()
        heard = threading.Thread(target=lambda: said.append(stream.until("id='flooded'")))
        said, worst = [], 0
        heard.start()
        while heard.is_alive():
            began = time.monotonic()
            other.ok("ping")
            worst = max(worst, time.monotonic() - began)
            heard.join(0.01)
        sender.join()
        return said[0], worst

    def test_many_addresses_cost_no_memory(self):
        eve = self.stream("eve")
        addresses = ["account-%d@localhost/device" % number for number in range(self.COUNT)]
        said, _ = self.flood(eve, addresses)
        self.assertEqual(said.count("<resource-constraint "), self.COUNT - 32)
        self.assertIn("limited to 32 addresses", said)
        before = self.resident()
        for _ in range(3):
            said, worst = self.flood(eve, addresses)
            self.assertEqual(said.count("type='error'"), said.count("<resource-constraint ")
                             + said.count("<policy-violation "))
            self.assertLess(worst, STALL)
        self.assertLess(self.resident() - before, 8 << 20)

    def test_many_to_one_client_cost_it_little(self):
        max_ = self.stream("max")
        eve = self.stream("mallory")
        said, worst = self.flood(eve, ["max@localhost"] * self.COUNT)
        # Beyond the pace of an account they are rejected.
        self.assertGreater(said.count("<policy-violation "), self.COUNT - 1_000)
        self.assertLess(worst, STALL)
        self.assertLess(self.drained(max_).count("<presence "), 300)


    def test_they_do_not_use_up_what_contacts_may_send(self):
        kim, lee = self.stream("kim"), self.stream("lee")
        lee.send("<presence to='kim@localhost' type='subscribe'/>")
        kim.until("type='subscribe'")
        kim.send("<presence to='lee@localhost' type='subscribed'/>")
        lee.until("<presence from='kim@localhost/d1'")
        eve = self.stream("eavesdropper")
        ask = "<iq type='get' id='%s' to='kim@localhost/d1'><ping xmlns='urn:xmpp:ping'/></iq>"
        eve.send("".join(ask % number for number in range(300)) + PING % "asked")
        said = eve.until("id='asked'")
        # They are told, and for how long.
        self.assertGreater(said.count("<policy-violation "), 50)
        self.assertIn("Retry after 1 s.", said)
        self.flood(eve, ["kim@localhost"] * 300)
        self.drained(kim)
        lee.send("<presence to='kim@localhost'><status>from lee</status></presence>" + ask % "lee")
        kim.until("from lee")
        kim.until("id='lee'")
        kim.send("<iq type='result' id='lee' to='lee@localhost/d1'/>")
        lee.until("type='result' id='lee'")


    def test_they_do_not_flood_with_requests(self):
        """By asking and withdrawing, beside each other: each has a rate limit of its own, too."""
        pia = self.stream("pia")
        word = "<presence to='pia@localhost' type='%s' id='%d'><status>%s</status></presence>"
        floods = [self.stream("flooder%d" % number) for number in range(2)]
        began = time.monotonic()
        for eve in floods:
            eve.send("".join(word % (kind, number, "x" * 500) for number in range(90)
                             for kind in ("subscribe", "unsubscribe")))
        rejected = sum(self.drained(eve).count("<policy-violation ") for eve in floods)
        admitted = 102 + 2 * (time.monotonic() - began)
        self.assertGreaterEqual(rejected, 180 - admitted)
        self.assertLessEqual(self.drained(pia).count("type='subscribe'"), admitted)

    def test_they_do_not_use_up_what_is_asked_for(self):
        """Results that nobody has asked for, to a client that then asks another stranger."""
        ask = "<iq type='get' id='%s' to='%s@localhost/d1'><ping xmlns='urn:xmpp:ping'/></iq>"
        answer = "<iq type='%s' id='%s' to='dan@localhost/d1'/>"
        dan, flo = self.stream("dan"), self.stream("flo")
        eve, began = self.stream("eve-answers"), time.monotonic()
        eve.send("".join(answer % ("result", number) for number in range(400)))
        self.drained(eve)
        dan.send(ask % ("q1", "flo") + ask % ("q2", "flo"))
        flo.until("id='q2'")
        # Another's, one many times, and an error.
        eve.send(answer % ("result", "q1") * 100)
        self.drained(eve)
        flo.send(answer % ("result", "q2") * 100 + answer % ("error", "q1"))
        said = dan.until("type='error' id='q1'")
        # Of what was not asked for, dan is sent the share of each, and then as many as the bucket
        # refills: half of 200, and half of what is left.
        refilled = 2 + 2 * (time.monotonic() - began)
        self.assertLess(said.count("<iq from='eve-answers"), 100 + refilled)
        self.assertGreater(said.count("id='q2'"), 0)
        self.assertLess(
            said.count("id='q2'") - 1 + said.count("id='q1'") - 1, 50 + refilled)


class Libraries(Served, unittest.IsolatedAsyncioTestCase):
    is_plain = True

    async def person(self, name):
        person = Person(name, plugins=("xep_0030",))
        person.enable_starttls = person.enable_direct_tls = False
        await person.begin(self.service.xmpp_port)
        self.addAsyncCleanup(ended, person)
        await person.appear()
        # It is answered after the presence: only then is a directed presence for somebody there.
        await person.get_roster(timeout=WAIT)
        return person

    async def test_slixmpp_presents_itself_and_leaves(self):
        anna, ben = await self.person("anna"), await self.person("ben")
        anna.send_presence(pto="ben@localhost", pshow="away", pstatus="only for you")
        seen = await ben.next_of("anna")
        self.assertEqual((seen["type"], seen["status"]), ("away", "only for you"))
        self.assertEqual(seen["from"].full, "anna@localhost/d1")
        anna.send_presence(pto="ben@localhost", ptype="unavailable")
        await ben.next_of("anna", "unavailable")

    async def test_slixmpp_discovers_accounts_that_it_sees(self):
        zoe, tom = await self.person("zoe"), await self.person("tom")
        for address in ("tom@localhost", "nobody@localhost"):
            with self.assertRaises(slixmpp.exceptions.IqError) as rejected:
                await zoe["xep_0030"].get_info(address, timeout=WAIT)
            self.assertEqual(rejected.exception.condition, "service-unavailable")
        # tom accepts and asks back by itself.
        zoe.send_presence_subscription("tom@localhost")
        await zoe.next_of("tom")
        info = await zoe["xep_0030"].get_info("tom@localhost", timeout=WAIT)
        self.assertIn(("account", "registered", None, None), info["disco_info"]["identities"])
        items = await zoe["xep_0030"].get_items("tom@localhost", timeout=WAIT)
        self.assertEqual(len(items["disco_items"]["items"]), 0)


if __name__ == "__main__":
    unittest.main()
