"""How the service learns what a client has: by answers, or by what its kernel acknowledges."""

import re
import ssl
import time
import unittest

from framed import Framed
from service import DOMAIN, Served
from stream import Stream

SM = "xmlns='urn:xmpp:sm:3'"
PING = "<iq type='get' id='%s'><ping xmlns='urn:xmpp:ping'/></iq>"
WAIT = 60


class Taking(Served, unittest.TestCase):
    def stream(self, name, more=""):
        """A client over TLS, which answers nothing by itself."""
        stream = Stream(self.service.xmpps_port)
        context = ssl.create_default_context(cafile=self.service.authority)
        stream.socket = context.wrap_socket(stream.socket, server_hostname=DOMAIN)
        stream.socket.settimeout(WAIT)
        self.addCleanup(stream.close)
        stream.login(name, "d1")
        stream.send(more + "<presence/>" + PING % "here")
        stream.until("id='here'")
        return stream

    def setUp(self):
        self.server = self.service.server()
        self.addCleanup(self.server.close)

    def write(self, name, *bodies):
        for body in bodies:
            self.server.ok("send", {"accounts": [name], "body": body})

    def waiting(self, name):
        return self.server.ok("sessions", {"account": name})["messagesWaiting"]

    def until_taken(self, name):
        end = time.monotonic() + WAIT
        while self.waiting(name):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_a_client_that_answers_nothing(self):
        stream = self.stream("silent")
        bodies = ["text %d" % number for number in range(90)]
        self.write("silent", *bodies)
        said = stream.until("<body>text 89</body>")
        self.assertEqual(bodies, re.findall("<body>([^<]*)</body>", said))
        self.assertEqual(1, said.count("id='taken-"))
        self.until_taken("silent")
        self.write("silent", *bodies)
        stream.until("<body>text 89</body>")
        self.until_taken("silent")
        stream.close()
        # Nothing comes again.
        again = self.stream("silent")
        again.send(PING % "end")
        self.assertNotIn("<body>", again.until("id='end'"))

    def test_stream_management(self):
        stream = self.stream("managed", "<enable %s resume='true'/>" % SM)
        self.write("managed", "one", "two")
        said = stream.until("<body>two</body>")
        said += stream.until("</message>")
        self.assertIn("<r %s/>" % SM, said)
        self.assertNotIn("taken-", said)
        self.assertEqual(2, self.waiting("managed"))
        # The presence, and the answer to the ping, before them.
        stream.send("<a %s h='3'/>" % SM + PING % "one")
        stream.until("id='one'")
        self.assertEqual(1, self.waiting("managed"))
        stream.send("<a %s h='5'/><r %s/>" % (SM, SM))
        # The presence, and two pings.
        stream.until("<a %s h='3'/>" % SM)
        self.until_taken("managed")
        stream.send("<a %s h='50'/>" % SM)
        self.assertIn("<handled-count-too-high %s h='50'" % SM, stream.end())


class Plain(Served, unittest.TestCase):
    is_plain = True

    def test_a_pong_takes(self):
        server = self.service.server()
        self.addCleanup(server.close)
        client = Framed(self.service.port, path="/xmpp-websocket/")
        self.addCleanup(client.close)
        client.login("framed", "web")
        client.send("<presence xmlns='jabber:client'/>")
        client.until("<presence")
        for number in range(90):
            server.ok("send", {"accounts": ["framed"], "body": "text %d" % number})
        client.until("<body>text 89</body>")
        client.socket.settimeout(0.2)
        end = time.monotonic() + WAIT
        while server.ok("sessions", {"account": "framed"})["messagesWaiting"]:
            self.assertLess(time.monotonic(), end)
            try:
                client.read()
            except TimeoutError:
                pass
        self.assertFalse([text for text in client.said if "taken-" in text])


if __name__ == "__main__":
    unittest.main()
