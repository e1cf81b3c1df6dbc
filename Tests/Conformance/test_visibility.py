"""Which sessions see an account: leases, `setVisibility`, `setAvailability`."""

from people import People


class Leases(People):
    """What a session hears by which lease."""

    def test_without_contacts_a_session_hears_its_own_subscriptions_only(self):
        a, b = self.pair()
        plain = self.login(a.account, "plain")
        self.befriend(a, b)
        b.publish(10001)
        self.assertEqual(a.event()["value"], 10001)
        self.assertEqual(self.news(plain), ([], []))
        plain.subscribe(b.account)
        b.publish(10002)
        for c in (a, plain):
            self.assertEqual(c.event()["value"], 10002)
        # The approval ends; the subscription stays.
        self.say(b, a, "deny")
        self.assertEqual(self.news(a), (["deny"], []))
        b.publish(10003)
        for c in (a, plain):
            self.assertEqual(c.event()["value"], 10003)
        # The other way round.
        self.say(a, b, "request")
        self.say(b, a, "accept")
        self.assertEqual(self.news(a), (["accept"], []))
        a.ok("unsubscribe", {"type": 1})
        b.publish(10004)
        self.assertEqual(a.event()["value"], 10004)
        self.assertEqual(self.news(plain), ([], []))

    def test_login_lists(self):
        a, b, c = self.person("a"), self.person("b"), self.person("c")
        self.befriend(a, b)
        a.subscribe(c.account)
        for contacts, sync, want in (
                (True, "all", {b.account, c.account}), (True, "online", {b.account, c.account}),
                (False, "all", {c.account}), (False, "online", {c.account}),
                (True, "none", set())):
            again = self.login(a.account, "d9", contacts=contacts, sync=sync)
            self.assertEqual({e["publisher"] for e in again.list}, want)
            self.assertEqual(again.welcome["subscriptions"], 1)
        b.ok("logout")
        again = self.login(a.account, "d9", contacts=True)
        self.assertEqual({e["publisher"] for e in again.list}, {c.account})
        again = self.login(a.account, "d9", contacts=True, sync="all")
        self.assertEqual({e["publisher"] for e in again.list}, {b.account, c.account})

    def test_approvals_are_no_subscriptions(self):
        a, b = self.pair()
        self.befriend(a, b)
        self.assertEqual(a.ok("subscriptions"), {"subscriptions": [], "count": 0})
        self.assertEqual(a.ok("unsubscribe", {"type": 1}), {"removed": 0, "count": 0})
        b.publish(10001)
        self.assertEqual(a.event()["value"], 10001)
        app = self.server()
        entry, = app.ok("subscribers", {"type": 1, "publisher": b.account})["subscribers"]
        self.assertEqual((entry["account"], entry["approved"], "expires" in entry),
                         (a.account, True, False))
        a.subscribe(b.account)
        entry, = app.ok("subscribers", {"type": 1, "publisher": b.account})["subscribers"]
        self.assertEqual((entry["approved"], "expires" in entry), (True, True))

    def test_an_approval_is_for_presence_only(self):
        a, b = self.pair()
        self.befriend(a, b)
        b.publish(10001, type=100)
        self.assertEqual(self.news(a), ([], []))
        a.subscribe(b.account, type=100)
        b.publish(10002, type=100)
        self.assertEqual(a.event()["value"], 10002)


