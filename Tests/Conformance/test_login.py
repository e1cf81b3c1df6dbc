"""§4 login and logout: results, lists, devices, replacement, the quota of sessions."""

import threading
import time
import unittest

from porchlight import WAIT, Case, frame, request


class Login(Case):
    flags = ("--disconnect-grace", "1")

    def test_result(self):
        name = self.name("a")
        w = self.login(name).welcome
        self.assertEqual(w["account"], name)
        self.assertIn("session", w)
        self.assertIsInstance(w["time"], int)
        self.assertGreater(w["time"], 1_700_000_000_000)
        self.assertIsInstance(w["heartbeat"], int)
        self.assertEqual(w["restartGraceSeconds"], 30)
        self.assertEqual(w["subscriptions"], 0)
        self.assertIsInstance(w["limits"], dict)

    def test_limits_name_every_number(self):
        limits = self.login(self.name("a")).welcome["limits"]
        numbers = set()

        def walk(thing):
            if isinstance(thing, dict):
                for value in thing.values():
                    walk(value)
            elif isinstance(thing, list):
                for value in thing:
                    walk(value)
            else:
                numbers.add(thing)
        walk(limits)
        for number in (128, 64, 262144, 60, 2592000, 604800, 4096, 100, 3000, 10):
            with self.subTest(number=number):
                self.assertIn(number, numbers)

    def test_subscription_count_in_the_result(self):
        name = self.name("a")
        self.login(name).subscribe("x", "y", "z")
        self.assertEqual(self.login(name, "d2").welcome["subscriptions"], 3)

    def test_second_login_on_the_connection(self):
        name = self.name("a")
        c = self.login(name)
        for account in (name, "other"):
            self.rejected(c.call("login", {"account": account, "device": "d9"}), 401,
                          "already_logged_in")
        self.assertEqual(len(c.subscribe(name, sync=True)["states"][0]["online"]), 1)

    def test_sync_modes(self):
        on, off, never = self.name("on"), self.name("off"), self.name("never")
        self.login(on)
        gone = self.login(off)
        gone.ok("logout")
        gone.eof()
        watcher = self.name("w")
        self.login(watcher, "first").subscribe(on, off, never)
        none = self.login(watcher, "none", sync="none")
        self.assertEqual((none.list, none.synced), ([], {"count": 0}))
        online = self.login(watcher, "online", sync="online")
        self.assertEqual([e["publisher"] for e in online.list], [on])
        self.assertEqual(online.synced["count"], 1)
        default = self.login(watcher, "default")
        self.assertEqual([e["publisher"] for e in default.list], [on])
        every = self.login(watcher, "all", sync="all")
        states = {e["publisher"]: e for e in every.list}
        self.assertEqual(set(states), {on, off, never})
        self.assertEqual(every.synced["count"], 3)
        self.assertEqual([states[n]["value"] for n in (on, off, never)], [1, 2, 0])
        for e in every.list:
            self.assertEqual(e["cause"], "sync")
            self.assertEqual(e["type"], 1)
        self.assertEqual(states[never]["online"], [])
        self.assertNotIn("lastSeen", states[never])
        self.assertEqual(states[off]["online"], [])
        self.assertIsInstance(states[off]["lastSeen"], int)
        self.assertNotIn("lastSeen", states[on])
        self.assertEqual(states[on]["online"], [{"client": "other", "device": "d1"}])

    def test_list_of_250_in_pages_of_at_most_100(self):
        watcher = self.name("w")
        c = self.login(watcher)
        for part in range(0, 250, 50):
            c.subscribe(*("page-%d" % i for i in range(part, part + 50)))
        every = self.login(watcher, "d2", sync="all")
        self.assertEqual(len(every.list), 250)
        self.assertEqual(len({e["publisher"] for e in every.list}), 250)
        self.assertEqual(every.synced["count"], 250)
        self.assertLessEqual(max(every.pages), 100)

    def test_list_with_custom_types(self):
        publisher, watcher = self.name("p"), self.name("w")
        p = self.login(publisher)
        w = self.login(watcher)
        w.subscribe(publisher, type=1)
        w.subscribe(publisher, type=100)
        w.subscribe(publisher, type=200)
        p.publish(10005, type=100, ext="here")
        again = self.login(watcher, "d2", sync="all")
        states = {e["type"]: e for e in again.list}
        self.assertEqual(sorted(states), [1, 100, 200])
        self.assertEqual(states[100]["value"], 10005)
        self.assertEqual(states[100]["status"]["ext"], "here")
        self.assertEqual(states[200]["value"], 0)
        for type in (100, 200):
            self.assertNotIn("online", states[type])
            self.assertNotIn("lastSeen", states[type])
        self.assertEqual(again.synced["count"], 3)

    def test_replaced_session(self):
        name = self.name("a")
        watcher = self.login(self.name("w"))
        watcher.subscribe(name)
        first = self.login(name, "phone")
        watcher.event()
        second = self.login(name, "phone")
        closing = first.closing()
        self.assertEqual((closing["code"], closing["reason"]), (4409, "replaced"))
        third = self.login(name, "phone")
        second.closing()
        # Past the grace: nothing may have been said.
        threading.Event().wait(1.5)
        self.assertEqual(watcher.drain(), [])
        online = watcher.subscribe(name, sync=True)["states"][0]["online"]
        self.assertEqual(online, [{"client": "other", "device": "phone"}])
        self.assertNotEqual(third.welcome["session"], first.welcome["session"])

    def test_ten_sessions_and_an_eleventh(self):
        name = self.name("a")
        held = [self.login(name, "d%d" % i) for i in range(10)]
        c = self.connect()
        got = c.call("login", {"account": name, "device": "d10"})
        data = self.rejected(got, 419, "session_quota", limit=10, count=10)
        state = held[0].subscribe(name, sync=True)["states"][0]
        self.assertEqual([o["device"] for o in state["online"]], ["d%d" % i for i in range(10)])
        self.login(name, "d3")          # replacing is no eleventh
        held[3].closing()
        held[5].ok("logout")
        held[5].eof()
        c.login(name, "d10")
        state = held[0].subscribe(name, sync=True)["states"][0]
        self.assertEqual(state["online"][-1]["device"], "d10")

    def test_the_oldest_session_without_a_connection_gives_way(self):
        service = self.fresh("--disconnect-grace", "300")
        name, server = self.name("a"), self.keep(service.server())
        held = [self.login(name, "d%d" % i, service) for i in range(10)]
        for i in (4, 2):
            held[i].close()
        # A connection's end may reach the service behind a later login on another one.
        self.await_lost(server, name, {"d2", "d4"})
        self.login(name, "new", service)
        state = held[0].subscribe(name, sync=True)["states"][0]
        self.assertEqual([o["device"] for o in state["online"]],
                         ["d%d" % i for i in range(10) if i != 2] + ["new"])

    def await_lost(self, server, account, devices):
        """Waits until the service knows that these devices' connections are lost."""
        end = time.monotonic() + WAIT
        while True:
            sessions = server.ok("sessions", {"account": account})["sessions"]
            if {s["device"] for s in sessions if s["connection"] == "grace"} == devices:
                return
            self.assertLess(time.monotonic(), end, sessions)
            threading.Event().wait(0.02)

    def test_logout(self):
        """At once: the grace is longer than any wait of a test."""
        service = self.fresh("--disconnect-grace", "300")
        name = self.name("a")
        watcher = self.login(self.name("w"), service=service)
        watcher.subscribe(name)
        one = self.login(name, "one", service, client="ios")
        two = self.login(name, "two", service, client="web")
        self.assertEqual([watcher.event()["cause"] for _ in range(2)], ["login"] * 2)
        self.assertEqual(one.ok("logout"), {})
        self.assertEqual([f for f in one.eof() if f.get("method") == "events"
                          and f["params"]["events"][0]["publisher"] != name], [])
        e = watcher.event()
        self.assertEqual((e["value"], e["cause"]), (2, "logout"))
        self.assertEqual((e["client"], e["device"]), ("ios", "one"))
        self.assertEqual(e["online"], [{"client": "web", "device": "two"}])
        self.assertNotIn("lastSeen", e)
        two.ok("logout")
        e = watcher.event()
        self.assertEqual((e["value"], e["online"], e["device"]), (2, [], "two"))
        self.assertLess(abs(e["lastSeen"] - e["time"]), 1000)

    def test_what_follows_logout_is_not_carried_out(self):
        name = self.name("a")
        c = self.login(name)
        c.raw(frame(request("logout", {}, 1)) +
              frame(request("subscribe", {"type": 1, "expiry": 60, "publishers": ["x"]}, 2)))
        ids = [f.get("id") for f in c.eof() if "id" in f]
        self.assertEqual(ids[0], 1)
        self.assertEqual(self.login(name).welcome["subscriptions"], 0)

    def test_open_service_needs_an_account(self):
        c = self.connect()
        got = c.call("login", {"device": "d"})
        self.assertIn(got["error"]["code"], (401, 414))


