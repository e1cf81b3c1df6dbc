"""Devices: `setDevice`, `devices`, their limits, over restarts and crashes."""

import time

from people import People

# Each is a character that a label may have, by the number of bytes of UTF-8.
ONE, TWO_INVALID, THREE, FOUR = "a", "é", "中", "𠮷"


def label(count, mark=""):
    """A label of so many bytes."""
    return mark + "x" * (count - len(mark.encode()))


class Devices(People):
    """What the classes below share."""

    def set(self, c, **params):
        return c.ok("setDevice", params)["device"]

    def devices(self, c, **params):
        return c.ok("devices", params)["devices"]

    def wrong(self, c, params, code, reason, **data):
        """A rejection with exactly this data, after which the device is as it was."""
        before = self.devices(c)
        got = c.call("setDevice", params)
        self.rejected(got, code, reason)
        self.assertEqual(got["error"]["data"], {"reason": reason, **data})
        self.assertEqual(self.devices(c), before)


class Setting(Devices):
    def test_members_stay_and_are_removed(self):
        c = self.login(self.name("a"), "phone", client="ios")
        self.assertEqual(self.devices(c), [])
        all = {"device": "phone", "alias": "al", "tags": ["b", "c", "中"], "pushAddress": "p"}
        self.assertEqual(
            self.set(c, alias="al", tags=["c", "中", "b", "c"], pushAddress="p", unknown=None), all)
        self.assertEqual(self.set(c, alias="al"), all)
        self.assertEqual(self.devices(c), [{**all, "client": "ios", "connection": "connected"}])
        del all["alias"]
        self.assertEqual(self.set(c, alias=""), all)
        self.assertEqual(self.set(c, tags=["d"]), {**all, "tags": ["d"]})
        self.assertEqual(self.set(c, tags=[]), {"device": "phone", "pushAddress": "p"})
        self.assertEqual(self.set(c, pushAddress=""), {"device": "phone"})
        self.assertEqual(self.devices(c), [])
        # Nothing of nothing.
        self.assertEqual(self.set(c, alias="", tags=[]), {"device": "phone"})

    def test_a_push_address_is_any_text(self):
        c = self.login(self.name("a"))
        for text in ('{"endpoint":"https://push.example/\\u0000"}', "\0\"\\é中😀\n"):
            self.assertEqual(self.set(c, pushAddress=text)["pushAddress"], text)
            self.assertEqual(self.devices(c)[0]["pushAddress"], text)

    def test_a_client_sets_its_own_device_only(self):
        c = self.login(self.name("a"), "phone")
        self.assertEqual(self.set(c, account=c.account, device="phone", alias="x")["alias"], "x")
        self.wrong(c, {"account": "other", "alias": "x"}, 403, "forbidden", field="account")
        self.wrong(c, {"device": "other", "alias": "."}, 403, "forbidden", field="device")
        self.rejected(c.call("devices", {"account": "other"}), 403, "forbidden", field="account")
        self.assertEqual(len(self.devices(c, account=c.account)), 1)

    def test_app_servers_set_any_device(self):
        app, name = self.server(), self.name("a")
        for params, field in (({"alias": "x"}, "account"), ({"device": "d"}, "account"),
                              ({"account": name, "alias": "."}, "device")):
            self.rejected(app.call("setDevice", params), 414, "missing_field", field=field)
        self.rejected(app.call("devices", {}), 414, "missing_field", field="account")
        for device in ("z", "Z", "é"):
            self.assertEqual(self.set(app, account=name, device=device, alias="x"),
                             {"device": device, "alias": "x"})
        self.assertEqual([d["device"] for d in self.devices(app, account=name)], ["Z", "z", "é"])
        c = self.login(name, "z", client="web")
        self.assertEqual(self.devices(c)[1], {
            "device": "z", "client": "web", "connection": "connected", "alias": "x"})
        c.ok("logout")
        self.assertEqual(self.devices(app, account=name)[1], {"device": "z", "alias": "x"})
        self.assertEqual(self.devices(app, account=self.name("nobody")), [])

    def test_before_login(self):
        for method, params in (("setDevice", {}), ("setDevice", {"alias": 5}), ("devices", {})):
            self.rejected(self.connect().call(method, params), 401, "not_logged_in")

    def test_the_limit_is_sent_at_login(self):
        for c in (self.login(self.name("a")), self.server()):
            self.assertEqual(c.welcome["limits"]["pushAddressBytesMax"], 2_048)