class Visible(People):
    def set(self, c, visibility, want=None):
        self.assertEqual(c.ok("setVisibility", {"visibility": visibility}),
                         {"visibility": want or visibility})

    def test_what_each_hears_as_the_visibility_changes(self):
        b = self.person("b")
        contact, watcher, both, plain = (
            self.person("contact"), self.person("watcher"), self.person("both"), None)
        for c in (contact, both):
            self.befriend(c, b)
        for c in (watcher, both):
            c.subscribe(b.account)
        plain = self.login(both.account, "plain")
        sees = {"open": {contact, watcher, both, plain}, "approved": {contact, both},
                "hidden": set()}
        now = "open"
        value = 10000
        for after in ("approved", "open", "hidden", "approved", "hidden", "open", "open"):
            self.set(b, after)
            for c in (contact, watcher, both, plain):
                causes = ["hidden"] if c in sees[now] - sees[after] else \
                    ["shown"] if c in sees[after] - sees[now] else []
                notes = self.quiet(c)
                events = [e for n in notes for e in n["params"].get("events", [])]
                with self.subTest(now=now, after=after, account=c.account):
                    self.assertEqual([e["cause"] for e in events], causes)
                    for e in events:
                        self.assertEqual(e["publisher"], b.account)
                        if e["cause"] == "hidden":
                            self.assertEqual((e["value"], e["online"]), (0, []))
                            self.assertFalse({"status", "lastSeen", "client", "device", "ext"}
                                             & set(e))
                        else:
                            self.assertEqual(len(e["online"]), 1)
            now = after
            value += 1
            b.publish(value)
            for c in (contact, watcher, both, plain):
                with self.subTest(now=now, account=c.account):
                    self.assertEqual(self.news(c)[1], ["publish"] if c in sees[now] else [])
            for c, contacts in ((contact, True), (watcher, True), (both, True), (plain, False)):
                again = self.login(c.account, "again", sync="all", contacts=contacts)
                e, = again.list
                with self.subTest(now=now, account=c.account, contacts=contacts):
                    if c in sees[now]:
                        self.assertEqual((e["value"], len(e["online"])), (value, 1))
                    else:
                        self.assertEqual((e["value"], e["online"], "status" in e), (0, [], False))
                again = self.login(c.account, "again", contacts=contacts)
                self.assertEqual(len(again.list), 1 if c in sees[now] else 0)
                again.ok("logout")
                again.close()

    def test_nothing_is_said_of_logins_while_hidden(self):
        b, w = self.person("b"), self.person("w")
        self.befriend(w, b)
        w.subscribe(b.account)
        self.set(b, "hidden")
        self.assertEqual(self.news(w)[1], ["hidden"])
        second = self.login(b.account, "d2")
        second.publish(10001)
        second.ok("setAvailability", {"show": "away"})
        second.ok("clear", {"type": 1})
        second.ok("logout")
        self.server().ok("kick", {"account": b.account})
        again = self.login(b.account)
        self.assertEqual(self.news(w), ([], []))
        self.set(again, "default", "open")
        self.assertEqual(self.news(w)[1], ["shown"])

    def test_a_new_subscription_is_rejected_whole(self):
        b, c, w = self.person("b"), self.person("c"), self.person("w")
        w.subscribe(b.account)
        self.set(b, "approved")
        self.set(c, "hidden")
        self.quiet(w)
        names = ["nobody-knows", b.account, "open", c.account]
        data = self.rejected(
            w.call("subscribe", {"type": 1, "expiry": 600, "publishers": names, "sync": True}),
            403, "not_permitted", field="publishers")
        self.assertEqual(data["failed"], [
            {"publisher": b.account, "reason": "not_permitted"},
            {"publisher": c.account, "reason": "not_permitted"}])
        got = w.ok("subscriptions")
        self.assertEqual([s["publisher"] for s in got["subscriptions"]], [b.account])
        self.rejected(w.call("subscribe", {"type": 100, "expiry": 600, "publishers": [b.account]}),
                      403, "not_permitted")
        # For an account that an app server acts for, too.
        self.rejected(self.server().call("subscribe", {
            "account": w.account, "type": 1, "expiry": 600, "publishers": [b.account]}),
            403, "not_permitted")
        self.assertEqual(w.ok("unsubscribe", {"type": 1}), {"removed": 1, "count": 0})

    def test_an_account_that_subscribes_to_itself_always_sees_itself(self):
        b = self.person("b")
        second = self.login(b.account, "d2")
        for visibility in ("open", "approved", "hidden"):
            self.set(b, visibility)
            self.assertEqual(b.subscribe(b.account, sync=True)["states"][0]["value"], 1)
            for c in (b, second):
                self.assertEqual([x for x in self.news(c)[1] if x in ("hidden", "shown")], [])
            second.publish(10001)
            self.assertEqual(b.event()["cause"], "publish")
            second.ok("clear", {"type": 1})
            self.assertEqual(b.event()["cause"], "cleared")
            again = self.login(b.account, "d3")
            self.assertEqual([len(e["online"]) for e in again.list], [3])
            again.ok("logout")
            self.assertEqual([e["cause"] for e in b.drain()], ["login", "logout"])

    def test_app_servers_see_everything(self):
        b = self.person("b")
        self.set(b, "hidden")
        app = self.server()
        state, = app.ok("query", {"type": 1, "accounts": [b.account]})["states"]
        self.assertEqual((state["value"], len(state["online"])), (1, 1))
        self.assertEqual(len(app.ok("sessions", {"account": b.account})["sessions"]), 1)
        reader = self.server()
        reader.ok("feed")
        while not reader.note("feed")["params"].get("synced"):
            pass
        b.publish(10001)
        event, = reader.note("feed")["params"]["events"]
        self.assertEqual((event["publisher"], event["value"]), (b.account, 10001))
        # Nothing has happened to the account when it shows itself.
        self.set(b, "open")
        self.set(b, "hidden")
        b.publish(10002)
        event, = reader.note("feed")["params"]["events"]
        self.assertEqual(event["cause"], "publish")

    def test_custom_types(self):
        b, w = self.person("b"), self.person("w")
        w.subscribe(b.account, type=100)
        w.subscribe(b.account, type=200)
        b.publish(10001, type=100)
        self.quiet(w)
        self.set(b, "approved")
        events = [e for n in self.quiet(w) for e in n["params"]["events"]]
        self.assertEqual([(e["type"], e["cause"], e["value"]) for e in events if e["type"] == 100],
                         [(100, "hidden", 0)])
        b.publish(10002, type=100)
        self.assertEqual(self.news(w), ([], []))
        self.set(b, "default", "open")
        events = [e for n in self.quiet(w) for e in n["params"]["events"] if e["type"] == 100]
        self.assertEqual([(e["cause"], e["value"]) for e in events], [("shown", 10002)])

    def test_an_app_server_sets_it_for_an_account(self):
        b, w = self.name("b"), self.person("w")
        w.subscribe(b)
        app = self.server()
        self.assertEqual(app.ok("setVisibility", {"account": b, "visibility": "hidden"}),
                         {"visibility": "hidden"})
        self.login(b)
        self.assertNotIn("login", self.news(w)[1])

    def test_who_is_accepted_while_hidden_sees_nothing_until_shown(self):
        a, b = self.pair()
        self.set(b, "hidden")
        self.say(a, b, "request")
        self.say(b, a, "accept")
        self.assertEqual(self.news(a), (["accept"], []))
        self.set(b, "approved")
        self.assertEqual(self.news(a), ([], ["shown"]))


