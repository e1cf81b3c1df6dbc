"""slixmpp, unmodified: connecting in three ways, and two accounts that subscribe to each other."""

import asyncio
import ssl
import unittest

import slixmpp
from service import DOMAIN, Served, XMPPService
from stream import Stream

WAIT = 60


class Person(slixmpp.ClientXMPP):
    """A client that notes the presences that it receives."""

    def __init__(self, name, device="d1", authority=None, plugins=(), **settings):
        super().__init__("%s@%s/%s" % (name, DOMAIN, device), "secret", **settings)
        if authority:
            self.ssl_context = ssl.create_default_context(cafile=authority)
        else:
            self.enable_plaintext = True
            self["feature_mechanisms"].unencrypted_plain = True
        for plugin in plugins:
            self.register_plugin(plugin)
        self.seen = asyncio.Queue()
        self.started = asyncio.Event()
        self.failed = asyncio.Event()
        self.add_event_handler("session_start", lambda _: self.started.set())
        self.add_event_handler("failed_all_auth", lambda _: self.failed.set())
        for event in ("presence_available", "presence_away", "presence_unavailable"):
            self.add_event_handler(event, lambda presence: self.seen.put_nowait(presence))

    async def begin(self, port):
        self.connect("127.0.0.1", port)
        await asyncio.wait_for(self.started.wait(), WAIT)
        return self

    async def appear(self):
        await self.get_roster()
        self.send_presence()

    async def next_of(self, name, kind=None):
        """The next presence of an account that is not this one."""
        while True:
            presence = await asyncio.wait_for(self.seen.get(), WAIT)
            if presence["from"].local == name and kind in (None, presence["type"]):
                return presence


async def ended(person):
    await person.disconnect(wait=2)


