"""What applications send whose libraries do not look at rejections: XMPPFramework, and others."""

import base64
import hashlib
import hmac
import stringprep
import unicodedata
import unittest

from passwords import app_server, key_file
from service import Served, XMPPService
from stream import BIND, HEADER, SASL, Stream

PING = "<iq type='get' id='%s'><ping xmlns='urn:xmpp:ping'/></iq>"
REGISTER = "jabber:iq:register"
ROSTER = "jabber:iq:roster"


class Apps(Served):
    is_plain = True

    def stream(self, name, device="d1"):
        stream = Stream(self.service.xmpp_port, wait=60)
        self.addCleanup(stream.close)
        stream.login(name, device)
        return stream

    def heard(self, stream, mark):
        """What a client was sent until now."""
        stream.send(PING % mark)
        return stream.until("id='%s'" % mark)

    def befriend(self, name, other):
        """`name` sees `other`."""
        one, two = self.stream(name), self.stream(other)
        for stream in (one, two):
            stream.send("<presence/>")
            stream.until("<presence ")
        one.send("<presence to='%s@localhost' type='subscribe'/>" % other)
        two.until("type='subscribe'")
        two.send("<presence to='%s@localhost' type='subscribed'/>" % name)
        one.until("<presence from='%s@localhost/d1'" % other)
        return one, two


class Presence(Apps, unittest.TestCase):
    def test_a_type_of_available(self):
        amy, ben = self.befriend("t-amy", "t-ben")
        ben.send("<presence type='unavailable'/>")
        amy.until("type='unavailable'/>")
        ben.send("<presence type='available'/>")
        amy.until("<presence from='t-ben@localhost/d1' to='t-amy@localhost'/>")

    def test_content_that_cannot_be_kept(self):
        stream = self.stream("parts")
        long = "x" * 5000
        for number, (content, kept) in enumerate((
                ("<show>在线</show>", ""), ("<show>busy</show><show>dnd</show>", "<show>dnd</show>"),
                ("<priority/>", ""), ("<priority>128</priority>", "<priority>127</priority>"),
                ("<priority>1</priority><priority>2</priority>", "<priority>1</priority>"),
                ("<status>%s</status>" % ("汉" * 342), "<status>%s</status>" % ("汉" * 341)),
                ("<x xmlns='u'>%s</x><y xmlns='u'/>" % long, "<y xmlns='u'/>"))):
            with self.subTest(content=content[:40]):
                stream.send("<presence>%s<c xmlns='n' number='%d'/></presence>" % (content, number))
                said = stream.until("number='%d'/></presence>" % number)
                kept = "'>%s<c xmlns='n' number='%d'/></presence>" % (kept, number)
                self.assertTrue(said.endswith(kept), said[-200:])

    def test_the_last_of_many_presences_wins(self):
        amy, ben = self.befriend("m-amy", "m-ben")
        ben.send("".join("<presence><status>number %d</status></presence>" % number
                         for number in range(400)))
        amy.until("<status>number 399</status>")
        said = self.heard(ben, "after")
        self.assertNotIn("<error", said)

    def test_unavailable_ends_a_presence_that_waits(self):
        amy, ben = self.befriend("u-amy", "u-ben")
        ben.send("".join("<presence><status>number %d</status></presence>" % number
                         for number in range(400)) + "<presence type='unavailable'/>")
        amy.until("type='unavailable'/>")
        # When the rate would admit it again.
        ben.send(PING % "ended" + "<presence><status>again</status></presence>")
        self.assertNotIn("number", amy.until("<status>again</status>"))