class DefaultVisibility(People):
    """The setting `visibility`."""

    flags = None

    def test_approved(self):
        s = self.limited(visibility="approved")
        a, b = self.pair(s)
        data = self.rejected(a.call("subscribe", {
            "type": 1, "expiry": 600, "publishers": [b.account, "not-there"]}), 403,
            "not_permitted")
        self.assertEqual(len(data["failed"]), 2)
        self.befriend(a, b)
        b.publish(10001)
        self.assertEqual(a.event()["value"], 10001)
        self.assertEqual(b.ok("setVisibility", {"visibility": "default"}),
                         {"visibility": "approved"})
        b.ok("setVisibility", {"visibility": "open"})
        a.subscribe(b.account)

    def test_hidden(self):
        s = self.limited(visibility="hidden")
        a, b = self.pair(s)
        self.say(a, b, "request")
        self.say(b, a, "accept")
        self.assertEqual(self.news(a), (["accept"], []))
        self.assertEqual(b.ok("setVisibility", {"visibility": "approved"}),
                         {"visibility": "approved"})
        self.assertEqual(self.news(a), ([], ["shown"]))
        self.assertEqual(b.ok("setVisibility", {"visibility": "default"}),
                         {"visibility": "hidden"})
        self.assertEqual(self.news(a), ([], ["hidden"]))


class Availability(People):
    def test_events_and_states(self):
        w, b = self.person("w"), self.person("b", client="ios")
        w.subscribe(b.account)
        second = self.login(b.account, "d2")
        self.quiet(w)
        self.quiet(b)
        self.assertEqual(second.ok("setAvailability", {
            "show": "away", "text": "é\n", "priority": -3}), {})
        device = {"client": "other", "device": "d2", "show": "away", "text": "é\n", "priority": -3}
        for c in (w, b):
            event = c.event()
            self.assertEqual((event["cause"], event["value"], event["client"], event["device"]),
                             ("changed", 1, "other", "d2"))
            self.assertEqual(event["online"], [{"client": "ios", "device": "d1"}, device])
        self.assertEqual(self.news(second), ([], []))
        again = self.login(w.account, "d2")
        self.assertEqual(again.list[0]["online"][1], device)
        # Nothing changes: no event.
        second.ok("setAvailability", {"show": "away", "text": "é\n", "priority": -3})
        self.assertEqual(self.news(w), ([], []))
        second.ok("setAvailability", {"text": ""})
        self.assertEqual(w.event()["online"][1],
                         {"client": "other", "device": "d2", "text": ""})
        second.ok("setAvailability")
        self.assertEqual(w.event()["online"][1], {"client": "other", "device": "d2"})

    def test_it_ends_with_the_session_and_not_with_the_connection(self):
        w, b = self.person("w"), self.person("b")
        w.subscribe(b.account)
        b.ok("setAvailability", {"show": "dnd"})
        self.quiet(w)
        b.reset()
        again = self.login(b.account)
        state = w.subscribe(b.account, sync=True)["states"][0]
        self.assertEqual(state["online"], [{"client": "other", "device": "d1", "show": "dnd"}])
        again.ok("logout")
        self.login(b.account)
        self.assertEqual([e["online"] for e in w.drain()],
                         [[], [{"client": "other", "device": "d1"}]])

    def test_with_a_status_the_value_is_that_of_the_status(self):
        w, b = self.person("w"), self.person("b")
        w.subscribe(b.account)
        b.publish(10001, ext="x")
        self.quiet(w)
        b.ok("setAvailability", {"show": "xa"})
        event = w.event()
        self.assertEqual((event["cause"], event["value"], event["status"]["ext"]),
                         ("changed", 10001, "x"))

    def test_every_word(self):
        b = self.person("b")
        for show in ("chat", "away", "xa", "dnd", "available"):
            b.ok("setAvailability", {"show": show, "priority": 127})
            state, = b.subscribe(b.account, sync=True)["states"]
            device, = state["online"]
            self.assertEqual(device.get("show", "available"), show)
            self.assertEqual(device["priority"], 127)
        b.ok("setAvailability", {"priority": -128, "text": "é" * 512})

    def test_app_servers_have_none(self):
        self.rejected(self.server().call("setAvailability", {"show": "away"}), 403, "forbidden")