class Connections(Served, unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plain = XMPPService(plain=True)
        cls.addClassCleanup(cls.plain.close)

    async def check(self, person, port):
        await person.begin(port)
        self.addAsyncCleanup(ended, person)
        self.assertEqual(person.boundjid.full, "zoe@localhost/d1")
        await person["xep_0199"].ping("localhost", timeout=WAIT)
        info = await person["xep_0030"].get_info("localhost", timeout=WAIT)
        self.assertIn("urn:xmpp:ping", info["disco_info"]["features"])
        await person["xep_0030"].get_items("localhost", timeout=WAIT)
        version = await person["xep_0092"].get_version("localhost", timeout=WAIT)
        self.assertEqual(version["software_version"]["name"], "Porchlight")
        await person.get_roster(timeout=WAIT)

    plugins = ("xep_0030", "xep_0092", "xep_0199")

    async def test_without_tls(self):
        person = Person("zoe", plugins=self.plugins)
        person.enable_starttls = person.enable_direct_tls = False
        await self.check(person, self.plain.xmpp_port)

    async def test_starttls(self):
        person = Person("zoe", authority=self.service.authority, plugins=self.plugins)
        person.enable_direct_tls = False
        await self.check(person, self.service.xmpp_port)

    async def test_direct_tls(self):
        person = Person("zoe", authority=self.service.authority, plugins=self.plugins)
        person.enable_starttls = False
        await self.check(person, self.service.xmpps_port)

    async def test_a_certificate_that_is_not_trusted(self):
        person = Person("zoe", authority=None)
        person.enable_plaintext = person.enable_direct_tls = False
        failed = asyncio.Event()
        person.add_event_handler("ssl_invalid_chain", lambda _: failed.set())
        person.connect("127.0.0.1", self.service.xmpp_port)
        await asyncio.wait_for(failed.wait(), WAIT)
        person.abort()


class Relationships(Served, unittest.IsolatedAsyncioTestCase):
    is_plain = True

    async def person(self, name, device="d1"):
        person = Person(name, device)
        person.enable_starttls = person.enable_direct_tls = False
        await person.begin(self.service.xmpp_port)
        self.addAsyncCleanup(ended, person)
        await person.appear()
        return person

    async def test_two_accounts_subscribe_to_each_other(self):
        ann, ben = await self.person("ann"), await self.person("ben")
        # slixmpp accepts requests, and asks back.
        ann.send_presence_subscription("ben@localhost")
        await ann.next_of("ben", "available")
        await ben.next_of("ann", "available")
        roster = (await ann.get_roster())["roster"]["items"]
        self.assertEqual(roster["ben@localhost"]["subscription"], "both")
        ben.send_presence(pshow="away", pstatus="brb", ppriority=5)
        presence = await ann.next_of("ben", "away")
        self.assertEqual((presence["status"], presence["priority"]), ("brb", 5))
        second = await self.person("ben", "d2")
        await ann.next_of("ben", "available")
        await second.disconnect()
        gone = await ann.next_of("ben", "unavailable")
        self.assertEqual(gone["from"].resource, "d2")

    async def test_a_native_client_and_an_xmpp_client_see_each_other(self):
        eve = await self.person("eve")
        native = await asyncio.to_thread(self.service.login, "max", "phone")
        self.addCleanup(native.close)
        await asyncio.to_thread(native.ok, "relate", {"contact": "eve", "action": "request"})
        await asyncio.to_thread(native.subscribe, "eve")
        # slixmpp has accepted the request and asks back.
        await self.until_related(native)
        await asyncio.to_thread(native.ok, "relate", {"contact": "eve", "action": "accept"})
        presence = await eve.next_of("max", "available")
        self.assertEqual(presence["from"].resource, "phone")
        eve.send_presence(pshow="dnd", pstatus="busy")
        changed = (await self.events_until(native, "changed"))[-1]
        device = changed["online"][0]
        self.assertEqual((device["client"], device["device"], device["show"]),
                         ("xmpp", "d1", "dnd"))
        await eve.disconnect()
        gone = (await self.events_until(native, "logout"))[-1]
        self.assertEqual(gone["publisher"], "eve")

    async def test_strangers_with_names_that_no_jid_may_have(self):
        """slixmpp ends its connection if it is sent an address that it rejects."""
        devices = ("a\u202eb", "e\u0301", "\u2028", "\U0001fae8", "\ufffd", "\u05e9 1", "\\41", "\u2126")
        people = ("\\c9\\8f", "\\d7\\a91", "\\d9\\80", "\u05e9")
        zoe = await self.person("zoe")
        # It is answered after the presence: only then is a presence for zoe delivered.
        await zoe.get_roster(timeout=WAIT)
        for name, device in [("mallory", device) for device in devices] + [
                (name, "d1") for name in people]:
            await asyncio.to_thread(self.address, name, device)
            seen = await zoe.next_of(name, "available")
            self.assertTrue(zoe.is_connected())
            # And what it answers to that address is for that device.
            zoe.send_presence(pto=seen["from"], pstatus=name)
            await asyncio.to_thread(self.stranger.until, ">%s</status>" % name)
            await asyncio.to_thread(self.stranger.close)

    async def test_strangers_with_xml_that_readers_reject(self):
        kim = await self.person("kim")
        # It is answered after the presence: only then is a presence for kim delivered.
        await kim.get_roster(timeout=WAIT)
        for number, child in enumerate((
                "<xml:x/>", "<x xmlns='u v'/>", "<x xmlns='u}v'/>", "<x xmlns:p='u}v' p:y=''/>",
                "<x><xml:x/></x>", "<x xmlns='u|v'/>")):
            for stanza in ("<presence to='kim@localhost'>%s</presence>",
                           "<presence to='kim@localhost' type='subscribe'>%s</presence>",
                           "<iq type='get' id='1' to='kim@localhost/d1'>%s</iq>",
                           "<iq type='result' id='1' to='kim@localhost/d1'>%s</iq>"):
                stranger = await asyncio.to_thread(Stream, self.service.xmpp_port)
                await asyncio.to_thread(stranger.login, "vandal", "d%d" % number)
                await asyncio.to_thread(
                    stranger.send,
                    stanza % child + "<iq type='get' id='p'><ping xmlns='urn:xmpp:ping'/></iq>")
                if "<xml:" in child:
                    self.assertIn("<invalid-namespace ", await asyncio.to_thread(stranger.end))
                else:
                    await asyncio.to_thread(stranger.until, "<iq type='result' id='p'")
                await asyncio.to_thread(stranger.close)
        self.assertTrue(kim.is_connected())
        await asyncio.to_thread(self.address, "harmless", "d1", "kim")
        await kim.next_of("harmless", "available")
        await asyncio.to_thread(self.stranger.close)

    def address(self, name, device, to="zoe"):
        """Sends a client a presence and a question from a device, to JIDs that are not in their form."""
        self.stranger = Stream(self.service.xmpp_port)
        self.stranger.login(name, device)
        self.stranger.send("<iq type='get' id='1' to='%s@localhost./d1'>"
                           "<ping xmlns='urn:xmpp:ping'/></iq><presence to='%s@localhost.'/>"
                           % (to.upper(), to))

    @staticmethod
    async def until_related(native):
        """Waits until eve sees max, or asks to."""
        while True:
            contacts = await asyncio.to_thread(native.ok, "contacts")
            if any("request" in contact for contact in contacts["contacts"]):
                return
            await asyncio.sleep(0.05)

    @staticmethod
    async def events_until(native, cause):
        return await asyncio.to_thread(
            native.events_until, lambda event: event.get("cause") == cause)


if __name__ == "__main__":
    unittest.main()
