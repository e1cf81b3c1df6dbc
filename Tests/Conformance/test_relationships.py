"""Relationships: `relate`, `contacts`, the notification `contact`, both sides of a pair."""

import itertools
import threading
import time

from people import People

WORDS = ("request", "cancel", "accept", "deny")
# Of a pair (A, B): whether A sees B, and whether B sees A; 0 none, 1 asked, 2 accepted.
STATES = [(own, other) for own in (0, 1, 2) for other in (0, 1, 2)]


def outcome(state, word):
    """What a word of A does to a pair whose accounts are on each other's lists, and what B is
    told. From the table of the page."""
    own, other = state
    if word == "request":
        return ((1, other), ["request"]) if own == 0 else (state, [])
    if word == "cancel":
        return (0, other), ["cancel"] if own else []
    if word == "accept":
        return ((own, 2), ["accept"]) if other == 1 else (state, [])
    return (own, 0), ["deny"] if other else []


class Transitions(People):
    """Nine states, four words: 36 transitions, from both sides."""

    def transition(self, state, word):
        a, b = self.pair()
        self.bring(a, b, state)
        after, told = outcome(state, word)
        got = self.say(a, b, word)
        preapproved = word == "accept" and state[1] == 0
        self.assertEqual(got, self.expect(a, b, *after, preapproved=preapproved))
        self.expect(b, a, after[1], after[0])
        actions, causes = self.news(b)
        self.assertEqual(actions, told)
        self.assertEqual(causes, self.sight(state[1], after[1]))
        # The one that acts has its answer; it is told nothing, and sees what it may.
        again = ["shown"] if word == "request" and state[0] == 2 else []
        actions, causes = self.news(a)
        self.assertEqual((actions, causes), ([], self.sight(state[0], after[0]) + again))
        # What is said twice is said once; a request of who sees already repairs a client.
        self.assertEqual(self.say(a, b, word), got)
        self.assertEqual(self.news(b), ([], []))
        actions, causes = self.news(a)
        self.assertEqual(actions, [])
        self.assertIn(causes, ([], ["shown"]))

    @staticmethod
    def sight(before, after):
        if (before == 2) == (after == 2):
            return []
        return ["shown"] if after == 2 else ["hidden"]

    def test_all_36(self):
        for state, word in itertools.product(STATES, WORDS):
            with self.subTest(state=state, word=word):
                self.transition(state, word)

    def test_all_of_them_by_an_app_server(self):
        app = self.server()
        self.quiet(app)
        for state, word in itertools.product(STATES, WORDS):
            with self.subTest(state=state, word=word):
                a, b = self.pair()
                self.bring(a, b, state)
                after, told = outcome(state, word)
                app.ok("relate", {"account": a.account, "contact": b.account, "action": word})
                preapproved = word == "accept" and state[1] == 0
                entry = self.expect(a, b, *after, preapproved=preapproved)
                self.expect(b, a, after[1], after[0])
                self.assertEqual(self.news(b)[0], told)
                # The account itself has not done it, so it is told that its list has changed.
                notes = [n["params"] for n in self.quiet(a) if n["method"] == "contact"]
                changed = after != state or preapproved
                asked_only = state[1] == 1 and after == (state[0], 0)
                if changed and not asked_only:
                    self.assertEqual(notes, [{"contact": entry}])
                self.assertEqual(self.quiet(app), [])

    def test_removal_from_every_state(self):
        for state in STATES:
            with self.subTest(state=state):
                a, b = self.pair()
                self.bring(a, b, state)
                got = self.say(a, b, "remove")
                self.assertEqual(got, {"account": b.account, "subscription": "none",
                                       "listed": False})
                self.assertEqual(self.listed(a), {})
                self.expect(b, a, 0, 0)
                actions, causes = self.news(b)
                self.assertEqual(actions, (["cancel"] if state[0] else [])
                                 + (["deny"] if state[1] else []))
                self.assertEqual(causes, self.sight(state[1], 0))
                self.assertEqual(self.news(a), ([], self.sight(state[0], 0)))
                self.rejected(a.call("relate", {"contact": b.account, "action": "remove"}),
                              404, "unknown_contact", field="contact")

    def test_two_hundred_random_words(self):
        import random
        seed = random.randrange(1 << 30)
        rng = random.Random(seed)
        a, b = self.pair()
        self.bring(a, b, (0, 0))
        state, approves = (0, 0), [False, False]
        for step in range(150):
            word = rng.choice(WORDS)
            side = rng.choice((0, 1))
            actor, other = (a, b)[side], (b, a)[side]
            view = state if side == 0 else state[::-1]
            if word == "request" and view[0] == 0 and approves[1 - side]:
                after = (2, view[1])
                approves[1 - side] = False
            else:
                after, _ = outcome(view, word)
            if word == "accept" and view[1] == 0:
                approves[side] = True
            if word == "deny":
                approves[side] = False
            self.say(actor, other, word)
            state = after if side == 0 else after[::-1]
            with self.subTest(seed=seed, step=step, word=word):
                self.expect(a, b, *state, preapproved=approves[0])
                self.expect(b, a, *state[::-1], preapproved=approves[1])


