"""Settings at the ends of their ranges, in any combination that is accepted: nothing traps."""

import json
import os
import random
import re
import subprocess
import tempfile

from porchlight import BINARY, Case, Closed, Timeout

ROUNDS = int(os.environ.get("EXTREMES_ROUNDS", "8"))
SEED = int(os.environ.get("EXTREMES_SEED", "0")) or random.randrange(1, 1 << 30)


class Extremes(Case):
    flags = None
    weight = 8

    @classmethod
    def setUpClass(cls):
        text = subprocess.run([BINARY, "config", "--example"], capture_output=True, text=True,
                              check=True, timeout=60).stdout
        cls.ranges = {name: (int(low), int(high)) for low, high, name in re.findall(
            r"\((\d+) to (\d+)[^)]*\)[ *]*\n#([a-z-]+):", text)}
        assert len(cls.ranges) > 40, cls.ranges

    def settings(self, rng):
        """Some settings at an end of their range, that `config` accepts."""
        while True:
            names = rng.sample(sorted(self.ranges), rng.randint(3, 25))
            chosen = {name: rng.choice(self.ranges[name]) for name in names}
            # A name of no more than a byte would make every account of this test one.
            for name in ("account-bytes-max", "device-bytes-max"):
                chosen[name] = max(chosen.get(name, 64), 16)
            # The client of these tests takes no larger ones.
            name = "server-frame-bytes-max"
            chosen[name] = min(chosen.get(name, 1 << 20), 1 << 20)
            path = os.path.join(self.folder, "porchlight.yml")
            with open(path, "w") as file:
                file.writelines("%s: %d\n" % item for item in chosen.items())
            done = subprocess.run([BINARY, "config", "--config", path], capture_output=True,
                                  timeout=60)
            self.assertIn(done.returncode, (0, 64))
            if done.returncode == 0:
                return path, chosen

    @staticmethod
    def message(rng, names):
        """Parameters of `send`, some of which are beyond a limit."""
        params = {"accounts": names, "body": rng.choice(("x", "\x01", "今")) * rng.choice(
            (0, 1, 500, 1024, 8192)), "expiry": rng.choice((59, 60, 604800, 2592000, 2592001))}
        if rng.random() < 0.5:
            params["ext"] = "\"" * rng.choice((0, 1, 16384))
        if rng.random() < 0.5:
            params["ref"] = "r" * rng.choice((0, 1, 64, 65))
        if rng.random() < 0.3:
            params["device"] = rng.choice(("d0", "d" * 64, ""))
        return params

    @classmethod
    def message_to_labels(cls, rng):
        """The same for devices that have labels, of which the tests set `a` and `acc0`."""
        params = cls.message(rng, [])
        for name in ("accounts", "device"):
            params.pop(name, None)
        params.update(rng.choice(({"aliases": ["a", "b"]}, {"tags": ["acc0"], "tagsNot": ["x"]},
                                  {"tagsAll": ["acc0"]})))
        return params

    @staticmethod
    def last_message(client):
        """The last message that a client was sent; None: there is none."""
        found = [m["id"] for note in client.notes if note["method"] == "messages"
                 for m in note["params"]["messages"]]
        return found[-1] if found else None

    def act(self, s, rng):
        """A little of everything. It may be rejected, or sent away; it must not be left alone."""
        try:
            clients = [self.keep(s.connect()) for _ in range(4)]
            for number, client in enumerate(clients):
                client.call("login", {"account": "acc-%d" % (number % 3), "device": "d%d" % number,
                                      "sync": "all", "pushReachable": number == 1,
                                      "messages": number != 2})
            app = self.keep(s.connect())
            app.call("login", {"client": "server"})
            for _ in range(30):
                client = rng.choice(clients)
                names = ["acc-%d" % n for n in range(rng.choice((1, 3, 100, 2000)))]
                method, params = rng.choice((
                    ("subscribe", {"type": rng.choice((1, 100, 65535)), "publishers": names,
                                   "expiry": rng.choice((1, 60, 2592000, 315360000)),
                                   "sync": True}),
                    ("publish", {"type": rng.choice((1, 2, 100)), "value": rng.choice(
                        (4, 10000, 2147483647)), "ext": "\x01" * rng.choice((0, 10, 32768)),
                        "onlineOnly": rng.random() < 0.5}),
                    ("clear", {"type": 1}),
                    ("unsubscribe", {"type": 1}),
                    ("subscriptions", {"limit": rng.choice((1, 1000, 10000))}),
                    ("subscriptions", {}),
                    ("send", self.message(rng, names)),
                    ("send", self.message(rng, names[:10])),
                    ("setDevice", {"alias": rng.choice(("a", ".", "")), "tags": names,
                                   "pushAddress": "\x01" * rng.choice((0, 2048, 2049))}),
                    ("take", {"id": self.last_message(client) or "%013d" % rng.randrange(9)})))
                client.call(method, params)
                method, params = rng.choice((
                    ("query", {"type": 1, "accounts": names}),
                    ("subscribers", {"type": 1, "publisher": "acc-0"}),
                    ("sessions", {"account": "acc-0"}),
                    ("send", dict(self.message(rng, names[:100]), account=rng.choice(names))),
                    ("send", self.message_to_labels(rng)),
                    ("discard", {"account": rng.choice(names)}),
                    ("setDevice", {"account": "acc-0", "device": rng.choice(names),
                                   "alias": "a", "tags": ["acc0"],
                                   "pushAddress": "\x01" * 2048}),
                    ("devices", {"account": "acc-0"}),
                    ("why", {"subscriber": "acc-0", "publisher": "acc-1", "type": 1}),
                    ("kick", {"account": "acc-2", "reason": "\x02" * rng.choice((0, 4096))}),
                    ("stats", {})))
                app.call(method, params)
        except (Closed, Timeout):
            pass    # Sent away, or told to slow down so much that a test cannot wait.

    def test_nothing_traps(self):
        print("extremes: EXTREMES_SEED=%d" % SEED)
        for number in range(ROUNDS):
            rng = random.Random(SEED + number)
            with self.subTest(seed=SEED + number), tempfile.TemporaryDirectory() as self.folder:
                path, chosen = self.settings(rng)
                s = self.fresh("--config", path)
                self.act(s, rng)
                # The same under whoever is connected.
                self.settings(rng)
                s.signal(1)
                self.act(s, rng)
                said = "%s\n%s" % (json.dumps(chosen), s.log_text()[-2000:])
                self.assertTrue(s.alive(), said)
                self.assertEqual(s.terminate(), 0, said)
                s.start()
                self.act(s, rng)
                self.assertEqual(s.terminate(), 0, said)
