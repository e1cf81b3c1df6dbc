"""§6 and §4: stops, restarts and crashes."""

import random
import threading
import unittest

from porchlight import Case, Closed, Service, Timeout, frame, request


class Stop(Case):
    flags = None
    weight = 6

    def test_sigterm_notifies_every_client_and_exits_with_0(self):
        s = self.fresh()
        clients = [self.login("c%d" % i, service=s) for i in range(30)]
        stranger = self.keep(s.connect())
        # Over TLS a client is through before the service has read its last message.
        stranger.call("ping")
        self.assertEqual(s.terminate(), 0)
        for c in clients + [stranger]:
            closing = c.closing()
            self.assertEqual((closing["code"], closing["reason"]), (4503, "shutting_down"))
            self.assertIsInstance(closing["retryAfter"], (int, float))

    def test_several_loops_end_in_order(self):
        for clients in (0, 3):
            s = self.keep(Service("--loops", "3"))
            held = [self.login("l%d" % i, service=s) for i in range(clients)]
            self.assertEqual(s.terminate(), 0)
            for c in held:
                self.assertEqual(c.closing()["code"], 4503)

    def test_sigint_too(self):
        import signal
        s = self.fresh()
        c = self.login("c", service=s)
        s.signal(signal.SIGINT)
        self.assertEqual(s.wait(), 0)
        self.assertEqual(c.closing()["code"], 4503)

    def test_requests_in_flight_are_answered_or_not_carried_out(self):
        s = self.fresh()
        c = self.login("c", service=s)
        c.raw(b"".join(frame(request("subscribe", {"type": 1, "expiry": 3600,
                                                   "publishers": ["p%d" % i]}, i))
                       for i in range(2, 502)))
        self.assertEqual(s.terminate(), 0)
        acked = {f["id"] for f in c.eof() if "result" in f}
        s.start()
        again = self.login("c", service=s)
        have, cursor = set(), None
        while True:
            got = again.ok("subscriptions", {"limit": 1000, **({"cursor": cursor} if cursor else {})})
            have |= {int(x["publisher"][1:]) for x in got["subscriptions"]}
            cursor = got.get("cursor")
            if not cursor:
                break
        self.assertLessEqual(acked, have)

    def test_a_reader_that_does_not_read_does_not_hold_the_stop(self):
        s = self.fresh()
        deaf = self.keep(s.connect(receive_buffer=4096))
        deaf.login("deaf")
        deaf.subscribe(*("x%d" % i for i in range(100)))
        for _ in range(100):
            deaf.post("subscriptions", {"limit": 1000})
        self.assertEqual(s.terminate(12), 0)


