"""fake_xmpp.py PORT [FAULT]: an XMPP server for test_peers.py, with one group of accounts.

It knows what the load program sends, and does one thing wrong, once: it sends the initial
presence of a contact twice (`repeat`), loses a delivery (`lose`) or doubles one (`double`). Of
messages it loses or doubles one, hands one out before it should (`early`), sends two in the wrong
order (`swap`), or keeps those of an account that it has sent (`keep`).
"""

import asyncio
import base64
import collections
import re
import sys

PORT = int(sys.argv[1])
FAULTS = set(sys.argv[2:])
SENT = re.compile(rb"<stream:stream [^>]*>|<auth [^>]*>([^<]*)</auth>|<iq .*?</iq>"
                  rb"|<presence/>|<presence type='unavailable'/>"
                  rb"|<message type='chat' to='(\w+)@localhost'>.*?</message>"
                  rb"|<presence>(.*?)</presence>")

connected = {}
available = {}
# Messages by recipient.
waiting = collections.defaultdict(list)


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


def store(recipient, message):
    if said_once("early"):
        return connected[recipient].write(message)
    if not said_once("lose"):
        waiting[recipient] += [message] * (2 if said_once("double") else 1)
    if len(waiting[recipient]) == 2 and said_once("swap"):
        waiting[recipient].reverse()


def hand_out(name, writer):
    for message in waiting[name]:
        writer.write(message)
    if not waiting[name] or not said_once("keep"):
        waiting[name].clear()


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
                connected[name] = writer
                writer.write(b"<success/>")
            elif found[0].startswith(b"<iq"):
                writer.write(b"<iq type='result'/>")
            elif found[0] == b"<presence/>":
                initial(name, writer)
                hand_out(name, writer)
            elif found[0] == b"<presence type='unavailable'/>":
                available.pop(name, None)
            elif found[0].startswith(b"<message"):
                store(found[2], found[0])
            else:
                update(name, found[3])
    available.pop(name, None)
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", PORT)
    await server.serve_forever()


asyncio.run(main())