class Rosters(Apps, unittest.TestCase):
    def test_many_changes_at_once_are_all_carried_out(self):
        stream = self.stream("many")
        stream.send("".join(
            "<iq type='set' id='s%d'><query xmlns='%s'><item jid='c%d@localhost'/></query></iq>"
            % (number, ROSTER, number) for number in range(300)))
        said = stream.until("id='s299'")
        self.assertEqual(said.count("type='result'"), 300)
        self.assertNotIn("<error", said)

    def test_many_requests_at_once_are_all_carried_out(self):
        stream = self.stream("asker")
        asked = self.stream("asked299")
        asked.send("<presence/>")
        stream.send("".join("<presence type='subscribe' to='asked%d@localhost'/>" % number
                            for number in range(300)) + PING % "asked")
        asked.until("<presence from='asker@localhost' to='asked299@localhost' type='subscribe'/>")
        said = stream.until("id='asked'")
        self.assertNotIn("<error", said)

    def test_names_of_contacts(self):
        stream = self.stream("names")
        for name, group, kept in (
                ("汉" * 86, "字" * 300, "name='%s' subscription='none'><group>%s</group>" % (
                    "汉" * 86, "字" * 300)),
                ("a&#10;b", "c&#9;d", "name='a b' subscription='none'><group>c d</group>"),
                ("n" * 1023, "g", "name='%s'" % ("n" * 1023))):
            stream.send(
                "<iq type='get' id='g'><query xmlns='%s'/></iq>"
                "<iq type='set' id='s'><query xmlns='%s'><item jid='bob@localhost' name='%s'>"
                "<group>%s</group></item></query></iq>" % (ROSTER, ROSTER, name, group))
            said = stream.until("type='result' id='s'") + self.heard(stream, "named")
            self.assertNotIn("<error", said)
            self.assertIn(kept, said)
        stream.send("<iq type='get' id='all'><query xmlns='%s'/></iq>" % ROSTER)
        stream.until("id='all'")
        self.assertIn("n" * 1023, stream.until("</iq>"))

    def test_strangers_leave_room_for_contacts(self):
        service = XMPPService("--rate-limits", "off", plain=True)
        self.addCleanup(service.close)

        def stream(name):
            stream = Stream(service.xmpp_port, wait=60)
            self.addCleanup(stream.close)
            stream.login(name, "d1")
            return stream

        ask = "<presence type='subscribe' to='pia@localhost'/>" + PING
        for number in range(101):
            stranger = stream("stranger%d" % number)
            stranger.send(ask % "asked")
            said = stranger.until("id='asked'")
            self.assertEqual("<resource-constraint " in said, number == 100, said)
            stranger.close()
        pia = stream("pia")
        pia.send("<iq type='set' id='s'><query xmlns='%s'><item jid='kim@localhost'/></query></iq>"
                 % ROSTER)
        pia.until("id='s'")
        pia.send("<presence/>")
        kim = stream("kim")
        kim.send(ask % "asked")
        self.assertNotIn("<error", kim.until("id='asked'"))
        pia.until("<presence from='kim@localhost' to='pia@localhost' type='subscribe'/>")


class Messages(Apps, unittest.TestCase):
    def test_a_rejected_message_comes_back_without_its_content(self):
        stream = self.stream("writer")
        stream.send("<message to='bob@localhost' id='m' type='groupchat'><body>Hello</body>"
                    "<subject>S</subject><request xmlns='urn:xmpp:receipts'/></message>")
        said = stream.until("</message>")
        self.assertIn("<service-unavailable ", said)
        for part in ("body", "Hello", "subject", "receipts"):
            self.assertNotIn(part, said)


class Sessions(Apps, unittest.TestCase):
    def test_one_more_takes_the_place_of_the_idlest(self):
        streams = [self.stream("full", "d%d" % number) for number in range(10)]
        # The second is the one that has been silent for the longest time.
        for number, stream in enumerate(streams):
            if number != 1:
                self.heard(stream, "here%d" % number)
        more = self.stream("full", "more")
        self.assertIn("<conflict ", streams[1].end())
        self.heard(more, "more")
        for number, stream in enumerate(streams):
            if number != 1:
                self.heard(stream, "still%d" % number)

    def test_one_that_is_lost_goes_first(self):
        service = XMPPService("--disconnect-grace", "60", plain=True)
        self.addCleanup(service.close)
        streams = []
        for number in range(10):
            stream = Stream(service.xmpp_port)
            self.addCleanup(stream.close)
            stream.login("full", "d%d" % number)
            stream.send("<presence/>")
            stream.until("<presence ")
            streams.append(stream)
        streams[5].close()
        # It is lost when the service has noticed that.
        server = service.server()
        self.addCleanup(server.close)
        while all(session["connection"] == "connected"
                  for session in server.ok("sessions", {"account": "full"})["sessions"]):
            pass
        more = Stream(service.xmpp_port)
        self.addCleanup(more.close)
        more.login("full", "more")
        for number, stream in enumerate(streams):
            if number != 5:
                self.heard(stream, "still%d" % number)

    def test_an_account_that_authenticates_and_never_binds(self):
        for _ in range(100):
            stream = Stream(self.service.xmpp_port)
            self.addCleanup(stream.close)
            stream.authenticate("unbound")
            said = stream.until("urn:ietf:params:xml:ns:xmpp-sasl") + stream.until("</")
            if "<temporary-auth-failure/>" in said:
                break
            stream.close()
        self.assertIn("Retry after 1 s.", said)
        # Another account is not concerned.
        self.stream("another")

    def test_base64_with_line_breaks(self):
        data = base64.encodebytes(("\0ida\0" + "x" * 100).encode()).decode()
        self.assertGreater(data.count("\n"), 1)
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.send(HEADER + "<auth xmlns='%s' mechanism='PLAIN'>%s</auth>" % (SASL, data))
        stream.until("<success")


