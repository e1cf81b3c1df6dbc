"""Valid HTTP requests with some changes, most of which make them invalid."""

BYTES = b"\0\1\t\n\v\f\r \"#%(),/0:;=?@GHa{|}~\x7f\x80\xc3\xff"
PIECES = (
    b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\n\n", b" ", b"\t", b":", b",", b";", b"\r\n ",
    b"\r\n\t", b"\n\t", b"Content-Length: 0\r\n", b"Content-Length: 5\r\n",
    b"Content-Length: 0, 0\r\n", b"Content-Length:\r\n", b"Content-Length: 05\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: identity\r\n",
    b"transfer-encoding: CHUNKED\r\n", b"Transfer-Encoding: gzip, chunked\r\n", b"Host: a\r\n",
    b"Host: b\r\n", b"Host:\r\n", b"Connection: close\r\n", b"Connection: TE, Close\r\n",
    b"Connection: keep-alive\r\n", b"Connection: Upgrade\r\n", b"Upgrade: h2c\r\n",
    b"Upgrade: websocket\r\n", b"X: y\r\n", b"X : y\r\n", b": y\r\n", b"Expect: 100-continue\r\n",
    b"Expect: x\r\n", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"GET ", b"HEAD ",
    b"POST ", b"CONNECT ", b"0\r\n", b"5\r\nabcde\r\n", b"0\r\n\r\n", b"\x00", b"\xff")


def mutated(chance, request):
    """The request with up to three changes: never empty."""
    data = bytearray(request)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        at = chance.randrange(len(data))
        kind = chance.randrange(6)
        if kind == 0:
            data[at] = chance.choice(BYTES)
        elif kind == 1:
            del data[at:at + chance.choice((1, 1, 2, 10))]
        elif kind == 2:
            data[at:at] = chance.choice(PIECES)
        elif kind == 3:
            # At the beginning of a line.
            start = data.find(b"\r\n", at) + 2
            data[start:start] = chance.choice(PIECES)
        elif kind == 4:
            data[at:at] = data[at:at + chance.randrange(40)]
        else:
            # Letters in the other case.
            data[at:at + 8] = bytes(data[at:at + 8]).swapcase()
        if not data:
            return b"\r\n"
    return bytes(data)
