"""What each operation does."""

import contextlib
import json
import socket
import time
import unittest
from urllib.parse import quote

from api import Case, KEY, Service
import porchlight


class Operations(Case):
    def test_states_of_many_come_in_order(self):
        client = self.service.connect()
        client.login("many-1", "d1")
        names = ["many-2", "many-1", "many-3"]
        states = self.good("POST", "/v1/states", {"type": 1, "accounts": names})["states"]
        self.assertEqual([s["publisher"] for s in states], names)
        self.assertEqual([s["value"] for s in states], [0, 1, 0])
        self.assertEqual(states[1]["online"], [{"client": "other", "device": "d1"}])

    def test_five_hundred_states_are_a_request(self):
        names = ["batch-%d" % n for n in range(500)]
        answer = self.good("POST", "/v1/states", {"type": 1, "accounts": names})
        self.assertEqual([s["publisher"] for s in answer["states"]], names)
        rejected = self.problem(422, "too_many", "POST", "/v1/states",
                                {"type": 1, "accounts": names + ["one more"]})
        self.assertEqual(rejected.members["limit"], 500)

    def test_states_that_fill_several_frames_come_whole(self):
        text = "\u0001" * 4000
        names = ["long-%d" % n for n in range(60)]
        for name in names:
            self.good("PUT", "/v1/accounts/%s/statuses/7000" % name, {"value": 10000, "ext": text})
        states = self.good("POST", "/v1/states", {"type": 7000, "accounts": names})["states"]
        self.assertEqual([s["publisher"] for s in states], names)
        self.assertTrue(all(s["status"]["ext"] == text for s in states))

    def test_the_state_of_one(self):
        state = self.good("GET", "/v1/accounts/nobody-yet/state")
        self.assertEqual((state["publisher"], state["type"], state["value"]), ("nobody-yet", 1, 0))
        self.assertEqual(self.good("GET", "/v1/accounts/nobody-yet/state?type=100")["type"], 100)

    def test_a_status_is_set_seen_and_taken_back(self):
        watcher = self.service.connect()
        watcher.login("watcher", "d1")
        watcher.ok("subscribe", {"type": 100, "expiry": 600, "publishers": ["st"]})
        path = "/v1/accounts/st/statuses/100"
        published = self.good("PUT", path, {"value": 10001, "expiry": 60, "ext": "é\n\u2028"})
        event = watcher.event()
        self.assertEqual((event["seq"], event["value"], event["ext"]),
                         (published["seq"], 10001, "é\n\u2028"))
        state = self.good("GET", "/v1/accounts/st/state?type=100")
        self.assertEqual(state["status"]["expires"], published["expires"])
        self.assertEqual(self.good("DELETE", path), {"cleared": True})
        self.assertEqual(watcher.event()["cause"], "cleared")
        self.assertEqual(self.good("DELETE", path), {"cleared": False})

    def test_subscriptions_are_added_listed_and_removed(self):
        path = "/v1/accounts/sub/subscriptions"
        names = ["p%d" % n for n in range(5)]
        answer = self.good("POST", path, {
            "type": 1, "expiry": 600, "publishers": names, "sync": True})
        self.assertEqual(answer["count"], 5)
        self.assertEqual([s["publisher"] for s in answer["states"]], names)
        seen, cursor = [], ""
        while cursor is not None:
            page = self.good("GET", path + "?limit=2&type=1" + cursor)
            seen += [s["publisher"] for s in page["subscriptions"]]
            cursor = page.get("cursor") and "&cursor=" + quote(page["cursor"])
        self.assertEqual(sorted(seen), names)
        one = self.good("GET", path + "?publisher=p1&publisher=p3&publisher=none")
        self.assertEqual(sorted(s["publisher"] for s in one["subscriptions"]), ["p1", "p3"])
        self.assertEqual(self.good("DELETE", path + "?type=1&publisher=p1&publisher=p3"),
                         {"removed": 2, "count": 3})
        self.assertEqual(self.good("DELETE", path + "?type=1"), {"removed": 3, "count": 0})

    def test_subscribers_are_listed(self):
        for name in ("a", "b", "c"):
            self.good("POST", "/v1/accounts/%s/subscriptions" % name,
                      {"type": 1, "expiry": 600, "publishers": ["star"]})
        page = self.good("GET", "/v1/accounts/star/subscribers?limit=2")
        self.assertEqual((len(page["subscribers"]), page["count"]), (2, 3))
        more = self.good("GET", "/v1/accounts/star/subscribers?limit=2&cursor=" + page["cursor"])
        names = [s["account"] for s in page["subscribers"] + more["subscribers"]]
        self.assertEqual(sorted(names), ["a", "b", "c"])
        self.assertNotIn("cursor", more)

    def test_contacts_are_asked_accepted_listed_and_removed(self):
        watcher = self.service.connect()
        watcher.login("http/a", "d1", contacts=True)
        path = "/v1/accounts/%s/contacts"
        mine, theirs = path % "http%2Fa" + "/http-b", path % "http-b" + "/http%2Fa"
        self.assertEqual(
            self.good("POST", mine, {"action": "request", "text": "h\u00e9"}),
            {"contact": {"account": "http-b", "subscription": "none", "ask": True}})
        self.assertEqual(self.good("GET", path % "http-b"), {"contacts": [{
            "account": "http/a", "subscription": "none", "listed": False,
            "request": {"text": "h\u00e9"}}], "count": 0})
        self.assertEqual(self.good("POST", theirs, {"action": "accept"}),
                         {"contact": {"account": "http/a", "subscription": "from"}})
        self.assertEqual(watcher.note("contact")["params"]["contact"]["ask"], True)
        self.assertEqual(watcher.note("contact")["params"]["action"], "accept")
        self.assertEqual(watcher.event()["cause"], "shown")
        self.assertEqual(
            self.good("POST", mine, {"action": "describe", "name": "B", "groups": ["x", "y"]}),
            {"contact": {"account": "http-b", "subscription": "to", "name": "B",
                         "groups": ["x", "y"]}})
        page = self.good("GET", "/v1/accounts/http-b/subscribers")
        self.assertEqual([(s["account"], s["approved"]) for s in page["subscribers"]],
                         [("http/a", True)])
        self.assertEqual(self.good("DELETE", mine), {"contact": {
            "account": "http-b", "subscription": "none", "listed": False}})
        self.assertEqual(watcher.note("contact")["params"]["contact"]["name"], "B")
        self.assertEqual(watcher.note("contact")["params"]["contact"].get("listed"), False)
        self.assertEqual(watcher.event()["cause"], "hidden")
        self.assertEqual(self.good("GET", path % "http%2Fa"), {"contacts": [], "count": 0})
        self.problem(404, "unknown_contact", "DELETE", mine)
        self.problem(403, "not_permitted", "POST", path % "x" + "/x", {"action": "request"})
        self.problem(422, "missing_field", "POST", mine, {"text": "x"})
        self.problem(422, "out_of_range", "POST", mine, {"action": "befriend"})
        self.problem(422, "too_long", "POST", mine, {"action": "request", "text": "x" * 513})
        for name in ("name", "text"):
            self.problem(422, "wrong_type", "POST", mine, {"action": "remove", name: 1})

    def test_contacts_in_pages(self):
        for n in range(5):
            self.good("POST", "/v1/accounts/pager/contacts/c%d" % n, {"action": "describe"})
        seen, cursor = [], ""
        while cursor is not None:
            page = self.good("GET", "/v1/accounts/pager/contacts?limit=2" + cursor)
            seen += [c["account"] for c in page["contacts"]]
            self.assertEqual(page["count"], 5)
            cursor = page.get("cursor") and "&cursor=" + quote(page["cursor"])
        self.assertEqual(sorted(seen), ["c%d" % n for n in range(5)])

    def test_messages_are_left_and_forgotten(self):
        client = self.service.connect()
        client.login("reads", "phone", messages=True)
        sent = self.good("POST", "/v1/messages", {
            "account": "writes", "accounts": ["reads", "away", "reads"], "body": "今\n\0", "ext": "{}",
            "ref": "m1", "expiry": 60})
        self.assertEqual(set(sent), {"id", "time", "expires", "recipients", "reached"})
        self.assertEqual((sent["recipients"], sent["reached"]), (2, 1))
        self.assertEqual(sent["expires"] - sent["time"], 60_000)
        note = client.note("messages")
        self.assertEqual(note["params"]["messages"], [
            {"id": sent["id"], "from": "writes", "time": sent["time"], "body": "今\n\0", "ext": "{}",
             "ref": "m1"}])
        # Not idempotent: another message; without an account it is of the service.
        again = self.good("POST", "/v1/messages", {"accounts": ["away"], "body": "x"})
        self.assertGreater(again["id"], sent["id"])
        only = self.good("POST", "/v1/messages",
                         {"accounts": ["away"], "device": "phone", "body": "x"})
        self.assertEqual(only["reached"], 0)
        self.assertEqual(self.good("DELETE", "/v1/accounts/away/messages"), {"discarded": 3})
        self.assertEqual(self.good("DELETE", "/v1/accounts/away/messages"), {"discarded": 0})
        self.assertEqual(self.good("DELETE", "/v1/accounts/nobody-yet/messages"), {"discarded": 0})
        self.good("POST", "/v1/messages",
                  {"account": "flood", "accounts": ["f1", "f2"], "body": "x"})
        self.assertEqual(self.good("DELETE", "/v1/accounts/f1/messages?from=flood"),
                         {"discarded": 1, "more": False})
        self.assertEqual(self.good("DELETE", "/v1/messages?from=flood"),
                         {"discarded": 1, "more": False})

    def test_messages_that_are_rejected(self):
        path = "/v1/messages"
        for body, status, reason, field in (
                ({"body": "x"}, 422, "missing_field", "accounts"),
                ({"accounts": ["a"]}, 422, "missing_field", "body"),
                ({"accounts": ["a"], "body": ""}, 422, "out_of_range", "body"),
                ({"accounts": ["a"], "body": 1}, 422, "wrong_type", "body"),
                ({"accounts": "a", "body": "x"}, 422, "wrong_type", "accounts"),
                ({"accounts": ["a"], "body": "x", "expiry": 59}, 422, "out_of_range", "expiry"),
                ({"accounts": ["a"], "body": "x", "ref": "r" * 65}, 422, "too_long", "ref"),
                ({"accounts": ["a", "b"], "body": "x", "device": "d"}, 422, "out_of_range",
                 "device"),
                ({"accounts": ["a%d" % n for n in range(101)], "body": "x"}, 422, "too_many",
                 "accounts")):
            with self.subTest(body=str(body)[:80]):
                answer = self.problem(status, reason, "POST", path, body)
                self.assertEqual(answer.members["field"], field)
        self.problem(405, "method_not_allowed", "GET", path)
        self.problem(405, "method_not_allowed", "POST", "/v1/accounts/a/messages", {})
        for number in range(100):
            self.good("POST", path, {"accounts": ["full"], "body": "x"})
        answer = self.problem(409, "inbox_full", "POST", path, {
            "accounts": ["full", "other"], "body": "x"})
        self.assertEqual(answer.members["failed"], [{"account": "full", "reason": "inbox_full"}])
        self.assertEqual(self.good("DELETE", "/v1/accounts/full/messages"), {"discarded": 100})
        self.assertEqual(self.good("DELETE", "/v1/accounts/other/messages"), {"discarded": 0})

    def test_messages_without_a_key_and_while_they_are_off(self):
        for method, path in (("POST", "/v1/messages"), ("DELETE", "/v1/accounts/a/messages")):
            body = {"accounts": ["a"], "body": "x"} if method == "POST" else None
            self.assertEqual(self.service.ask(method, path, body, key=False).status, 401)

    def test_the_password_of_an_account(self):
        service = Service("--auth", "password")
        self.addCleanup(service.close)
        path = "/v1/accounts/amy/password"
        for password, replaced in (("first", False), ("second", True)):
            answer = service.ask("PUT", path, {"password": password})
            self.assertEqual((answer.status, answer.json), (200, {"replaced": replaced}))
        amy = service.connect()
        amy.ok("login", {"account": "amy", "password": "second", "device": "d"})
        for body, status, reason in (({}, 422, "missing_field"),
                                     ({"password": "x" * 1025}, 422, "too_long"),
                                     ({"password": "a\tb"}, 422, "invalid_name")):
            answer = service.ask("PUT", path, body)
            self.assertEqual((answer.status, answer.reason), (status, reason), answer)
        for removed in (True, False):
            answer = service.ask("DELETE", path)
            self.assertEqual((answer.status, answer.json), (200, {"removed": removed}))
        # The service of the other tests believes everybody.
        self.problem(403, "forbidden", "PUT", path, {"password": "x"})

    def test_the_visibility_of_an_account(self):
        path = "/v1/accounts/shy/visibility"
        subscriptions = "/v1/accounts/curious/subscriptions"
        body = {"type": 1, "expiry": 600, "publishers": ["other", "shy"]}
        self.assertEqual(self.good("PUT", path, {"visibility": "approved"}),
                         {"visibility": "approved"})
        rejected = self.problem(403, "not_permitted", "POST", subscriptions, body)
        self.assertEqual(rejected.members["failed"],
                         [{"publisher": "shy", "reason": "not_permitted"}])
        self.assertEqual(self.good("GET", subscriptions)["count"], 0)
        self.assertEqual(self.good("PUT", path, {"visibility": "default"}), {"visibility": "open"})
        self.assertEqual(self.good("POST", subscriptions, body)["count"], 2)
        self.problem(422, "missing_field", "PUT", path, {})
        self.problem(422, "out_of_range", "PUT", path, {"visibility": "shut"})

    def test_devices_are_set_listed_and_cleared(self):
        path = "/v1/accounts/owner/devices"
        self.assertEqual(self.good("GET", path), {"devices": []})
        phone = {"device": "my phone", "alias": "中", "tags": ["a", "b"], "pushAddress": "p"}
        unpushable = {"pushable": False, "pushReason": "no_push_key"}
        for _ in range(2):
            self.assertEqual(
                self.good("PUT", path + "/my%20phone", {
                    "alias": "中", "tags": ["b", "a", "b"], "pushAddress": "p", "device": "other",
                    "account": "other"}), {"device": phone, **unpushable})
        del phone["alias"]
        self.assertEqual(self.good("PUT", path + "/my%20phone", {"alias": ""}), {
            "device": phone, **unpushable})
        client = self.service.login("owner", "my phone", client="ios")
        self.addCleanup(client.close)
        self.assertEqual(self.good("GET", path), {
            "devices": [{**phone, "client": "ios", "connection": "connected"}]})
        self.assertEqual(client.ok("devices"), self.good("GET", path))
        for _ in range(2):
            self.assertEqual(self.good("DELETE", path + "/my%20phone"),
                             {"device": {"device": "my phone"}})
        self.assertEqual(self.good("GET", path), {"devices": []})
        self.assertEqual(self.good("DELETE", "/v1/accounts/nobody/devices/d"),
                         {"device": {"device": "d"}})

    def test_devices_that_are_rejected(self):
        path = "/v1/accounts/rejected/devices/d"
        long = ["t%02d" % n + "x" * 37 for n in range(26)]
        for body, reason, members in (
                ({}, "nothing_set", {}),
                ({"alias": "a.é"}, "invalid_alias", {"field": "alias", "character": "."}),
                ({"alias": "中" * 13 + "aa"}, "alias_too_long",
                 {"field": "alias", "limit": 40, "count": 41}),
                ({"tags": ["a", ""]}, "invalid_tag", {"field": "tags", "index": 1}),
                ({"tags": ["a", "〇"]}, "invalid_tag",
                 {"field": "tags", "index": 1, "character": "〇"}),
                ({"tags": ["x" * 41]}, "tag_too_long",
                 {"field": "tags", "index": 0, "limit": 40, "count": 41}),
                ({"tags": ["t%d" % n for n in range(101)]}, "too_many_tags",
                 {"field": "tags", "limit": 100, "count": 101}),
                ({"tags": long}, "labels_too_long", {"limit": 1_024, "count": 1_040}),
                ({"pushAddress": "x" * 2_049}, "too_long",
                 {"field": "pushAddress", "limit": 2_048, "count": 2_049}),
                ({"alias": None}, "wrong_type", {"field": "alias"}),
                ({"tags": "a"}, "wrong_type", {"field": "tags"})):
            with self.subTest(body=str(body)[:80]):
                answer = self.problem(422, reason, "PUT", path, body)
                for name in ("field", "index", "character", "limit", "count"):
                    self.assertEqual(answer.members.get(name), members.get(name), name)
        self.problem(422, "invalid_name", "PUT", "/v1/accounts/a/devices/%20", {"alias": "a"})
        self.problem(405, "method_not_allowed", "POST", path, {"alias": "a"})
        self.assertEqual(self.service.ask("GET", "/v1/accounts/a/devices", key=False).status, 401)
        self.assertEqual(self.good("GET", "/v1/accounts/rejected/devices"), {"devices": []})

    def test_sessions_are_listed_and_ended(self):
        clients = [self.service.connect() for _ in range(3)]
        for number, client in enumerate(clients):
            client.login("kicked", "d/%d" % number)
        path = "/v1/accounts/kicked/sessions"
        sessions = self.good("GET", path)["sessions"]
        self.assertEqual([s["device"] for s in sessions], ["d/0", "d/1", "d/2"])
        self.assertEqual(self.good("DELETE", path + "/d%2F1?reason=Look+up"), {"kicked": 1})
        notice = clients[1].closing()
        self.assertEqual((notice["code"], notice["message"]), (4410, "Look up"))
        self.assertEqual(self.good("DELETE", path), {"kicked": 2})
        self.assertEqual(self.good("GET", path), {"sessions": [], "messagesWaiting": 0})

    def test_names_of_any_kind(self):
        for name in ("a/b", "a?b#c", "100%", "ü\U0001F600", "a+b", "..", "a b", "a\\b", '"', "%2F"):
            path = "/v1/accounts/%s/statuses/1" % quote(name, safe="")
            self.good("PUT", path, {"value": 10001})
            state = self.good("GET", "/v1/accounts/%s/state" % quote(name, safe=""))
            self.assertEqual((state["publisher"], state["status"]["value"]), (name, 10001))

    def test_a_number_without_a_rest_is_an_integer(self):
        path = "/v1/accounts/whole/statuses/1"
        for body in ('{"value":10001.0}', '{"value":10001.000,"expiry":60.0}'):
            self.good("PUT", path, body, headers={"Content-Type": "application/json"})
        self.assertEqual(self.good("GET", "/v1/accounts/whole/state")["status"]["value"], 10001)

    def test_stats(self):
        stats = self.good("GET", "/v1/stats")
        self.assertGreater(stats["requests"], 0)

    def test_health_needs_no_key(self):
        for path, word in (("/livez", "alive"), ("/readyz", "ready")):
            self.assertEqual(self.good("GET", path, key=None), {"status": word})

    def test_the_description_is_the_page(self):
        import os
        with open(os.path.join(os.path.dirname(__file__), "../../docs/openapi.json")) as file:
            self.assertEqual(self.good("GET", "/openapi.json", key=None), json.load(file))

    def test_metrics(self):
        self.good("GET", "/v1/stats")
        answer = self.ask("GET", "/metrics")
        self.assertEqual(answer.headers["Content-Type"],
                         "text/plain; version=0.0.4; charset=utf-8")
        text = answer.body.decode()
        self.assertRegex(text, r'porchlight_http_requests_total\{method="GET",'
                               r'route="/v1/stats",status="2xx"\} [1-9]')
        self.assertNotIn(KEY, text)

    def test_head_is_get_without_the_body(self):
        get = self.ask("GET", "/livez")
        head = self.ask("HEAD", "/livez")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(head.headers["Content-Length"], get.headers["Content-Length"])

    def test_a_connection_serves_many_requests(self):
        connection = self.service.open_http()
        for number in range(50):
            path = "/v1/accounts/again-%d/state" % number
            answer = self.ask("GET", path, over=connection)
            self.assertEqual(answer.json["publisher"], "again-%d" % number)
        connection.close()


