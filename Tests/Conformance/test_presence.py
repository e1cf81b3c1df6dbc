"""§6: what makes 1, 2 and 3, with the graces and push."""

import threading
import time

from porchlight import WAIT, Case


def wait(seconds):
    threading.Event().wait(seconds)


class NoGrace(Case):
    flags = ("--disconnect-grace", "0", "--heartbeat", "5")
    weight = 9

    def test_lost_connection_is_3_at_once(self):
        for how in ("close", "reset", "half_close"):
            with self.subTest(how):
                p = self.login(self.name("p"), "phone", client="android")
                w = self.login(self.name("w"))
                w.subscribe(p.account)
                getattr(p, how)()
                e = w.event()
                self.assertEqual((e["value"], e["cause"]), (3, "disconnect"))
                self.assertEqual((e["client"], e["device"]), ("android", "phone"))
                self.assertEqual(e["online"], [])
                self.assertTrue(p.welcome["time"] <= e["lastSeen"] <= e["time"], e)
                state = w.subscribe(p.account, sync=True)["states"][0]
                self.assertEqual((state["value"], state["lastSeen"]), (3, e["lastSeen"]))

    def test_garbage_is_a_disconnect(self):
        p = self.login(self.name("p"))
        w = self.login(self.name("w"))
        w.subscribe(p.account)
        p.raw(b"\xff\xff\xff\xff")
        self.assertEqual(p.closing()["code"], 4400)
        self.assertEqual(w.event()["value"], 3)

    def test_one_of_two_devices_is_lost(self):
        p = self.login(self.name("p"), "a")
        q = self.login(p.account, "b")
        w = self.login(self.name("w"))
        w.subscribe(p.account)
        p.close()
        e = w.event()
        self.assertEqual((e["value"], e["device"]), (3, "a"))
        self.assertEqual([o["device"] for o in e["online"]], ["b"])
        self.assertNotIn("lastSeen", e)
        state = w.subscribe(p.account, sync=True)["states"][0]
        self.assertEqual([o["device"] for o in state["online"]], ["b"])
        q.ok("ping")

    def test_heartbeat(self):
        """Silence ends a session after one and a half heartbeats; a keep-alive is not silence."""
        quiet = self.login(self.name("quiet"))
        quiet.answers_pings = False
        self.assertEqual(quiet.welcome["heartbeat"], 5)
        alive = self.login(self.name("alive"))
        w = self.login(self.name("w"))
        w.subscribe(quiet.account, alive.account)
        began = time.monotonic()
        closed = {}

        def listen():
            closed["params"] = quiet.closing()
            closed["after"] = time.monotonic() - began
        thread = threading.Thread(target=listen)
        thread.start()
        while thread.is_alive():
            alive.raw(b"\0\0\0\0")
            w.ok("ping")
            wait(0.5)
        thread.join()
        self.assertEqual((closed["params"]["code"], closed["params"]["reason"]),
                         (4408, "idle_timeout"))
        # Not earlier. How late it may be is a matter of the simulator, which has its own clock.
        self.assertGreater(closed["after"], 6.9)
        e = w.event()
        self.assertEqual((e["publisher"], e["value"], e["cause"]), (quiet.account, 3, "disconnect"))
        self.assertEqual(w.drain(), [])
        alive.ok("ping")


