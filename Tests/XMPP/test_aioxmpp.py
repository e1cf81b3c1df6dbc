"""aioxmpp, unmodified: connecting by STARTTLS, a ping, and a roster."""

import asyncio
import unittest

import aioxmpp
import aioxmpp.ping
from aioxmpp import connector
from service import Served

WAIT = 60


class Connections(Served, unittest.IsolatedAsyncioTestCase):
    def client(self, made, port):
        # The certificate is of a test authority; that it is verified is tested with slixmpp.
        security = aioxmpp.make_security_layer("secret", no_verify=True)
        return aioxmpp.PresenceManagedClient(
            aioxmpp.JID.fromstr("tom@localhost/d1"), security,
            override_peer=[("127.0.0.1", port, made)])

    async def check(self, client):
        roster = client.summon(aioxmpp.RosterClient)
        received = asyncio.Event()
        roster.on_initial_roster_received.connect(received.set)
        async with client.connected():
            await asyncio.wait_for(received.wait(), WAIT)
            await asyncio.wait_for(
                aioxmpp.ping.ping(client, aioxmpp.JID.fromstr("localhost")), WAIT)
            self.assertEqual(str(client.local_jid), "tom@localhost/d1")

    async def test_starttls(self):
        await self.check(self.client(connector.STARTTLSConnector(), self.service.xmpp_port))

    async def test_direct_tls(self):
        await self.check(self.client(connector.XMPPOverTLSConnector(), self.service.xmpps_port))


if __name__ == "__main__":
    unittest.main()