class Requests(People):
    def test_a_request_has_its_text_and_adds_to_the_list_of_its_sender_only(self):
        a, b = self.pair()
        got = self.say(a, b, "request", text="é\n\u2028 hello")
        self.assertEqual(got, {"account": b.account, "subscription": "none", "ask": True})
        entry = {"account": a.account, "subscription": "none", "listed": False,
                 "request": {"text": "é\n\u2028 hello"}}
        self.assertEqual(b.note("contact")["params"], {"contact": entry, "action": "request"})
        page = b.ok("contacts")
        self.assertEqual((page["contacts"], page["count"]), ([entry], 0))
        self.assertEqual(a.ok("contacts")["count"], 1)
        self.rejected(b.call("relate", {"contact": a.account, "action": "remove"}), 404,
                      "unknown_contact", field="contact")

    def test_the_first_text_stays(self):
        a, b = self.pair()
        self.say(a, b, "request", text="one")
        self.say(a, b, "request", text="two")
        self.say(a, b, "request")
        self.assertEqual(self.listed(b)[a.account]["request"], {"text": "one"})
        self.assertEqual(self.news(b)[0], ["request"])
        self.say(a, b, "cancel")
        self.assertEqual(self.listed(b), {})
        self.say(a, b, "request", text="two")
        self.assertEqual(self.listed(b)[a.account]["request"], {"text": "two"})

    def test_a_request_to_an_absent_account_is_in_its_list_at_the_next_login(self):
        a, b = self.person("a"), self.name("absent")
        self.assertEqual(self.say(a, b, "request", text="hi"),
                         {"account": b, "subscription": "none", "ask": True})
        late = self.login(b, contacts=True)
        self.assertEqual(self.listed(late), {a.account: {
            "account": a.account, "subscription": "none", "listed": False,
            "request": {"text": "hi"}}})
        self.assertEqual(self.news(late), ([], []))
        self.say(late, a, "accept")
        self.assertEqual(a.note("contact")["params"]["action"], "accept")
        event = a.event()
        self.assertEqual((event["publisher"], event["cause"], len(event["online"])),
                         (b, "shown", 1))

    def test_an_acceptance_while_the_asker_is_away(self):
        a, b = self.pair()
        self.say(a, b, "request")
        a.ok("logout")
        self.say(b, a, "accept")
        again = self.login(a.account, contacts=True)
        self.assertEqual([e["publisher"] for e in again.list], [b.account])
        self.assertEqual(self.listed(again)[b.account]["subscription"], "to")

    def test_pre_approval_is_used_once(self):
        a, b = self.pair()
        self.assertEqual(self.say(b, a, "accept"),
                         {"account": a.account, "subscription": "none", "preapproved": True})
        self.assertEqual(self.news(a), ([], []))
        self.assertEqual(self.say(a, b, "request"),
                         {"account": b.account, "subscription": "to"})
        self.assertEqual(self.news(a), ([], ["shown"]))
        self.assertEqual(b.note("contact")["params"], {
            "contact": {"account": a.account, "subscription": "from"}})
        self.say(a, b, "cancel")
        self.assertEqual(self.say(a, b, "request"),
                         {"account": b.account, "subscription": "none", "ask": True})

    def test_pre_approval_can_be_taken_back(self):
        a, b = self.pair()
        self.say(b, a, "accept")
        self.say(b, a, "deny")
        self.assertTrue(self.say(a, b, "request").get("ask"))
        self.assertEqual(self.news(b)[0], ["request"])

    def test_a_denied_request_may_be_repeated(self):
        a, b = self.pair()
        for _ in range(3):
            self.say(a, b, "request")
            self.say(b, a, "deny")
        self.assertEqual(self.news(a)[0], ["deny"] * 3)
        self.assertEqual(self.news(b)[0], ["request"] * 3)
        self.assertEqual(self.listed(a)[b.account]["subscription"], "none")
        self.assertEqual(self.listed(b), {})

    def test_itself(self):
        a = self.person("a")
        for action in WORDS + ("describe", "remove"):
            self.rejected(a.call("relate", {"contact": a.account, "action": action}), 403,
                          "not_permitted", field="contact")

    def test_both_ask_at_the_same_moment(self):
        for _ in range(10):
            a, b = self.pair()
            for c, other in ((a, b), (b, a)):
                c.post("relate", {"contact": other.account, "action": "request"})
            for c in (a, b):
                self.assertIn("result", c.answer(c.last_id))
            self.expect(a, b, 1, 1)
            self.expect(b, a, 1, 1)
            self.assertEqual((self.news(a)[0], self.news(b)[0]), (["request"], ["request"]))

    def test_a_race_of_a_pair_ends_with_lists_that_agree(self):
        a, b = self.pair()
        actions = WORDS + ("describe", "remove")
        a2, b2 = self.login(a.account, "d2"), self.login(b.account, "d2")

        def run(c, other, shift):
            ids = [c.post("relate", {"contact": other.account,
                                     "action": actions[(n * 5 + shift) % 6]}) for n in range(40)]
            for id in ids:
                c.answer(id)

        threads = [threading.Thread(target=run, args=each) for each in (
            (a, b, 0), (a2, b, 1), (b, a, 2), (b2, a, 4))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        mine, theirs = self.listed(a).get(b.account, {}), self.listed(b).get(a.account, {})
        mirror = {"none": "none", "to": "from", "from": "to", "both": "both"}
        self.assertEqual(mine.get("subscription", "none"),
                         mirror[theirs.get("subscription", "none")])
        self.assertEqual("ask" in mine, "request" in theirs)
        self.assertEqual("ask" in theirs, "request" in mine)

    def test_three_accounts(self):
        a, b, c = self.person("a"), self.person("b"), self.person("c")
        self.befriend(a, b)
        self.befriend(b, c)
        self.assertEqual((self.news(a), self.news(c)), (([], []), ([], [])))
        self.assertEqual(set(self.listed(b)), {a.account, c.account})
        b.publish(10001)
        self.assertEqual(a.event()["value"], 10001)
        self.assertEqual(self.news(c), ([], []))
        c.publish(10002)
        self.assertEqual(b.event()["value"], 10002)
        self.assertEqual(self.news(a), ([], []))


class Contacts(People):
    def test_names_and_groups(self):
        a, b = self.pair()
        got = self.say(a, b, "describe", name="Bob \U0001F600", groups=["x", "y", "x"])
        entry = {"account": b.account, "subscription": "none", "name": "Bob \U0001F600",
                 "groups": ["x", "y"]}
        self.assertEqual(got, entry)
        self.assertEqual(self.news(b), ([], []))
        self.assertEqual(self.listed(b), {})
        self.assertEqual(self.listed(a), {b.account: entry})
        self.assertEqual(self.say(a, b, "describe", groups=["z"]), {
            "account": b.account, "subscription": "none", "groups": ["z"]})
        self.assertEqual(self.say(a, b, "describe"), {
            "account": b.account, "subscription": "none"})
        # They outlive the states and end with the contact.
        self.say(a, b, "describe", name="n")
        self.say(a, b, "request")
        self.say(a, b, "cancel")
        self.assertEqual(self.listed(a)[b.account]["name"], "n")
        self.say(a, b, "remove")
        self.assertNotIn("name", self.say(a, b, "request"))

    def test_names_and_groups_have_limits(self):
        a = self.person("a")
        long = [chr(0x61 + n) * 1023 for n in range(4)]
        for fits, name, groups in (
                (True, "n" * 1023, []), (True, "\u6c49" * 341, ["\u5b57" * 341]),
                (True, None, long[:3] + ["g" * 1020]), (True, None, long),
                (False, None, long + ["g"]),
                (True, "n" * 1023, long[:3]), (False, "n" * 1023, long[:3] + ["g"]),
                (True, None, [chr(0x4e00 + n) for n in range(1000)])):
            params = {"contact": "c", "action": "describe", "groups": groups}
            if name is not None:
                params["name"] = name
            got = a.call("relate", params)
            if fits:
                self.assertEqual(got["result"]["contact"].get("groups", []), groups)
                self.assertEqual(got["result"]["contact"].get("name"), name)
            else:
                self.rejected(got, 414, "too_long", field="groups", limit=4096)

    def test_pages(self):
        a = self.person("a")
        names = ["c%02d" % n for n in range(25)]
        for name in names:
            self.say(a, name, "describe", name=name.upper())
        asker = self.person("asker")
        self.say(asker, a, "request")
        for limit in (1, 2, 7, 25, 26, 1000):
            seen, cursor = [], None
            while True:
                page = a.ok("contacts", {"limit": limit, **({"cursor": cursor} if cursor else {})})
                self.assertLessEqual(len(page["contacts"]), limit)
                self.assertEqual(page["count"], 25)
                seen += page["contacts"]
                cursor = page.get("cursor")
                if not cursor:
                    break
            self.assertEqual(sorted(e["account"] for e in seen), sorted(names + [asker.account]))
            for e in seen:
                self.assertEqual(e.get("name"), None if "request" in e else e["account"].upper())

    def test_a_list_with_changes_between_its_pages(self):
        a = self.person("a")
        for n in range(20):
            self.say(a, "c%02d" % n, "describe")
        first = a.ok("contacts", {"limit": 10})
        there = {e["account"] for e in first["contacts"]}
        gone = sorted({"c%02d" % n for n in range(20)} - there)
        self.say(a, gone[0], "remove")
        self.say(a, sorted(there)[0], "remove")
        self.say(a, "new", "describe")
        rest = a.ok("contacts", {"limit": 10, "cursor": first["cursor"]})
        seen = [e["account"] for e in first["contacts"] + rest["contacts"]]
        self.assertEqual(len(seen), len(set(seen)))
        self.assertLessEqual({"c%02d" % n for n in range(20)} - {gone[0]}, set(seen))
        self.assertNotIn(gone[0], seen)

    def test_devices_of_the_account_are_told_except_the_one_that_acts(self):
        a, b = self.pair()
        second = self.login(a.account, "d2", contacts=True)
        plain = self.login(a.account, "d3")
        self.say(a, b, "request", text="x")
        self.assertEqual(second.note("contact")["params"], {
            "contact": {"account": b.account, "subscription": "none", "ask": True}})
        self.say(b, a, "accept")
        for c in (a, second):
            self.assertEqual(c.note("contact")["params"]["action"], "accept")
            event = c.event()
            self.assertEqual((event["publisher"], event["cause"]), (b.account, "shown"))
        self.say(second, b, "describe", name="n")
        self.assertEqual(a.note("contact")["params"]["contact"]["name"], "n")
        self.say(plain, b, "remove")
        for c in (a, second):
            note = c.note("contact")["params"]
            self.assertEqual(note, {"contact": {
                "account": b.account, "subscription": "none", "listed": False}})
            self.assertEqual(c.event()["cause"], "hidden")
            self.assertEqual(self.news(c), ([], []))
        self.assertEqual(self.news(plain), ([], []))

    def test_only_the_asked_is_told_of_a_request_that_is_withdrawn(self):
        a, b = self.pair()
        second = self.login(b.account, "d2", contacts=True)
        self.say(a, b, "request")
        self.say(a, b, "cancel")
        for c in (b, second):
            self.assertEqual(self.news(c)[0], ["request", "cancel"])


class Quotas(People):
    flags = None

    def test_names_and_groups_take_of_the_room_of_others(self):
        s = self.limited(contacts_per_account_max=5)
        a = self.person("a", service=s)
        self.say(a, "x", "describe", name="n" * 1023)
        got = a.call("relate", {"contact": "y", "action": "describe", "name": "n" * 253})
        self.rejected(got, 419, "contact_quota", field="name", limit=1275, count=1276)
        self.assertIn("bytes in names and groups", got["error"]["message"])
        self.say(a, "y", "describe", name="n" * 252)

    def test_contacts(self):
        s = self.limited(contacts_per_account_max=3)
        a = self.person("a", service=s)
        self.assertEqual(a.welcome["limits"]["contactsPerAccountMax"], 3)
        for name, action in (("x", "describe"), ("y", "request"), ("z", "accept")):
            self.say(a, name, action)
        for action in ("request", "describe", "accept"):
            got = a.call("relate", {"contact": "one-more", "action": action})
            self.rejected(got, 419, "contact_quota", limit=3, count=3)
            self.assertIn("3", got["error"]["message"])
        self.say(a, "x", "request")
        self.say(a, "x", "remove")
        self.say(a, "one-more", "request")
        # Requests of others are no contacts of the account; to deny one is always possible.
        b = self.person("b", service=s)
        self.say(b, a, "request")
        self.rejected(a.call("relate", {"contact": b.account, "action": "accept"}), 419,
                      "contact_quota")
        self.say(a, b, "deny")
        self.assertEqual(a.ok("contacts")["count"], 3)

    def test_requests(self):
        # Strangers fill half of them.
        s = self.limited(requests_per_account_max=4)
        b = self.person("b", service=s)
        askers = [self.person("a%d" % n, service=s) for n in range(3)]
        for a in askers[:2]:
            self.say(a, b, "request")
        got = askers[2].call("relate", {"contact": b.account, "action": "request"})
        self.rejected(got, 419, "request_quota", field="contact", limit=2)
        self.assertEqual(self.listed(askers[2]), {})
        self.say(askers[0], b, "request")
        self.say(b, askers[0], "deny")
        self.say(askers[2], b, "request")
        self.say(askers[1], b, "cancel")
        self.say(askers[0], b, "request")
        self.assertEqual(set(self.listed(b)), {askers[0].account, askers[2].account})
        # The rest is for those whom the account has among its contacts.
        friends = [self.person("f%d" % n, service=s) for n in range(3)]
        for friend in friends:
            self.say(b, friend, "describe")
        for friend in friends[:2]:
            self.say(friend, b, "request")
        got = friends[2].call("relate", {"contact": b.account, "action": "request"})
        self.rejected(got, 419, "request_quota", field="contact", limit=4)

    def test_requests_that_race(self):
        s = self.limited(requests_per_account_max=6)
        b = self.person("b", service=s)
        askers = [self.person("a%d" % n, service=s) for n in range(10)]
        for a in askers:
            a.post("relate", {"contact": b.account, "action": "request"})
        answers = [a.answer(a.last_id) for a in askers]
        self.assertEqual(sum("result" in got for got in answers), 3)
        self.assertEqual(len(self.listed(b)), 3)

    def test_changes_have_the_rate_limit_of_publishing(self):
        s = self.limited(publishes_per_second=1, publishes_burst=1)
        a = self.person("a", service=s)
        codes = set()
        # However slow the machine: two calls in a row that take less than a second.
        for n in range(80):
            for method, params in (
                    ("relate", {"contact": "b", "action": ("request", "cancel")[n % 2]}),
                    ("setVisibility", {"visibility": ("open", "hidden")[n % 2]}),
                    ("setAvailability", {"show": ("away", "dnd")[n % 2]}),
                    ("publish", {"type": 1, "value": 10000})):
                got = a.call(method, params)
                if "error" in got:
                    self.rejected(got, 416, "rate_limited")
                    codes.add(method)
        self.assertEqual(codes, {"relate", "setVisibility", "setAvailability", "publish"})


class Restart(People):
    flags = None
    weight = 6

    def around(self, end):
        s = self.fresh("--restart-grace", 30)
        people = {}
        for state in STATES:
            a, b = self.pair(s)
            self.bring(a, b, state)
            people[state] = a, b
        pre, asked = self.pair(s)
        self.say(pre, asked, "accept")
        self.say(asked, pre, "describe", name="é", groups=["x", "y"])
        away = self.name("away")
        self.say(pre, away, "request", text="later")
        shy, eye = self.pair(s)
        self.befriend(eye, shy)
        eye.subscribe(shy.account)
        self.assertEqual(shy.ok("setVisibility", {"visibility": "hidden"}),
                         {"visibility": "hidden"})
        pre.ok("setAvailability", {"show": "dnd", "text": "é", "priority": 7})
        pre.publish(10001, onlineOnly=False)     # On disk, and so is all before it.
        before = {c.account: self.listed(c) for pair in people.values() for c in pair}
        mine, theirs = self.listed(pre), self.listed(asked)
        end(s)
        s.start()
        eye = self.login(eye.account, service=s, contacts=True, sync="all")
        self.assertEqual([(e["value"], e["online"]) for e in eye.list], [(0, [])])
        state, = s.server().ok("query", {"type": 1, "accounts": [pre.account]})["states"]
        self.assertEqual(state["online"], [{
            "client": "other", "device": "d1", "show": "dnd", "text": "é", "priority": 7}])
        for (a, b), state in zip(people.values(), people):
            a, b = (self.login(c.account, service=s, contacts=True, sync="all") for c in (a, b))
            with self.subTest(state=state):
                self.assertEqual(self.listed(a), before[a.account])
                self.assertEqual(self.listed(b), before[b.account])
                self.assertEqual(len(a.list), 1 if state[0] == 2 else 0)
                self.assertEqual(len(b.list), 1 if state[1] == 2 else 0)
            after, told = outcome(state, "deny")
            self.say(a, b, "deny")
            self.assertEqual(self.news(b)[0], told)
        pre = self.login(pre.account, service=s, contacts=True)
        asked = self.login(asked.account, service=s, contacts=True)
        self.assertEqual((self.listed(pre), self.listed(asked)), (mine, theirs))
        self.assertEqual(self.say(asked, pre, "request")["subscription"], "to")
        late = self.login(away, service=s, contacts=True)
        self.assertEqual(self.listed(late)[pre.account]["request"], {"text": "later"})
        shy = self.login(shy.account, service=s)
        self.assertEqual(shy.ok("setVisibility", {"visibility": "default"}),
                         {"visibility": "open"})
        self.assertIn("shown", [e["cause"] for e in eye.drain()])

    def test_after_a_stop(self):
        self.around(lambda s: self.assertEqual(s.terminate(), 0))

    def test_after_kill_9(self):
        self.around(lambda s: s.kill())

    def test_kill_9_while_pairs_change(self):
        """What was answered is there, and the lists of both sides agree."""
        s = self.fresh("--rate-limits", "off")
        a = self.person("a", service=s)
        others = ["o%d" % n for n in range(30)]
        clients = [self.login(o, service=s) for o in others]
        stop = threading.Event()
        answered = {o: [] for o in others}

        def run(client, name):
            n = 0
            while not stop.is_set():
                action = ("request", "cancel", "accept", "deny")[n % 4]
                try:
                    got = client.call("relate", {"contact": a.account, "action": action})
                except (AssertionError, OSError):
                    return
                answered[name].append((action, got["result"]["contact"]))
                n += 1

        threads = [threading.Thread(target=run, args=pair) for pair in zip(clients, others)]
        for thread in threads:
            thread.start()
        while sum(map(len, answered.values())) < 200:
            time.sleep(0.005)
        s.kill()
        stop.set()
        for thread in threads:
            thread.join()
        s.start()
        a = self.login(a.account, service=s, contacts=True)
        mine = self.listed(a, limit=1000)
        for name in others:
            c = self.login(name, service=s)
            theirs = self.listed(c).get(a.account, {})
            self.assertEqual("ask" in theirs, "request" in mine.get(name, {}), name)
            # The last change that was answered is there, or the one after it, which was not.
            if answered[name]:
                last, shown = answered[name][-1]
                following = {"request": "cancel", "cancel": "accept", "accept": "deny",
                             "deny": "request"}[last]
                want = {("ask" in shown, "preapproved" in shown)}
                want.add({"cancel": (False, "preapproved" in shown),
                          "accept": ("ask" in shown, True), "deny": ("ask" in shown, False),
                          "request": (True, "preapproved" in shown)}[following])
                self.assertIn(("ask" in theirs, "preapproved" in theirs), want, name)


class Parameters(People):
    """What is said of each wrong value: its field, the limit and what would be right."""

    def setUp(self):
        super().setUp()
        self.c = self.person("c")

    def wrong(self, method, params, reason, field, *words, **data):
        with self.subTest(method=method, params=str(params)[:200]):
            got = self.c.call(method, params)
            self.rejected(got, 414, reason, field=field, **data)
            for word in ("`%s`" % field,) + words:
                self.assertIn(word, got["error"]["message"])

    def test_relate(self):
        base = {"contact": "b", "action": "request"}
        for field in base:
            self.wrong("relate", {k: v for k, v in base.items() if k != field}, "missing_field",
                       field, "required")
        for field in ("contact", "action", "text", "name"):
            for value in (1, None, True, [], {}, 1.5):
                for action in ("request", "describe", "remove"):
                    self.wrong("relate", {**base, "action": action, field: value}, "wrong_type",
                               field, "a string")
        for value in (1, None, True, "x", {}):
            self.wrong("relate", {**base, "groups": value}, "wrong_type", "groups",
                       "an array of strings")
        for value in (1, None, True, [], {}):
            self.wrong("relate", {**base, "action": "describe", "groups": ["a", value]},
                       "wrong_type", "groups", "index 1", "must be a string", index=1)
        for action in ("", "Request", "requests", "subscribe", "open"):
            self.wrong("relate", {**base, "action": action}, "out_of_range", "action",
                       "request, cancel, accept, deny, describe or remove")
        for name in ("", " b", "b ", "a\nb", "a\u0085", "\u007f"):
            self.wrong("relate", {**base, "contact": name}, "invalid_name", "contact", "1 to 128")
            self.wrong("relate", {**base, "action": "describe", "name": name}, "invalid_name",
                       "name", "1 to 1023")
            self.wrong("relate", {**base, "action": "describe", "groups": ["a", name]},
                       "invalid_name", "groups", "1 to 1023")
        self.wrong("relate", {**base, "contact": "é" * 65}, "too_long", "contact", "128", "130",
                   limit=128, count=130)
        self.wrong("relate", {**base, "text": "é" * 257}, "too_long", "text", "512", "514",
                   limit=512, count=514)
        self.wrong("relate", {**base, "action": "describe", "name": "é" * 512}, "too_long", "name",
                   "1023", "1024", limit=1023, count=1024)
        self.c.ok("relate", {**base, "text": "é" * 256})
        self.assertEqual(self.c.ok("contacts")["count"], 1)

    def test_contacts(self):
        for value in (0, 1001, -1):
            self.wrong("contacts", {"limit": value}, "out_of_range", "limit", "1 to 1000", min=1,
                       max=1000)
        for value in ("1", None, True, [], 1.5):
            self.wrong("contacts", {"limit": value}, "wrong_type", "limit", "an integer")
        for value in ("", "x", "0" * 27):
            self.wrong("contacts", {"cursor": value}, "out_of_range", "cursor", "a cursor")
        for value in (1, None, []):
            self.wrong("contacts", {"cursor": value}, "wrong_type", "cursor", "a string")

    def test_set_visibility(self):
        self.wrong("setVisibility", {}, "missing_field", "visibility", "required")
        for value in ("", "Open", "nobody", "none"):
            self.wrong("setVisibility", {"visibility": value}, "out_of_range", "visibility",
                       "open, approved, hidden or default")
        for value in (1, None, True, [], {}):
            self.wrong("setVisibility", {"visibility": value}, "wrong_type", "visibility",
                       "a string")

    def test_set_availability(self):
        for value in ("", "online", "Away"):
            self.wrong("setAvailability", {"show": value}, "out_of_range", "show",
                       "available, chat, away, xa or dnd")
        for value in (1, None, True, [], {}):
            self.wrong("setAvailability", {"show": value}, "wrong_type", "show", "a string")
            self.wrong("setAvailability", {"text": value}, "wrong_type", "text", "a string")
        for value in (128, -129, 2**40):
            self.wrong("setAvailability", {"priority": value}, "out_of_range", "priority",
                       "-128 to 127", min=-128, max=127)
        for value in ("1", None, True, [], 1.5):
            self.wrong("setAvailability", {"priority": value}, "wrong_type", "priority",
                       "an integer")
        self.wrong("setAvailability", {"text": "é" * 512 + "x"}, "too_long", "text", "1024",
                   "1025", limit=1024, count=1025)

    def test_login(self):
        c = self.keep(self.service.connect())
        for value in (1, "true", None, [], {}):
            got = c.call("login", {"account": "x", "device": "d", "contacts": value})
            self.rejected(got, 414, "wrong_type", field="contacts")
            self.assertIn("a boolean", got["error"]["message"])

    def test_other_accounts_and_app_servers(self):
        app = self.server()
        for method, params in (("relate", {"contact": "b", "action": "request"}), ("contacts", {}),
                               ("setVisibility", {"visibility": "open"})):
            self.rejected(self.c.call(method, {**params, "account": "else"}), 403, "forbidden")
            self.c.ok(method, {**params, "account": self.c.account})
            self.rejected(app.call(method, params), 414, "missing_field", field="account")
            app.ok(method, {**params, "account": self.c.account})

    def test_before_login(self):
        c = self.connect()
        for method in ("relate", "contacts", "setVisibility", "setAvailability"):
            self.rejected(c.call(method, {"nonsense": 1}), 401, "not_logged_in")


class Unknown(People):
    def test_a_request_does_not_show_whether_an_account_exists(self):
        a, b = self.pair()
        for action in WORDS + ("describe",):
            known = self.say(a, b, action)
            unknown = self.say(a, self.name("ghost"), action)
            self.assertEqual({k: v for k, v in known.items() if k != "account"},
                             {k: v for k, v in unknown.items() if k != "account"})
            if self.listed(a).get(b.account):
                self.say(a, b, "remove")
