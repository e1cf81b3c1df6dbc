"""Tokens as passwords, with `--auth jwt`."""

import asyncio
import os
import shutil
import tempfile
import unittest

from service import XMPPService
from stream import Stream
from test_slixmpp import WAIT, Person, ended
from test_tokens import OTHER, SECRET, token


class TokensAsPasswords(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.mkdtemp(prefix="porchlight-keys-")
        path = os.path.join(cls.keys, "secret")
        with open(path, "wb") as file:
            file.write(SECRET + b"\n")
        os.chmod(path, 0o600)
        cls.service = XMPPService("--auth", "jwt", "--jwt-key", path, "--passwords", plain=True)

    @classmethod
    def tearDownClass(cls):
        cls.service.close()
        shutil.rmtree(cls.keys)

    def rejection(self, name, secret):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.authenticate(name, secret)
        return stream.until("</failure>")

    async def test_slixmpp_with_a_token(self):
        person = Person("zoe")
        person.credentials["password"] = person.password = token("zoe")
        person.enable_starttls = person.enable_direct_tls = False
        await person.begin(self.service.xmpp_port)
        self.addAsyncCleanup(ended, person)
        await person.get_roster(timeout=WAIT)

    async def test_a_token_with_many_claims(self):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.login("zoe", "d2", token("zoe", groups=["g%d" % n for n in range(200)]))

    async def test_tokens_that_are_rejected(self):
        for secret, failure in [
                (token("max"), "not-authorized"), (token("zoe", secret=OTHER), "not-authorized"),
                ("secret", "not-authorized"), (token("zoe", life=-3600), "credentials-expired")]:
            with self.subTest(failure=failure):
                self.assertIn("<%s/>" % failure, await asyncio.to_thread(
                    self.rejection, "zoe", secret))

    async def test_a_token_sets_no_password(self):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.login("zoe", "d4", token("zoe"))
        stream.send("<iq type='set' id='c'><query xmlns='jabber:iq:register'>"
                    "<username>zoe</username><password>mine</password></query></iq>")
        self.assertIn("<not-allowed ", stream.until("</iq>"))
        for query, answer in (("jabber:iq:register", "<not-allowed "),
                              ("http://jabber.org/protocol/disco#info", "<identity ")):
            stream.send("<iq type='get' id='c' to='localhost'><query xmlns='%s'/></iq>" % query)
            said = stream.until("</iq>")
            self.assertIn(answer, said)
            self.assertNotIn("<feature var='jabber:iq:register'/>", said)

    async def test_a_session_ends_with_its_token(self):
        # Tokens are accepted for 30 s beyond their expiry, for clocks that differ.
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        await asyncio.to_thread(stream.login, "zoe", "d3", token("zoe", life=-28))
        self.assertIn("<reset ", await asyncio.to_thread(stream.end))


if __name__ == "__main__":
    unittest.main()
