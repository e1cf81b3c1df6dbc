"""slixmpp and aioxmpp, unmodified, write to each other, to a client by hand and to a native one,
and those to them: text with Chinese, a picture and a voice clip."""

import asyncio
import contextlib
import unittest

import aioxmpp
import aioxmpp.dispatcher
import aioxmpp.mdr
import aioxmpp.misc
import conversation
from aioxmpp import connector
from conversation import AWAY, ONLINE, RECEIPTS, WAIT, Message, Phone, stanza
from test_conversations import Conversations
from test_slixmpp import Person


def texts(name):
    """What each writes; without carriage returns, which the libraries do not escape."""
    to = name + "@localhost"
    return [
        stanza(to, conversation.TEXT, conversation.REQUEST, id="text"),
        stanza(to, conversation.encoded(conversation.PICTURE_BYTES),
               "<itemType>1</itemType>", id="picture"),
        stanza(to, conversation.encoded(conversation.VOICE_BYTES),
               '<voice xmlns="urn:app:voice" name="&#x8BED;&#x97F3;"><codec/></voice>',
               id="voice")]


class Slixmpp:
    """An account by slixmpp."""

    async def begin(self, service, name, is_away=False):
        self.person, self.said = Person(name, authority=service.authority), asyncio.Queue()
        self.person.enable_direct_tls = False
        self.person.add_event_handler(
            "message", lambda message: self.said.put_nowait(Message(message.xml)))
        await self.person.begin(service.xmpp_port)
        self.person.send_presence(**({"ppriority": -1, "pshow": "away"} if is_away else {}))

    async def write(self, text):
        due = Message.of(text)
        message = self.person.make_message(due.to, due.body.decode(), mtype="chat")
        message["id"] = due.id
        for child in due.elements:
            message.append(child)
        message.send()

    async def read(self, count):
        return [await asyncio.wait_for(self.said.get(), WAIT) for _ in range(count)]

    async def show(self):
        self.person.send_presence()

    async def end(self):
        await self.person.disconnect(wait=2)


class Aioxmpp:
    """An account by aioxmpp, which knows no elements but its own."""

    async def begin(self, service, name, is_away=False):
        self.client = aioxmpp.Client(
            aioxmpp.JID.fromstr(name + "@localhost/d1"),
            aioxmpp.make_security_layer("secret", no_verify=True),
            override_peer=[("127.0.0.1", service.xmpp_port, connector.STARTTLSConnector())])
        self.said = asyncio.Queue()
        dispatcher = self.client.summon(aioxmpp.dispatcher.SimpleMessageDispatcher)
        dispatcher.register_callback(aioxmpp.MessageType.CHAT, None, self.said.put_nowait)
        self.exit = contextlib.AsyncExitStack()
        connected = self.client.connected(presence=aioxmpp.PresenceState(False))
        await asyncio.wait_for(self.exit.enter_async_context(connected), WAIT)
        await self.show(-1 if is_away else 0)

    async def write(self, text):
        due = Message.of(text)
        message = aioxmpp.Message(
            type_=aioxmpp.MessageType.CHAT, to=aioxmpp.JID.fromstr(due.to))
        message.id_ = due.id
        message.body[None] = due.body.decode()
        message.xep0184_request_receipt = conversation.REQUEST in text
        await asyncio.wait_for(self.client.send(message), WAIT)

    async def read(self, count):
        found = []
        for _ in range(count):
            got = await asyncio.wait_for(self.said.get(), WAIT)
            receipt = [conversation.REQUEST] if got.xep0184_request_receipt else []
            message = Message.of(stanza(str(got.to), got.body.any(), *receipt, id=got.id_))
            message.sender, message.delays = str(got.from_), got.xep0203_delay
            found.append(message)
        return found

    async def show(self, priority=0):
        # Its PresenceServer sends no priority.
        presence = aioxmpp.Presence(type_=aioxmpp.PresenceType.AVAILABLE)
        presence.priority = priority
        await asyncio.wait_for(self.client.send(presence), WAIT)

    async def end(self):
        await asyncio.wait_for(self.exit.aclose(), WAIT)


class Raw:
    """An account by hand, over TLS."""

    async def begin(self, service, name, is_away=False):
        self.phone = await asyncio.to_thread(
            Phone, service, name, "d1", AWAY if is_away else ONLINE, over_tls=True)

    async def write(self, text):
        await asyncio.to_thread(self.phone.send, text)

    async def read(self, count):
        return await asyncio.to_thread(self.phone.take, count)

    async def show(self):
        self.phone.send(ONLINE)

    async def end(self):
        self.phone.close()


