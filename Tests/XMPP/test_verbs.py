"""What the verbs of the command line show of an XMPP client."""

import subprocess
import unittest

from porchlight import BINARY, WAIT
from service import Served
from stream import HEADER, Stream


class Verbs(Served, unittest.TestCase):
    is_plain = True

    def stream(self):
        stream = Stream(self.service.xmpp_port)
        self.addCleanup(stream.close)
        return stream

    def verb(self, *words):
        words = [BINARY, *words, "--connect", "127.0.0.1:%d" % self.service.port]
        verb = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.addCleanup(verb.wait, WAIT)
        self.addCleanup(verb.stdout.close)
        self.addCleanup(verb.terminate)
        return verb

    def test_watch_sees_a_client_come_go_away_return_and_leave(self):
        watch = self.verb("watch", "anna")

        def shows(what):
            # Behind the time.
            self.assertEqual(watch.stdout.readline()[8:].split("  last seen")[0].rstrip("\n"),
                             "  anna  " + what)

        shows("unknown")
        anna = self.stream()
        anna.login("anna", "phone")
        anna.send("<presence><priority>5</priority></presence>")
        shows("login  on xmpp phone (priority 5)")
        anna.send("<presence><show>away</show><status>at lunch</status></presence>")
        shows("changed  on xmpp phone (away “at lunch”)")
        query = self.verb("query", "anna")
        self.assertRegex(query.stdout.readline(), "  anna  online  on xmpp phone "
                                                  "\\(away “at lunch”\\)\n$")
        anna.send("<presence/>")
        shows("changed  on xmpp phone")
        anna.send("<presence type='unavailable'/>")
        shows("logout")
        anna.send("<presence/>")
        shows("login  on xmpp phone")
        anna.send("</stream:stream>")
        shows("logout")

    def test_another_domain_is_told_and_logged(self):
        anna = self.stream()
        anna.send(HEADER.replace("to='localhost'", "to='localhost.example'"))
        self.assertIn("<host-unknown xmlns='urn:ietf:params:xml:ns:xmpp-streams'/><text ",
                      anna.until("</stream:error>"))
        self.assertIn("an XMPP client asks for another domain than xmpp-domain address=127.0.0.1",
                      self.service.log_text())

    def test_a_verb_that_connects_to_the_port_for_xmpp(self):
        done = subprocess.run(
            [BINARY, "query", "anna", "--connect", "127.0.0.1:%d" % self.service.xmpp_port],
            capture_output=True, text=True, timeout=WAIT)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "Error: The peer answered in XML. Connect to the native port, "
                         "which is 7400 by default; HTTP and XMPP have other ports.\n")


if __name__ == "__main__":
    unittest.main()
