"""§3 and §4: what every parameter may be, and what is said when it is not."""

import json
import unittest

from porchlight import Case

TYPES_IN = (1, 100, 101, 65535)
TYPES_OUT = (0, 2, 50, 99, 65536, -1, -2**31, 2**31, 2**32 + 1, 2**63 - 1)
NOT_INTEGERS = ("1", None, True, [], {}, 1.5)
NAMES_OUT = ("", "x" * 129, "é" * 64 + "x", "a\nb", "a\u0000", "\u0001", "a\u007f", " a", "a ",
             " ", "a\u0085b", "\t")
NAMES_IN = ("x", "x" * 128, "é" * 64, "a b", "名前", "😀", "a/b", "a@b", "'; drop table --", "%s",
            "\u00a0x", "{}")
BIG = ("1e400", "100000000000000000000", "-100000000000000000000", "9223372036854775808",
       "1" * 400)


class Parameters(Case):
    def setUp(self):
        super().setUp()
        self.c = self.login(self.name("c"))

    def wrong(self, method, params, reason, field, **data):
        got = self.c.call(method, params)
        return self.rejected(got, 414, reason, field=field, **data)

    def literal(self, method, params):
        """A request whose params are JSON text, for numbers Python would not write."""
        self.c.send(('{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}'
                     % (method, params)).encode())
        return self.c.read()

    METHODS = {
        "subscribe": {"type": 1, "expiry": 60, "publishers": ["p"]},
        "unsubscribe": {"type": 1, "publishers": ["p"]},
        "publish": {"type": 1, "value": 10000},
        "clear": {"type": 1},
    }

    def test_missing_fields(self):
        for method, params in self.METHODS.items():
            for field in params:
                if (method, field) == ("unsubscribe", "publishers"):
                    continue
                with self.subTest(method=method, field=field):
                    less = {k: v for k, v in params.items() if k != field}
                    self.wrong(method, less, "missing_field", field)

    def test_fields_of_a_wrong_kind(self):
        kinds = {
            "type": NOT_INTEGERS, "expiry": NOT_INTEGERS, "value": NOT_INTEGERS,
            "publishers": ("p", None, 1, {}, True),
        }
        for method, params in self.METHODS.items():
            for field in params:
                for value in kinds[field]:
                    if value is None:
                        continue
                    with self.subTest(method=method, field=field, value=value):
                        self.wrong(method, {**params, field: value}, "wrong_type", field)

    def test_null_is_not_a_value_of_a_required_field(self):
        for method, params in self.METHODS.items():
            for field in params:
                if (method, field) == ("unsubscribe", "publishers"):
                    continue
                with self.subTest(method=method, field=field):
                    got = self.c.call(method, {**params, field: None})
                    self.assertEqual(got["error"]["code"], 414)
                    self.assertIn(got["error"]["data"]["reason"], ("wrong_type", "missing_field"))
                    self.assertEqual(got["error"]["data"]["field"], field)

    def test_unsubscribe_with_null_publishers_does_not_remove_everything_silently(self):
        self.c.subscribe("a", "b")
        got = self.c.call("unsubscribe", {"type": 1, "publishers": None})
        self.rejected(got, 414, "wrong_type", field="publishers")
        self.assertEqual(self.c.ok("subscriptions")["count"], 2)

    def test_entries_of_publishers_of_a_wrong_kind(self):
        for value in (1, None, [], {}, True):
            for method in ("subscribe", "unsubscribe", "subscriptions"):
                with self.subTest(method=method, value=value):
                    got = self.c.call(method, {"type": 1, "expiry": 60,
                                               "publishers": ["a", value]})
                    self.assertEqual(got["error"]["code"], 414)
                    self.assertEqual(got["error"]["data"]["reason"], "wrong_type")
        self.assertEqual(self.c.ok("subscriptions")["count"], 0)

    def test_types_out_of_range(self):
        for method, params in self.METHODS.items():
            for value in TYPES_OUT:
                with self.subTest(method=method, type=value):
                    self.wrong(method, {**params, "type": value}, "out_of_range", "type")
        for value in TYPES_OUT:
            with self.subTest(method="subscriptions", type=value):
                self.wrong("subscriptions", {"type": value}, "out_of_range", "type")

    def test_types_in_range(self):
        for value in TYPES_IN:
            with self.subTest(type=value):
                self.c.subscribe("p", type=value)
                self.c.publish(10000, type=value)
                self.assertEqual(self.c.ok("clear", {"type": value}), {"cleared": True})
                self.assertEqual(self.c.ok("subscriptions", {"type": value})["subscriptions"][0]
                                 ["type"], value)

    def test_integers_of_any_length_do_not_trap(self):
        for big in BIG + ("1e2", "100.0", "-0", "1E0"):
            for method, params in (
                    ("subscribe", '{"type":%s,"expiry":60,"publishers":["p"]}'),
                    ("subscribe", '{"type":1,"expiry":%s,"publishers":["p"]}'),
                    ("publish", '{"type":1,"value":%s}'),
                    ("publish", '{"type":1,"value":10000,"expiry":%s}'),
                    ("subscriptions", '{"limit":%s}'), ("clear", '{"type":%s}')):
                with self.subTest(method=method, params=params % big[:30]):
                    got = self.literal(method, params % big)
                    if "result" in got:
                        self.assertIn(big, ("100.0", "1e2", "1E0"))
                    else:
                        self.assertIn((got["error"]["code"], got["error"]["data"]["reason"]),
                                      ((414, "out_of_range"), (414, "wrong_type"),
                                       (-32700, "invalid_json")))

    def test_subscription_expiry(self):
        for value in (59, 0, -1, 2592001, 2**31, 2**62):
            with self.subTest(expiry=value):
                self.wrong("subscribe", {"type": 1, "expiry": value, "publishers": ["p"]},
                           "out_of_range", "expiry", min=60, max=2592000)
        for value in (60, 2592000):
            with self.subTest(expiry=value):
                now = self.c.ok("ping")["time"]
                expires = self.c.subscribe("p", expiry=value)["expires"]
                self.assertLess(abs(expires - now - value * 1000), 3000)

    def test_event_expiry(self):
        for value in (59, 0, -1, 604801, 2**40):
            with self.subTest(expiry=value):
                self.wrong("publish", {"type": 1, "value": 10000, "expiry": value},
                           "out_of_range", "expiry", min=60, max=604800)
        for value in (60, 604800):
            got = self.c.publish(10000, expiry=value)
            self.assertEqual(got["expires"] - got["time"], value * 1000)
        got = self.c.publish(10000)
        self.assertEqual(got["expires"] - got["time"], 604800 * 1000)
        for value in ("60", 60.5, True, []):
            self.wrong("publish", {"type": 1, "value": 10000, "expiry": value}, "wrong_type",
                       "expiry")

    def test_values(self):
        for value in (1, 2, 3, 4, 9999):
            with self.subTest(value=value):
                self.wrong("publish", {"type": 1, "value": value}, "reserved_value", "value")
                self.wrong("publish", {"type": 100, "value": value}, "reserved_value", "value")
        for value in (10000, 2**31 - 1):
            with self.subTest(value=value):
                self.c.publish(value)
        for value in (2**31, 2**32 + 10000, 2**63 - 1, -1, -10000):
            with self.subTest(value=value):
                self.wrong("publish", {"type": 1, "value": value}, "out_of_range", "value")

    def test_value_zero_is_not_for_publishing(self):
        got = self.c.call("publish", {"type": 1, "value": 0})
        self.assertEqual(got["error"]["code"], 414)
        self.assertIn(got["error"]["data"]["reason"], ("reserved_value", "out_of_range"))

    def test_ext(self):
        for ext in ("", "x", "x" * 4096, "é" * 2048, "\n\t\u0001", "\\\"" * 2048):
            self.c.publish(10000, ext=ext)
        for ext in ("x" * 4097, "é" * 2048 + "x"):
            data = self.wrong("publish", {"type": 1, "value": 10000, "ext": ext}, "too_long",
                              "ext")
            self.assertIn(4096, (data.get("limit"), data.get("max")))
        for ext in (1, [], {}, True):
            self.wrong("publish", {"type": 1, "value": 10000, "ext": ext}, "wrong_type", "ext")

    def test_flags_must_be_booleans(self):
        for field, method, params in (
                ("sync", "subscribe", self.METHODS["subscribe"]),
                ("sync", "publish", self.METHODS["publish"]),
                ("onlineOnly", "publish", self.METHODS["publish"])):
            for value in (1, 0, "true", [], {}):
                with self.subTest(method=method, field=field, value=value):
                    self.wrong(method, {**params, field: value}, "wrong_type", field)

    def test_publisher_counts(self):
        hundred = ["p%d" % i for i in range(100)]
        for method in ("subscribe", "unsubscribe", "subscriptions"):
            params = {"type": 1, "expiry": 60}
            with self.subTest(method=method):
                data = self.wrong(method, {**params, "publishers": hundred + ["one-more"]},
                                  "too_many", "publishers")
                self.assertIn(100, (data.get("max"), data.get("limit")))
        got = self.c.call("subscribe", {"type": 1, "expiry": 60, "publishers": []})
        self.assertEqual(got["error"]["code"], 414)
        self.assertEqual(got["error"]["data"]["field"], "publishers")
        self.assertIn(got["error"]["data"]["reason"], ("out_of_range", "missing_field"))
        self.assertEqual(self.c.subscribe(*hundred)["count"], 100)
        self.assertEqual(self.c.ok("unsubscribe", {"type": 1, "publishers": hundred}),
                         {"removed": 100, "count": 0})

    def test_repeats_count_once(self):
        hundred = ["p%d" % i for i in range(100)]
        self.assertEqual(self.c.subscribe(*(hundred * 3))["count"], 100)
        self.assertEqual(self.c.subscribe("a", "a", "a")["count"], 101)
        got = self.c.ok("unsubscribe", {"type": 1, "publishers": ["a", "a"]})
        self.assertEqual(got, {"removed": 1, "count": 100})

    def test_publisher_names(self):
        for name in NAMES_OUT:
            for method in ("subscribe", "unsubscribe"):
                with self.subTest(method=method, name=name):
                    got = self.c.call(method, {"type": 1, "expiry": 60,
                                               "publishers": ["fine", name]})
                    self.assertEqual(got["error"]["code"], 414)
                    self.assertIn(got["error"]["data"]["reason"], ("invalid_name", "too_long"))
        self.assertEqual(self.c.ok("subscriptions")["count"], 0)
        for count, name in enumerate(NAMES_IN, 1):
            with self.subTest(name=name):
                got = self.c.subscribe(name, sync=True)
                self.assertEqual(got["count"], count)
                self.assertEqual(got["states"][0]["publisher"], name)

    def test_rejected_publisher_is_named_in_failed(self):
        got = self.c.call("subscribe", {"type": 1, "expiry": 60, "publishers": ["ok", "a\nb"]})
        data = self.rejected(got, 414, "invalid_name", field="publishers")
        if "failed" in data:
            self.assertEqual([f["publisher"] for f in data["failed"]], ["a\nb"])

    def test_one_bad_name_of_a_hundred_has_its_index(self):
        names = ["n%d" % number for number in range(100)]
        for bad, reason in ((" n", "invalid_name"), ("x" * 129, "too_long"), (7, "wrong_type")):
            names[73] = bad
            self.wrong("subscribe", {"type": 1, "expiry": 60, "publishers": names}, reason,
                       "publishers", index=73)

    def test_what_is_similar_to_a_parameter_is_suggested(self):
        publish = {"type": 1, "value": 10001}
        for name in ("ttl", "time_to_live", "validTime", "duration", "timeout", "expirey"):
            got = self.c.ok("publish", {**publish, name: 60})
            self.assertEqual(got.pop("warnings"), [{
                "field": name, "suggestion": "expiry",
                "message": "This member is not known here and was ignored; did you mean "
                           "`expiry`?"}])
            self.assertEqual(set(got), {"id", "seq", "time", "expires"})
        for params in ({"somethingNew": 1}, {"expiry": 60}, {"ext": "", "sync": True}):
            self.assertNotIn("warnings", self.c.ok("publish", {**publish, **params}))
        got = self.c.ok("subscriptions", {"publisher": "a", "limits": 5})
        self.assertEqual([(w["field"], w["suggestion"]) for w in got["warnings"]],
                         [("publisher", "publishers"), ("limits", "limit")])
        self.assertNotIn("warnings", str(self.c.call("publish", {"type": 1, "validTime": 60})))

    def test_list_limit(self):
        for value in (0, -1, 1001, 2**63 - 1):
            self.wrong("subscriptions", {"limit": value}, "out_of_range", "limit", min=1, max=1000)
        for value in (1, 1000):
            self.c.ok("subscriptions", {"limit": value})
        self.wrong("subscriptions", {"limit": "5"}, "wrong_type", "limit")

    def test_cursor_must_be_one_of_ours(self):
        self.c.subscribe("a", "b", "c")
        for cursor in ("", "nonsense", "x" * 5000, "-1", "99999999999999999999", "\u0000"):
            with self.subTest(cursor=cursor[:20]):
                got = self.c.call("subscriptions", {"cursor": cursor})
                if "error" in got:
                    self.assertEqual(got["error"]["code"], 414)
        self.wrong("subscriptions", {"cursor": 5}, "wrong_type", "cursor")

    def test_nothing_is_changed_by_a_rejected_publish(self):
        self.c.publish(10001, ext="first")
        self.c.call("publish", {"type": 1, "value": 10002, "expiry": 5})
        self.c.call("publish", {"type": 1, "value": 10002, "ext": "x" * 5000})
        state = self.c.subscribe(self.c.account, sync=True)["states"][0]
        self.assertEqual(state["status"]["value"], 10001)
        self.assertEqual(state["status"]["ext"], "first")


