"""The conversations of apps on XMPPFramework, between such clients and with native ones: to one
that is online, away, offline, or killed."""

import time
import unittest

import conversation
from conversation import AWAY, ONLINE, RECEIPTS, WAIT, Message, Phone, stanza
from service import Served

WINDOW = 65_536


class Conversations(Served):
    """What the classes below share."""

    is_plain = True

    def setUp(self):
        self.server = self.service.server()
        self.addCleanup(self.server.close)
        self.before = self.server.ok("stats")

    def phone(self, name, device="phone", presence=ONLINE):
        """A client of which the service has heard the presence."""
        phone = Phone(self.service, name, device, presence)
        self.addCleanup(phone.close)
        phone.settle()
        return phone

    def native(self, name, device="native", **options):
        client = self.service.login(name, device, **options)
        self.addCleanup(client.close)
        return client

    def until_stats(self, **changes):
        """Waits until these numbers have changed as much since the test began."""
        end = time.monotonic() + WAIT
        while True:
            now = self.server.ok("stats")
            found = {name: now[name] - self.before[name] for name in changes}
            if found == changes:
                return
            self.assertLess(time.monotonic(), end, "%s, not %s" % (found, changes))

    def assert_same(self, found, texts, sender, bare):
        """Each once, in order, unchanged, and with an id that the service gave it."""
        sent = [Message.of(text) for text in texts]
        self.assertEqual(len(found), len(sent), found)
        for message, due in zip(found, sent):
            self.assertEqual(message.content, due.content)
            self.assertEqual((message.sender, message.to), (sender, due.to or bare))
            self.assertEqual(message.id, due.id or message.stanza_ids[0])
            self.assertEqual(len(message.stanza_ids), 1, message)
        ids = [message.stanza_ids[0] for message in found]
        self.assertEqual(ids, sorted(set(ids)))

    def assert_delayed(self, found, expected=True):
        for message in found:
            self.assertEqual(len(message.delays), int(expected), message)
            for delay in message.delays:
                self.assertEqual(delay.get("from"), "localhost")
                self.assertRegex(delay.get("stamp"), r"^20..-..-..T..:..:..(\.\d+)?Z$")

    def assert_no_more(self, *phones):
        for phone in phones:
            phone.settle()
            self.assertEqual(phone.messages, [])


class BetweenClients(Conversations, unittest.TestCase):
    def test_to_one_that_is_online(self):
        amy, bob = self.phone("on-amy"), self.phone("on-bob")
        for number, text in enumerate(texts := conversation.conversation("on-bob@localhost")):
            amy.send(text)
            found = bob.next(1)
            self.assert_same(found, [text], amy.jid, "on-bob@localhost")
            self.assert_delayed(found, False)
            # With XMPPPing, and without it.
            bob.answer(by_error=number % 2)
            self.until_stats(messagesTaken=number + 1)
        self.until_stats(messagesTaken=len(texts), messagesWaiting=0)
        self.assert_no_more(amy, bob, self.phone("on-bob", "other"))

    def test_all_at_once_while_it_answers_nothing(self):
        amy, bob = self.phone("once-amy"), self.phone("once-bob")
        texts = conversation.conversation("once-bob@localhost")
        amy.send(*texts)
        self.until_stats(messagesWaiting=len(texts))
        bob.settle()
        first = bob.all()
        self.assertTrue(0 < len(first) < len(texts), first)
        self.assertTrue(len(first) == 1 or sum(len(each.body) for each in first) <= WINDOW)
        self.assert_delayed(first, False)
        rest = bob.take(len(texts) - len(first))
        self.assert_same(first + rest, texts, amy.jid, "once-bob@localhost")
        self.until_stats(messagesTaken=len(texts), messagesWaiting=0)
        self.assert_no_more(amy, bob)

    def test_both_write_at_once(self):
        amy, bob = self.phone("both-amy"), self.phone("both-bob")
        texts = {name: conversation.conversation("both-%s@localhost" % name) * 2
                 for name in ("amy", "bob")}
        amy.send(*texts["bob"])
        bob.send(*texts["amy"])
        for phone, other, name in ((amy, bob, "amy"), (bob, amy, "bob")):
            self.assert_same(phone.take(len(texts[name])), texts[name], other.jid,
                             "both-%s@localhost" % name)
        self.until_stats(messagesTaken=2 * len(texts["amy"]), messagesWaiting=0)
        self.assert_no_more(amy, bob)

    def test_to_one_that_is_away(self):
        amy, bob = self.phone("away-amy"), self.phone("away-bob", presence=AWAY)
        texts = conversation.conversation("away-bob@localhost")
        amy.send(*texts)
        self.until_stats(messagesWaiting=len(texts))
        self.assert_no_more(bob)
        # For its own resource it is there.
        own = stanza("away-bob@localhost/phone", "for the resource", id="own")
        amy.send(own)
        found = bob.take(1)
        self.assert_same(found, [own], amy.jid, None)
        self.assert_delayed(found, False)
        bob.send(ONLINE)
        found = bob.take(len(texts))
        self.assert_same(found, texts, amy.jid, "away-bob@localhost")
        self.until_stats(messagesTaken=len(texts) + 1, messagesWaiting=0)
        self.assert_no_more(amy, bob, self.phone("away-bob", "other"))

    def test_to_one_that_is_offline(self):
        # To the account, to a resource that it has had, and before its first login.
        self.phone("off-bob").close()
        for name, to in (("off-bob", "off-bob@localhost"), ("off-bob", "off-bob@localhost/gone"),
                         ("off-cat", "off-cat@localhost")):
            with self.subTest(to=to):
                self.before = self.server.ok("stats")
                amy = self.phone("off-amy")
                texts = conversation.conversation(to)
                amy.send(*texts)
                self.until_stats(messagesWaiting=len(texts))
                # The sender need not stay.
                self.assert_no_more(amy)
                amy.close()
                bob = self.phone(name, "new")
                found = bob.take(len(texts))
                self.assert_same(found, texts, amy.jid, to)
                self.assert_delayed(found)
                self.until_stats(messagesTaken=len(texts), messagesWaiting=0)
                self.assert_no_more(bob, self.phone(name, "other"))

    def test_to_oneself(self):
        amy = self.phone("self")
        texts = conversation.conversation("")
        amy.send(*texts)
        self.assert_same(amy.take(len(texts)), texts, amy.jid, "self@localhost")
        self.until_stats(messagesTaken=len(texts), messagesWaiting=0)


