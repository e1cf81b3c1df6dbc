"""§1 and §2: broken JSON, broken envelopes, ids."""

import json
import unittest

from porchlight import CARRIER, Case, frame, native_only, request

PING = '{"jsonrpc":"2.0","id":1,"method":"ping"%s}'


class Json(Case):
    def setUp(self):
        super().setUp()
        self.c = self.login(self.name("j"))

    def one(self, body):
        if isinstance(body, str):
            body = body.encode("utf-8")
        self.c.send(body)
        got = self.c.read()
        return got

    def stays(self):
        self.assertIn("time", self.c.ok("ping"))

    def broken(self, body, reason="invalid_json"):
        got = self.one(body)
        self.rejected(got, -32700, reason)
        self.assertIn("id", got)
        self.assertIsNone(got["id"])
        self.stays()

    def test_broken_json_has_the_position(self):
        for body, position in (('{"jsonrpc":"2.0","id":1,}', 24), ("{", 1), ("nul", 3),
                               (PING % ',"a":"\\ud800"', len(PING % "") + 5)):
            got = self.one(body)
            data = self.rejected(got, -32700, "invalid_json", position=position)
            self.assertEqual(set(data), {"reason", "position"})
            self.assertEqual(
                got["error"]["message"],
                "The frame is not a single JSON value; the error is at byte %d, counted from 0."
                % position)

    def test_broken_json(self):
        # A WebSocket is closed for text that is not UTF-8: test_websocket.
        other = [(PING % "").encode("utf-16")] if CARRIER == "native" else []
        for body in ("{", "}", "x", " ", "nul", '{"jsonrpc":"2.0","id":1,"method":"ping"',
                     '{"jsonrpc":"2.0","id":1,"method":"ping",}',
                     "{'jsonrpc':'2.0'}", '{"jsonrpc":"2.0","id":1 "method":"ping"}',
                     PING % "" + "x", PING % "" + PING % "", PING % ',"a":01',
                     PING % ',"a":+1', PING % ',"a":.5', PING % ',"a":1.', PING % ',"a":NaN',
                     PING % ',"a":Infinity', PING % ',"a":"\t"', PING % ',"a":"\n"',
                     PING % ',"a":"\\x"', PING % ',"a":"\\u12"', PING % ',"a":tru',
                     PING % ',"a":[1,]', PING % ',"a":[1', PING % ',"a"', PING % ',a:1',
                     PING % ',"a":1 /* c */', "\ufeff" + PING % "",
                     b"\0", (PING % "").encode() + b"\0", *other):
            with self.subTest(body=body):
                got = self.one(body)
                self.assertEqual(got["error"]["code"], -32700, got)
                self.assertIn(got["error"]["data"]["reason"],
                              ("invalid_json", "invalid_utf8"))
                self.assertIsNone(got["id"])
                self.stays()

    def test_deep_numbers_and_lone_surrogates(self):
        for body in (PING % ',"a":"\\ud800"', PING % ',"a":"\\udc00\\ud800"'):
            with self.subTest(body=body):
                got = self.one(body)
                self.assertEqual(got["error"]["code"], -32700, got)
                self.stays()

    @native_only
    def test_invalid_utf8_anywhere(self):
        for bad in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\x80", b"\xe2\x82", b"\xf4\x90\x80\x80",
                    b"\xf8\x88\x80\x80\x80"):
            for shape in (b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"%s"}',
                          b'{"jsonrpc":"2.0","id":1,"method":"ping","%s":1}',
                          b'{"jsonrpc":"2.0","id":1,"method":"p%s"}',
                          b'{"jsonrpc":"2.0","id":"%s","method":"ping"}'):
                with self.subTest(bad=bad, shape=shape):
                    self.broken(shape % bad, "invalid_utf8")

    def test_depth_32_is_taken_and_33_rejected(self):
        # The envelope's object is the first level.
        for depth, taken in ((31, True), (32, True), (33, False), (2000, False)):
            for left, right in (("[", "]"), ('{"a":', "}")):
                inner = depth - 1
                if left == "[":
                    value = "[" * inner + "]" * inner
                else:
                    value = '{"a":' * (inner - 1) + "{}" + "}" * (inner - 1)
                with self.subTest(depth=depth, left=left):
                    got = self.one(PING % (',"x":' + value))
                    if taken:
                        self.assertIn("result", got)
                    else:
                        self.rejected(got, -32700, "too_deep")
                        self.assertIsNone(got["id"])
                        self.stays()

    def test_depth_counts_in_params_too(self):
        for inner, taken in ((31, True), (32, False)):
            got = self.one(PING % (',"params":{"x":' + "[" * (inner - 1) + "]" * (inner - 1) + "}"))
            if taken:
                self.assertIn("result", got)
            else:
                self.rejected(got, -32700, "too_deep")

    def test_batches_are_rejected(self):
        for body in ("[]", "[" + PING % "" + "]", "[1]", "[[]]"):
            with self.subTest(body=body):
                self.rejected(self.one(body), -32600, "batch_not_supported")
                self.stays()

    def test_not_an_object(self):
        for body in ("1", '"ping"', "null", "true"):
            with self.subTest(body=body):
                self.rejected(self.one(body), -32600, "invalid_request")
                self.stays()

    def test_envelope_faults(self):
        for body in ("{}", '{"id":1}', '{"jsonrpc":"2.0","id":1}', '{"id":1,"method":"ping"}',
                     '{"jsonrpc":"1.0","id":1,"method":"ping"}',
                     '{"jsonrpc":2.0,"id":1,"method":"ping"}',
                     '{"jsonrpc":null,"id":1,"method":"ping"}',
                     '{"jsonrpc":"2.0","id":1,"method":1}',
                     '{"jsonrpc":"2.0","id":1,"method":null}'):
            with self.subTest(body=body):
                self.rejected(self.one(body), -32600, "invalid_request")
                self.stays()

    def test_params_must_be_an_object(self):
        """The page leaves open whose fault this is: the envelope's or the parameters'."""
        for params in ("[]", "1", '"x"', "true"):
            with self.subTest(params=params):
                got = self.one('{"jsonrpc":"2.0","id":1,"method":"ping","params":%s}' % params)
                self.assertIn((got["error"]["code"], got["error"]["data"]["reason"]),
                              ((-32600, "invalid_request"), (414, "wrong_type")))
                self.stays()

    def test_ids_of_a_wrong_kind(self):
        for id in ("1.5", "true", "{}", "[]", "[1]", "1e3", "1.0"):
            with self.subTest(id=id):
                got = self.one('{"jsonrpc":"2.0","id":%s,"method":"ping"}' % id)
                self.rejected(got, -32600, "invalid_request")
                self.assertIsNone(got["id"])
                self.stays()

    def test_string_id_of_128_and_129_bytes(self):
        for text, taken in (("x" * 128, True), ("x" * 129, False), ("é" * 64, True),
                            ("é" * 64 + "x", False), ("", True)):
            with self.subTest(bytes=len(text.encode())):
                got = self.one(json.dumps(request("ping", {}, None) | {"id": text},
                                          ensure_ascii=False))
                if taken:
                    self.assertEqual(got.get("id"), text)
                    self.assertIn("result", got)
                else:
                    self.rejected(got, -32600, "invalid_request")

    def test_string_ids_come_back_as_sent(self):
        for text in ("a", "ü€😀", 'quote " back \\ slash', "tab\tnew\nline", "\u0001", "</script>",
                     "1", " ", "\u007f", "\u2028"):
            with self.subTest(id=text):
                got = self.one(json.dumps({"jsonrpc": "2.0", "method": "ping", "id": text}))
                self.assertEqual(got["id"], text)

    def test_integer_ids_come_back_as_sent(self):
        for number in (0, 1, -1, 2**31, 2**53, 2**53 + 1, -2**63, 2**63 - 1):
            with self.subTest(id=number):
                self.c.send({"jsonrpc": "2.0", "method": "ping", "id": number})
                body = self.c.read_bytes()
                self.assertIn(b'"id":%d' % number, body.replace(b": ", b":"))
                self.assertIn("result", json.loads(body))

    def test_id_comes_back_with_an_error(self):
        self.c.send({"jsonrpc": "2.0", "method": "nonsense", "id": "abc"})
        got = self.c.read()
        self.assertEqual(got["id"], "abc")
        self.rejected(got, -32601, "unknown_method")

    def test_without_id_carried_out_and_not_answered(self):
        publisher = self.name("p")
        self.c.send(request("subscribe", {"type": 1, "expiry": 600, "publishers": [publisher]}))
        self.c.send(request("ping"))
        self.c.send(request("nonsense", {}))
        self.c.send(request("subscribe", {"type": 7}))
        got = self.c.call("subscriptions")
        self.assertEqual([s["publisher"] for s in got["result"]["subscriptions"]], [publisher])

    def test_a_name_given_twice_in_the_envelope(self):
        for body in ('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
                     '{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}',
                     '{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}',
                     '{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}',
                     '{"jsonrpc":"2.0","id":1,"method":"ping","\\u0069d":2}',
                     '{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":2}'):
            with self.subTest(body=body):
                self.rejected(self.one(body), -32600, "duplicate_field")
                self.stays()

    def test_a_name_given_twice_in_params(self):
        for method, params in (
                ("ping", '{"a":1,"a":1}'),
                ("subscribe", '{"type":1,"type":1,"expiry":60,"publishers":["a"]}'),
                ("subscribe", '{"type":1,"expiry":60,"publishers":["a"],"publishers":["b"]}'),
                ("subscribe", '{"type":1,"expiry":60,"publishers":["a"],"\\u0074ype":1}'),
                ("publish", '{"type":1,"value":10000,"ext":"a","ext":"b"}')):
            with self.subTest(params=params):
                got = self.one('{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}'
                               % (method, params))
                self.rejected(got, 414, "duplicate_field")
        self.assertEqual(self.c.ok("subscriptions")["count"], 0)

    def test_a_name_given_twice_deeper_in_params(self):
        for params in ('{"x":{"a":1,"a":1}}', '{"x":[{"a":1,"a":1}]}'):
            with self.subTest(params=params):
                got = self.one('{"jsonrpc":"2.0","id":1,"method":"ping","params":%s}' % params)
                self.rejected(got, 414, "duplicate_field")

    def test_unknown_fields_are_ignored(self):
        got = self.one('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1,2.5e3,null]},'
                       '"extra":{"x":true}}')
        self.assertIn("result", got)

    def test_params_may_be_absent(self):
        self.assertIn("result", self.one(PING % ""))
        got = self.one('{"jsonrpc":"2.0","id":1,"method":"subscriptions"}')
        self.assertIn("result", got)

    def test_whitespace_and_escapes_are_json(self):
        got = self.one(' \t\r\n{ "json\\u0072pc" : "2.0" , "id" : 5 , "method" : "pi\\u006eg" }\n ')
        self.assertIn("result", got)
        self.assertEqual(got["id"], 5)

    def test_unknown_methods(self):
        for method in ("", "Ping", "ping ", "events", "close", "synced", "x" * 5000, "pi\u0000ng"):
            with self.subTest(method=method[:20]):
                self.rejected(self.c.call(method), -32601, "unknown_method")

    def test_an_answer_is_an_invalid_request(self):
        self.rejected(self.one('{"jsonrpc":"2.0","id":1,"result":{}}'), -32600, "invalid_request")

    def test_connection_survives_1000_faults(self):
        self.c.raw(frame(b"{") * 1000)
        for _ in range(1000):
            self.rejected(self.c.read(), -32700, "invalid_json")
        self.stays()