class LoginParameters(Case):
    def reject(self, params, reason, field, code=414, **data):
        c = self.connect()
        data = self.rejected(c.call("login", params), code, reason, **data)
        if field:
            self.assertEqual(data.get("field"), field, data)
        c.login(self.name("after"))     # a rejected login may be tried again

    def test_missing(self):
        self.reject({"account": "a"}, "missing_field", "device")

    def test_names(self):
        for name in NAMES_OUT:
            with self.subTest(name=name):
                c = self.connect()
                for params, field in (({"account": name, "device": "d"}, "account"),
                                      ({"account": "a", "device": name}, "device")):
                    got = c.call("login", params)
                    self.assertEqual(got["error"]["code"], 414, got)
                    self.assertIn(got["error"]["data"]["reason"], ("invalid_name", "too_long"))
                    self.assertEqual(got["error"]["data"]["field"], field)

    def test_names_taken(self):
        for name in NAMES_IN:
            with self.subTest(name=name):
                c = self.login(name)
                self.assertEqual(c.welcome["account"], name)

    def test_device_64_and_65(self):
        self.login(self.name("a"), "d" * 64)
        self.login(self.name("a"), "é" * 32)
        for device in ("d" * 65, "é" * 32 + "x"):
            c = self.connect()
            got = c.call("login", {"account": "a", "device": device})
            self.assertEqual(got["error"]["code"], 414)
            self.assertIn(got["error"]["data"]["reason"], ("invalid_name", "too_long"))
            self.assertEqual(got["error"]["data"]["field"], "device")

    def test_wrong_kinds(self):
        good = {"account": "a", "device": "d"}
        for field, values in (("account", (1, [], {}, True)), ("device", (1, [], {}, True)),
                              ("client", (1, [], True)), ("pushReachable", (1, "true", [])),
                              ("sync", (True, 1, []))):
            for value in values:
                with self.subTest(field=field, value=value):
                    self.reject({**good, field: value}, "wrong_type", field)

    def test_unknown_words(self):
        good = {"account": "a", "device": "d"}
        for field, values in (("client", ("", "IOS", "phone", "x" * 500)),
                              ("sync", ("", "some", "ALL"))):
            for value in values:
                with self.subTest(field=field, value=value[:10]):
                    got = self.connect().call("login", {**good, field: value})
                    self.assertEqual(got["error"]["code"], 414)
                    self.assertEqual(got["error"]["data"]["field"], field)
                    self.assertEqual(got["error"]["data"]["reason"], "out_of_range")

    def test_every_client_word(self):
        for word in ("android", "ios", "harmony", "windows", "macos", "linux", "web", "other"):
            with self.subTest(client=word):
                name = self.name(word)
                c = self.login(name, "d", client=word)
                state = c.subscribe(name, sync=True)["states"][0]
                self.assertEqual(state["online"], [{"client": word, "device": "d"}])
