"""`send` to devices by their aliases and tags: the boundaries, and a naive model beside it."""

import random

from test_messages import Messages

WAIT = 60


class Recipients(Messages):
    """What the classes below share."""

    def set(self, app, account, device, **labels):
        app.ok("setDevice", {"account": account, "device": device, **labels})

    def send(self, app, body="x", **recipients):
        return app.ok("send", {"body": body, **recipients})

    def none(self, app, **recipients):
        got = app.call("send", {"body": "x", **recipients})
        self.rejected(got, 1011, "no_recipients", field=next(iter(recipients)))


class Choosing(Recipients):
    def test_each_device_gets_it_and_no_other(self):
        app, name = self.server(), self.name("li")
        self.set(app, name, "phone", alias="A_1", tags=["vip", "北京"])
        self.set(app, name, "pad", tags=["vip"])
        pad, other = self.reader(name, "pad"), self.reader(name, "other")
        sent = self.send(app, "to all", tags=["vip"], account="zs", ref="r")
        self.assertEqual((sent["recipients"], sent["reached"]), (2, 1))
        self.assertNotIn("passedOver", sent)
        message, = self.given(pad, 1)
        self.assertEqual(message, {"id": sent["id"], "from": "zs", "time": sent["time"],
                                   "body": "to all", "ref": "r"})
        self.assertEqual(self.accept(pad, message), 0)
        self.send(app, "to one", aliases=["A_1", "B"])
        self.send(app, "to the other", tagsAll=["vip"], tagsNot=["北京", "none"])
        self.send(app, "to none but one", tags=["none", "北京"], tagsAll=["vip"])
        self.assertEqual(self.bodies(pad, 1), ["to the other"])
        self.assertEqual(self.bodies(self.reader(name, "phone"), 3),
                         ["to all", "to one", "to none but one"])
        self.assertEqual(self.quiet(other), [])
        for recipients in ({"aliases": ["a_1"]}, {"aliases": ["vip"]}, {"tags": ["A_1"]},
                           {"tagsAll": ["vip", "none"]}, {"tags": ["vip"], "tagsNot": ["vip"]},
                           {"tags": ["a-b", "a.b"]}):
            self.none(app, **recipients)

    def test_a_label_that_was_removed_is_none(self):
        app, name = self.server(), self.name("li")
        self.set(app, name, "d", alias="gone", tags=["gone", "kept"])
        self.set(app, name, "d", alias="", tags=["kept"])
        self.none(app, aliases=["gone"])
        self.none(app, tags=["gone"])
        self.assertEqual(self.send(app, tags=["kept", "gone"])["recipients"], 1)
        self.set(app, name, "d", tags=[])
        self.none(app, tags=["kept"])

    def test_full_boxes_are_passed_over(self):
        path = self.new_folder() + "/settings"
        with open(path, "w") as file:
            file.write("messages-per-account-max: 10\nrecipients-per-send-max: 3\n")
        service = self.fresh("--config", path)
        app = self.keep(service.server())
        for account, device in (("a", "d1"), ("a", "d2"), ("b", "d1")):
            self.set(app, account, device, tags=["t"])
        for number in range(2):
            self.assertNotIn("passedOver", self.send(app, str(number), tags=["t"]))
        for passed in (1, 2, 2):
            sent = self.send(app, tags=["t"])
            self.assertEqual((sent["recipients"], sent["passedOver"]), (3 - passed, passed))
        # The other half is for people, and for what is sent to the account.
        for _ in range(5):
            self.send(app, accounts=["a", "b"])
        got = app.call("send", {"body": "x", "tags": ["t"]})
        self.rejected(got, 419, "inbox_full", limit=10)
        self.assertEqual(got["error"]["data"]["failed"], [
            {"account": name, "reason": "inbox_full"} for name in ("a", "b")])
        # One device of each account comes first.
        self.set(app, "c", "d", tags=["t"])
        sent = self.send(app, tags=["t"])
        self.assertEqual((sent["recipients"], sent["passedOver"]), (1, 3))
        self.set(app, "d", "d", tags=["t"])
        for recipients, field in (({"tags": ["t"]}, "tags"), ({"tagsAll": ["t"]}, "tagsAll"),
                                  ({"tags": ["t"], "tagsNot": ["none"]}, "tags")):
            got = app.call("send", {"body": "x", **recipients})
            self.rejected(got, 414, "too_many", field=field, limit=3, count=5)
        self.assertEqual(app.ok("stats")["messagesWaiting"], 21)


