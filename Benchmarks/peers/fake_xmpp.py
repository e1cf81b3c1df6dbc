"""fake_xmpp.py PORT [FAULT]: an XMPP server for test_peers.py, with one group of accounts.

It knows what the load program sends, and does one thing wrong, once: it sends the initial
presence of a contact twice (`repeat`), loses a delivery (`lose`) or doubles one (`double`).
"""

import asyncio
import base64
import re
import sys

PORT = int(sys.argv[1])
FAULTS = set(sys.argv[2:])
SENT = re.compile(rb"<stream:stream [^>]*>|<auth [^>]*>([^<]*)</auth>|<iq .*?</iq>"
                  rb"|<presence/>|<presence>(.*?)</presence>")

available = {}


def said_once(fault):
    """Whether it is time for this fault: the first time, if it is asked for."""
    if fault not in FAULTS:
        return False
    FAULTS.remove(fault)
    return True


def presence(name, children=b""):
    return b"<presence from='%s@localhost/d'>%s</presence>" % (name, children)


def initial(name, writer):
    for other, theirs in available.items():
        writer.write(presence(other))
        theirs.write(presence(name) * (2 if said_once("repeat") else 1))
    available[name] = writer


def update(name, children):
    for other, theirs in available.items():
        if other != name and not said_once("lose"):
            theirs.write(presence(name, children) * (2 if said_once("double") else 1))


async def serve(reader, writer):
    name, rest = None, b""
    while received := await reader.read(65536):
        rest += received
        while found := SENT.match(rest):
            rest = rest[found.end():]
            if found[0].startswith(b"<stream:stream"):
                writer.write(b"<stream:stream><stream:features></stream:features>")
            elif found[0].startswith(b"<auth"):
                name = base64.b64decode(found[1]).split(b"\0")[1]
                writer.write(b"<success/>")
            elif found[0].startswith(b"<iq"):
                writer.write(b"<iq type='result'/>")
            elif found[0] == b"<presence/>":
                initial(name, writer)
            else:
                update(name, found[2])
    available.pop(name, None)
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", PORT)
    await server.serve_forever()


asyncio.run(main())
