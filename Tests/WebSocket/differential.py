"""The service's reader of requests against h11: [REQUESTS] [SEED].

A request that the service accepts must be one that h11 reads, too, completely and as the same: a
GET of /v1/socket for a WebSocket, without a body.
"""

import base64
import os
import random
import socket
import sys

import h11

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Conformance"))
import websocket  # noqa: E402
from mutation import mutated  # noqa: E402
from porchlight import Service  # noqa: E402


def request(chance):
    """A valid request."""
    return websocket.request(
        key=base64.b64encode(chance.randbytes(16)),
        fields=chance.sample([b"Origin: http://localhost", b"User-Agent: a b\tc", b"Cookie: a=b",
                              b"Sec-WebSocket-Protocol: porchlight.v1", b"X-Empty:"], 2))[0]


def as_h11_reads(data):
    """Whether h11 takes the request for the same."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    try:
        head = connection.next_event()
        if not isinstance(head, h11.Request):
            return "no request: %r" % head
        end = connection.next_event()
    except h11.RemoteProtocolError as error:
        return str(error)
    fields = {}
    for name, value in head.headers:
        fields.setdefault(name, []).append(value)
    if not isinstance(end, h11.EndOfMessage):
        return "a body: %r" % end
    if head.method != b"GET" or head.target.split(b"?")[0] != b"/v1/socket":
        return "another request: %r" % head
    if len(fields.get(b"sec-websocket-key", ())) != 1 or \
            fields.get(b"sec-websocket-version") != [b"13"]:
        return "other fields: %r" % fields
    return None


def is_accepted(port, data):
    """Whether the service makes the connection a WebSocket. What it does not answer, it waits for
    the rest of."""
    with socket.create_connection(("127.0.0.1", port), 20) as peer:
        peer.sendall(data)
        # Behind an incomplete head, this makes it a wrong one.
        peer.sendall(b"\x00\x00")
        answer = b""
        while len(answer) < 12:
            got = peer.recv(4096)
            if not got:
                break
            answer += got
        return answer.startswith(b"HTTP/1.1 101")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    print("h11 %s, %d requests, seed %d" % (h11.__version__, count, seed), flush=True)
    chance = random.Random(seed)
    service = Service("--rate-limits", "off")
    accepted = rejected_by_us = 0
    try:
        for number in range(count):
            data = mutated(chance, request(chance))
            fault = as_h11_reads(data)
            if is_accepted(service.port, data):
                accepted += 1
                if fault:
                    sys.exit("accepted, but not by h11 (%s): %r" % (fault, data))
            elif fault is None:
                rejected_by_us += 1
    finally:
        service.close()
    print("%d accepted, all by h11, too; %d that h11 accepts rejected" % (accepted, rejected_by_us))
    if accepted < count / 20 or accepted > count * 19 / 20:
        sys.exit("too few or too many are accepted for this to show anything")


main()