class Boundaries(Recipients):
    def test_of_the_lists(self):
        app, name = self.server(), self.name("li")
        longest = "中" * 13 + "z"
        self.set(app, name, "d", alias="last", tags=["last", longest])
        for member, limit in (("aliases", 100), ("tags", 20), ("tagsAll", 20)):
            many = ["l%d" % n for n in range(limit)]
            if member == "tagsAll":
                self.set(app, name, "all", tags=many)
                self.set(app, name, "d", tags=[*many[:-1], "last", longest])
            else:
                many[-1] = "last"
            self.assertEqual(self.send(app, **{member: many + many[:5]})["recipients"], 1)
            for labels, reason, data in (
                    (many + ["more"], "too_many", {"limit": limit}),
                    ([], "out_of_range", {"min": 1, "max": limit}),
                    ([longest + "z"], "too_long", {"index": 0, "limit": 40, "count": 41}),
                    ([""], "invalid_name", {"index": 0, "limit": 40}),
                    (["a", " a"], "invalid_name", {"index": 1, "limit": 40}),
                    (["a", 1], "wrong_type", {"index": 1}), ("a", "wrong_type", {}),
                    (None, "wrong_type", {}), ([None], "wrong_type", {"index": 0})):
                got = app.call("send", {"body": "x", member: labels})
                self.rejected(got, 414, reason, field=member)
                self.assertEqual(got["error"]["data"], {"reason": reason, "field": member, **data})
        self.assertEqual(self.send(app, tags=[longest])["recipients"], 1)
        many = ["n%d" % n for n in range(20)]
        self.assertEqual(self.send(app, tags=["last"], tagsNot=many)["recipients"], 1)
        got = app.call("send", {"body": "x", "tags": ["last"], "tagsNot": many + ["more"]})
        self.rejected(got, 414, "too_many", field="tagsNot")

    def test_exactly_one_kind(self):
        app, name = self.server(), self.name("li")
        self.set(app, name, "d", alias="one", tags=["one"])
        one = ["one"]
        for params, reason, field in (
                ({}, "missing_field", "accounts"), ({"tagsNot": one}, "missing_field", "tags"),
                ({"accounts": [name], "aliases": one}, "duplicate_field", "aliases"),
                ({"accounts": [name], "tags": one}, "duplicate_field", "tags"),
                ({"accounts": [name], "tagsAll": one}, "duplicate_field", "tagsAll"),
                ({"accounts": [name], "tagsNot": one}, "missing_field", "tags"),
                ({"aliases": one, "tags": one}, "duplicate_field", "aliases"),
                ({"aliases": one, "device": "d"}, "out_of_range", "device"),
                ({"tags": one, "device": "d"}, "out_of_range", "device")):
            with self.subTest(params=params):
                got = app.call("send", {"body": "x", **params})
                self.rejected(got, 414, reason, field=field)
        self.assertEqual(app.ok("discard", {"account": name})["discarded"], 0)

    def test_clients_may_not(self):
        app, c = self.server(), self.login(self.name("a"))
        self.set(app, c.account, "d", alias="mine", tags=["mine"])
        for params, field in (({"aliases": ["mine"]}, "aliases"), ({"tags": ["mine"]}, "tags"),
                              ({"tagsAll": ["mine"]}, "tagsAll"),
                              ({"aliases": ["none"]}, "aliases")):
            got = c.call("send", {"body": "x", **params})
            self.rejected(got, 403, "forbidden", field=field)
        self.assertEqual(app.ok("discard", {"account": c.account})["discarded"], 0)


