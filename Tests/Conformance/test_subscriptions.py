"""§4 subscribe, unsubscribe and subscriptions; the quota; lists with cursors."""

import threading
import time

from porchlight import WAIT, Case


class Subscriptions(Case):
    def setUp(self):
        super().setUp()
        self.c = self.login(self.name("s"))

    def pages(self, c=None, **params):
        """All pages of the list, and how many there were."""
        out, cursor, pages = [], None, 0
        while True:
            more = {"cursor": cursor} if cursor is not None else {}
            got = (c or self.c).ok("subscriptions", {**params, **more})
            out += got["subscriptions"]
            pages += 1
            self.assertLess(pages, 400)
            cursor = got.get("cursor")
            if cursor is None:
                return out, pages, got["count"]

    def test_result_of_subscribe(self):
        now = self.c.ok("ping")["time"]
        got = self.c.subscribe("p", "q", expiry=100)
        self.assertEqual(set(got), {"expires", "count"})
        self.assertEqual(got["count"], 2)
        self.assertLess(abs(got["expires"] - now - 100_000), 3000)

    def test_states_in_the_order_asked_for(self):
        names = [self.name(str(i)) for i in range(20)]
        held = [self.login(n) for n in names[::3]]
        states = self.c.subscribe(*reversed(names), sync=True)["states"]
        self.assertEqual([e["publisher"] for e in states], list(reversed(names)))
        online = {h.account for h in held}
        for e in states:
            here = e["publisher"] in online
            self.assertEqual(e["cause"], "sync")
            self.assertEqual(e["value"], 1 if here else 0)
            self.assertEqual(len(e["online"]), 1 if here else 0)
            self.assertEqual(e["type"], 1)
            self.assertNotIn("lastSeen", e)
            self.assertNotIn("status", e)

    def wordy(self, stem):
        """100 publishers whose states fill several of the server's frames."""
        names = [self.name("%s%d" % (stem, i)) for i in range(100)]
        for n in names:
            p = self.service.login(n)
            p.publish(10000, ext="\u0001" * 4096)
            # Otherwise the loss of the first ones is an event, if all of them take long.
            p.ok("logout")
            p.close()
        return names

    def test_states_longer_than_a_frame_are_all_there(self):
        names = self.wordy("s")
        states = self.c.subscribe(*names, sync=True)["states"]
        # Wherever the rest might come. A publisher's grace may end meanwhile.
        states += [e for e in self.c.drain() if e["cause"] == "sync"]
        self.assertEqual([e["publisher"] for e in states], names)

    def test_login_list_longer_than_a_frame_is_all_there(self):
        names = self.wordy("l")
        self.c.subscribe(*names)
        again = self.login(self.c.account, "d2", sync="all")
        self.assertEqual(again.synced["count"], 100)
        self.assertEqual({e["publisher"] for e in again.list}, set(names))
        for e in again.list:
            self.assertEqual(e["status"]["ext"], "\u0001" * 4096)

    def test_repeats_in_states_come_once_or_as_named(self):
        states = self.c.subscribe("a", "b", "a", sync=True)["states"]
        self.assertEqual([e["publisher"] for e in states][:2], ["a", "b"])

    def test_list_entries(self):
        before = self.c.ok("ping")["time"]
        expires = self.c.subscribe("p", expiry=300)["expires"]
        got = self.c.ok("subscriptions")
        self.assertEqual(got["count"], 1)
        self.assertNotIn("cursor", got)
        entry, = got["subscriptions"]
        self.assertEqual(set(entry), {"type", "publisher", "created", "expires"})
        self.assertEqual((entry["type"], entry["publisher"]), (1, "p"))
        self.assertEqual(entry["expires"], expires)
        self.assertLess(abs(entry["created"] - before), 3000)

    def test_renewal(self):
        first = self.c.subscribe("p", expiry=3600)
        created = self.c.ok("subscriptions")["subscriptions"][0]["created"]
        for expiry in (7200, 60):       # longer, and shorter too
            got = self.c.subscribe("p", expiry=expiry)
            self.assertEqual(got["count"], 1)
            entry, = self.c.ok("subscriptions")["subscriptions"]
            self.assertEqual(entry["expires"], got["expires"])
            self.assertEqual(entry["created"], created)
            self.assertLess(abs(got["expires"] - first["expires"] - (expiry - 3600) * 1000), 3000)

    def test_types_are_apart(self):
        self.c.subscribe("p", type=1)
        self.c.subscribe("p", "q", type=100)
        self.assertEqual(self.c.ok("subscriptions", {"type": 100})["count"] in (2, 3), True)
        self.assertEqual(len(self.c.ok("subscriptions", {"type": 100})["subscriptions"]), 2)
        self.assertEqual(self.c.ok("unsubscribe", {"type": 100}), {"removed": 2, "count": 1})
        self.assertEqual(self.c.ok("unsubscribe", {"type": 100}), {"removed": 0, "count": 1})

    def test_unsubscribe_what_is_not_there(self):
        self.c.subscribe("p")
        self.assertEqual(self.c.ok("unsubscribe", {"type": 1, "publishers": ["nobody"]}),
                         {"removed": 0, "count": 1})
        self.assertEqual(self.c.ok("unsubscribe", {"type": 1, "publishers": ["p", "nobody"]}),
                         {"removed": 1, "count": 0})

    def test_no_event_after_unsubscribe(self):
        p = self.login(self.name("p"))
        self.c.subscribe(p.account)
        p.publish(10000)
        self.c.event()
        self.c.ok("unsubscribe", {"type": 1, "publishers": [p.account]})
        p.publish(10001)
        self.assertEqual(self.c.drain(), [])

    def test_other_sessions_are_told_of_an_unsubscribe(self):
        other = self.login(self.c.account, "d2")
        self.c.subscribe("p", "q", "r")
        self.c.subscribe("p", type=100)
        self.c.ok("unsubscribe", {"type": 1, "publishers": ["q", "nobody"]})
        told = other.note("expired")["params"]
        self.assertEqual(told, {"type": 1, "cause": "unsubscribed", "publishers": ["q"]})
        server = self.server()
        server.ok("unsubscribe", {"account": self.c.account, "type": 1})
        for c in (self.c, other):
            told = c.note("expired")["params"]
            self.assertEqual((told["type"], told["cause"], sorted(told["publishers"])),
                             (1, "unsubscribed", ["p", "r"]))
        other.ok("unsubscribe", {"type": 1})  # ends nothing
        self.c.ok("ping")
        self.assertEqual(self.c.notes + other.notes, [])

    def test_list_by_publishers(self):
        self.c.subscribe(*"abcdef")
        self.c.subscribe("a", type=100)
        got = self.c.ok("subscriptions", {"publishers": ["f", "a", "zzz"]})["subscriptions"]
        self.assertEqual(sorted((s["type"], s["publisher"]) for s in got),
                         [(1, "a"), (1, "f"), (100, "a")])
        got = self.c.ok("subscriptions", {"publishers": ["f", "a"], "type": 100})
        self.assertEqual([s["publisher"] for s in got["subscriptions"]], ["a"])

    def test_cursor_walk(self):
        names = ["n%03d" % i for i in range(250)]
        for i in range(0, 250, 100):
            self.c.subscribe(*names[i:i + 100])
        self.c.subscribe(*names[:30], type=300)
        for limit, pages in ((1, 280), (7, 40), (100, 3), (279, 2), (280, 1), (281, 1), (1000, 1)):
            with self.subTest(limit=limit):
                got, count, total = self.pages(limit=limit)
                self.assertEqual(sorted((s["type"], s["publisher"]) for s in got),
                                 sorted([(1, n) for n in names] + [(300, n) for n in names[:30]]))
                self.assertEqual(count, pages)
                self.assertEqual(total, 280)
        self.assertEqual(len(self.c.ok("subscriptions")["subscriptions"]), 100)
        got, _, _ = self.pages(type=300, limit=4)
        self.assertEqual(sorted(s["publisher"] for s in got), names[:30])

    def test_cursor_walk_while_the_list_changes(self):
        names = ["n%03d" % i for i in range(100)]
        self.c.subscribe(*names)
        first = self.c.ok("subscriptions", {"limit": 50})
        self.c.ok("unsubscribe", {"type": 1, "publishers": names[40:60]})
        rest, cursor = [], first["cursor"]
        while cursor:
            got = self.c.ok("subscriptions", {"limit": 10, "cursor": cursor})
            rest += got["subscriptions"]
            cursor = got.get("cursor")
        seen = [s["publisher"] for s in first["subscriptions"] + rest]
        self.assertEqual(len(seen), len(set(seen)))
        self.assertLessEqual(set(names[:40] + names[60:]), set(seen))

    def fill(self, c, count):
        for i in range(0, count, 100):
            got = c.subscribe(*("q%d" % k for k in range(i, min(i + 100, count))),
                              type=(1, 100, 200)[i // 100 % 3])
        self.assertEqual(got["count"], count)

    def test_quota_of_3000(self):
        self.fill(self.c, 2999)
        got = self.c.call("subscribe", {"type": 1, "expiry": 60, "publishers": ["x1", "x2"]})
        self.rejected(got, 419, "subscription_quota", limit=3000, count=2999)
        self.assertEqual(self.c.ok("subscriptions")["count"], 2999)
        self.assertEqual(self.c.subscribe("x1")["count"], 3000)
        got = self.c.call("subscribe", {"type": 65535, "expiry": 60, "publishers": ["x1"]})
        self.rejected(got, 419, "subscription_quota", limit=3000, count=3000)
        # A mix of an old one and a new one changes nothing, the old one's expiry neither.
        old = self.c.ok("subscriptions", {"publishers": ["x1"]})["subscriptions"]
        got = self.c.call("subscribe", {"type": 1, "expiry": 60, "publishers": ["x1", "x2"]})
        self.rejected(got, 419, "subscription_quota", limit=3000, count=3000)
        self.assertEqual(self.c.ok("subscriptions", {"publishers": ["x1"]})["subscriptions"], old)
        self.assertEqual(self.c.ok("subscriptions", {"publishers": ["x2"]})["subscriptions"], [])
        # Renewal is always possible; a place that is left can be taken.
        self.assertEqual(self.c.subscribe("x1", expiry=70)["count"], 3000)
        self.c.ok("unsubscribe", {"type": 1, "publishers": ["x1"]})
        self.assertEqual(self.c.subscribe("x2")["count"], 3000)
        again = self.login(self.c.account, "d2", sync="all")
        self.assertEqual(again.synced["count"], 3000)
        self.assertEqual(len({(e["type"], e["publisher"]) for e in again.list}), 3000)
        self.assertLessEqual(max(again.pages), 100)
        got, _, total = self.pages(limit=1000)
        self.assertEqual((len(got), total), (3000, 3000))

    def test_racing_for_the_last_places(self):
        self.fill(self.c, 2990)
        racers = [self.c] + [self.login(self.c.account, "r%d" % i) for i in range(9)]
        won = []

        def race(number, c):
            for k in range(4):
                got = c.call("subscribe", {"type": 1, "expiry": 60,
                                           "publishers": ["race-%d-%d" % (number, k)]})
                if "result" in got:
                    won.append((number, k))
        threads = [threading.Thread(target=race, args=pair) for pair in enumerate(racers)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(20)
        self.assertEqual(len(won), 10)
        self.assertEqual(self.c.ok("subscriptions")["count"], 3000)

    def test_durable_answers_arrive_at_all_sizes_of_pipeline(self):
        ids = [self.c.post("subscribe", {"type": 1, "expiry": 60,
                                         "publishers": ["d%d" % (i % 50)]}) for i in range(400)]
        counts = [self.c.answer(i)["result"]["count"] for i in ids]
        self.assertEqual(counts[:50], list(range(1, 51)))
        self.assertEqual(set(counts[50:]), {50})


class Expiry(Case):
    """The shortest life of a subscription and of a status is 60 s, so these wait that long."""

    weight = 70

    def test_subscription_and_status_run_out_after_60_s(self):
        watcher, publisher = self.login(self.name("w")), self.login(self.name("p"))
        second = self.login(watcher.account, "d2")
        witness = self.login(self.name("v"))
        witness.subscribe(publisher.account)
        watcher.subscribe(publisher.account, "other", expiry=60)
        watcher.subscribe(publisher.account, type=100, expiry=60)
        watcher.subscribe("stays", expiry=61 * 60)
        sent = publisher.publish(10000, expiry=60, ext="short")
        self.assertEqual(witness.event()["value"], 10000)
        watcher.event()
        second.event()
        end = time.monotonic() + 60 + WAIT
        while time.monotonic() < end and not witness.notes:
            for c in (watcher, second, publisher, witness):
                c.ok("ping")
            threading.Event().wait(0.5)
        e = witness.event()
        self.assertEqual((e["cause"], e["value"]), ("expired", 1))
        for field in ("status", "client", "device", "ext"):
            self.assertNotIn(field, e)
        self.assertGreater(e["seq"], sent["seq"])
        self.assertGreaterEqual(e["time"], sent["expires"])
        for c in (watcher, second):
            gone = {}
            while sum(map(len, gone.values())) < 3:
                note = c.note("expired")["params"]
                gone.setdefault(note["type"], []).extend(note["publishers"])
            self.assertEqual({k: sorted(v) for k, v in gone.items()},
                             {1: sorted([publisher.account, "other"]), 100: [publisher.account]})
        left = watcher.ok("subscriptions")
        self.assertEqual(left["count"], 1)
        self.assertEqual([s["publisher"] for s in left["subscriptions"]], ["stays"])
        publisher.publish(10001)
        self.assertEqual(witness.event()["value"], 10001)
        self.assertEqual([e for e in watcher.drain() if e["value"] == 10001], [])
