"""An XMPP client by hand: what it sends is what a test says, byte for byte."""

import base64
import codecs
import socket

HEADER = ("<stream:stream xmlns='jabber:client' "
          "xmlns:stream='http://etherx.jabber.org/streams' to='localhost' version='1.0'>")
SASL = "urn:ietf:params:xml:ns:xmpp-sasl"
BIND = "urn:ietf:params:xml:ns:xmpp-bind"


class Stream:
    """A connection of which nothing is understood: texts out, and texts awaited."""

    def __init__(self, port, wait=60):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(wait)
        self.rest = ""
        # A character may arrive in pieces.
        self.decoder = codecs.getincrementaldecoder("utf-8")()

    def receive(self):
        """Reads on. Returns whether the service has sent something."""
        received = self.socket.recv(65536)
        self.rest += self.decoder.decode(received)
        return bool(received)

    def send(self, text):
        self.socket.sendall(text.encode())

    def until(self, text):
        """What was received, up to and with `text`."""
        while text not in self.rest:
            if not self.receive():
                raise EOFError(self.rest)
        end = self.rest.index(text) + len(text)
        found, self.rest = self.rest[:end], self.rest[end:]
        return found

    def expect(self, pattern):
        """Takes what was received next, which must be `pattern`."""
        while not (found := pattern.match(self.rest)):
            try:
                has_received = self.receive()
            except TimeoutError:
                has_received = False
            if not has_received:
                raise AssertionError("received %r, not %s" % (self.rest, pattern.pattern))
        self.rest = self.rest[found.end():]

    def end(self):
        """What was received until the service closed the connection."""
        while self.receive():
            pass
        return self.rest

    def authenticate(self, name, secret="x"):
        self.send(HEADER)
        self.until("</stream:features>")
        data = base64.b64encode(("\0%s\0%s" % (name, secret)).encode()).decode()
        self.send("<auth xmlns='%s' mechanism='PLAIN'>%s</auth>" % (SASL, data))

    def login(self, name, device, secret="x"):
        self.authenticate(name, secret)
        self.until("<success")
        self.send(HEADER)
        self.until("</stream:features>")
        self.send("<iq type='set' id='bind'><bind xmlns='%s'><resource>%s</resource></bind></iq>"
                  % (BIND, device))
        return self.until("</bind></iq>")

    def close(self):
        self.socket.close()