class Around:
    """A grace that is long enough for some logins on a slow machine, and waited for."""

    flags = None
    weight = 14

    def around(self, end):
        """A client that reconnects in time causes no event; one that does not, 3 `restart`."""
        s = self.fresh("--restart-grace", 10, "--disconnect-grace", 0)
        back = self.login("back", "phone", service=s, client="ios")
        gone = self.login("gone", "phone", service=s, client="ios")
        half1 = self.login("half", "one", service=s)
        self.login("half", "two", service=s)
        w = self.login("w", service=s)
        w.subscribe("back", "gone", "half")
        sent = back.publish(10001, ext="kept", onlineOnly=False)
        other = gone.publish(10002, type=100, onlineOnly=False)
        seqs = {e["publisher"]: e["seq"] for e in w.subscribe("back", "gone", "half",
                                                             sync=True)["states"]}
        known = {e["id"] for e in w.drain()}
        end(s)
        s.start()
        w = self.login("w", service=s, sync="all")
        self.assertEqual(w.welcome["subscriptions"], 3)
        states = {e["publisher"]: e for e in w.list}
        self.assertEqual([o["device"] for o in states["gone"]["online"]], ["phone"])
        self.assertEqual([o["device"] for o in states["half"]["online"]], ["one", "two"])
        self.assertEqual(states["back"]["status"]["ext"], "kept")
        self.assertEqual(states["back"]["status"]["expires"], sent["expires"])
        back = self.login("back", "phone", service=s, client="ios")
        half1 = self.login("half", "one", service=s)
        events = {e["publisher"]: e for e in (w.event(), w.event())}
        self.assertEqual(set(events), {"gone", "half"})
        for name, device, left in (("gone", "phone", []), ("half", "two", ["one"])):
            e = events[name]
            self.assertEqual((e["value"], e["cause"], e["device"]), (3, "restart", device))
            self.assertEqual([o["device"] for o in e["online"]], left)
            self.assertGreater(e["seq"], seqs[name])
            self.assertNotIn(e["id"], known)
        self.assertIn("lastSeen", events["gone"])
        self.assertNotIn("lastSeen", events["half"])
        got = back.publish(10003)
        self.assertGreater(got["seq"], sent["seq"])
        self.assertEqual(w.event()["id"], got["id"])
        self.assertEqual(w.drain(), [])
        w.subscribe("gone", type=100)
        state = w.subscribe("gone", type=100, sync=True)["states"][0]
        self.assertEqual(state["value"], 10002)
        self.assertGreaterEqual(state["seq"], other["seq"])
        half1.ok("ping")


class ReturnAfterStop(Around, Case):
    def test_after_sigterm(self):
        self.around(lambda s: self.assertEqual(s.terminate(), 0))


class ReturnAfterKill(Around, Case):
    def test_after_kill(self):
        self.around(lambda s: s.kill())


class Restart(Case):
    flags = None
    weight = 6

    def test_logout_before_the_stop_is_final(self):
        s = self.fresh("--restart-grace", 1, "--disconnect-grace", 0)
        w = self.login("w", service=s)
        w.subscribe("a", "b")
        for n in "ab":
            c = self.login(n, service=s)
            c.ok("logout")
            c.eof()
        seen = {e["publisher"]: e["lastSeen"] for e in w.subscribe("a", "b", sync=True)["states"]}
        s.terminate()
        s.start()
        w = self.login("w", service=s, sync="all")
        for e in w.list:
            self.assertEqual((e["value"], e["online"]), (2, []))
            self.assertEqual(e["lastSeen"], seen[e["publisher"]])
        threading.Event().wait(1.6)
        self.assertEqual(w.drain(), [])

    def test_push_reachable_survives_the_restart(self):
        s = self.fresh("--restart-grace", 1, "--disconnect-grace", 0)
        self.login("p", "phone", service=s, pushReachable=True)
        w = self.login("w", service=s)
        w.subscribe("p")
        s.terminate()
        s.start()
        w = self.login("w", service=s)
        state = self.state_with_push(w, "p")
        self.assertEqual(w.drain(), [])
        self.assertEqual(state["online"],
                         [{"client": "other", "device": "phone", "push": True}])

    def test_grace_zero(self):
        s = self.fresh("--restart-grace", 0, "--disconnect-grace", 0)
        self.login("p", service=s)
        self.login("w", service=s).subscribe("p")
        s.kill()
        s.start()
        w = self.login("w", service=s, sync="all")
        state = w.list[0]
        if state["online"]:
            state = w.event()
        self.assertEqual((state["value"], state["online"]), (3, []))

    def test_durations_of_subscriptions_stay(self):
        s = self.fresh()
        w = self.login("w", service=s)
        w.subscribe("a", expiry=3600)
        w.subscribe("b", type=100, expiry=7200)
        before = w.ok("subscriptions")
        s.kill()
        s.start()
        self.assertEqual(self.login("w", service=s).ok("subscriptions"), before)


