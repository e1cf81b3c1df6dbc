"""The verbs that explain: `why` and `top`; and what `why` tells of messages."""

import json
import subprocess

from people import People
from porchlight import BINARY, Case


class Why(Case):
    def verb(self, *words):
        """What a verb prints."""
        done = subprocess.run([BINARY, *words, "--connect", "127.0.0.1:%d" % self.service.port],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
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


class MessageFates(People):
    def fates(self, one, other, service=None):
        """What became of the messages between two accounts."""
        app = self.keep((service or self.service).server())
        facts = app.ok("why", {"subscriber": one, "publisher": other, "type": 1})
        return facts["messages"]

    def test_of_messages_both_ways(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        first = zs.ok("send", {"accounts": [name], "body": "secret"})
        self.assertEqual(self.fates(zs.account, name), [
            {"id": first["id"], "from": zs.account, "time": first["time"], "fate": "waiting",
             "sent": 0, "undelivered": "absent"}])
        li = self.login(name, "phone", messages=True)
        li.note("messages")
        self.assertEqual(self.fates(zs.account, name)[0]["sent"], 1)
        li.ok("take", {"id": first["id"]})
        second = li.ok("send", {"accounts": [zs.account], "body": "secret"})
        waiting, taken = self.fates(name, zs.account)
        self.assertEqual((waiting["id"], waiting["from"]), (second["id"], name))
        self.assertEqual(set(taken), {"id", "from", "time", "fate", "device", "ended", "sent",
                                      "undelivered"})
        self.assertEqual((taken["fate"], taken["device"], taken["sent"]), ("taken", "phone", 1))
        self.assertGreaterEqual(taken["ended"], taken["time"])
        self.assertEqual(self.server().ok("discard", {"account": zs.account}),
                         {"discarded": 1})
        self.assertEqual(self.fates(name, zs.account)[0]["fate"], "discarded")

    def test_of_the_service_and_of_names_that_nobody_knows(self):
        app, name = self.server(), self.name("li")
        sent = app.ok("send", {"accounts": [name], "body": "x"})
        self.assertEqual(self.fates(name, name), [
            {"id": sent["id"], "time": sent["time"], "fate": "waiting", "sent": 0,
             "undelivered": "absent"}])
        self.assertEqual(self.fates(name, self.name("nobody")), [])

    def test_after_a_restart_has_what_waits(self):
        service = self.fresh()
        zs = self.login("zs", service=service)
        li = self.login("li", "phone", service=service, messages=True)
        taken = zs.ok("send", {"accounts": ["li", "ww"], "body": "secret"})
        li.note("messages")
        li.ok("take", {"id": taken["id"]})
        kept = zs.ok("send", {"accounts": ["li"], "body": "secret"})
        service.terminate()
        service.start()
        found, = self.fates("zs", "li", service)
        self.assertEqual(found, {"id": kept["id"], "from": "zs", "time": kept["time"],
                                 "fate": "waiting", "sent": 0})
        self.assertEqual([m["id"] for m in self.fates("ww", "zs", service)], [taken["id"]])

    def test_in_sentences(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        zs.ok("send", {"accounts": [name], "body": "secret"})
        done = subprocess.run(
            [BINARY, "why", zs.account, name, "--connect", "127.0.0.1:%d" % self.service.port],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        said = done.stdout.decode()
        self.assertIn("Messages between %s and %s, newest first:" % (zs.account, name), said)
        self.assertIn("from %s: waiting to be taken, not sent to a device, undelivered (absent)"
                      % zs.account, said)
        self.assertNotIn("secret", said)
