"""Accounts with passwords: SCRAM and PLAIN, registration, and a change of the password."""

import asyncio
import base64
import hashlib
import hmac
import os
import time
import unittest

import aioxmpp
from aioxmpp import connector
from passwords import app_server, key_file
from service import XMPPService
from stream import BIND, HEADER, SASL, Stream
from test_slixmpp import WAIT, Person, ended

REGISTER = "jabber:iq:register"
DISCO = "http://jabber.org/protocol/disco#info"


def base64_of(text):
    return base64.b64encode(text.encode()).decode()


class WithPasswords:
    """Services with an account `amy`, whose password is `pencil`."""

    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.key = key_file()
        flags = ("--auth", "password", "--server-key", cls.key, *cls.flags)
        cls.service = XMPPService(*flags)
        cls.plain = XMPPService(*flags, plain=True)
        for service in (cls.service, cls.plain):
            server = app_server(service)
            server.ok("setPassword", {"account": "amy", "password": "pencil"})
            server.close()

    @classmethod
    def tearDownClass(cls):
        cls.service.close()
        cls.plain.close()
        os.unlink(cls.key)

    def stream(self, service=None):
        stream = Stream((service or self.plain).xmpp_port)
        self.addCleanup(stream.close)
        return stream

    def opened(self):
        """A stream, and the features that it was offered."""
        stream = self.stream()
        stream.send(HEADER)
        return stream, stream.until("</stream:features>")


class Authentication(WithPasswords, unittest.IsolatedAsyncioTestCase):
    async def test_slixmpp_by_each_mechanism(self):
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN"):
            for password, is_right in (("pencil", True), ("pen", False)):
                with self.subTest(mechanism=mechanism, password=password):
                    person = Person("amy", authority=self.service.authority)
                    person["feature_mechanisms"].use_mech = mechanism
                    person.credentials["password"] = person.password = password
                    person.connect("127.0.0.1", self.service.xmpp_port)
                    self.addAsyncCleanup(ended, person)
                    event = person.started if is_right else person.failed
                    await asyncio.wait_for(event.wait(), WAIT)
                    self.assertEqual(person.started.is_set(), is_right)

    async def test_slixmpp_chooses_scram(self):
        person = Person("amy", authority=self.service.authority)
        person.credentials["password"] = person.password = "pencil"
        await person.begin(self.service.xmpp_port)
        self.addAsyncCleanup(ended, person)
        self.assertTrue(person["feature_mechanisms"].mech.name.startswith("SCRAM-SHA-256"))

    async def test_aioxmpp(self):
        security = aioxmpp.make_security_layer("pencil", no_verify=True)
        client = aioxmpp.PresenceManagedClient(
            aioxmpp.JID.fromstr("amy@localhost/d1"), security,
            override_peer=[("127.0.0.1", self.service.xmpp_port, connector.STARTTLSConnector())])
        async with client.connected():
            self.assertEqual(str(client.local_jid), "amy@localhost/d1")


