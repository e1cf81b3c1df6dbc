"""What apps on XMPPFramework say to each other, as they send it, and a client that reads stanzas.

XMPPFramework writes through libxml2: double quotes, `type` before `to`, `<x/>` for what is empty,
`&#13;` for a carriage return, and characters beyond ASCII in attributes as numbers.
"""

import base64
import random
import socket
import ssl
import struct
import time
import uuid
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape

import stanzas
from stream import HEADER, Stream

WAIT = 60
# What is in the body, as base64.
PICTURE_BYTES = 60 * 1024
VOICE_BYTES = 20 * 1024
TEXT = "今天的天气真好。𠮷 😀 a < b && \"c\" > 'd' ]]>\n\t第二行"

PING = "{urn:xmpp:ping}ping"
BODY = "{jabber:client}body"
DELAY = "{urn:xmpp:delay}delay"
STANZA_ID = "{urn:xmpp:sid:0}stanza-id"
RECEIPTS = "urn:xmpp:receipts"
REQUEST = '<request xmlns="%s"/>' % RECEIPTS
CAPS = '<c xmlns="http://jabber.org/protocol/caps" hash="sha-1" node="app" ver="v"/>'
AWAY = "<presence><show>away</show><priority>-1</priority>%s</presence>" % CAPS
ONLINE = "<presence>%s</presence>" % CAPS