def prepared(text):
    """By SASLprep (RFC 4013), as clients of SCRAM do it."""
    mapped = "".join(" " if stringprep.in_table_c12(character) else character
                     for character in text if not stringprep.in_table_b1(character))
    return unicodedata.ucd_3_2_0.normalize("NFKC", mapped)


class Passwords(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.key = key_file()
        cls.service = XMPPService("--auth", "password", "--server-key", cls.key,
                                  "--xmpp-registration", "--rate-limits", "off", plain=True)
        cls.addClassCleanup(cls.service.close)

    def opened(self):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.send(HEADER)
        stream.until("</stream:features>")
        return stream

    def scram(self, name, password):
        """Whether a client logs in that proves this password, as it is."""
        stream = self.opened()
        bare = "n=%s,r=0123456789" % name

        def encoded(text):
            return base64.b64encode(text.encode()).decode()

        stream.send("<auth xmlns='%s' mechanism='SCRAM-SHA-256'>%s</auth>"
                    % (SASL, encoded("n,," + bare)))
        said = stream.until("</challenge>")
        first = base64.b64decode(said[said.rindex(">", 0, -2) + 1:-len("</challenge>")]).decode()
        nonce, salt, count = (part[2:] for part in first.split(","))
        salted = hashlib.pbkdf2_hmac(
            "sha256", password.encode(), base64.b64decode(salt), int(count))

        def code(key, text):
            return hmac.digest(key, text.encode(), "sha256")

        client = code(salted, "Client Key")
        final = "c=biws,r=" + nonce
        signature = code(hashlib.sha256(client).digest(), ",".join((bare, first, final)))
        proof = bytes(one ^ two for one, two in zip(client, signature))
        final += ",p=" + base64.b64encode(proof).decode()
        stream.send("<response xmlns='%s'>%s</response>" % (SASL, encoded(final)))
        said = stream.until("xmlns='%s'" % SASL)
        return "<success" in said

    def plain(self, name, password):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.authenticate(name, password)
        return "<success" in stream.until("xmlns='%s'>" % SASL)

    def register(self, name, password):
        stream = self.opened()
        stream.send("<iq type='set' id='r'><query xmlns='%s'><username>%s</username>"
                    "<password>%s</password></query></iq>" % (REGISTER, name, password))
        answer = stream.until("id='r'") + stream.until(">")
        return answer if answer.endswith("/>") else answer + stream.until("</iq>")

    def test_keys_are_of_the_prepared_form(self):
        for number, password in enumerate(("密码１２３", "ＡＢ１２", "ｶﾞ", "x²", "\u00aa\u00a0\u00adb")):
            with self.subTest(password=password):
                name = "prepared%d" % number
                answer = self.register(name, password)
                self.assertIn("type='result'", answer)
                self.assertIn("SASLprep (RFC 4013) replaces", answer)
                self.assertNotEqual(prepared(password), password)
                self.assertTrue(self.scram(name, prepared(password)))
                self.assertFalse(self.scram(name, password))
                self.assertTrue(self.plain(name, password))
                self.assertTrue(self.plain(name, prepared(password)))
                self.assertFalse(self.plain(name, password + "x"))

    def test_a_password_that_is_forbidden(self):
        for password, reason in (
                ("שלום123", "from right to left"), ("a&#9;b", "control characters"),
                ("\u2ff0", "control characters"), ("\u00ad", "is empty")):
            answer = self.register("forbidden", password)
            self.assertIn("<not-acceptable ", answer)
            self.assertIn(reason, answer)

    def test_a_change_of_the_password(self):
        server = app_server(self.service)
        self.addCleanup(server.close)
        server.ok("setPassword", {"account": "changer", "password": "first"})
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.login("changer", "d", "first")
        stream.send("<iq type='set' id='c'><query xmlns='%s'><username>changer</username>"
                    "<password>\uff11\uff12</password></query></iq>" % REGISTER)
        self.assertIn("SASLprep", stream.until("</iq>"))
        self.assertTrue(self.scram("changer", "12"))

    def test_the_third_rejected_bind_closes_the_stream(self):
        server = app_server(self.service)
        self.addCleanup(server.close)
        server.ok("setPassword", {"account": "binder", "password": "first"})
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        stream.authenticate("binder", "first")
        stream.until("<success")
        stream.send(HEADER)
        stream.until("</stream:features>")
        server.ok("setPassword", {"account": "binder", "password": "second"})
        bind = ("<iq type='set' id='b'><bind xmlns='%s'><resource>d</resource></bind></iq>" % BIND)
        for _ in range(2):
            stream.send(bind)
            self.assertIn("<forbidden ", stream.until("</iq>"))
        stream.send(bind)
        said = stream.end()
        self.assertIn("<forbidden ", said)
        self.assertIn("<policy-violation ", said)


if __name__ == "__main__":
    unittest.main()
