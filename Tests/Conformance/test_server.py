"""§7: sessions of app servers."""

import hashlib
import os
import subprocess
import tempfile

from porchlight import BINARY, Case


class Server(Case):
    flags = ("--disconnect-grace", "1")

    def test_clients_are_forbidden(self):
        c = self.login(self.name("c"))
        for method, params in (("query", {"type": 1, "accounts": ["a"]}),
                               ("subscribers", {"type": 1, "publisher": "a"}),
                               ("sessions", {"account": "a"}), ("kick", {"account": "a"}),
                               ("stats", {})):
            with self.subTest(method=method):
                self.rejected(c.call(method, params), 403, "forbidden")

    def test_clients_are_forbidden_whatever_the_parameters(self):
        c = self.login(self.name("c"))
        for method in ("query", "subscribers", "sessions", "kick"):
            for params in ({}, {"type": 5, "account": 5, "accounts": 5, "publisher": 5}):
                with self.subTest(method=method, params=params):
                    self.rejected(c.call(method, params), 403, "forbidden")

    def test_client_does_not_act_for_another(self):
        """`account` is no field of a client's methods: ignored or rejected, never obeyed."""
        c, victim = self.login(self.name("c")), self.login(self.name("v"))
        w = self.login(self.name("w"))
        w.subscribe(victim.account)
        for method, params in (
                ("subscribe", {"type": 1, "expiry": 60, "publishers": ["x"]}),
                ("publish", {"type": 1, "value": 10000}), ("clear", {"type": 1}),
                ("unsubscribe", {"type": 1}), ("subscriptions", {})):
            got = c.call(method, {**params, "account": victim.account})
            if "error" in got:
                self.assertEqual(got["error"]["code"], 403)
        self.assertEqual(victim.ok("subscriptions")["count"], 0)
        self.assertEqual(w.drain(), [])

    def test_login_result_has_no_account_and_no_list(self):
        s = self.server()
        self.assertNotIn("account", s.welcome)
        for field in ("session", "time", "heartbeat", "limits"):
            self.assertIn(field, s.welcome)

    def test_account_is_needed(self):
        s = self.server()
        for method, params in (
                ("subscribe", {"type": 1, "expiry": 60, "publishers": ["x"]}),
                ("unsubscribe", {"type": 1}), ("subscriptions", {}),
                ("publish", {"type": 1, "value": 10000}), ("clear", {"type": 1})):
            with self.subTest(method=method):
                self.rejected(s.call(method, params), 414, "missing_field", field="account")

    def test_account_is_checked(self):
        s = self.server()
        for account in ("", "x" * 129, "a\n", " a"):
            got = s.call("publish", {"account": account, "type": 1, "value": 10000})
            self.assertEqual(got["error"]["code"], 414)
            self.assertEqual(got["error"]["data"]["field"], "account")
        self.rejected(s.call("publish", {"account": 5, "type": 1, "value": 10000}), 414,
                      "wrong_type", field="account")

    def test_acting_for_an_account(self):
        s = self.server()
        a, p = self.name("a"), self.name("p")
        got = s.ok("subscribe", {"account": a, "type": 1, "expiry": 600, "publishers": [p],
                                 "sync": True})
        self.assertEqual((got["count"], len(got["states"])), (1, 1))
        self.assertEqual(s.ok("subscriptions", {"account": a})["subscriptions"][0]["publisher"], p)
        w = self.login(a)
        self.assertEqual(w.welcome["subscriptions"], 1)
        sent = s.ok("publish", {"account": p, "type": 1, "value": 10001, "ext": "x"})
        e = w.event()
        self.assertEqual((e["id"], e["value"], e["cause"], e["online"]),
                         (sent["id"], 10001, "publish", []))
        self.assertNotIn("device", e)
        self.assertNotIn("client", e)
        self.assertEqual(s.ok("clear", {"account": p, "type": 1}), {"cleared": True})
        self.assertEqual((w.event()["cause"]), "cleared")
        self.assertEqual(s.ok("unsubscribe", {"account": a, "type": 1}),
                         {"removed": 1, "count": 0})
        self.assertEqual(w.ok("subscriptions")["count"], 0)

    def test_subscribing_for_a_session_that_is_online(self):
        s = self.server()
        w, p = self.login(self.name("w")), self.login(self.name("p"))
        s.ok("subscribe", {"account": w.account, "type": 1, "expiry": 600,
                           "publishers": [p.account]})
        p.publish(10000)
        self.assertEqual(w.event()["value"], 10000)

    def test_no_presence(self):
        s = self.server()
        s2 = self.keep(self.service.server(account=self.name("srv"), device="d"))
        w = self.login(self.name("w"))
        states = w.subscribe(self.name("srv"), "server", sync=True)["states"]
        self.assertEqual([e["value"] for e in states], [0, 0])
        s2.close()
        s.ok("stats")

    def test_query(self):
        s = self.server()
        on = self.login(self.name("on"))
        names = ["nobody-%d" % i for i in range(499)]
        got = s.ok("query", {"type": 1, "accounts": names[:250] + [on.account] + names[250:]})
        self.assertEqual(set(got), {"states"})
        self.assertEqual([e["publisher"] for e in got["states"]],
                         names[:250] + [on.account] + names[250:])
        self.assertEqual([e["value"] for e in got["states"]], [0] * 250 + [1] + [0] * 249)
        self.assertEqual({e["cause"] for e in got["states"]}, {"sync"})
        data = self.rejected(s.call("query", {"type": 1, "accounts": names + ["x", "y"]}), 414,
                             "too_many", field="accounts")
        self.assertIn(500, (data.get("limit"), data.get("max")))
        for params, field in (({"type": 1}, "accounts"), ({"accounts": ["a"]}, "type")):
            self.rejected(s.call("query", params), 414, "missing_field", field=field)
        self.assertEqual(s.call("query", {"type": 1, "accounts": []})["error"]["code"], 414)
        self.rejected(s.call("query", {"type": 5, "accounts": ["a"]}), 414, "out_of_range",
                      field="type")

    def test_query_of_500_with_long_states(self):
        s = self.server()
        names = [self.name("long%d" % i) for i in range(100)]
        for n in names:
            s.ok("publish", {"account": n, "type": 100, "value": 10000, "ext": "\u0001" * 4096})
        # A frame of 1 MiB does not hold them, and an app server is sent no events.
        data = self.rejected(s.call("query", {"type": 100, "accounts": names}), 414, "too_many")
        self.assertNotIn("field", data)
        fit = data["limit"]
        self.assertTrue(0 < fit < 100)
        got = []
        for at in range(0, 100, fit):
            got += s.ok("query", {"type": 100, "accounts": names[at:at + fit]})["states"]
        self.assertEqual([e["publisher"] for e in got], names)
        self.assertEqual(s.drain(), [])

    def test_subscribers(self):
        s = self.server()
        p = self.name("p")
        names = sorted(self.name("w%02d" % i) for i in range(25))
        for n in names:
            s.ok("subscribe", {"account": n, "type": 1, "expiry": 600, "publishers": [p]})
        out, cursor = [], None
        for _ in range(30):
            got = s.ok("subscribers", {"type": 1, "publisher": p, "limit": 10,
                                       **({"cursor": cursor} if cursor else {})})
            lists = [v for v in got.values() if isinstance(v, list)]
            self.assertEqual(len(lists), 1)
            self.assertLessEqual(len(lists[0]), 10)
            out += lists[0]
            cursor = got.get("cursor")
            if not cursor:
                break
        self.assertEqual(len(out), 25)
        for entry in out:
            self.assertIn("expires", entry)
        self.assertEqual(sorted(v for e in out for v in e.values() if v in names), names)
        self.rejected(s.call("subscribers", {"type": 1, "publisher": p, "limit": 1001}), 414,
                      "out_of_range", field="limit", min=1, max=1000)

    def test_sessions(self):
        s = self.server()
        p = self.login(self.name("p"), "phone", client="ios")
        got = s.ok("sessions", {"account": p.account})
        entry, = [v for v in got.values() if isinstance(v, list)][0]
        self.assertEqual((entry["device"], entry["client"]), ("phone", "ios"))
        self.assertTrue(any("127.0.0.1" in v for v in entry.values() if isinstance(v, str)))
        self.assertIn("since", entry)
        nobody = s.ok("sessions", {"account": self.name("nobody")})
        self.assertEqual([v for v in nobody.values() if isinstance(v, list)], [[]])
        self.rejected(s.call("sessions", {}), 414, "missing_field", field="account")

    def test_kick(self):
        s = self.server()
        name = self.name("p")
        a, b = self.login(name, "a"), self.login(name, "b")
        w = self.login(self.name("w"))
        w.subscribe(name)
        self.assertEqual(s.ok("kick", {"account": name, "device": "a"}), {"kicked": 1})
        closing = a.closing()
        self.assertEqual((closing["code"], closing["reason"]), (4410, "kicked"))
        e = w.event()
        self.assertEqual((e["value"], e["cause"], e["device"]), (2, "kicked", "a"))
        self.assertEqual([o["device"] for o in e["online"]], ["b"])
        self.login(name, "c")
        w.event()
        self.assertEqual(s.ok("kick", {"account": name, "reason": "rude"}), {"kicked": 2})
        self.assertEqual(b.closing()["code"], 4410)
        events = [w.event(), w.event()]
        self.assertEqual([e["cause"] for e in events], ["kicked"] * 2)
        self.assertEqual(events[1]["online"], [])
        self.assertEqual(s.ok("kick", {"account": name}), {"kicked": 0})
        self.assertEqual(w.drain(), [])
        self.rejected(s.call("kick", {}), 414, "missing_field", field="account")

    def test_stats(self):
        s = self.server()
        self.login(self.name("x"))
        got = s.ok("stats")
        text = repr(got).lower()
        for word in ("account", "session", "subscription", "event"):
            with self.subTest(word=word):
                self.assertIn(word, text)

    def test_server_may_log_out(self):
        s = self.server()
        self.assertEqual(s.ok("logout"), {})
        s.eof()