class BeforeLogin(Case):
    def test_faults_before_login_do_not_close(self):
        c = self.connect()
        c.send(b"{")
        self.rejected(c.read(), -32700, "invalid_json")
        c.send(b"[]")
        self.rejected(c.read(), -32600, "batch_not_supported")
        self.rejected(c.call("nonsense"), -32601, "unknown_method")
        c.login(self.name("a"))

    def test_every_method_needs_a_login(self):
        for method, params in (
                ("logout", {}), ("subscribe", {"type": 1, "expiry": 60, "publishers": ["a"]}),
                ("unsubscribe", {"type": 1}), ("subscriptions", {}),
                ("publish", {"type": 1, "value": 10000}), ("clear", {"type": 1}), ("ping", {}),
                ("query", {"type": 1, "accounts": ["a"]}),
                ("subscribers", {"type": 1, "publisher": "a"}), ("sessions", {"account": "a"}),
                ("kick", {"account": "a"}), ("stats", {})):
            with self.subTest(method=method):
                c = self.connect()
                self.rejected(c.call(method, params), 401, "not_logged_in")

    def test_every_method_needs_a_login_whatever_the_parameters(self):
        for method in ("logout", "subscribe", "unsubscribe", "subscriptions", "publish", "clear",
                       "ping", "query", "subscribers", "sessions", "kick", "stats"):
            with self.subTest(method=method):
                c = self.connect()
                self.rejected(c.call(method, {"type": "x", "limit": "x"}), 401, "not_logged_in")
