"""The feed: a table that is kept from it is right, whatever happens."""

import os

from porchlight import Case


class Table:
    """The table that docs/PROTOCOL.md tells an app server to keep."""

    def __init__(self):
        self.cursor, self.complete, self.resets, self.events = None, False, 0, []
        self.states = {}

    def begin(self):
        self.states, self.cursor, self.complete = {}, None, False
        self.resets += 1

    def open(self, c):
        got = c.ok("feed", {"cursor": self.cursor} if self.cursor else {})
        if got["reset"]:
            self.begin()
        return got

    def apply(self, params):
        if params.get("reset"):
            self.begin()
        for e in params.get("events", ()):
            key = e["type"], e["publisher"]
            if e["seq"] >= self.states.get(key, e)["seq"]:
                self.states[key] = e
            self.events.append(e)
        self.complete = self.complete or "synced" in params
        self.cursor = params.get("cursor", self.cursor)

    def read(self, c, until):
        while not until(self):
            self.apply(c.note("feed")["params"])

    def in_force(self):
        return {key: (sorted(d["device"] for d in e.get("online", ())),
                      e.get("status", {}).get("value"))
                for key, e in self.states.items() if e.get("online") or "status" in e}


class Feed(Case):
    flags = ("--disconnect-grace", "1", "--restart-grace", "2")

    def reader(self, table):
        c = self.server()
        table.open(c)
        return c

    def truth(self):
        table = Table()
        c = self.reader(table)
        table.read(c, lambda t: t.complete)
        return table.in_force()

    def test_clients_are_forbidden(self):
        c = self.login(self.name("c"))
        for params in ({}, {"cursor": 5}):
            self.rejected(c.call("feed", params), 403, "forbidden")

    def test_events_without_subscribers_are_in_the_feed(self):
        table = Table()
        s = self.reader(table)
        table.read(s, lambda t: t.complete)
        a = self.login(self.name("a"))
        mine = lambda t: [e["cause"] for e in t.events if e["publisher"] == a.account]
        a.publish(10001, ext="\"\\\n\x00é😀")
        a.ok("clear", {"type": 1})
        a.publish(20000, type=65535)
        a.close()
        table.read(s, lambda t: mine(t)[-1:] == ["disconnect"])
        self.assertEqual(mine(table), ["login", "publish", "cleared", "publish", "disconnect"])
        seqs = [e["seq"] for e in table.events if e["cause"] != "sync"]
        self.assertEqual(seqs, sorted(set(seqs)))
        self.assertTrue(table.cursor.endswith(table.events[-1]["id"]))

    def test_an_event_is_the_same_as_for_its_watchers(self):
        table = Table()
        s = self.reader(table)
        w, a = self.login(self.name("w")), self.login(self.name("a"))
        w.subscribe(a.account)
        a.publish(10001, ext="x")
        e = w.event()
        table.read(s, lambda t: any(f["seq"] == e["seq"] for f in t.events))
        self.assertIn(e, table.events)

    def test_snapshot_of_many_while_they_change(self):
        s = self.server()
        names = [self.name("n%d" % i) for i in range(350)]
        for n in names:
            s.ok("publish", {"account": n, "type": 100, "value": 10000})
        table = Table()
        r = self.reader(table)
        for i, n in enumerate(names):
            s.ok("publish", {"account": n, "type": 100, "value": 10001 + i})
        last = s.ok("clear", {"account": names[0], "type": 100})
        self.assertTrue(last["cleared"])
        cleared = lambda e: e["cause"] == "cleared" and e["publisher"] == names[0]
        table.read(r, lambda t: t.complete and any(cleared(e) for e in t.events))
        # Other tests use the service, too: only the accounts of this one can be compared.
        mine = lambda known: {n: known.get((100, n), (None, None))[1] for n in names}
        wanted = {n: 10001 + i if i else None for i, n in enumerate(names)}
        self.assertEqual(mine(table.in_force()), wanted)
        self.assertEqual(mine(self.truth()), wanted)

    def test_a_second_feed_begins_again_from_its_cursor(self):
        table = Table()
        r = self.reader(table)
        table.read(r, lambda t: t.complete)
        cursor, a = table.cursor, self.name("a")
        s = self.server()
        sent = s.ok("publish", {"account": a, "type": 100, "value": 10000})
        table.read(r, lambda t: t.events[-1]["id"] == sent["id"] if t.events else False)
        self.assertEqual(r.ok("feed", {"cursor": cursor}), {"reset": False, "cursor": cursor})
        self.assertIn(sent["id"], [e["id"] for e in r.note("feed")["params"]["events"]])


class FeedOverRestarts(Case):
    flags = None
    weight = 3

    def test_over_a_restart_and_a_crash(self):
        service = self.fresh("--restart-grace", "1")
        table = Table()
        c = service.server()
        table.open(c)
        table.read(c, lambda t: t.complete)
        a = service.login("a", "d1")
        a.publish(10001)
        table.read(c, lambda t: t.events and t.events[-1]["cause"] == "publish")
        c.close()
        a.publish(10002)
        self.assertEqual(service.terminate(), 0)
        kept = os.path.join(service.data, "feed")
        self.assertTrue(os.path.exists(kept))
        service.start()
        self.assertFalse(os.path.exists(kept))
        c = service.server()
        self.assertFalse(table.open(c)["reset"])
        table.read(c, lambda t: t.events[-1]["cause"] == "restart")
        self.assertEqual([e["value"] for e in table.events if e["cause"] == "publish"],
                         [10001, 10002])
        self.assertEqual(table.resets, 1)
        service.kill()
        service.start()
        c = service.server()
        self.assertTrue(table.open(c)["reset"])
        table.read(c, lambda t: t.complete)
        # The last changes without a response may be lost; the states are correct.
        states = c.ok("query", {"type": 1, "accounts": ["a"]})["states"]
        online = [device["device"] for device in states[0]["online"]]
        self.assertEqual(table.in_force(), {(1, "a"): (online, 10002)})
        self.assertEqual(states[0]["status"]["value"], 10002)

    def test_one_that_is_damaged_is_not_believed(self):
        service = self.fresh()
        table = Table()
        c = service.server()
        table.open(c)
        table.read(c, lambda t: t.complete)
        service.server().ok("publish", {"account": "a", "type": 100, "value": 10000})
        self.assertEqual(service.terminate(), 0)
        with open(os.path.join(service.data, "feed"), "r+b") as file:
            file.seek(-20, os.SEEK_END)
            file.write(b"?")
        service.start()
        self.assertIn("damaged", service.log_text())
        self.assertTrue(table.open(service.server())["reset"])

    def test_an_older_database_has_another_feed(self):
        service = self.fresh()
        service.server().ok("publish", {"account": "a", "type": 100, "value": 10000})
        service.terminate()
        older = os.path.join(service.data, "porchlight.sqlite")
        with open(older, "rb") as file:
            backup = file.read()
        service.start()
        table = Table()
        c = service.server()
        table.open(c)
        table.read(c, lambda t: t.complete)
        c.ok("publish", {"account": "a", "type": 100, "value": 10001})
        table.read(c, lambda t: t.events[-1]["value"] == 10001)
        service.terminate()
        with open(older, "wb") as file:
            file.write(backup)
        service.start()
        c = service.server()
        self.assertTrue(table.open(c)["reset"])
        table.read(c, lambda t: t.complete)
        self.assertEqual(table.in_force(), {(100, "a"): ([], 10000)})