class Rejections(Case):
    def test_of_the_service_come_as_they_are(self):
        path = "/v1/accounts/a/statuses/1"
        rejected = self.problem(422, "out_of_range", "PUT", path, {"value": 10001, "expiry": 59})
        self.assertEqual(rejected.members, {"field": "expiry", "min": 60, "max": 604800})
        rejected = self.problem(422, "reserved_value", "PUT", path, {"value": 2})
        self.assertEqual(rejected.members["min"], 10000)
        self.problem(422, "missing_field", "PUT", path, {})
        self.problem(422, "wrong_type", "PUT", path, {"value": "10001"})
        self.problem(422, "wrong_type", "PUT", path, {"value": 10001.5})
        self.problem(422, "too_long", "PUT", path, {"value": 10001, "ext": "x" * 4097})
        self.problem(422, "duplicate_field", "PUT", path, '{"value":10001,"value":10002}',
                     headers={"Content-Type": "application/json"})
        self.problem(422, "invalid_name", "GET", "/v1/accounts/%20a/state")
        self.problem(422, "invalid_name", "GET", "/v1/accounts//state")
        self.problem(422, "invalid_name", "GET", "/v1/accounts/a%00/state")
        self.problem(422, "too_long", "GET", "/v1/accounts/%s/state" % ("x" * 129))
        for path in ("/v1/accounts/%20a/state", "/v1/accounts/a%00/subscribers",
                     "/v1/accounts/a%00/sessions"):
            rejected = self.problem(422, "invalid_name", "GET", path)
            self.assertEqual(rejected.members, {"field": "account", "limit": 128})
        names = ["n%d" % number for number in range(100)]
        names[73] = " n"
        rejected = self.problem(422, "invalid_name", "POST", "/v1/states",
                                {"type": 1, "accounts": names})
        self.assertEqual(rejected.members, {"field": "accounts", "index": 73, "limit": 128})
        self.problem(422, "out_of_range", "GET", "/v1/accounts/a/state?type=99")
        self.problem(422, "missing_field", "DELETE", "/v1/accounts/a/subscriptions")
        self.problem(422, "out_of_range", "GET", "/v1/accounts/a/subscriptions?cursor=x")

    def test_a_body_cannot_name_another_account(self):
        body = {"value": 10001, "account": "victim", "type": 100}
        self.good("PUT", "/v1/accounts/self/statuses/1", body)
        self.assertEqual(self.good("GET", "/v1/accounts/victim/state")["value"], 0)
        self.assertEqual(self.good("GET", "/v1/accounts/self/state")["status"]["value"], 10001)

    def test_a_body_cannot_leave_its_place(self):
        for body in ('{"value":10001}},"method":"kick","params":{"account":"x"',
                     '{"value":10001}{}', '{"value":10001},', '{"ext":"\\"}', "[]}", "",
                     '{"value":10001,"ext":{"a":1}}, {"b":2}'):
            answer = self.ask("PUT", "/v1/accounts/inj/statuses/1", body,
                              headers={"Content-Type": "application/json"})
            self.assertEqual(answer.status, 400, (body, answer))

    def test_what_is_no_json(self):
        json_type = {"Content-Type": "application/json"}
        for body, reason in ((b"{", "invalid_json"), (b"[1]", "invalid_request"),
                             (b'{"a":"\xff"}', "invalid_utf8"),
                             (b'{"accounts":' + b"[" * 40 + b"]" * 40 + b"}", "too_deep")):
            self.problem(400, reason, "POST", "/v1/states", body, headers=json_type)
        broken = self.problem(400, "invalid_json", "POST", "/v1/states", b'{"type":1,,}',
                              headers=json_type)
        self.assertEqual(broken.members, {"position": 10})

    def test_what_is_similar_to_a_member_is_suggested(self):
        path = "/v1/accounts/similar/statuses/1"
        got = self.good("PUT", path, {"value": 10001, "validTime": 60, "x": 1})
        self.assertEqual(got["warnings"], [{
            "field": "validTime", "suggestion": "expiry",
            "message": "This member is not known here and was ignored; did you mean `expiry`?"}])
        self.assertGreater(got["expires"] - got["time"], 60_000)
        self.assertNotIn("warnings", self.good("PUT", path, {"value": 10001, "expiry": 60}))
        got = self.good("POST", "/v1/states", {"type": 1, "accounts": ["a"], "accids": ["a"]})
        self.assertEqual([(w["field"], w["suggestion"]) for w in got["warnings"]],
                         [("accids", "accounts")])

    def test_what_is_not_called_json(self):
        for headers in ({}, {"Content-Type": "text/plain"},
                        {"Content-Type": "application/x-www-form-urlencoded"}):
            self.problem(415, "unsupported_media_type", "POST", "/v1/states",
                         b'{"type":1,"accounts":["a"]}', headers=headers)

    def test_queries_that_make_no_sense(self):
        path = "/v1/accounts/a/subscriptions?"
        self.problem(422, "wrong_type", "GET", path + "type=x")
        self.problem(422, "wrong_type", "GET", path + "type=")
        self.problem(422, "wrong_type", "GET", path + "limit=1.0")
        self.problem(422, "duplicate_field", "GET", path + "type=1&type=1")
        self.problem(422, "out_of_range", "GET", path + "limit=0")
        self.problem(400, "invalid_utf8", "GET", path + "publisher=%ff")
        self.problem(400, "invalid_utf8", "GET", "/v1/accounts/%ff/state")
        self.problem(422, "wrong_type", "PUT", "/v1/accounts/a/statuses/one", {"value": 10001})
        self.problem(422, "wrong_type", "PUT", "/v1/accounts/a/statuses/01", {"value": 10001})

    def test_what_is_not_there(self):
        for path in ("/v1", "/v1/states/", "/v2/states", "/v1/accounts/a"):
            self.problem(404, "not_found", "GET", path)

    def test_what_cannot_be_done_there(self):
        answer = self.problem(405, "method_not_allowed", "DELETE", "/v1/states", {})
        self.assertEqual(answer.headers["Allow"], "POST")
        answer = self.problem(405, "method_not_allowed", "PATCH", "/v1/accounts/a/subscriptions")
        self.assertEqual(answer.headers["Allow"], "DELETE, GET, HEAD, POST")

    def test_a_quota_is_a_conflict(self):
        for number in range(30):
            names = ["q%d-%d" % (number, n) for n in range(100)]
            self.good("POST", "/v1/accounts/full/subscriptions",
                      {"type": 1, "expiry": 600, "publishers": names})
        rejected = self.problem(409, "subscription_quota", "POST",
                                "/v1/accounts/full/subscriptions",
                                {"type": 1, "expiry": 600, "publishers": ["one more"]})
        self.assertEqual((rejected.members["limit"], rejected.members["count"]), (3000, 3000))

    def test_publishing_above_the_rate_limit_gets_a_retry_after(self):
        body = json.dumps({"value": 10001})
        request = ("PUT /v1/accounts/busy/statuses/1 HTTP/1.1\r\nHost: localhost\r\n"
                   "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                   "Content-Length: %d\r\n\r\n%s" % (KEY, len(body), body)).encode()
        # One after the other, each with a wait, might be slower than the rate limit.
        # A slow service may close a connection for its time before the limit is reached.
        status, end = 200, time.monotonic() + 60
        while status == 200 and time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(
                    ("127.0.0.1", self.service.http_port), 60) as stream:
                stream.sendall(request * 400)
                with stream.makefile("rb") as responses:
                    while status == 200 and responses.peek(1):
                        status, headers, body = self.next_response(responses)
        rejection = json.loads(body)
        self.assertEqual((status, rejection["reason"]), (429, "rate_limited"))
        self.assertEqual(headers["retry-after"], str(rejection["retryAfter"]))

    @staticmethod
    def next_response(responses):
        status = int(responses.readline().split()[1])
        headers = {}
        while line := responses.readline().decode().strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return status, headers, responses.read(int(headers["content-length"]))


class Keys(Case):
    def test_are_needed(self):
        answer = self.problem(401, "not_logged_in", "GET", "/v1/stats", key=None)
        self.assertEqual(answer.headers["WWW-Authenticate"], 'Bearer realm="porchlight"')
        self.problem(401, "not_logged_in", "GET", "/metrics", key=None)
        for field in ("Basic " + KEY, "Bearer", KEY, ""):
            self.problem(401, "not_logged_in", "GET", "/v1/stats",
                         headers={"Authorization": field})

    def test_must_be_right(self):
        for key in (KEY + "x", KEY[:-1], "x" * 5000, "é" * 10):
            answer = self.problem(401, "invalid_token", "GET", "/v1/stats",
                                  headers={"Authorization": ("Bearer " + key).encode()})
            self.assertIn('error="invalid_token"', answer.headers["WWW-Authenticate"])
            self.assertNotIn(key.encode(), answer.body)

    def test_come_in_any_case_of_the_scheme(self):
        self.good("GET", "/v1/stats", headers={"Authorization": "bearer " + KEY})

    def test_do_not_stand_in_the_log(self):
        self.assertNotIn(KEY, self.service.log_text())


class WithoutKeys(Case):
    options = {"keys": ()}

    def test_every_client_on_this_machine_is_accepted(self):
        self.good("GET", "/v1/stats")

    def test_but_not_under_a_foreign_name(self):
        self.problem(421, "misdirected", "GET", "/v1/stats", headers={"Host": "evil.example"})
        self.good("GET", "/v1/stats", headers={"Host": "localhost:1"})


class Starting(unittest.TestCase):
    def rejection(self, *flags, **options):
        with self.assertRaises(porchlight.Closed) as caught:
            Service(*flags, **options).close()
        return str(caught.exception)

    def test_without_keys_it_listens_on_loopback_only(self):
        self.assertIn("set server-key", self.rejection(keys=(), http="0.0.0.0:0"))

    def test_an_address_that_is_none_is_rejected(self):
        self.assertIn("address", self.rejection(http="example.com:1"))

    def test_an_address_that_is_taken_is_rejected(self):
        service = Service()
        self.assertIn("Cannot listen on",
                      self.rejection(http="127.0.0.1:%d" % service.http_port))
        service.close()

    def test_it_ends_in_order(self):
        service = Service()
        connection = service.open_http()
        service.ask("GET", "/v1/stats", over=connection)
        self.assertEqual(service.terminate(), 0)
        connection.close()
        service.close()
