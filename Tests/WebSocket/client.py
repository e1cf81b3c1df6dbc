"""A client of the library `websockets` talks to the service, as a new user's would."""

import asyncio
import json
import os
import sys

import websockets
from websockets.asyncio.client import connect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Conformance"))
from porchlight import Service  # noqa: E402

WAIT = 60


class Web:
    """One connection. Notifications that come before a response are kept."""

    def __init__(self, socket):
        self.socket, self.last_id, self.notes = socket, 0, []

    async def read(self):
        return json.loads(await asyncio.wait_for(self.socket.recv(), WAIT))

    async def call(self, method, **params):
        self.last_id += 1
        await self.socket.send(json.dumps(
            {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}))
        while True:
            got = await self.read()
            if got.get("id") == self.last_id:
                return got["result"]
            self.notes.append(got)

    async def note(self, method):
        while True:
            for at, note in enumerate(self.notes):
                if note["method"] == method:
                    return self.notes.pop(at)["params"]
            self.notes.append(await self.read())


async def ended(web):
    """The code and the reason with which the service closes."""
    try:
        while True:
            await web.read()
    except websockets.ConnectionClosed as end:
        return end.rcvd.code, end.rcvd.reason


async def talk(port):
    address = "ws://127.0.0.1:%d/v1/socket" % port

    def opened(**options):
        return connect(address, subprotocols=["porchlight.v1"], open_timeout=WAIT, **options)

    async with opened() as first, opened(compression=None) as second:
        assert first.subprotocol == "porchlight.v1" and not first.protocol.extensions
        alice, bob = Web(first), Web(second)
        await alice.call("login", account="alice", device="tab-1", client="web")
        await alice.call("subscribe", type=1, expiry=3600, publishers=["bob"], sync=True)
        await bob.call("login", account="bob", device="phone", client="ios")
        assert (await alice.note("events"))["events"][0]["cause"] == "login"
        for ext in ("κόσμε", "x" * 200, "x" * 4096):
            await bob.call("publish", type=1, value=10001, ext=ext)
            assert (await alice.note("events"))["events"][0]["ext"] == ext
        # In fragments, with pings between them.
        body = json.dumps({"jsonrpc": "2.0", "id": 99, "method": "ping", "params": {}})
        await first.send(body[at:at + 7] for at in range(0, len(body), 7))
        assert (await alice.read())["id"] == 99
        await asyncio.wait_for(await first.ping(b"payload"), WAIT)
        # The service has much to send.
        for part in range(3):
            names = ["%s-%d-%d" % ("p" * 100, part, i) for i in range(100)]
            states = await alice.call(
                "subscribe", type=1, expiry=600, publishers=names, sync=True)
            assert len(states["states"]) == 100
        await second.close(4000, "bye")
        assert (second.close_code, second.close_reason) == (4000, "")
        # Another tab takes the place of the first.
        async with opened() as third:
            await Web(third).call("login", account="alice", device="tab-1", client="web")
            assert await ended(alice) == (4409, "replaced")
            await third.send(b"binary")
            assert (await ended(Web(third)))[0] == 1003
    try:
        await connect(address.replace("socket", "other"), open_timeout=WAIT)
        raise AssertionError("another path was accepted")
    except websockets.InvalidStatus as rejected:
        assert rejected.response.status_code == 404, rejected.response
        assert b"GET /v1/socket" in rejected.response.body


def main():
    service = Service()
    try:
        asyncio.run(talk(service.port))
        assert service.terminate() == 0
    finally:
        service.close()
    print("websockets %s: ok" % websockets.__version__)


main()