class Limits(Devices):
    def setUp(self):
        super().setUp()
        self.c = self.login(self.name("a"), "phone")
        self.set(self.c, alias="before", tags=["before"], pushAddress="before")

    def test_wrong_types_come_first(self):
        for member in ({"alias": None}, {"alias": 5}, {"alias": ["a"]}, {"tags": None},
                       {"tags": "a"}, {"tags": {}}, {"tags": ["a", 5]}, {"tags": [None]},
                       {"pushAddress": None}, {"pushAddress": {"endpoint": "x"}}):
            field, = member
            bad = {"alias": ".", "tags": ["."], "pushAddress": "x" * 2_049, **member}
            # Of a list, also which element.
            indices = [number for number, value in enumerate(member[field])
                       if value in (5, None)] if isinstance(member[field], list) else []
            index = {"index": indices[0]} if field == "tags" and indices else {}
            self.wrong(self.c, bad, 414, "wrong_type", field=field, **index)
        self.wrong(self.c, {"device": " ", "alias": "."}, 414, "invalid_name", field="device",
                   limit=64)

    def test_nothing_set(self):
        self.wrong(self.c, {}, 6001, "nothing_set")
        self.wrong(self.c, {"device": "phone", "unknown": "x"}, 6001, "nothing_set")

    def test_characters(self):
        for good in ("azAZ09_", "中文", "㐀", "𠮷", "\U00020000", "\ufa0e", "\u9fff"):
            self.assertEqual(self.set(self.c, alias=good)["alias"], good)
            self.assertEqual(self.set(self.c, tags=[good])["tags"], [good])
        for bad in ("〇", "々", ",", "，", "é", "５", "😀", ".", "-", " ", "\0", "\n", "!", "@",
                    "е", "あ", "가", "\u0301", "/", ":", "[", "`", "{", "\uf900", "\u200b"):
            with self.subTest(bad=bad):
                self.wrong(self.c, {"alias": "a中%s." % bad}, 6003, "invalid_alias",
                           field="alias", character=bad)
                self.wrong(self.c, {"tags": ["a", "中" + bad, "."]}, 6005, "invalid_tag",
                           field="tags", index=1, character=bad)

    def test_lengths_of_labels(self):
        for unit in (ONE, THREE + "x", FOUR):
            whole = unit * (40 // len(unit.encode()))
            self.assertEqual(len(whole.encode()), 40)
            self.assertEqual(self.set(self.c, alias=whole, tags=[whole])["tags"], [whole])
            long = whole + "a"
            self.wrong(self.c, {"alias": long}, 6004, "alias_too_long", field="alias", limit=40,
                       count=41)
            self.wrong(self.c, {"tags": ["a", long]}, 6006, "tag_too_long", field="tags", index=1,
                       limit=40, count=41)
        # A character at fault comes before the length.
        self.wrong(self.c, {"alias": "a" * 41 + TWO_INVALID}, 6003, "invalid_alias", field="alias",
                   character=TWO_INVALID)
        self.wrong(self.c, {"tags": ["a" * 41 + TWO_INVALID]}, 6005, "invalid_tag", field="tags",
                   index=0, character=TWO_INVALID)

    def test_tags(self):
        hundred = ["t%d" % n for n in range(100)]
        self.assertEqual(self.set(self.c, tags=hundred)["tags"], sorted(hundred))
        self.assertEqual(self.set(self.c, tags=hundred * 3)["tags"], sorted(hundred))
        self.wrong(self.c, {"tags": hundred + ["one", "one"]}, 6007, "too_many_tags",
                   field="tags", limit=100, count=101)
        self.wrong(self.c, {"tags": [""]}, 6005, "invalid_tag", field="tags", index=0)
        # Tag by tag; the index is that of the request, with its repeats.
        self.wrong(self.c, {"tags": ["a", "a", "b" * 41, "."]}, 6006, "tag_too_long", field="tags",
                   index=2, limit=40, count=41)
        self.wrong(self.c, {"tags": ["a", "a", "", "b" * 41]}, 6005, "invalid_tag", field="tags",
                   index=2)

    def test_labels_together(self):
        tags = [label(40, "t%02d" % n) for n in range(25)]
        self.set(self.c, alias="x" * 24, tags=tags)
        self.wrong(self.c, {"alias": "x" * 25}, 6008, "labels_too_long", limit=1_024, count=1_025)
        self.wrong(self.c, {"tags": tags + ["y"]}, 6008, "labels_too_long", limit=1_024,
                   count=1_025)
        self.wrong(self.c, {"alias": "x" * 25, "tags": tags, "pushAddress": "x" * 2_049}, 6008,
                   "labels_too_long", limit=1_024, count=1_025)
        # Repeats count once, and what both change is compared as it would be.
        self.set(self.c, alias="x" * 24, tags=tags + tags)
        self.assertEqual(len(self.set(self.c, alias="x" * 40, tags=tags[:24])["tags"]), 24)
        self.assertEqual(self.set(self.c, alias="", tags=tags + ["y" * 24])["tags"][-1], "y" * 24)

    def test_the_push_address(self):
        for text in ("x" * 2_048, "é" * 1_024, "\0" * 2_048):
            self.assertEqual(self.set(self.c, pushAddress=text)["pushAddress"], text)
            self.wrong(self.c, {"pushAddress": text + "x"}, 414, "too_long", field="pushAddress",
                       limit=2_048, count=2_049)

    def test_the_order_of_the_checks(self):
        many = ["m%d" % n for n in range(101)]
        long = [label(40, "l%02d" % n) for n in range(26)]
        bad = {"alias": "." + "a" * 41, "tags": [*many, "", "."], "pushAddress": "x" * 2_049}
        for change, code, reason in (
                ({}, 6003, "invalid_alias"), ({"alias": "a" * 41}, 6004, "alias_too_long"),
                ({"alias": "a"}, 6007, "too_many_tags"),
                ({"tags": [*long, "."]}, 6005, "invalid_tag"),
                ({"tags": [*long, "a" * 41, "."]}, 6006, "tag_too_long"),
                ({"tags": long}, 6008, "labels_too_long"), ({"tags": long[:25]}, 414, "too_long")):
            bad.update(change)
            self.rejected(self.c.call("setDevice", bad), code, reason)
        bad["pushAddress"] = "x" * 2_048
        self.assertEqual(len(self.set(self.c, **bad)["tags"]), 25)

    def test_twenty_devices(self):
        app, name = self.server(), self.name("many")
        self.login(name, "d00")
        names = ["d%02d" % n for n in range(23)]
        for device in names[:20]:
            self.set(app, account=name, device=device, alias="x")
        self.assertEqual([d["device"] for d in self.devices(app, account=name)], names[:20])
        self.set(app, account=name, device="d20", alias="x")
        found = [d["device"] for d in self.devices(app, account=name)]
        self.assertEqual(len(found), 20)
        # That with a session stays. Those set within one millisecond are forgotten by name.
        self.assertEqual(found, [n for n in names[:21] if n != "d01"])
        self.set(app, account=name, device="d02", alias="y")
        self.assertEqual(len(self.devices(app, account=name)), 20)
        self.set(app, account=name, device="d20", alias="")
        self.assertEqual(len(self.devices(app, account=name)), 19)


class Rules(Devices):
    flags = None

    def test_labels_by_app_servers_only(self):
        s = self.limited(device_labels="app-servers")
        path = s.flags[1]
        app, c = self.keep(s.server()), self.login("a", "phone", s)
        for params, field in (({"alias": "."}, "alias"), ({"tags": []}, "tags"),
                              ({"alias": "", "tags": [], "pushAddress": "x"}, "alias")):
            self.wrong(c, params, 403, "forbidden", field=field)
        self.wrong(c, {}, 6001, "nothing_set")
        self.assertEqual(self.set(c, pushAddress="p"), {"device": "phone", "pushAddress": "p"})
        self.assertEqual(self.set(app, account="a", device="phone", alias="x"),
                         {"device": "phone", "alias": "x", "pushAddress": "p"})
        self.reload(s, path, "device-labels: clients\n")
        self.assertEqual(self.set(c, alias="")["pushAddress"], "p")
        self.reload(s, path, "messages: off\n")
        for peer, params in ((c, {"pushAddress": "x"}), (c, {}), (app, {})):
            self.rejected(peer.call("setDevice", params), 403, "forbidden")
            self.rejected(peer.call("devices", params), 403, "forbidden")
        self.reload(s, path, "messages: on\n")
        self.assertEqual(len(self.devices(c)), 1)

    def test_the_session_of_a_listed_device(self):
        s = self.fresh("--disconnect-grace", "0")
        app = self.keep(s.server())
        for device, more in (("push", {"pushReachable": True}), ("plain", {})):
            c = self.login("a", device, s, client="ios", **more)
            self.set(c, alias="x")
            c.close()
        end = time.monotonic() + 10
        while len(app.ok("sessions", {"account": "a"})["sessions"]) > 1:
            self.assertLess(time.monotonic(), end)
        while self.devices(app, account="a")[1]["connection"] != "push":
            self.assertLess(time.monotonic(), end)
        self.assertEqual(self.devices(app, account="a"), [
            {"device": "plain", "alias": "x"},
            {"device": "push", "client": "ios", "connection": "push", "push": True,
             "alias": "x"}])

    def test_the_pace_is_that_of_publishes(self):
        s = self.limited(publishes_per_second=1, publishes_burst=3)
        c = self.login("a", service=s)
        self.set(c, alias="x")
        # Labels that are invalid do not count.
        for _ in range(5):
            self.wrong(c, {"alias": "."}, 6003, "invalid_alias", field="alias", character=".")
        self.set(c, alias="y")
        c.publish(10001)
        self.rejected(c.call("setDevice", {"alias": "z"}), 416, "rate_limited", retryAfter=1)
        self.assertEqual(self.devices(c)[0]["alias"], "y")


class Undelivered(Devices):
    def test_says_what_is_set_of_the_devices(self):
        app, name = self.server(), self.name("away")
        pad = {"device": "pad", "alias": "al", "tags": ["b", "中"], "pushAddress": "p\0"}
        self.set(app, account=name, **pad)
        self.set(app, account=name, device="tv", tags=["a"])
        self.set(app, account=name, device="gone", alias="x")
        self.set(app, account=name, device="gone", alias="")
        app.ok("undelivered")
        for params, want in (({}, [pad, {"device": "tv", "tags": ["a"]}]),
                             ({"device": "pad"}, [pad])):
            app.ok("send", {"accounts": [name], "body": "x", **params})
            entry, = app.note("undelivered")["params"]["undelivered"]
            self.assertEqual((entry["account"], entry["devices"]), (name, want))


class Restart(Devices):
    flags = None
    weight = 2

    def around(self, end):
        s = self.fresh()
        app, c = self.keep(s.server()), self.login("a", "phone", s, client="ios")
        self.set(c, alias="中", tags=["b", "a"], pushAddress="\0\"")
        self.set(c, alias="中文")
        for n in range(21):
            self.set(app, account="b", device="d%02d" % n, tags=["t%d" % n])
        self.set(app, account="gone", device="d", alias="x")
        self.set(app, account="gone", device="d", alias="")
        want = {name: self.devices(app, account=name) for name in ("b", "gone")}
        self.assertEqual([len(list) for list in want.values()], [20, 0])
        end(s)
        s.start()
        app = self.keep(s.server())
        one, = self.devices(app, account="a")
        self.assertEqual(one, {"device": "phone", "client": "ios", "connection": "restart",
                               "alias": "中文", "tags": ["a", "b"], "pushAddress": "\0\""})
        self.assertEqual(self.devices(app, account="gone"), [])
        return want["b"], self.devices(app, account="b")

    def test_after_a_stop(self):
        want, found = self.around(lambda s: self.assertEqual(s.terminate(), 0))
        self.assertEqual(found, want)

    def test_after_kill_9(self):
        want, found = self.around(lambda s: s.kill())
        # What was forgotten just before a crash may be there again.
        self.assertEqual([d for d in found if d in want], want)
        self.assertLessEqual(len(found), 21)
