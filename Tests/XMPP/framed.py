"""An XMPP client over WebSocket (RFC 7395) by hand: what it sends is what a test says."""

import base64
import re
import socket
import ssl
import struct
import xml.etree.ElementTree as ElementTree

import websocket
from stream import BIND, SASL

FRAMING = "urn:ietf:params:xml:ns:xmpp-framing"
OPEN = "<open xmlns='%s' to='localhost' version='1.0'/>" % FRAMING
CLOSE = "<close xmlns='%s'/>" % FRAMING
STREAMS = "http://etherx.jabber.org/streams"
SUBPROTOCOL = "Sec-WebSocket-Protocol: xmpp"


class Framed:
    """A WebSocket whose messages are checked to be documents by themselves, and no more."""

    def __init__(self, port, authority=None, path="/xmpp", fields=(SUBPROTOCOL,), wait=60):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(wait)
        if authority:
            context = ssl.create_default_context(cafile=authority)
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        head, key = websocket.request(path=path, fields=fields)
        self.socket.sendall(head)
        self.rest = bytearray()
        while b"\r\n\r\n" not in self.rest:
            self.receive()
        head, _, rest = bytes(self.rest).partition(b"\r\n\r\n")
        self.head = head.decode()
        self.rest = bytearray(rest)
        self.is_open = self.head.startswith("HTTP/1.1 101 ")
        if self.is_open:
            assert b"Sec-WebSocket-Accept: " + websocket.accept(key) in head.split(b"\r\n"), head
        self.said = []
        self.code = None
        self.pongs = []

    def receive(self):
        received = self.socket.recv(65536)
        if not received:
            raise EOFError(bytes(self.rest))
        self.rest += received

    def send(self, *texts, opcode=websocket.TEXT):
        """Each in a message, all in one piece."""
        self.socket.sendall(b"".join(websocket.message(text, opcode) for text in texts))

    def read(self):
        """The next message."""
        while True:
            frame = websocket.parse(self.rest)
            if frame is None:
                self.receive()
                continue
            opcode, payload, count = frame
            del self.rest[:count]
            if self.code is not None:
                raise websocket.Wrong("a frame after the close frame: %r" % payload)
            if opcode == websocket.CLOSE:
                self.code = struct.unpack(">H", payload[:2])[0] if payload else 0
            elif opcode == websocket.PONG:
                self.pongs.append(payload)
            elif opcode == websocket.PING:
                self.send(payload, opcode=websocket.PONG)
            else:
                return self.check(payload.decode())

    def check(self, text):
        """Each message is one element, which declares its namespace itself."""
        tag = ElementTree.fromstring(text).tag
        assert tag.startswith("{") and text.startswith("<") and text.endswith(">"), text
        if re.match("<(iq|message|presence)", text):
            assert tag.startswith("{jabber:client}"), text
        self.said.append(text)
        return text

    def until(self, text):
        """The next message that has `text`."""
        while text not in (message := self.read()):
            pass
        return message

    def end(self):
        """What was received until the service closed the connection: all messages."""
        said = []
        try:
            while True:
                said.append(self.read())
        except EOFError as error:
            assert error.args[0] == b"", error
            return said

    def authenticate(self, name, secret="x"):
        self.send(OPEN)
        self.until("<open ")
        features = self.read()
        data = base64.b64encode(("\0%s\0%s" % (name, secret)).encode()).decode()
        self.send("<auth xmlns='%s' mechanism='PLAIN'>%s</auth>" % (SASL, data))
        return features

    def login(self, name, device, secret="x"):
        self.authenticate(name, secret)
        self.until("<success")
        self.send(OPEN)
        self.until("<stream:features")
        self.send("<iq xmlns='jabber:client' type='set' id='bind'><bind xmlns='%s'>"
                  "<resource>%s</resource></bind></iq>" % (BIND, device))
        return self.until("</bind></iq>")

    def close(self):
        self.socket.close()