class ByHand(WithPasswords, unittest.TestCase):
    def test_the_mechanisms_in_the_order_of_their_strength(self):
        features = self.opened()[1]
        places = [features.index("<mechanism>%s<" % name)
                  for name in ("SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN")]
        self.assertEqual(places, sorted(places))
        self.assertNotIn("register", features)

    def begin(self, name):
        """A stream that has begun SCRAM with this name, and what it is told."""
        stream, _ = self.opened()
        first = base64_of("n,,n=%s,r=0123456789" % name)
        stream.send("<auth xmlns='%s' mechanism='SCRAM-SHA-256'>%s</auth>" % (SASL, first))
        said = stream.until("</") + stream.until(">")
        if not said.endswith("</challenge>"):
            return stream, said
        text = base64.b64decode(said[said.index(">") + 1:said.index("</challenge>")]).decode()
        self.assertTrue(text.startswith("r=0123456789"), text)
        return stream, text

    def challenge(self, name):
        """What is asked of a client of SCRAM with this name, but for the nonce."""
        stream, text = self.begin(name)
        return stream, text[text.index(",s="):]

    def prove(self, name, password):
        """What is said to a proof of this password."""
        stream, asked = self.begin(name)
        if asked.startswith("<"):
            return asked
        nonce, salt, rounds = (part[2:] for part in asked.split(","))
        salted = hashlib.pbkdf2_hmac(
            "sha256", password.encode(), base64.b64decode(salt), int(rounds))
        key = hmac.digest(salted, b"Client Key", "sha256")
        final = "c=biws,r=" + nonce
        message = ",".join(("n=%s,r=0123456789" % name, asked, final)).encode()
        signature = hmac.digest(hashlib.sha256(key).digest(), message, "sha256")
        proof = bytes(a ^ b for a, b in zip(key, signature))
        stream.send("<response xmlns='%s'>%s</response>" % (
            SASL, base64_of(final + ",p=" + base64.b64encode(proof).decode())))
        return stream.until("</") + stream.until(">")

    def test_a_name_that_is_not_there_looks_the_same(self):
        real, decoy = self.challenge("amy")[1], self.challenge("nobody")[1]
        self.assertEqual(len(real), len(decoy))
        self.assertEqual(real, self.challenge("amy")[1])
        self.assertEqual(decoy, self.challenge("nobody")[1])
        self.assertNotEqual(decoy, self.challenge("nobody2")[1])
        self.plain.terminate()
        self.plain.start()
        self.assertEqual(decoy, self.challenge("nobody")[1])

    def test_a_false_proof(self):
        for name in ("amy", "nobody"):
            stream, _ = self.challenge(name)
            proof = base64.b64encode(bytes(32)).decode()
            stream.send("<response xmlns='%s'>%s</response>" % (
                SASL, base64_of("c=biws,r=0123456789,p=" + proof)))
            self.assertIn("<not-authorized/>", stream.until("</failure>"))

    def test_a_password_that_changes_before_bind_does_not_hold(self):
        server = app_server(self.plain)
        self.addCleanup(server.close)
        bind = ("<iq type='set' id='bind'><bind xmlns='%s'><resource>d1</resource></bind></iq>"
                % BIND)

        def proved(password):
            stream = self.stream()
            stream.authenticate("ben", password)
            stream.until("<success")
            stream.send(HEADER)
            stream.until("</stream:features>")
            return stream

        server.ok("setPassword", {"account": "ben", "password": "first"})
        old, other = proved("first"), self.stream()
        other.login("amy", "d1", "pencil")
        for method, more in (("setPassword", {"password": "second"}), ("removePassword", {})):
            server.ok(method, {"account": "ben", **more})
            for _ in range(2):
                old.send(bind)
                said = old.until("</iq>")
                self.assertIn("<error type='auth'><forbidden ", said)
                self.assertIn("The password has changed since the login.", said)
            if more:
                old = proved("second")
        server.ok("setPassword", {"account": "ben", "password": "third"})
        new = proved("third")
        new.send(bind)
        self.assertIn("<jid>ben@localhost/d1</jid>", new.until("</iq>"))

    def test_guesses_have_to_wait(self):
        for number in range(40):
            stream = self.stream()
            stream.authenticate("amy", "guess %d" % number)
            said = stream.until("</failure>")
            if "<temporary-auth-failure/>" in said:
                break
            self.assertIn("<not-authorized/></failure>", said)
        self.assertIn("<text xml:lang='en'>Retry after 1 s.</text></failure>", said)

    def test_proofs_have_to_wait_right_or_wrong(self):
        """A proof by SCRAM costs nothing to check, and says as much as a password."""
        server = app_server(self.plain)
        self.addCleanup(server.close)
        server.ok("setPassword", {"account": "gus", "password": "pencil"})
        begun, rights = time.monotonic(), 0
        for number in range(200):
            said = self.prove("gus", "guess %d" % number)
            if "<temporary-auth-failure/>" in said:
                said = self.prove("gus", "pencil")
                if "<temporary-auth-failure/>" in said:
                    break
                # A slow machine has waited long enough.
                self.assertIn("</success>", said)
                rights += 1
            else:
                self.assertIn("<not-authorized/></failure>", said)
        self.assertIn("<temporary-auth-failure/>", said)
        self.assertLessEqual(number - rights, 11 + time.monotonic() - begun)

    def test_registration_is_off(self):
        stream, _ = self.opened()
        stream.send("<iq type='get' id='r'><query xmlns='%s'/></iq>" % REGISTER)
        self.assertIn("<not-allowed ", stream.until("</iq>"))

    def test_an_account_changes_its_password(self):
        server = app_server(self.plain)
        self.addCleanup(server.close)
        server.ok("setPassword", {"account": "eve", "password": "old"})
        stream = self.stream()
        stream.login("eve", "d", "old")
        stream.send("<iq type='get' id='d' to='localhost'><query xmlns='%s'/></iq>" % DISCO)
        self.assertIn("<feature var='%s'/>" % REGISTER, stream.until("</iq>"))
        stream.send("<iq type='get' id='f'><query xmlns='%s'/></iq>" % REGISTER)
        self.assertIn("<registered/><username>eve</username><password/></query></iq>",
                      stream.until("</iq>"))
        for query, answer in (
                ("<username>amy</username><password>mine</password>", "<not-allowed "),
                ("<username>eve</username>", "<not-acceptable "),
                ("<username>eve</username><password>a&#x9;b</password>", "<not-acceptable "),
                ("<remove/>", "<not-allowed "),
                ("<username>eve</username><password>new</password>", "type='result'")):
            with self.subTest(query=query):
                stream.send("<iq type='set' id='c'><query xmlns='%s'>%s</query></iq>" % (
                    REGISTER, query))
                self.assertIn(answer, stream.until("</iq>" if "<" in answer else "/>"))
        again = self.stream()
        again.authenticate("eve", "old")
        self.assertIn("<not-authorized/>", again.until("</failure>"))
        self.stream().login("eve", "d2", "new")


