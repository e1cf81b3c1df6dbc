"""The HTTP port against h11: [STREAMS] [SEED].

Each stream is one or more requests, some of them changed so that most are wrong, and the client's
end. What h11 reads must be answered, in order and with the status that it has to have; what it
rejects must be rejected; and the connection must go on, or end, after the same request.
"""

import os
import random
import re
import socket
import sys
import time

import h11

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api  # noqa: E402
from mutation import mutated  # noqa: E402

LIVEZ = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
FIELDS = (b"User-Agent: a b\tc", b"X-Empty:", b"Cookie: a=b; c", b"Accept: */*", b"Connection: x",
          b"X-Folded: a\r\n b", b"Authorization: Bearer x", b"Content-Type: application/json")


def chunked(chance, body):
    data = b""
    while body:
        size = chance.randint(1, len(body))
        data += b"%x%s\r\n%s\r\n" % (size, chance.choice((b"", b"", b";a=b")), body[:size])
        body = body[size:]
    return data + b"0\r\n" + chance.choice((b"", b"", b"X: y\r\n")) + b"\r\n"


def request(chance):
    """A valid request."""
    version = chance.choice((b"1.1",) * 8 + (b"1.0",))
    method = chance.choice((b"GET", b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS"))
    target = chance.choice((b"/livez", b"/livez", b"/livez?a=b", b"/none", b"http://a/livez"))
    fields = [b"Host: " + chance.choice((b"a", b"localhost:1", b"[::1]"))]
    fields += chance.sample(FIELDS, chance.randrange(3))
    body = b""
    if chance.randrange(2):
        body = chance.choice((b"", b"abcde", b"GET / HTTP/1.1\r\n\r\n", chance.randbytes(40)))
        if version == b"1.1" and chance.randrange(2):
            fields.append(b"Transfer-Encoding: chunked")
            body = chunked(chance, body)
        else:
            fields.append(b"Content-Length: %d" % len(body))
    chance.shuffle(fields)
    return b"%s %s HTTP/%s\r\n%s\r\n\r\n%s" % (method, target, version, b"\r\n".join(fields), body)


def stream(chance):
    """What a client sends. A valid request at its end shows whether the connection has gone on."""
    return b"".join(mutated(chance, request(chance))
                    for _ in range(chance.choice((1, 1, 2, 3)))) + LIVEZ


def is_stricter(head):
    """Whether this server ends a connection that h11 goes on with: each has its reason in an RFC,
    and is rejected at once."""
    names = [name for name, _ in head.headers]
    return (
        # 9112, 6.1: such a request may be rejected, and must be the last.
        b"transfer-encoding" in names and (b"content-length" in names or head.http_version < b"1.1")
        # 9110, 2.5: only HTTP/1 is spoken here.
        or not head.http_version.startswith(b"1.")
        # 9110, 9.3.6: what follows it may be meant for the tunnel.
        or head.method == b"CONNECT")


def status(head):
    """The status that a request has to have; None: any."""
    target = re.sub(rb"^https?://a/", b"/", head.target, flags=re.I)
    if target.split(b"?")[0] not in (b"/livez", b"/none") or b"%" in target:
        return None
    host = [value for name, value in head.headers if name == b"host"] or [b""]
    if host[0] not in (b"a", b"localhost:1", b"[::1]"):
        return None
    if head.method not in (b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS"):
        return None
    if target.startswith(b"/none"):
        return 404
    if head.method not in (b"GET", b"HEAD"):
        return 405
    expectations = b",".join(value for name, value in head.headers if name == b"expect")
    known = {word.strip().lower() for word in expectations.split(b",")} <= {b"", b"100-continue"}
    return 200 if known or head.http_version < b"1.1" else 417


def as_h11_reads(data):
    """The requests that h11 reads, each with the status it has to have; how it ends: `end` (with
    the client's), `close` (after the last of them), or `reject` (something behind it); and the
    method of that, if its head is read."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
    connection.receive_data(data)
    connection.receive_data(b"")
    heads, head = [], None
    try:
        while True:
            head = None
            head = connection.next_event()
            if isinstance(head, h11.ConnectionClosed):
                return heads, "end", None
            if is_stricter(head):
                # What is wrong with the head itself is rejected before its method is known.
                return heads, "reject", head.method if head.method == b"CONNECT" else None
            event = head
            while not isinstance(event, h11.EndOfMessage):
                event = connection.next_event()
            heads.append((head.method, status(head)))
            connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
            connection.send(h11.EndOfMessage())
            if connection.our_state is h11.MUST_CLOSE:
                return heads, "close", None
            connection.start_next_cycle()
    except h11.RemoteProtocolError:
        return heads, "reject", head and head.method


def responses(data, methods):
    """The final responses in these bytes, each with its status and whether it is the last."""
    found = []
    if data.startswith(b"\0"):
        # To a client of the native protocol, whose first byte is 0.
        return found
    while data:
        head, empty, data = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        code = int(re.fullmatch(r"HTTP/1\.1 (\d{3}) [A-Za-z ]+", lines[0])[1])
        if not empty:
            raise AssertionError("half a response: %r" % head)
        if code == 100:
            continue
        fields = {}
        for line in lines[1:]:
            name, value = line.split(": ", 1)
            if name.lower() in fields:
                raise AssertionError("%s twice: %r" % (name, head))
            fields[name.lower()] = value
        method = methods[len(found)] if len(found) < len(methods) else b"GET"
        length = 0 if method == b"HEAD" else int(fields["content-length"])
        body, data = data[:length], data[length:]
        if len(body) < length:
            raise AssertionError("half a body: %r" % body)
        if code >= 400 and fields["content-type"] != "application/problem+json":
            raise AssertionError("no problem document: %r" % head)
        found.append((code, fields.get("connection") == "close"))
    return found


def as_it_is_served(port, pieces):
    with socket.create_connection(("127.0.0.1", port), 20) as peer:
        got = b""
        try:
            for piece in pieces:
                peer.sendall(piece)
            peer.shutdown(socket.SHUT_WR)
        except OSError:
            # It has closed already.
            pass
        try:
            while some := peer.recv(65536):
                got += some
        except ConnectionResetError:
            pass
        return got


def difference(data, got):
    """What is not as it is with h11; None: nothing."""
    heads, end, method = as_h11_reads(data)
    served = responses(got, [method for method, _ in heads] + [method])
    if end != "reject" and len(served) != len(heads):
        return "%d responses to %d requests (%s)" % (len(served), len(heads), end)
    if end == "reject" and not 0 <= len(served) - len(heads) <= 1:
        return "%d responses to %d requests and a wrong one" % (len(served), len(heads))
    for (method, expected), (code, closes) in zip(heads, served):
        if expected not in (None, code):
            return "%s is answered with %d instead of %d" % (method, code, expected)
    for code, closes in served[:len(heads) - (end == "close")]:
        if closes:
            return "a response %d that ends the connection too early" % code
    if end == "close" and not served[-1][1]:
        return "a response that does not say that it is the last"
    if len(served) > len(heads) and served[-1][0] not in (400, 405, 404, 413, 417, 501, 505):
        return "a wrong request is answered with %d" % served[-1][0]
    return None


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    print("h11 %s, %d streams, seed %d" % (h11.__version__, count, seed), flush=True)
    chance = random.Random(seed)
    service = api.Service(keys=())
    read = rejected = 0
    try:
        for number in range(count):
            data = stream(chance)
            # In one piece or in two, which must make no difference.
            at = chance.randrange(len(data)) if chance.randrange(2) else 0
            got = as_it_is_served(service.http_port, [p for p in (data[:at], data[at:]) if p])
            try:
                problem = difference(data, got)
            except (AssertionError, KeyError, TypeError, ValueError) as error:
                problem = "no sequence of responses: %r" % error
            if problem:
                sys.exit("stream %d: %s\nsent %r\ngot %r" % (number, problem, data, got))
            heads, end, _ = as_h11_reads(data)
            read += len(heads)
            rejected += end == "reject"
    finally:
        service.close()
    print("%d requests answered, %d rejected, as by h11" % (read, rejected))
    if read < count / 2 or rejected < count / 5:
        sys.exit("too few are read or rejected for this to show anything")


main()
