"""What the tests of relationships and visibility share."""

import os
import signal
import tempfile
import time

from porchlight import Case


def subscription(own, other):
    return {(False, False): "none", (True, False): "to", (False, True): "from",
            (True, True): "both"}[own == 2, other == 2]


class People(Case):
    """What the classes below share."""

    def login(self, account, device="d1", service=None, **options):
        client = super().login(account, device, service, **options)
        client.account = account
        return client

    def person(self, stem, device="d1", service=None, **options):
        return self.login(self.name(stem), device, service, contacts=True, **options)

    def pair(self, service=None):
        return self.person("a", service=service), self.person("b", service=service)

    def say(self, a, b, action, **more):
        """The contact after an action of `a`; `b` is a client or a name."""
        contact = b if isinstance(b, str) else b.account
        return a.ok("relate", {"contact": contact, "action": action, **more})["contact"]

    def befriend(self, a, b):
        """`a` sees `b`."""
        self.say(a, b, "request")
        self.say(b, a, "accept")
        self.assertEqual(a.event()["cause"], "shown")
        self.quiet(a)
        self.quiet(b)

    def bring(self, a, b, state, described=True):
        """Makes a fresh pair have a state, as seen by `a`; both have the other on their lists."""
        if described:
            self.say(a, b, "describe")
            self.say(b, a, "describe")
        for asker, asked, direction in ((a, b, state[0]), (b, a, state[1])):
            if direction:
                self.say(asker, asked, "request")
            if direction == 2:
                self.say(asked, asker, "accept")
        self.quiet(a)
        self.quiet(b)

    def quiet(self, c):
        """Everything that had been sent to a client before a ping was answered."""
        c.ok("ping")
        notes, c.notes = c.notes, []
        return notes

    def news(self, c):
        """The same as (actions of `contact` notifications, causes of events)."""
        notes = self.quiet(c)
        actions = [n["params"].get("action") for n in notes if n["method"] == "contact"]
        causes = [e["cause"] for n in notes if n["method"] == "events"
                  for e in n["params"]["events"]]
        return actions, causes

    def listed(self, c, **params):
        return {e["account"]: e for e in c.ok("contacts", params)["contacts"]}

    def expect(self, c, other, own_state, other_state, preapproved=False):
        """What the list of `c` says of `other`, which is on it."""
        want = {"account": other.account, "subscription": subscription(own_state, other_state)}
        if own_state == 1:
            want["ask"] = True
        if preapproved:
            want["preapproved"] = True
        if other_state == 1:
            want["request"] = {}
        self.assertEqual(self.listed(c).get(other.account), want)
        return want

    def limited(self, **settings):
        """A service of this test alone with settings that have no flags."""
        path = os.path.join(tempfile.mkdtemp(prefix="porchlight-conf-"), "porchlight.yml")
        with open(path, "w") as file:
            file.writelines("%s: %s\n" % (n.replace("_", "-"), v) for n, v in settings.items())
        return self.fresh("--config", path)

    def reload(self, s, path, words):
        """Gives a service other settings while it runs, and waits until they are in force."""
        before = len(s.log_text())
        with open(path, "w") as file:
            file.write(words)
        s.signal(signal.SIGHUP)
        end = time.monotonic() + 30
        while "changed" not in s.log_text()[before:]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        self.keep(s.server()).ok("stats")