class Moving(Case):
    """Publishers that never rest: they would run into the rate limit within half a second."""

    flags = ("--rate-limits", "off")

    def test_changes_during_the_list_come_after_it(self):
        """Logs in again and again while publishers move: nothing older follows newer."""
        watcher = self.name("w")
        names = ["busy-%d" % i for i in range(150)]
        first = self.login(watcher)
        first.subscribe(*names[:100])
        first.subscribe(*names[100:])
        movers = [self.login(n) for n in names[::30]]
        stop = threading.Event()
        last = {}

        def move():
            value = 10000
            while not stop.is_set():
                value += 1
                for m in movers:
                    last[m.account] = m.publish(value)["seq"]
        thread = threading.Thread(target=move)
        thread.start()
        late = []
        try:
            for i in range(8):
                c = self.connect()
                c.post("login", {"account": watcher, "device": "late-%d" % i, "sync": "all"})
                late.append(c)
                threading.Event().wait(0.05)
        finally:
            threading.Event().wait(0.2)
            stop.set()
            thread.join()
        for c in late:
            c.answer(1)
            seen = {}
            listed = 0
            done = 0
            # One that has not read in time is sent the newest states when it reads: after an answer.
            for _ in range(1000):
                c.ok("ping")
                for note in c.notes[done:]:
                    if note["method"] == "synced":
                        self.assertEqual(note["params"]["count"], listed)
                    if note["method"] != "events":
                        continue
                    for e in note["params"]["events"]:
                        if note["params"].get("sync"):
                            listed += 1
                        before = seen.get(e["publisher"], -1)
                        self.assertGreaterEqual(e["seq"], before, e)
                        seen[e["publisher"]] = e["seq"]
                done = len(c.notes)
                if all(seen.get(m.account) == last[m.account] for m in movers):
                    break
            self.assertEqual(listed, 150)
            for m in movers:
                self.assertEqual(seen[m.account], last[m.account])