class Registration(WithPasswords, unittest.TestCase):
    flags = ("--xmpp-registration", "--rate-limits", "off")

    def register(self, stream, name, password="secret", attributes="id='r'"):
        stream.send(
            "<iq type='set' %s><query xmlns='%s'><username>%s</username>"
            "<password>%s</password></query></iq>" % (attributes, REGISTER, name, password))
        answer = stream.until("<iq ") + stream.until(">")
        return answer if answer.endswith("/>") else answer + stream.until("</iq>")

    def test_an_account_is_registered_and_logs_in(self):
        stream, features = self.opened()
        self.assertIn("<register xmlns='http://jabber.org/features/iq-register'/>", features)
        stream.send("<iq type='get' id='f'><query xmlns='%s'/></iq>" % REGISTER)
        self.assertIn("<username/><password/>", stream.until("</iq>"))
        self.assertEqual(self.register(stream, "una"), "<iq type='result' id='r'/>")
        # On the same stream, as clients do.
        stream.send("<auth xmlns='%s' mechanism='PLAIN'>%s</auth>" % (
            SASL, base64_of("\0una\0secret")))
        stream.until("<success")
        self.stream().login("una", "d", "secret")

    def test_what_is_rejected(self):
        stream, _ = self.opened()
        self.assertEqual(self.register(stream, "uwe", attributes=""), "<iq type='result'/>")
        for name, password, condition in (
                ("uwe", "x", "conflict"), ("amy", "x", "conflict"),
                ("", "x", "not-acceptable"), ("ute", "", "not-acceptable"),
                ("u te", "x", "not-acceptable"), ("ute", "x" * 1025, "not-acceptable"),
                ("u" * 129, "x", "not-acceptable")):
            with self.subTest(name=name, password=password):
                self.assertIn("<%s " % condition, self.register(stream, name, password))
        stream = self.stream()
        stream.authenticate("uwe", "x")
        self.assertIn("<not-authorized/>", stream.until("</failure>"))

    def test_accounts_that_are_in_use_cannot_be_registered(self):
        server = app_server(self.plain)
        self.addCleanup(server.close)
        # One has logged in, one has a subscription, one has contacts; the last is only named.
        server.ok("setPassword", {"account": "used1", "password": "x"})
        self.stream().login("used1", "d", "x")
        server.ok("removePassword", {"account": "used1"})
        server.ok("subscribe", {"account": "used2", "type": 1, "expiry": 60,
                                "publishers": ["named"]})
        server.ok("relate", {"account": "used3", "contact": "used1", "action": "request"})
        # One has a vCard, and was never available.
        server.ok("setPassword", {"account": "used4", "password": "x"})
        carded = self.stream()
        carded.login("used4", "d", "x")
        carded.send("<iq type='set' id='v'><vCard xmlns='vcard-temp'><FN>U</FN></vCard></iq>")
        carded.until("<iq type='result' id='v'")
        carded.send("</stream:stream>")
        carded.end()
        server.ok("removePassword", {"account": "used4"})
        stream, _ = self.opened()
        for name in ("used1", "used2", "used3", "used4"):
            said = self.register(stream, name)
            self.assertIn("<conflict ", said)
            self.assertIn("The name is taken: choose another.", said)
        self.assertIn("type='result'", self.register(stream, "named"))

    def test_few_are_registered_at_once_from_one_address(self):
        service = XMPPService("--auth", "password", "--xmpp-registration", plain=True)
        self.addCleanup(service.close)
        stream = self.stream(service)
        stream.send(HEADER)
        stream.until("</stream:features>")
        answers = [self.register(stream, "n%d" % number) for number in range(12)]
        made = [number for number, answer in enumerate(answers) if "type='result'" in answer]
        self.assertGreaterEqual(len(made), 5)
        self.assertLess(len(made), 12)
        rejected = [answer for number, answer in enumerate(answers) if number not in made]
        self.assertTrue(all("<policy-violation " in answer for answer in rejected), rejected)
        # Nothing of the others is left.
        stream.send("<auth xmlns='%s' mechanism='PLAIN'>%s</auth>" % (
            SASL, base64_of("\0n%d\0secret" % made[0])))
        stream.until("<success")

    def test_two_streams_register_one_name(self):
        streams = [self.opened()[0] for _ in range(4)]
        for stream in streams:
            stream.send("<iq type='set' id='r'><query xmlns='%s'><username>ina</username>"
                        "<password>secret</password></query></iq>" % REGISTER)
        answers = [stream.until("<iq type=") + stream.until(" ") for stream in streams]
        self.assertEqual(sum("'result'" in answer for answer in answers), 1, answers)


if __name__ == "__main__":
    unittest.main()