class Key(Case):
    flags = None

    def setUp(self):
        super().setUp()
        handle, self.path = tempfile.mkstemp()
        os.write(handle, b"first-key-of-16-bytes\nsecond-key-of-16-bytes\n")
        os.close(handle)
        os.chmod(self.path, 0o600)
        self.addCleanup(os.unlink, self.path)

    def test_server_key(self):
        service = self.fresh("--server-key", self.path)
        for key in ("first-key-of-16-bytes", "second-key-of-16-bytes"):
            c = self.keep(service.connect())
            c.ok("login", {"key": key})
            c.ok("stats")
        for key in ("first-key-of-16-byte", "first-key-of-16-bytesx", "", "x" * 600,
                    "first-key-of-16-bytes\n", "first-key-of-16-bytes\nsecond-key-of-16-bytes"):
            with self.subTest(key=key):
                c = self.keep(service.connect())
                got = c.call("login", {"key": key})
                self.assertIn((got["error"]["code"], got["error"]["data"]["reason"]),
                              ((401, "invalid_token"), (414, "too_long")))
                self.rejected(c.call("stats"), 401, "not_logged_in")
        self.assertNotIn("first-key", service.log_text())

    def make(self, name):
        """What `porchlight key` prints: the key, and the line for the file."""
        done = subprocess.run([BINARY, "key", name], capture_output=True, timeout=60, check=True)
        return done.stdout.decode().strip(), done.stderr.decode().strip()

    def test_made_keys(self):
        key, line = self.make("billing")
        other, other_line = self.make("feed")
        self.assertEqual(line, "billing sha256:" + hashlib.sha256(key.encode()).hexdigest())
        with open(self.path, "w") as file:
            file.write("# two\n\n%s\n%s\n" % (line, other_line))
        service = self.fresh("--server-key", self.path, "--log-level", "info")
        for good in (key, other):
            self.keep(service.connect()).ok("login", {"key": good})
        for bad in (line, line.split(":")[1], key[:-1]):
            self.rejected(self.keep(service.connect()).call("login", {"key": bad}),
                          401, "invalid_token", field="key")
        log = service.log_text()
        self.assertIn("billing", log)
        self.assertNotIn(key, log)

    def test_plain_keys_are_warned_of(self):
        service = self.fresh("--server-key", self.path)
        log = service.log_text()
        self.assertIn("porchlight key NAME", log)
        self.assertNotIn("first-key", log)