class Lasting(Recipients):
    flags = None

    def test_over_a_crash_each_device_is_handed_over(self):
        service = self.fresh()
        app = self.keep(service.server())
        devices = [(account, device) for account in "abc" for device in ("d1", "d2")]
        for account, device in devices:
            self.set(app, account, device, tags=["t"], pushAddress=account + device)
        sent = self.send(app, "today", tags=["t"])
        service.kill()
        service.start()
        app = self.keep(service.server())
        app.ok("undelivered", {})
        entries = []
        while len(entries) < len(devices):
            entries += app.note("undelivered", WAIT)["params"]["undelivered"]
        self.assertEqual({entry["message"] for entry in entries}, {sent["id"]})
        self.assertEqual(
            [(e["account"], [(d["device"], d["pushAddress"]) for d in e["devices"]])
             for e in entries], [(a, [(d, a + d)]) for a, d in devices])
        self.assertEqual([e["waiting"] for e in entries], [1] * 6)
        for account, device in devices:
            reader = self.reader(account, device, service)
            message, = self.given(reader, 1)
            self.assertEqual(self.accept(reader, message), 0)
            self.assertEqual(self.quiet(reader), [])
        self.assertEqual(app.ok("stats")["messagesWaiting"], 0)

    def test_beside_a_naive_model(self):
        seed = random.randrange(1 << 32)
        print("recipients: SEED=%d" % seed)
        rng = random.Random(seed)
        path = self.new_folder() + "/settings"
        with open(path, "w") as file:
            file.write("messages-per-account-max: 1000\n")
        service = self.fresh("--config", path)
        app = self.keep(service.server())
        devices = [("a%d" % n, "d%d" % m) for n in range(4) for m in range(3)]
        labels = {device: ("", set()) for device in devices}
        waiting = {device: [] for device in devices}
        tags = list("stuvwx")

        def some(low):
            return rng.sample(tags, rng.randint(low, 3))

        for number in range(120):
            if rng.random() < 0.4:
                device = rng.choice(devices)
                labels[device] = (rng.choice(("", "A", "B")), set(some(0)))
                self.set(app, *device, alias=labels[device][0], tags=list(labels[device][1]))
            if rng.random() < 0.3:
                names = rng.sample("ABC", rng.randint(1, 3))
                chosen = {"aliases": names}
                found = [d for d in devices if labels[d][0] in names]
            else:
                any, every, no = some(1), some(1), some(1)
                chosen = {"tags": any, "tagsAll": every, "tagsNot": no}
                for member in rng.choice((["tags"], ["tagsAll"], [])) + rng.choice(
                        (["tagsNot"], [])):
                    del chosen[member]
                found = [d for d in devices
                         if ("tags" not in chosen or labels[d][1] & set(any))
                         and ("tagsAll" not in chosen or labels[d][1] >= set(every))
                         and not ("tagsNot" in chosen and labels[d][1] & set(no))]
            got = app.call("send", {"body": str(number), **chosen})
            self.assertEqual(got.get("result", {}).get("recipients", 0), len(found), chosen)
            for device in found:
                waiting[device].append(str(number))
            if rng.random() < 0.2:
                device = rng.choice(devices)
                self.collect(service, device, waiting)
            if number in (40, 80):
                service.kill()
                service.start()
                app = self.keep(service.server())
        for device in devices:
            self.collect(service, device, waiting)
        self.assertEqual(app.ok("stats")["messagesWaiting"], 0)

    def collect(self, service, device, waiting):
        """A device takes what waits for it; after a crash also what was taken in its last moments,
        which is known by its number."""
        reader = self.reader(*device, service)
        count = reader.welcome["waiting"]
        bodies = [m["body"] for m in self.given(reader, count)] if count else []
        self.assertEqual(bodies[len(bodies) - len(waiting[device]):], waiting[device], device)
        self.assertLessEqual(set(bodies), set(map(str, range(120))))
        if count:
            reader.ok("take", {"id": self.last_id})
        waiting[device] = []
        reader.ok("logout")

    def given(self, client, count):
        found = super().given(client, count)
        self.last_id = found[-1]["id"]
        return found