def encoded(count, line=None):
    """Base64 of `count` characters, the same each time; with `line`, in lines that end in CR LF."""
    text = base64.b64encode(random.Random(count).randbytes(count * 3 // 4)).decode()
    if line:
        text = "\r\n".join(text[at:at + line] for at in range(0, len(text), line))
    return text[:count]


def stanza(to, body, *children, id=None, kind="chat"):
    """A message as XMPPFramework writes it. With an empty `to` there is no such attribute."""
    return '<message type="%s"%s%s>%s%s</message>' % (
        kind, ' to="%s"' % to if to else "", ' id="%s"' % id if id else "",
        "<body>%s</body>" % escape(body).replace("\r", "&#13;") if body else "",
        "".join(children))


def conversation(to, picture=PICTURE_BYTES, voice=VOICE_BYTES):
    """Texts, a picture and a voice clip, with what apps add to them."""
    def new():
        return str(uuid.uuid4()).upper()

    return [
        stanza(to, TEXT, REQUEST, '<active xmlns="http://jabber.org/protocol/chatstates"/>',
               "<thread>%s</thread>" % new(), id=new()),
        stanza(to, "没有 id 的消息"),
        stanza(to, encoded(picture), "<subject>image</subject>", REQUEST,
               "<itemType>1</itemType><fileName>图片.jpg</fileName>", id=new()),
        stanza(to, encoded(voice, line=76), REQUEST,
               '<voice duration="3" name="&#x8BED;&#x97F3;\' &lt;"><codec/> amr </voice>',
               id=new()),
        stanza(to, "[图片]", '<attachment xmlns="urn:app:media" type="image/jpeg">%s</attachment>'
               % encoded(voice), id=new(), kind="normal"),
        stanza(to, None, '<location xmlns="urn:app:place"><lat>31.2</lat><lon>121.5</lon>'
               "<label>上海</label></location>", id=new()),
    ]


class Message:
    """A message that was sent or received, as far as the service promises to keep it."""

    def __init__(self, element):
        self.id, self.to = element.get("id"), element.get("to")
        self.sender = element.get("from")
        # Without one it is normal (RFC 6121, 5.2.2).
        self.kind = element.get("type", "normal")
        self.body = element.findtext(BODY, "").encode()
        self.elements = [
            child for child in element if child.tag not in (BODY, DELAY, STANZA_ID)]
        self.children = [
            ElementTree.canonicalize(ElementTree.tostring(child, encoding="unicode"))
            for child in self.elements]
        self.delays = element.findall(DELAY)
        self.stanza_ids = [each.get("id") for each in element.findall(STANZA_ID)]
        self.error = element.find("{jabber:client}error")

    @classmethod
    def of(cls, text):
        """One that is sent as this text."""
        return cls(ElementTree.fromstring(
            text.replace("<message", "<message xmlns='jabber:client'", 1)))

    @property
    def content(self):
        return self.body, self.children, self.kind

    def __repr__(self):
        return "<message %s to %s: %r… %d bytes, %s>" % (
            self.id, self.to, self.body[:20], len(self.body), self.stanza_ids)


class TLSStream(Stream):
    """One over TLS from the first byte."""

    def __init__(self, port, authority, wait=WAIT):
        super().__init__(port, wait)
        context = ssl.create_default_context(cafile=authority)
        self.socket = context.wrap_socket(self.socket, server_hostname="localhost")


class Phone:
    """A client that notes the messages it is sent, and answers the pings behind them if told to."""

    def __init__(self, service, name, device="phone", presence=ONLINE, over_tls=False):
        self.jid = "%s@localhost/%s" % (name, device)
        self.name, self.device = name, device
        self.stream = TLSStream(service.xmpps_port, service.authority) if over_tls \
            else Stream(service.xmpp_port, WAIT)
        self.stream.login(name, device)
        self.reader = stanzas.Reader()
        self.reader.feed(HEADER.encode())
        self.messages, self.pings = [], []
        # Messages that have a ping behind them.
        self.asked = 0
        self.marks = self.last_mark = 0
        # It answers what the service asks: from one that never has, what its kernel has acknowledged
        # would be taken after some seconds.
        self.stream.send('<iq type="result" to="localhost" id="taken-0"/>' + presence)

    def send(self, *texts):
        """All in one piece."""
        self.stream.send("".join(texts))

    # Reading

    def note(self, element):
        if element is None:
            raise AssertionError("the service ended the stream of %s" % self.jid)
        if element.tag == "{jabber:client}message":
            self.messages.append(Message(element))
        elif element.find(PING) is not None:
            self.pings.append(element.get("id"))
            self.asked = len(self.messages)
        elif (element.get("id") or "").startswith("mark-"):
            self.marks = int(element.get("id")[len("mark-"):])

    def receive(self):
        """Reads on."""
        rest, self.stream.rest = self.stream.rest, ""
        if not rest:
            if not self.stream.receive():
                raise AssertionError("the service closed the connection of %s" % self.jid)
            rest, self.stream.rest = self.stream.rest, ""
        for element in self.reader.feed(rest.encode()):
            self.note(element)

    def read_until(self, is_done):
        end = time.monotonic() + WAIT
        while not is_done():
            left = end - time.monotonic()
            self.stream.socket.settimeout(max(0.01, left))
            try:
                self.receive()
            except TimeoutError:
                raise AssertionError("%s was sent only %s" % (self.jid, self.messages)) from None

    def settle(self):
        """Reads all that the service has said until now: the roster comes behind it."""
        self.last_mark += 1
        self.send('<iq type="get" id="mark-%d"><query xmlns="jabber:iq:roster"/></iq>'
                  % self.last_mark)
        self.read_until(lambda: self.marks == self.last_mark)

    def next(self, count):
        """The next messages, which are not answered."""
        self.read_until(lambda: len(self.messages) >= count)
        assert len(self.messages) == count, self.messages
        return self.all()

    def all(self):
        """The messages that were received."""
        found, self.messages, self.asked = self.messages, [], 0
        return found

    def share(self):
        """The messages before the next ping."""
        self.read_until(lambda: self.pings)
        found = self.messages[:self.asked]
        del self.messages[:self.asked]
        self.asked = 0
        return found

    # Taking

    def answer(self, by_error=False):
        """Answers the ping behind the messages, with XMPPPing or as XMPPStream does without it."""
        self.read_until(lambda: self.pings)
        head = '<iq type="%s" to="localhost" id="%s"'
        for ping in self.pings:
            if by_error:
                self.send(head % ("error", ping), '><error type="cancel" code="501">'
                          '<feature-not-implemented xmlns="%s"/></error></iq>' % stanzas.STANZAS)
            else:
                self.send(head % ("result", ping), "/>")
        self.pings.clear()

    def take(self, count, by_error=False):
        """The next messages, answered whenever the service asks, and the last ones, too."""
        end = time.monotonic() + WAIT
        while len(self.messages) < count or self.pings or self.asked < len(self.messages):
            assert time.monotonic() < end, self.messages
            self.answer(by_error)
        return self.next(count)

    # Ending

    def close(self):
        self.stream.close()

    def kill(self):
        """The end of its process, with what it has not read: the connection is reset."""
        self.stream.socket.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.stream.close()