class Killed(Conversations, unittest.TestCase):
    """A client dies with messages in hand; some it has taken."""

    def end_by_reset(self, phone):
        phone.kill()

    def end_silently(self, phone):
        """Its connection stays, and nothing answers."""

    def check(self, name, end, device, taken):
        """Another client takes over at `device`; `taken` messages are answered before."""
        amy, bob = self.phone(name + "-amy"), self.phone(name + "-bob")
        bare = name + "-bob@localhost"
        texts = conversation.conversation(bare)
        for number, text in enumerate(texts[:taken]):
            amy.send(text)
            self.assert_same(bob.next(1), [text], amy.jid, bare)
            bob.answer()
            self.until_stats(messagesTaken=number + 1)
        amy.send(*texts[taken:])
        self.until_stats(messagesWaiting=len(texts) - taken)
        bob.settle()
        lost = bob.all()
        self.assertTrue(lost)
        end(bob)
        again = self.phone(bare.split("@")[0], device)
        found = again.take(len(texts) - taken)
        self.assert_same(found, texts[taken:], amy.jid, bare)
        self.assert_delayed(found)
        self.assertEqual([each.stanza_ids for each in found[:len(lost)]],
                         [each.stanza_ids for each in lost])
        self.until_stats(messagesTaken=len(texts), messagesWaiting=0)
        self.assert_no_more(again, self.phone(bare.split("@")[0], "third"))

    def test_by_a_reset(self):
        for taken in (0, 2):
            with self.subTest(taken=taken):
                self.before = self.server.ok("stats")
                self.check("reset%d" % taken, self.end_by_reset, "phone", taken)

    def test_and_another_device_takes_over(self):
        self.check("moved", self.end_by_reset, "tablet", 1)

    def test_without_a_word(self):
        self.check("silent", self.end_silently, "phone", 1)

    def test_without_a_word_and_another_device_takes_over(self):
        self.check("silent-moved", self.end_silently, "tablet", 0)

    def test_before_it_reads(self):
        amy, bob = self.phone("deaf-amy"), self.phone("deaf-bob")
        texts = conversation.conversation("deaf-bob@localhost")
        amy.send(*texts)
        bob.kill()
        self.until_stats(messagesWaiting=len(texts))
        again = self.phone("deaf-bob")
        self.assert_same(again.take(len(texts)), texts, amy.jid, "deaf-bob@localhost")
        self.until_stats(messagesTaken=len(texts), messagesWaiting=0)
        self.assert_no_more(again)

    def test_many_times(self):
        """Each connection takes one share, and dies with the next in hand."""
        amy = self.phone("many-amy")
        texts = conversation.conversation("many-bob@localhost") * 3
        amy.send(*texts)
        self.until_stats(messagesWaiting=len(texts))
        found, held = [], []
        while len(found) < len(texts):
            bob = self.phone("many-bob")
            share = bob.share()
            # What the one before had in hand comes first.
            self.assertEqual([each.stanza_ids for each in share[:len(held)]],
                             [each.stanza_ids for each in held][:len(share)])
            bob.answer()
            found += share
            self.until_stats(messagesTaken=len(found))
            if len(found) < len(texts):
                bob.read_until(lambda: bob.messages)
            held = bob.messages
            bob.kill()
        self.assert_same(found, texts, amy.jid, "many-bob@localhost")
        self.until_stats(messagesTaken=len(texts), messagesWaiting=0)


