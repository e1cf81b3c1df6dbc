"""Slow clients, floods, full tables: one client does not disturb another."""

import signal
import threading
import time

from porchlight import WAIT, Case, Closed, Timeout, frame, request

# Seconds of a ping that no busy machine explains.
STALL = 10


class Slow(Case):
    flags = ("--rate-limits", "off", "--disconnect-grace", "0")
    weight = 12

    def test_slow_subscriber_gets_the_newest_or_4429(self):
        """What it missed in between does not matter; the last state does, and so does order."""
        p = self.login("pub")
        slow = self.keep(self.service.connect(receive_buffer=4096))
        slow.login("slow")
        slow.subscribe("pub")
        hz = self.login("hz")
        hz.subscribe("pub")
        ext = "x" * 4000
        last = None
        worst = 0
        for part in range(40):
            ids = [p.post("publish", {"type": 1, "value": 10000 + part * 50 + i, "ext": ext})
                   for i in range(50)]
            last = [p.answer(i) for i in ids][-1]["result"]
            began = time.monotonic()
            hz.ok("ping")
            worst = max(worst, time.monotonic() - began)
            hz.notes.clear()
        self.assertLess(worst, STALL)
        seqs = []
        try:
            while not seqs or seqs[-1] != last["seq"]:
                note = slow.note()
                if note["method"] == "close":
                    self.assertEqual(note["params"]["code"], 4429)
                    return
                seqs += [e["seq"] for e in note["params"]["events"]]
        except Closed:
            return
        finally:
            self.assertEqual(seqs, sorted(set(seqs)))
        slow.ok("ping")

    def test_the_same_device_logs_in_from_everywhere_at_once(self):
        w = self.login("witness")
        w.subscribe("torn")
        held = []

        def one():
            for _ in range(10):
                held.append(self.service.login("torn", "phone", sync="none"))
        threads = [threading.Thread(target=one) for _ in range(10)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(30)
        self.assertEqual(len(held), 100)
        alive = 0
        for c in held:
            try:
                c.ok("ping")
                alive += 1
            except (Closed, OSError):
                closes = [n for n in c.notes if n["method"] == "close"]
                self.assertEqual([n["params"]["code"] for n in closes], [4409])
            self.keep(c)
        self.assertEqual(alive, 1)
        events = w.drain()
        self.assertEqual([(e["value"], e["cause"]) for e in events], [(1, "login")])

    def test_two_devices_publish_at_once_and_all_agree(self):
        a, b = self.login("duo", "a"), self.login("duo", "b")
        watchers = [self.login("duo-w%d" % i) for i in range(3)]
        for w in watchers:
            w.subscribe("duo")

        def shout(c, base):
            ids = [c.post("publish", {"type": 1, "value": base + i, "sync": False})
                   for i in range(150)]
            for i in ids:
                c.answer(i)
        threads = [threading.Thread(target=shout, args=x) for x in ((a, 10000), (b, 20000))]
        for t in threads:
            t.start()
        for t in threads:
            t.join(30)
        seen = [[(e["seq"], e["id"], e["value"]) for e in w.drain()] for w in watchers]
        # So few that an outbox has room for all.
        self.assertEqual(len(seen[0]), 300)
        self.assertEqual([s for s, _, _ in seen[0]], sorted({s for s, _, _ in seen[0]}))
        self.assertEqual(len({i for _, i, _ in seen[0]}), 300)
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])

    def test_many_types_of_one_account(self):
        """An undocumented limit must at least say its name and number."""
        c = self.login("types")
        for type in range(100, 400):
            got = c.call("publish", {"type": type, "value": 10000})
            if "error" in got:
                self.assertIn(got["error"]["data"]["reason"],
                              ("status_quota", "overloaded", "rate_limited", "too_many"))
                self.assertIn("limit", got["error"]["data"])
                self.assertEqual(got["error"]["data"]["limit"],
                                 c.welcome["limits"].get("statusesPerAccountMax"))
                break


class Flood(Case):
    """A client that asks and asks and never reads: it must cost the others nothing."""

    weight = 10
    MEGABYTE = 1 << 20

    def test_a_flood_without_reading_is_held_back(self):
        hz = self.login("hz")
        flood = self.keep(self.service.connect(receive_buffer=4096))
        flood.login("flood")
        flood.subscribe(*("name-%d" % i + "x" * 100 for i in range(100)))
        hz.ok("ping")
        before = self.resident()
        one = frame(request("subscriptions", {"limit": 1000}, 1))
        data = one * (self.MEGABYTE // len(one))
        flood.socket.settimeout(1)
        try:
            flood.socket.sendall(data)
        except OSError:
            pass                # throttled or closed: either is right
        worst = 0
        end = time.monotonic() + 5
        while time.monotonic() < end:
            began = time.monotonic()
            hz.ok("ping", wait=60)
            worst = max(worst, time.monotonic() - began)
            threading.Event().wait(0.02)
        grown = (self.resident() - before) // self.MEGABYTE
        self.assertTrue(worst < STALL and grown < 64,
                        "1 MiB of requests: %d MiB more memory, a ping of %.2f s" % (grown, worst))

    def resident(self):
        with open("/proc/%d/statm" % self.service.process.pid) as file:
            return int(file.read().split()[1]) * 4096


class Pause(Case):
    """A paused service must not close its clients when it continues."""

    flags = ("--heartbeat", "5", "--disconnect-grace", "0")
    weight = 12

    def test_stop_and_continue(self):
        clients = [self.login("c%d" % i) for i in range(20)]
        w = self.login("w")
        w.subscribe(*("c%d" % i for i in range(20)))
        self.service.signal(signal.SIGSTOP)
        for _ in range(9):
            threading.Event().wait(1)
            for c in clients + [w]:
                c.raw(b"\0\0\0\0")
        self.service.signal(signal.SIGCONT)
        for c in clients + [w]:
            c.ok("ping")
        self.assertEqual(w.drain(), [])


class Files(Case):
    """Few descriptors: existing connections go on, and new ones are accepted again."""

    flags = None
    weight = 5

    def test_out_of_files(self):
        s = self.fresh(files=256)
        hz = self.login("hz", service=s)
        crowd = []
        for _ in range(400):
            try:
                crowd.append(self.keep(s.connect()))
            except OSError:
                break
            # Over TLS that many take longer than a client may be silent.
            hz.ok("ping")
        hz.subscribe("x")
        for c in crowd:
            c.close()
        end = time.monotonic() + WAIT
        while True:
            try:
                self.login("late", service=s)
                break
            except (Closed, Timeout, OSError):
                self.assertLess(time.monotonic(), end)
        self.assertTrue(s.alive())
        self.assertLess(len(s.log_text()), 20000)


class Keys(Case):
    def test_a_key_where_there_is_none(self):
        c = self.connect()
        got = c.call("login", {"key": "x" * 20})
        self.rejected(got, 401, "invalid_token")
