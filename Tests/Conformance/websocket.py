"""WebSocket as a carrier of the native protocol's frames, for a client that is written for those.

`WebSocket` translates streams: what the client sends as frames of the native protocol becomes
masked messages, header by header, with the same lengths and cut at the same places; and what the
service sends as messages becomes frames. So every test of frames, requests and answers is a test
of WebSocket, too. It knows RFC 6455 and docs/PROTOCOL.md, not the service.
"""

import base64
import hashlib
import os
import struct

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Wrong(AssertionError):
    """The service has sent what RFC 6455 does not allow."""


def request(path="/v1/socket", key=None, fields=(), without=()):
    """The head of a request for a WebSocket, and its key."""
    key = key or base64.b64encode(os.urandom(16))
    lines = [b"Host: localhost", b"Upgrade: websocket", b"Connection: Upgrade",
             b"Sec-WebSocket-Key: " + key, b"Sec-WebSocket-Version: 13"]
    lines = [line for line in lines if line.split(b":")[0].decode() not in without]
    lines += [field if isinstance(field, bytes) else field.encode() for field in fields]
    head = b"\r\n".join([b"GET %s HTTP/1.1" % path.encode(), *lines, b"", b""])
    return head, key


def accept(key):
    """What the service must answer to a key."""
    return base64.b64encode(hashlib.sha1(key + GUID).digest())


def header(opcode, count, final=True, mask=b"\0\0\0\0"):
    """The header of a client's frame, in the shortest form."""
    first = (0x80 if final else 0) | opcode
    if count < 126:
        return struct.pack(">BB", first, 0x80 | count) + mask
    if count < 65536:
        return struct.pack(">BBH", first, 0x80 | 126, count) + mask
    return struct.pack(">BBQ", first, 0x80 | 127, count) + mask


def masked(payload, mask, start=0):
    return bytes(byte ^ mask[(start + i) % 4] for i, byte in enumerate(payload))


def message(payload, opcode=TEXT, final=True, mask=None):
    """A client's frame."""
    if isinstance(payload, str):
        payload = payload.encode()
    mask = mask or os.urandom(4)
    return header(opcode, len(payload), final, mask) + masked(payload, mask)


def parse(data):
    """The first frame of a server: (opcode, payload, bytes that it took); None: incomplete."""
    if len(data) < 2:
        return None
    if data[0] & 0x70 or data[1] & 0x80 or not data[0] & 0x80:
        raise Wrong("a reserved bit, a mask or a fragment: %r" % bytes(data[:2]))
    opcode, count, at = data[0] & 15, data[1], 2
    if opcode not in (TEXT, CLOSE, PING, PONG):
        raise Wrong("opcode %d" % opcode)
    if opcode & 8 and count > 125:
        raise Wrong("a control frame of %d bytes" % count)
    if count == 126:
        count, at = struct.unpack_from(">H", data, 2)[0] if len(data) >= 4 else None, 4
        if count is not None and count < 126:
            raise Wrong("a length of %d in two bytes" % count)
    elif count == 127:
        count, at = struct.unpack_from(">Q", data, 2)[0] if len(data) >= 10 else None, 10
        if count is not None and count < 65536:
            raise Wrong("a length of %d in eight bytes" % count)
    if count is None or len(data) < at + count:
        return None
    return opcode, bytes(data[at:at + count]), at + count


class WebSocket:
    """Both directions of one connection after the handshake."""

    def __init__(self):
        self.head = bytearray()     # the length of a frame, as far as it was sent
        self.left = 0               # bytes of its body that were not sent yet
        self.place = 0
        self.mask = b""
        self.received = bytearray()
        self.closing = None         # the payload of the service's close frame
        self.pings = 0

    def out(self, data):
        """What to send for bytes of the native protocol."""
        sent = bytearray()
        at = 0
        while at < len(data):
            if self.left == 0:
                part = data[at:at + 4 - len(self.head)]
                self.head += part
                at += len(part)
                if len(self.head) < 4:
                    break
                self.left = struct.unpack(">I", self.head)[0]
                self.head.clear()
                self.place = 0
                self.mask = os.urandom(4)
                sent += header(TEXT, self.left, True, self.mask)
            part = data[at:at + self.left]
            sent += masked(part, self.mask, self.place)
            self.place += len(part)
            self.left -= len(part)
            at += len(part)
        return bytes(sent)

    def into(self, data):
        """Bytes of the native protocol for what was received, and what to send in return."""
        self.received += data
        got, back = bytearray(), bytearray()
        while True:
            frame = parse(self.received)
            if frame is None:
                return bytes(got), bytes(back)
            opcode, payload, count = frame
            del self.received[:count]
            if self.closing is not None:
                raise Wrong("a frame after the close frame: %r" % payload)
            if opcode == TEXT:
                payload.decode("utf-8")
                got += struct.pack(">I", len(payload)) + payload
            elif opcode == PING:
                self.pings += 1
                back += message(payload, PONG)
            elif opcode == CLOSE:
                self.closing = payload

    @property
    def code(self):
        """The code of the service's close frame."""
        return struct.unpack(">H", self.closing[:2])[0] if self.closing else None


def handshake(connection, fields=("Sec-WebSocket-Protocol: porchlight.v1",)):
    """Asks for a WebSocket on a socket; returns it and what came behind the answer."""
    head, key = request(fields=fields)
    connection.sendall(head)
    answer = bytearray()
    while b"\r\n\r\n" not in answer:
        got = connection.recv(65536)
        if not got:
            break
        answer += got
    head, _, rest = bytes(answer).partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    if lines[0] != b"HTTP/1.1 101 Switching Protocols":
        return None, bytes(answer)
    if b"Sec-WebSocket-Accept: " + accept(key) not in lines:
        raise Wrong("another key: %r" % head)
    return WebSocket(), rest
