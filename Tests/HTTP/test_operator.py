"""What an operator asks the service: `top`, `why`, and what it is."""

import re
import subprocess
import tempfile
import unittest

from api import Case, Service
from porchlight import BINARY


class Questions(Case):
    def printed(self, *words):
        """What the command prints, line by line."""
        done = subprocess.run(
            [BINARY, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode().splitlines()

    def test_the_service_says_its_version(self):
        version, = self.printed("--version")
        self.assertEqual("porchlight " + self.good("GET", "/v1/service")["version"], version)

    def test_top(self):
        reader = self.service.connect()
        reader.login("busy-reader", "d")
        reader.ok("subscribe", {"type": 1, "expiry": 600, "publishers": ["busy"]})
        for value in (10001, 10002):
            self.good("PUT", "/v1/accounts/busy/statuses/1", {"value": value})
        top = self.good("GET", "/v1/top?limit=100")
        entry, = [e for e in top["publishers"] if e["account"] == "busy"]
        self.assertEqual((entry["events"], entry["deliveries"]), (2, 2))
        self.assertEqual((top["readers"], top["readerCount"]), ([], 0))
        self.assertGreaterEqual(top["counts"]["events"], 2)
        self.assertGreater(top["gauges"]["memoryBytes"], 0)
        self.assertEqual(len(self.good("GET", "/v1/top?limit=1")["publishers"]), 1)

    def test_top_that_is_rejected(self):
        for limit in (0, 101):
            answer = self.problem(422, "out_of_range", "GET", "/v1/top?limit=%d" % limit)
            self.assertEqual(answer.members, {"field": "limit", "min": 1, "max": 100})
        self.problem(422, "wrong_type", "GET", "/v1/top?limit=all")

    def test_why_tells_the_story_that_the_verb_prints(self):
        alice = self.service.connect()
        alice.login("why alice", "laptop")
        alice.ok("subscribe", {"type": 1, "expiry": 600, "publishers": ["why\u202ebob"]})
        bob = self.service.connect()
        bob.login("why\u202ebob", "phone \"1\"")
        self.good("PUT", "/v1/accounts/why%E2%80%AEbob/statuses/1",
                  {"value": 10001, "ext": "a \"quote\", a \\ and a \u0007"})
        path = "/v1/why?subscriber=why+alice&publisher=why%E2%80%AEbob"

        def untimed(lines):
            """Without `last heard 1 s ago`, which changes between the two."""
            return [re.sub(r"\d[\d a-z]* ago", "before", line) for line in lines]

        told = self.good("GET", path)["story"]
        self.assertEqual(untimed(told), untimed(self.printed(
            "why", "why alice", "why\u202ebob",
            "--connect", "127.0.0.1:%d" % self.service.port)))
        self.assertEqual(told[0], "why alice sees why\\u{202e}bob online.")
        self.assertIn("", told)
        self.assertIn("    sent to laptop", told)
        facts = self.good("GET", path + "&type=1")
        self.assertEqual(facts["subscriber"]["account"], "why alice")
        self.assertEqual(facts["publisher"]["account"], "why\u202ebob")
        self.assertEqual(facts["events"][0]["connections"][0]["fate"], "sent")

    def test_why_of_nobody_and_of_another_type(self):
        facts = self.good("GET", "/v1/why?subscriber=x&publisher=y&type=100")
        self.assertEqual((facts["type"], facts["subscriber"]["known"]), (100, False))
        self.assertIn("the service does not know x now", facts["story"][0])

    def test_why_that_is_rejected(self):
        for path, field in (("?publisher=b", "subscriber"), ("?subscriber=a", "publisher")):
            answer = self.problem(422, "missing_field", "GET", "/v1/why" + path)
            self.assertEqual(answer.members["field"], field)
        path = "/v1/why?subscriber=a&publisher=b"
        self.problem(422, "wrong_type", "GET", path + "&type=one")
        self.problem(422, "out_of_range", "GET", path + "&type=70000")
        self.problem(422, "invalid_name", "GET", "/v1/why?subscriber=+a&publisher=b")
        self.problem(422, "duplicate_field", "GET", path + "&subscriber=c")

    def test_sessions_say_how_many_messages_wait(self):
        path = "/v1/accounts/waiting/sessions"
        self.assertEqual(self.good("GET", path), {"sessions": [], "messagesWaiting": 0})
        for number in (1, 2):
            self.good("POST", "/v1/messages", {"accounts": ["waiting"], "body": "x"})
            self.assertEqual(self.good("GET", path)["messagesWaiting"], number)
        self.good("DELETE", "/v1/accounts/waiting/messages")
        self.assertEqual(self.good("GET", path)["messagesWaiting"], 0)

    def test_all_of_it_needs_a_key(self):
        for path in ("/v1/service", "/v1/top", "/v1/why?subscriber=a&publisher=b"):
            self.problem(401, "not_logged_in", "GET", path, key=None)


class WithoutMessages(unittest.TestCase):
    def test_sessions_say_nothing_of_messages(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write("messages: off\n")
            file.flush()
            service = Service("--config", file.name)
            self.addCleanup(service.close)
        self.assertEqual(service.ask("GET", "/v1/accounts/a/sessions").json, {"sessions": []})