class Receipts(Conversations, unittest.TestCase):
    def test_of_messages_are_handed_on(self):
        amy, bob = self.phone("r-amy"), self.phone("r-bob")
        amy.send(stanza("r-bob@localhost", "Hello", conversation.REQUEST, id="m1"))
        message, = bob.take(1)
        receipt = '<received xmlns="%s" id="%s"/>' % (RECEIPTS, message.id)
        for to in (message.sender, message.sender.split("/")[0]):
            bob.send(stanza(to, None, receipt))
            found, = amy.take(1)
            self.assertEqual(found.content, Message.of(stanza(to, None, receipt)).content)
            self.assertEqual((found.sender, len(found.stanza_ids)), (bob.jid, 1))
        self.until_stats(messagesTaken=3, messagesWaiting=0)
        amy.close()
        bob.send(stanza(message.sender, None, receipt))
        self.until_stats(messagesWaiting=1)
        found, = self.phone("r-amy").take(1)
        self.assertEqual(found.content, Message.of(stanza(found.to, None, receipt)).content)
        self.until_stats(messagesTaken=4, messagesWaiting=0)


class WithNativeClients(Conversations, unittest.TestCase):
    def given(self, native, count):
        """The next messages of a native client, each taken by itself."""
        found = []
        while len(found) < count:
            new = native.note("messages")["params"]["messages"]
            native.ok("take", {"id": new[-1]["id"]})
            found += new
        self.assertEqual(len(found), count, found)
        self.assertEqual([each["id"] for each in found], sorted({each["id"] for each in found}))
        return found

    def assert_native(self, found, texts, sender):
        for message, text in zip(found, texts, strict=True):
            due = Message.of(text)
            # Its children are XML in the namespace of a client.
            children = Message.of("<message>%s</message>" % message.get("xml", "")).children
            self.assertEqual(message.get("body", "").encode(), due.body)
            self.assertEqual((children, message["type"]), (due.children, due.kind))
            self.assertEqual((message["from"], message["fromDevice"]), (sender, "phone"))

    def test_to_one_that_is_online(self):
        amy, bob = self.phone("n-amy"), self.native("n-bob", messages=True)
        texts = conversation.conversation("n-bob@localhost")
        for text in texts:
            amy.send(text)
            self.assert_native(self.given(bob, 1), [text], "n-amy")
        amy.send(*texts)
        self.assert_native(self.given(bob, len(texts)), texts, "n-amy")

    def test_to_one_that_is_offline_or_dies(self):
        amy = self.phone("o-amy")
        texts = conversation.conversation("o-bob@localhost")
        amy.send(*texts)
        self.until_stats(messagesWaiting=len(texts))
        bob = self.native("o-bob", messages=True)
        self.assertEqual(bob.welcome["waiting"], len(texts))
        lost = bob.note("messages")["params"]["messages"]
        bob.reset()
        again = self.native("o-bob", messages=True)
        self.assertEqual(again.welcome["waiting"], len(texts))
        found = self.given(again, len(texts))
        self.assertEqual(found[:len(lost)], lost)
        self.assert_native(found, texts, "o-amy")
        self.assertEqual(self.native("o-bob", messages=True).welcome["waiting"], 0)

    def test_one_that_is_away_natively(self):
        amy, bob = self.phone("w-amy"), self.native("w-bob", messages=True)
        bob.ok("setAvailability", {"priority": -1})
        text = stanza("w-bob@localhost", conversation.TEXT)
        amy.send(text)
        self.until_stats(messagesWaiting=1)
        bob.ok("contacts")
        self.assertEqual([note for note in bob.notes if note["method"] == "messages"], [])
        bob.ok("setAvailability", {"priority": 0})
        self.assert_native(self.given(bob, 1), [text], "w-amy")

    def leave(self, native, account):
        """Sends what a native app says. Returns what an XMPP client is to be sent."""
        due = []
        bodies = (conversation.TEXT, conversation.encoded(conversation.PICTURE_BYTES),
                  conversation.encoded(conversation.VOICE_BYTES, line=76))
        for number, body in enumerate(bodies):
            ext = '{"itemType":%d,"name":"语音 <&>"}' % number
            native.ok("send", {"accounts": [account], "body": body, "ext": ext,
                               "ref": "n%d" % number})
            due.append(stanza(
                account + "@localhost", body, '<ext xmlns="urn:porchlight:message:0">%s</ext>'
                % conversation.escape(ext), id="n%d" % number))
        return due

    def test_from_native_clients(self):
        for state, presence in (("online", ONLINE), ("away", AWAY), ("offline", None),
                                ("killed", ONLINE)):
            with self.subTest(state=state):
                self.before = self.server.ok("stats")
                name, native = "f-" + state, self.native("f-native")
                phone = self.phone(name, presence=presence) if presence else None
                texts = self.leave(native, name)
                if state == "away":
                    self.assert_no_more(phone)
                    phone.send(ONLINE)
                if state == "killed":
                    phone.settle()
                    self.assertTrue(phone.messages)
                    phone.kill()
                if state in ("killed", "offline"):
                    phone = self.phone(name)
                found = phone.take(len(texts))
                self.assert_same(found, texts, "f-native@localhost/native", None)
                if state in ("killed", "offline"):
                    self.assert_delayed(found)
                self.until_stats(messagesTaken=len(texts), messagesWaiting=0)
                self.assert_no_more(phone)


if __name__ == "__main__":
    unittest.main()
