"""The verbs that explain: `why` and `top`."""

import json
import subprocess

from porchlight import BINARY, Case


class Why(Case):
    def verb(self, *words):
        """What a verb prints."""
        done = subprocess.run([BINARY, *words, "--connect", "127.0.0.1:%d" % self.service.port],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def test_why_in_sentences(self):
        alice, bob = self.name("alice"), self.name("bob")
        watcher = self.login(alice, "laptop")
        watcher.subscribe(bob)
        publisher = self.login(bob, "phone", client="ios")
        watcher.event()
        publisher.publish(10001, ext="in a meeting")
        watcher.event()
        said = self.verb("why", alice, bob).splitlines()
        self.assertEqual(said[0], "%s sees %s online." % (alice, bob))
        for words in ("%s is subscribed to %s since " % (alice, bob),
                      "%s is on other laptop since" % alice,
                      "%s is on ios phone since" % bob,
                      "The status of %s is 10001 “in a meeting”, until" % bob,
                      "Events of %s, newest first:" % bob, "    sent to laptop"):
            self.assertTrue(any(words in line for line in said), (words, said))
        publisher.ok("logout")
        watcher.ok("unsubscribe", {"type": 1})
        said = self.verb("why", alice, bob).splitlines()
        self.assertEqual(said[0], "%s does not see %s: there is no subscription." % (alice, bob))
        self.assertTrue(any("was ended by %s at" % alice in line for line in said), said)
        self.assertTrue(any("logged out." in line for line in said), said)

    def test_why_for_programs(self):
        facts = json.loads(self.verb("why", "--json", "--type", "100", "x-nobody", "y-nobody"))
        self.assertEqual(facts["type"], 100)
        self.assertFalse(facts["subscriber"]["known"])
        self.assertEqual(facts["events"], [])

    def test_top_once_into_a_pipe(self):
        alice, bob = self.name("alice"), self.name("bob")
        watcher = self.login(alice)
        watcher.subscribe(bob)
        publisher = self.login(bob)
        for _ in range(3):
            publisher.publish(10001)
        said = self.verb("top", "--limit", "100")
        self.assertNotIn("\x1b", said)
        self.assertRegex(said, r"(?m)^ +4 +4  %s$" % bob)
        self.assertIn("All clients have read what they were sent.", said)
        facts = json.loads(self.verb("top", "--json"))
        self.assertGreaterEqual(facts["counts"]["events"], 5)