class Grace(Case):
    flags = ("--disconnect-grace", "1")
    weight = 6

    def test_disconnect_comes_after_the_grace(self):
        p = self.login(self.name("p"))
        w = self.login(self.name("w"))
        w.subscribe(p.account)
        app = self.keep(self.service.server())
        p.close()
        began = time.monotonic()
        # Still there for others. A query waits for no disk, which may take as long as the grace.
        state = app.ok("query", {"type": 1, "accounts": [p.account]})["states"][0]
        self.assertEqual(len(state["online"]), 1)
        e = w.event()
        self.assertEqual(e["value"], 3)
        self.assertGreater(time.monotonic() - began, 0.8)
        self.assertLess(time.monotonic() - began, WAIT)

    def test_another_device_is_no_return(self):
        p = self.login(self.name("p"), "a")
        w = self.login(self.name("w"))
        w.subscribe(p.account)
        p.close()
        self.login(p.account, "b")
        # The grace may end before a slow login.
        events = [w.event(), w.event()]
        self.assertEqual({(e["value"], e["device"]) for e in events}, {(1, "b"), (3, "a")})
        self.assertEqual([o["device"] for o in events[1]["online"]], ["b"])

    def test_return_after_the_grace_is_a_login(self):
        p = self.login(self.name("p"))
        w = self.login(self.name("w"))
        w.subscribe(p.account)
        p.close()
        self.assertEqual(w.event()["value"], 3)
        self.login(p.account)
        e = w.event()
        self.assertEqual((e["value"], e["cause"]), (1, "login"))
        self.assertNotIn("lastSeen", e)

    def test_order_of_online_is_the_order_of_login(self):
        name = self.name("p")
        for d in ("zeta", "alpha", "mid"):
            self.login(name, d)
        self.login(name, "zeta")        # a replacement
        w = self.login(self.name("w"))
        got = [o["device"] for o in w.subscribe(name, sync=True)["states"][0]["online"]]
        self.assertEqual(set(got), {"zeta", "alpha", "mid"})
        self.assertLess(got.index("alpha"), got.index("mid"))

    def test_push_reachable_stays_online(self):
        p = self.login(self.name("p"), "phone", client="ios", pushReachable=True)
        w = self.login(self.name("w"))
        w.subscribe(p.account)
        state = w.subscribe(p.account, sync=True)["states"][0]
        self.assertEqual(state["online"], [{"client": "ios", "device": "phone"}])
        p.close()
        state = self.state_with_push(w, p.account)
        self.assertEqual(w.drain(), [])
        self.assertEqual(state["online"], [{"client": "ios", "device": "phone", "push": True}])
        self.assertEqual(state["value"], 1)
        self.assertNotIn("lastSeen", state)
        listed = self.login(w.account, "d2").list
        self.assertEqual([e["publisher"] for e in listed], [p.account])
        # Another device's event shows it, too; a return takes the mark away without an event.
        q = self.login(p.account, "tab", client="web")
        e = w.event()
        self.assertEqual(e["online"], [{"client": "ios", "device": "phone", "push": True},
                                       {"client": "web", "device": "tab"}])
        q.ok("logout")
        self.assertEqual(w.event()["online"],
                         [{"client": "ios", "device": "phone", "push": True}])
        p = self.login(p.account, "phone", client="ios", pushReachable=True)
        w.drain()
        state = w.subscribe(p.account, sync=True)["states"][0]
        self.assertEqual(state["online"], [{"client": "ios", "device": "phone"}])
        p.ok("logout")
        e = w.event()
        self.assertEqual((e["value"], e["online"]), (2, []))

    def test_push_reachable_is_kicked(self):
        p = self.login(self.name("p"), "phone", pushReachable=True)
        w = self.login(self.name("w"))
        w.subscribe(p.account)
        p.close()
        self.state_with_push(w, p.account)
        self.server().ok("kick", {"account": p.account})
        e = w.event()
        self.assertEqual((e["value"], e["cause"], e["online"]), (2, "kicked", []))


class ReturnInTime(Case):
    flags = ("--disconnect-grace", "10")
    weight = 14

    def test_is_no_event(self):
        w = self.login(self.name("w"))
        names = [self.name("p%d" % i) for i in range(5)]
        w.subscribe(*names)
        for name in names:
            lost = self.login(name)
            w.event()
            # One at a time: each has the whole grace for its login.
            lost.reset()
            self.login(name)
        wait(10.6)
        self.assertEqual(w.drain(), [])


class PushOffline(Case):
    flags = ("--disconnect-grace", "0", "--push-reachable", "offline")

    def test_as_any_other(self):
        p = self.login(self.name("p"), "phone", pushReachable=True)
        w = self.login(self.name("w"))
        w.subscribe(p.account)
        p.close()
        e = w.event()
        self.assertEqual((e["value"], e["cause"], e["online"]), (3, "disconnect", []))