class Crash(Case):
    """kill -9 in the middle of writes, again and again; what was acknowledged must be there."""

    flags = None
    weight = 30
    ROUNDS = 20
    WRITERS = 4

    def write(self, s, number, state, rng, stop):
        """Random subscribes, unsubscribes and publishes; `state` holds what was acknowledged."""
        try:
            c = s.login("writer-%d" % number)
            while not stop.is_set():
                names = ["p%d" % rng.randrange(60) for _ in range(rng.randrange(1, 6))]
                kind = rng.random()
                if kind < 0.5:
                    state["unsure"] = set(names)
                    state["trying"] = "add"
                    expires = c.subscribe(*names, expiry=3600 + rng.randrange(1000))["expires"]
                    for n in names:
                        state["have"][n] = expires
                elif kind < 0.75:
                    state["unsure"] = set(names)
                    c.ok("unsubscribe", {"type": 1, "publishers": names})
                    for n in names:
                        state["have"].pop(n, None)
                else:
                    value = rng.randrange(10000, 1 << 31)
                    state["value unsure"] = True
                    got = c.publish(value, type=100, onlineOnly=False)
                    state["value"] = value
                    state["value unsure"] = False
                    self.check(got["seq"] > state["seq"], "seq fell: %r" % got)
                    state["seq"] = got["seq"]
                    state["kinds"] = state.get("kinds", 0) + 1
                    got = c.publish(value, type=1)      # not durable, but rising
                    self.check(got["seq"] > state["quick"], "quick seq fell: %r" % got)
                    state["quick"] = got["seq"]
                    self.check(got["id"] not in state["ids"], "an id came twice: %r" % got)
                    state["ids"].add(got["id"])
                state["unsure"] = set()
        except (Closed, Timeout, OSError):
            pass

    def check(self, holds, text):
        if not holds:
            self.faults.append(text)

    def test_acknowledged_changes_survive(self):
        seed = random.randrange(1 << 30)
        rng = random.Random(seed)
        self.faults = []
        s = self.fresh("--restart-grace", 0, "--disconnect-grace", 0, "--rate-limits", "off")
        states = [{"have": {}, "unsure": set(), "value": None, "value unsure": False,
                   "seq": -1, "quick": -1, "ids": set()} for _ in range(self.WRITERS)]
        for turn in range(self.ROUNDS):
            stop = threading.Event()
            threads = [threading.Thread(target=self.write, args=(
                s, i, states[i], random.Random(seed * 1000 + turn * 10 + i), stop))
                for i in range(self.WRITERS)]
            for t in threads:
                t.start()
            threading.Event().wait(0.05 + rng.random() * 0.4)
            s.kill()
            stop.set()
            for t in threads:
                t.join(15)
            s.start()
            for i, state in enumerate(states):
                c = s.login("writer-%d" % i, sync="none")
                got = {x["publisher"]: x["expires"]
                       for x in c.ok("subscriptions", {"limit": 1000})["subscriptions"]}
                sure = {k: v for k, v in state["have"].items() if k not in state["unsure"]}
                mine = {k: v for k, v in got.items() if k not in state["unsure"]}
                self.check(sure == mine, "seed %d turn %d writer %d: lost %r, came back %r" % (
                    seed, turn, i, {k for k in sure if sure[k] != mine.get(k)},
                    set(mine) - set(sure)))
                state["have"] = got
                state["unsure"] = set()
                e = c.subscribe(c.account, type=100, sync=True)["states"][0]
                c.ok("unsubscribe", {"type": 100})
                value = e.get("status", {}).get("value")
                if state["value unsure"]:
                    state["value unsure"] = False
                else:
                    self.check(value == state["value"], "seed %d turn %d: status %r, not %r" % (
                        seed, turn, value, state["value"]))
                self.check(e["seq"] >= state["seq"], "seed %d turn %d: state's seq fell %r %r" % (
                    seed, turn, e["seq"], state["seq"]))
                state["value"] = value
                c.close()
        self.assertEqual(self.faults[:3], [])
        self.assertGreater(sum(st.get("kinds", 0) for st in states), 20, "nothing was written")