class Native:
    """An account by the native protocol. It writes no elements but the body."""

    async def begin(self, service, name, is_away=False):
        self.client = await asyncio.to_thread(service.login, name, "d1", messages=True)
        self.account = name
        if is_away:
            await asyncio.to_thread(self.client.ok, "setAvailability", {"priority": -1})

    async def write(self, text):
        due = Message.of(text)
        await asyncio.to_thread(self.client.ok, "send", {
            "accounts": [due.to.split("@")[0]], "body": due.body.decode(), "ref": due.id})

    async def read(self, count):
        return await asyncio.to_thread(self.receive, count)

    def receive(self, count):
        found = []
        while len(found) < count:
            given = self.client.note("messages")["params"]["messages"]
            self.client.ok("take", {"id": given[-1]["id"]})
            for each in given:
                # A message of an XMPP client has no `ref`.
                message = Message.of(stanza(
                    self.account + "@localhost", each["body"], each.get("xml", ""),
                    id=each.get("ref")))
                message.sender = "%s@localhost/%s" % (each["from"], each["fromDevice"])
                found.append(message)
        return found

    async def show(self):
        await asyncio.to_thread(self.client.ok, "setAvailability", {"priority": 0})

    async def end(self):
        self.client.close()


KINDS = {kind.__name__.lower(): kind for kind in (Slixmpp, Aioxmpp, Raw, Native)}


class Libraries(Conversations, unittest.IsolatedAsyncioTestCase):
    is_plain = False

    async def begin(self, account, kind, is_away=False):
        one = KINDS[kind]()
        await one.begin(self.service, "%s-%s" % (account, kind), is_away)
        self.addAsyncCleanup(one.end)
        return one

    async def each_kind(self, account, is_away=False):
        return {kind: await self.begin(account, kind, is_away) for kind in KINDS}

    async def until(self, **changes):
        await asyncio.to_thread(self.until_stats, **changes)

    async def write_all(self, writers, account):
        """Each writes to all readers, beside the others."""
        async def write(writer):
            for kind in KINDS:
                for text in texts("%s-%s" % (account, kind)):
                    await writer.write(text)

        await asyncio.gather(*map(write, writers.values()))

    async def check(self, kind, reader, account, is_delayed=None):
        """A reader is sent what each writer wrote, in its order and unchanged."""
        name = "%s-%s" % (account, kind)
        due = [Message.of(text) for text in texts(name)]
        found = await reader.read(len(KINDS) * len(due))
        for writer in KINDS:
            sender = "writer-%s@localhost/d1" % writer
            own = [each for each in found if each.sender == sender]
            self.assertEqual([each.body for each in own], [each.body for each in due])
            for message, sent in zip(own, due, strict=True):
                self.assertEqual(message.to, name + "@localhost")
                if kind != "native" or writer == "native":
                    self.assertEqual(message.id, sent.id)
                self.assertEqual(message.children, self.known(sent, writer, kind))
                if is_delayed is not None and kind != "native":
                    self.assertEqual(bool(message.delays), is_delayed)

    @staticmethod
    def known(message, *kinds):
        """The children that both know."""
        if kinds[0] == "native":
            return []
        return [child for child in message.children
                if "aioxmpp" not in kinds or RECEIPTS in child]

    async def check_all(self, readers, account, **options):
        await asyncio.gather(*(
            self.check(kind, reader, account, **options) for kind, reader in readers.items()))
        count = len(KINDS) * len(KINDS) * len(texts(""))
        await self.until(messagesTaken=count, messagesWaiting=0)

    async def test_to_those_that_are_online(self):
        writers, readers = await self.each_kind("writer"), await self.each_kind("online")
        await self.write_all(writers, "online")
        await self.check_all(readers, "online")

    async def test_to_those_that_are_away(self):
        writers = await self.each_kind("writer")
        readers = await self.each_kind("away", is_away=True)
        await self.write_all(writers, "away")
        await self.until(messagesTaken=0, messagesWaiting=len(KINDS) ** 2 * len(texts("")))
        for reader in readers.values():
            await reader.show()
        await self.check_all(readers, "away")

    async def test_to_those_that_are_offline(self):
        await self.write_all(await self.each_kind("writer"), "offline")
        await self.until(messagesTaken=0, messagesWaiting=len(KINDS) ** 2 * len(texts("")))
        await self.check_all(await self.each_kind("offline"), "offline", is_delayed=True)

    async def test_to_each_other(self):
        """Each writes to all others and to itself."""
        people = await self.each_kind("writer")
        await self.write_all(people, "writer")
        await self.check_all(people, "writer")


if __name__ == "__main__":
    unittest.main()
