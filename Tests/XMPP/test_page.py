"""What docs/XMPP.md shows is what the service does: its conversations are run, in their order.

A line `NAME → text` is sent, `NAME ← text` must be what is received next. `…` stands for text that
differs from run to run. By WebSocket, each line is a message. A name whose first line is JSON speaks the native protocol.
"""

import os
import re
import unittest

import porchlight
from framed import Framed
from service import XMPPService
from stream import Stream

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "XMPP.md")
STEP = re.compile(r"(\w+) ([→←]) (.*)")
LOGIN = re.compile(r"\((\w+) logs in with the resource (\w+)\)")
WEBSOCKET = re.compile(r"\((\w+) connects by WebSocket\)")
END = re.compile(r"\(the service closes (\w+)'s connection\)")


def steps():
    """The lines of all conversations, with their numbers; folded lines are joined."""
    found = []
    inside = False
    with open(PAGE, encoding="utf-8") as page:
        for number, line in enumerate(page, 1):
            if line.startswith("```"):
                inside = line.strip() == "```text"
            elif inside and line.startswith("    ") and found:
                found[-1][1] += line.strip()
            elif inside and (STEP.match(line) or line.startswith("(")):
                found.append([number, line.strip()])
    return found


def pattern(text, any_text):
    return any_text.join(map(re.escape, text.split("…")))


class Conversations(unittest.TestCase):
    def setUp(self):
        self.service = XMPPService(plain=True)
        self.addCleanup(self.service.close)
        self.open = {}

    def test_each_is_as_shown(self):
        all_steps = steps()
        self.assertGreater(len(all_steps), 80, "conversations are missing")
        for number, line in all_steps:
            with self.subTest(line="docs/XMPP.md:%d" % number):
                self.take(line)
        for name, client in self.open.items():
            with self.subTest(rest=name):
                self.assertNothingIsLeft(client)

    def take(self, line):
        if login := LOGIN.fullmatch(line):
            name, device = login.groups()
            self.connect(name, Stream(self.service.xmpp_port)).login(name, device)
        elif connection := WEBSOCKET.fullmatch(line):
            self.connect(connection[1], Framed(self.service.port))
        elif end := END.fullmatch(line):
            client = self.open.pop(end[1])
            is_xmpp = isinstance(client, (Stream, Framed))
            self.assertFalse(client.end() if is_xmpp else client.eof())
        else:
            name, arrow, text = STEP.fullmatch(line).groups()
            is_native = text.startswith("{")
            if name not in self.open:
                self.connect(name, self.service.connect() if is_native
                             else Stream(self.service.xmpp_port))
            if arrow == "→":
                self.say(self.open[name], text)
            else:
                self.hear(self.open[name], text)

    def connect(self, name, client):
        self.addCleanup(client.close)
        self.open[name] = client
        return client

    @staticmethod
    def say(client, text):
        if isinstance(client, (Stream, Framed)):
            client.send(text)
        else:
            client.raw(porchlight.frame(text.encode()))

    def hear(self, client, text):
        if isinstance(client, Stream):
            client.expect(re.compile(pattern(text, "[^<>]*?")))
        elif isinstance(client, Framed):
            heard = client.read()
            self.assertTrue(re.fullmatch(pattern(text, "[^<>]*?"), heard), heard)
        else:
            heard = client.read_bytes().decode()
            self.assertTrue(re.fullmatch(pattern(text, ".*?"), heard), heard)

    def assertNothingIsLeft(self, client):
        if isinstance(client, Stream):
            client.send("<iq type='get' id='last'><ping xmlns='urn:xmpp:ping'/></iq>")
            client.expect(re.compile("<iq type='result' id='last'[^>]*>"))
        else:
            client.ok("ping")
            self.assertEqual(client.notes, [])


if __name__ == "__main__":
    unittest.main()
