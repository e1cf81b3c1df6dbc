"""Messages between accounts: `send`, `messages`, `take`, `discard`, over restarts and crashes."""

import threading
import time

from people import People
from porchlight import WAIT

NEVER_SENT = "0000000000000"


class Messages(People):
    """What the classes below share."""

    def reader(self, account, device="d1", service=None, **options):
        """A session that receives messages."""
        return self.login(account, device, service, messages=True, **options)

    def leave(self, sender, *accounts, body="x", **more):
        return sender.ok("send", {"accounts": list(accounts), "body": body, **more})

    def given(self, client, count):
        """The next messages that a client is sent, in order."""
        found = []
        while len(found) < count:
            note = client.note("messages")
            found += note["params"]["messages"]
        self.assertEqual(len(found), count, found)
        return found

    def bodies(self, client, count):
        return [message["body"] for message in self.given(client, count)]

    def accept(self, client, message):
        """Takes a message; returns how many are left."""
        return client.ok("take", {"id": message["id"]})["waiting"]


class Delivery(Messages):
    def test_between_two_clients(self):
        zs = self.login(self.name("zs"), device="phone")
        li = self.reader(self.name("li"))
        self.assertEqual(li.welcome["waiting"], 0)
        sent = zs.ok("send", {
            "accounts": [li.account], "body": "今天的天气真好。", "ext": '{"itemType":1}',
            "ref": "m1", "expiry": 60, "unknown": None})
        self.assertEqual(set(sent), {"id", "time", "expires", "recipients"})
        self.assertEqual(sent["recipients"], 1)
        self.assertEqual(sent["expires"] - sent["time"], 60_000)
        message, = self.given(li, 1)
        self.assertEqual(message, {
            "id": sent["id"], "from": zs.account, "fromDevice": "phone", "time": sent["time"],
            "body": "今天的天气真好。", "ext": '{"itemType":1}', "ref": "m1"})
        self.assertEqual(self.accept(li, message), 0)
        self.assertEqual(self.reader(li.account, "d2").welcome["waiting"], 0)

    def test_members_that_the_sender_omits_are_absent(self):
        zs, li = self.login(self.name("zs")), self.reader(self.name("li"))
        sent = self.leave(zs, li.account)
        self.assertEqual(sent["expires"] - sent["time"], 604_800_000)
        self.assertEqual(set(self.given(li, 1)[0]), {"id", "from", "fromDevice", "time", "body"})

    def test_of_app_servers(self):
        app, li = self.server(), self.reader(self.name("li"))
        self.assertEqual(self.leave(app, li.account)["reached"], 1)
        self.assertEqual(set(self.given(li, 1)[0]), {"id", "time", "body"})
        sent = self.leave(app, li.account, self.name("away"), account="zs", ref="r")
        self.assertEqual((sent["recipients"], sent["reached"]), (2, 1))
        message, = self.given(li, 1)
        self.assertEqual((message["from"], message["ref"]), ("zs", "r"))
        self.assertNotIn("fromDevice", message)

    def test_they_wait_for_a_session_and_come_after_its_login_list(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        for number in range(5):
            self.leave(zs, name, body=str(number))
        li = self.reader(name)
        self.assertEqual(li.welcome["waiting"], 5)
        self.assertEqual(self.bodies(li, 5), list("01234"))

    def test_a_session_that_did_not_ask_receives_none(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        mute = self.login(name, "mute")
        self.assertNotIn("waiting", mute.welcome)
        self.leave(zs, name)
        self.given(self.reader(name), 1)
        mute.ok("ping")
        self.assertEqual(mute.notes, [])

    def test_to_oneself_and_to_names_that_are_not_known(self):
        zs = self.reader(self.name("zs"))
        for name in (zs.account, self.name("unknown")):
            self.assertEqual(set(self.leave(zs, name)), {"id", "time", "expires", "recipients"})
        self.given(zs, 1)

    def test_each_once_and_in_order(self):
        li = self.reader(self.name("li"))
        senders = [self.login(self.name("s")) for _ in range(3)]
        # Their pace has shares.
        for number in range(24):
            for sender in senders:
                sender.post("send", {"accounts": [li.account], "body": "%d" % number})
            if number % 8 == 7:
                # Strangers fill at most half of the room.
                self.accept(li, self.given(li, 24)[-1])
        li.notes.clear()
        left = self.login(self.name("w"))
        self.leave(left, li.account, body="last")
        self.assertEqual(self.bodies(li, 1), ["last"])

    def test_ids_rise(self):
        li = self.reader(self.name("li"))
        senders = [self.login(self.name("s")) for _ in range(4)]
        posted = [(s, s.post("send", {"accounts": [li.account], "body": "%d %d" % (n, at)}))
                  for n in range(10) for at, s in enumerate(senders)]
        for sender, id in posted:
            self.assertIn("result", sender.answer(id))
        found = self.given(li, 40)
        ids = [message["id"] for message in found]
        self.assertEqual(ids, sorted(set(ids)))
        for at, _ in enumerate(senders):
            own = [m["body"] for m in found if m["body"].endswith(" %d" % at)]
            self.assertEqual(own, ["%d %d" % (n, at) for n in range(10)])

    def test_any_text(self):
        zs, li = self.login(self.name("zs")), self.reader(self.name("li"))
        for body in ("\0", "\0a\0", "\"\\/\b\f\n\r\t\x01\x1f\x7f", "\u2028\ufeff😀é", " ",
                     "x" * 131_072, "今" * 43_690, "\x01" * 40_000, "\"" * 120_000):
            with self.subTest(body=body[:10]):
                self.leave(zs, li.account, body=body)
                message, = self.given(li, 1)
                self.assertEqual(message["body"], body)
                self.assertEqual(self.accept(li, message), 0)
        self.leave(zs, li.account, ext="\0\"")
        self.assertEqual(self.given(li, 1)[0]["ext"], "\0\"")

    def test_a_notification_is_carried_out(self):
        zs, li = self.login(self.name("zs")), self.reader(self.name("li"))
        zs.send({"jsonrpc": "2.0", "method": "send",
                 "params": {"accounts": [li.account], "body": "x"}})
        self.given(li, 1)
        zs.ok("ping")
        self.assertEqual(zs.notes, [])


class Taking(Messages):
    def test_all_that_were_sent_before_are_taken(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        for number in range(5):
            self.leave(zs, name, body=str(number))
        li = self.reader(name)
        found = self.given(li, 5)
        self.assertEqual(self.accept(li, found[2]), 2)
        self.assertEqual(self.accept(li, found[2]), 2)
        self.assertEqual(self.accept(li, found[0]), 2)
        again = self.reader(name)
        self.assertEqual(again.welcome["waiting"], 2)
        self.assertEqual(self.given(again, 2), found[3:])
        self.assertEqual(self.accept(again, found[4]), 0)

    def test_an_id_that_was_not_sent_takes_nothing(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        self.leave(zs, name)
        li = self.reader(name)
        self.given(li, 1)
        for id in (NEVER_SENT, "FZZZZZZZZZZZZ"):
            self.assertEqual(li.ok("take", {"id": id}), {"waiting": 1})
        other = self.reader(self.name("other"))
        sent = self.leave(zs, other.account)
        self.assertEqual(li.ok("take", {"id": sent["id"]}), {"waiting": 1})
        self.given(other, 1)
        mute = self.login(name, "mute")
        self.assertEqual(mute.ok("take", {"id": NEVER_SENT}), {"waiting": 0})

    def test_what_was_not_taken_is_sent_to_the_next_session(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        self.leave(zs, name, ref="r")
        first = self.reader(name)
        found = self.given(first, 1)
        second = self.reader(name)
        self.assertEqual(first.closing()["reason"], "replaced")
        self.assertEqual(self.given(second, 1), found)
        second.reset()
        third = self.reader(name)
        self.assertEqual(self.given(third, 1), found)
        third.ok("logout")
        self.assertEqual(self.given(self.reader(name, "d2"), 1), found)

    def test_every_device_that_is_there_has_its_own_pace(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        quick, slow = self.reader(name, "quick"), self.reader(name, "slow")
        third = self.reader(name, "third")
        sent = []
        for number in range(20):
            sent.append(f"{number:02}" + "x" * 10_000)
            self.leave(zs, name, body=sent[-1])
            found, = self.given(quick, 1)
            self.accept(quick, found)
        late = self.reader(name, "late")
        self.assertEqual(late.welcome["waiting"], 0)
        for client in (slow, third):
            found = []
            while len(found) < len(sent):
                found += client.note("messages")["params"]["messages"]
                self.accept(client, found[-1])
            self.assertEqual([message["body"] for message in found], sent)
            self.assertEqual(len({message["id"] for message in found}), len(sent))
        self.assertEqual(late.notes, [])
        self.assertEqual(self.reader(name, "later").welcome["waiting"], 0)

    def test_several_devices_until_one_takes(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        one, two = self.reader(name, "one"), self.reader(name, "two")
        sent = self.leave(zs, name)
        for device in (one, two):
            self.assertEqual(self.given(device, 1)[0]["id"], sent["id"])
        self.assertEqual(one.ok("take", {"id": sent["id"]}), {"waiting": 0})
        self.assertEqual(two.ok("take", {"id": sent["id"]}), {"waiting": 0})
        self.assertEqual(self.reader(name, "three").welcome["waiting"], 0)
        self.leave(zs, name, body="next")
        for device in (one, two):
            self.assertEqual(self.bodies(device, 1), ["next"])

    def test_for_one_device(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        two = self.reader(name, "two")
        self.leave(zs, name, body="for one", device="one")
        self.leave(zs, name, body="for all")
        self.assertEqual(self.bodies(two, 1), ["for all"])
        one = self.reader(name, "one")
        self.assertEqual(one.welcome["waiting"], 2)
        found = self.given(one, 2)
        self.assertEqual([m["body"] for m in found], ["for one", "for all"])
        # What the other device was not sent it cannot take.
        self.assertEqual(two.ok("take", {"id": found[0]["id"]}), {"waiting": 1})
        self.assertEqual(self.accept(one, found[0]), 1)
        self.assertEqual(self.accept(two, found[1]), 0)

    def test_a_negative_priority(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        li = self.reader(name)
        li.ok("setAvailability", {"priority": -1})
        self.leave(zs, name, body="for all")
        self.leave(zs, name, body="for one", device="d1")
        found = self.given(li, 1)
        self.assertEqual(found[0]["body"], "for one")
        li.ok("setAvailability", {"priority": 0})
        found += self.given(li, 1)
        self.assertEqual(found[1]["body"], "for all")
        self.assertLess(found[1]["id"], found[0]["id"])
        # In the order in which they were sent.
        self.assertEqual(self.accept(li, found[0]), 1)
        self.assertEqual(self.accept(li, found[1]), 0)

    def test_a_window_of_64_kib(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        li = self.reader(name)
        for number in range(5):
            self.leave(zs, name, body=str(number) * 30_000)
        first, second = self.given(li, 2)
        for _ in range(20):
            li.ok("ping")
        self.assertEqual(li.notes, [])
        # More room is not made by what was not sent.
        self.assertEqual(li.ok("take", {"id": NEVER_SENT}), {"waiting": 5})
        self.assertEqual(self.accept(li, first), 4)
        third, = self.given(li, 1)
        self.assertEqual(self.accept(li, third), 2)
        self.assertEqual(self.given(li, 2)[1]["body"], "4" * 30_000)

    def test_one_message_is_sent_whatever_its_length(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        for number in range(3):
            self.leave(zs, name, body=str(number) * 131_072)
        li = self.reader(name)
        for number in range(3):
            message, = self.given(li, 1)
            self.assertEqual(message["body"][:1], str(number))
            self.assertEqual(self.accept(li, message), 2 - number)


class Copies(Messages):
    def copies(self, client):
        return client.note("sent")["params"]

    def other(self, account, device="other", **more):
        return self.login(account, device, messages={"sent": True}, **more)

    def test_of_what_a_session_sends_go_to_the_others_that_ask(self):
        name, li = self.name("zs"), self.name("li")
        zs = self.other(name, "phone")
        two, three = self.other(name, "two"), self.other(name, "three")
        deaf = self.reader(name, "deaf")
        self.assertEqual(two.welcome["waiting"], 0)
        sent = zs.ok("send", {
            "accounts": [li, li + "2"], "body": "今天", "ext": "{}", "ref": "m1"})
        for client in (two, three):
            self.assertEqual(self.copies(client), {"sent": [{
                "id": sent["id"], "to": [li, li + "2"], "fromDevice": "phone",
                "time": sent["time"], "body": "今天", "ext": "{}", "ref": "m1"}]})
        sent = self.leave(zs, li, body="x", device="d1")
        self.assertEqual(self.copies(two), {"sent": [{
            "id": sent["id"], "to": [li], "device": "d1", "fromDevice": "phone",
            "time": sent["time"], "body": "x"}]})
        for client in (zs, deaf):
            client.ok("ping")
            self.assertEqual(client.notes, [])
        # There is nothing to take, and nothing waits.
        self.assertEqual(two.ok("take", {"id": sent["id"]}), {"waiting": 0})
        self.assertEqual(self.other(name, "late").welcome["waiting"], 0)

    def test_of_what_an_app_server_sends_for_an_account(self):
        app, li = self.server(), self.name("li")
        zs = self.other(self.name("zs"))
        sent = self.leave(app, li, account=zs.account)
        self.assertEqual(self.copies(zs), {"sent": [{
            "id": sent["id"], "to": [li], "time": sent["time"], "body": "x"}]})
        self.leave(app, li)
        zs.ok("ping")
        self.assertEqual(zs.notes, [])

    def test_come_in_the_order_of_the_ids(self):
        zs = self.other(self.name("zs"))
        senders = [self.login(zs.account, f"s{number}") for number in range(4)]
        li = self.name("li")
        for number in range(5):
            for sender in senders:
                sender.post("send", {"accounts": [li], "body": str(number)})
        ids = []
        while len(ids) < 20:
            ids += [copy["id"] for copy in self.copies(zs)["sent"]]
        self.assertEqual(ids, sorted(set(ids)))

    def test_of_a_message_to_oneself(self):
        zs = self.other(self.name("zs"))
        phone = self.reader(zs.account, "phone")
        sent = self.leave(phone, zs.account)
        self.assertEqual(self.given(zs, 1)[0]["id"], sent["id"])
        self.assertEqual(self.copies(zs)["sent"][0]["id"], sent["id"])
        self.assertEqual(self.given(phone, 1)[0]["id"], sent["id"])


class Senders(Messages):
    def test_permission(self):
        c, app, name = self.login(self.name("c")), self.server(), self.name("v")
        message = {"accounts": [name], "body": "x"}
        self.rejected(c.call("send", {**message, "account": name}), 403, "forbidden")
        self.leave(c, name, account=c.account)
        self.rejected(c.call("discard", {"account": c.account}), 403, "forbidden")
        self.rejected(app.call("take", {"id": NEVER_SENT}), 403, "forbidden")
        stranger = self.connect()
        for method, params in (("send", message), ("take", {"id": NEVER_SENT}),
                               ("discard", {"account": name}), ("send", {}), ("take", {})):
            self.rejected(stranger.call(method, params), 401, "not_logged_in")
        self.assertEqual(self.reader(name).welcome["waiting"], 1)

    def test_recipients(self):
        c, app = self.login(self.name("c")), self.server()
        for sender, limit in ((c, 10), (app, 100)):
            self.assertEqual(sender.welcome["limits"]["accountsPerSendMax"], limit)
            names = [self.name("r") for _ in range(limit + 1)]
            self.rejected(sender.call("send", {"accounts": names, "body": "x"}), 414, "too_many",
                          field="accounts", limit=limit)
            names[-1] = names[0]
            self.assertEqual(self.leave(sender, *names)["recipients"], limit)
            self.assertEqual(self.reader(names[0]).welcome["waiting"], 1)
            self.assertEqual(self.reader(names[limit - 1]).welcome["waiting"], 1)

    def test_parameters(self):
        c, name = self.login(self.name("c")), self.name("v")
        limits = c.welcome["limits"]
        self.assertEqual(
            [limits[n] for n in ("messageBytesMax", "messageExpirySecondsMin", "refBytesMax",
                                 "messageExpirySecondsMax", "messageExpirySecondsDefault")],
            [131_072, 60, 64, 2_592_000, 604_800])
        for change, reason, data in (
                ({"accounts": None}, "wrong_type", {"field": "accounts"}),
                ({"accounts": []}, "out_of_range", {"field": "accounts", "min": 1}),
                ({"accounts": [name, ""]}, "invalid_name", {"field": "accounts"}),
                ({"accounts": [name, 5]}, "wrong_type", {"field": "accounts"}),
                ({"body": ""}, "out_of_range", {"field": "body", "min": 1, "max": 131_072}),
                ({"body": None}, "wrong_type", {"field": "body"}),
                ({"body": ["x"]}, "wrong_type", {"field": "body"}),
                ({"body": "é" * 65_537}, "too_long",
                 {"field": "body", "limit": 131_072, "count": 131_074}),
                ({"ext": "x" * 131_072}, "too_long",
                 {"field": "body", "limit": 131_072, "count": 131_073}),
                ({"ext": 5}, "wrong_type", {"field": "ext"}),
                ({"ref": ""}, "out_of_range", {"field": "ref", "min": 1, "max": 64}),
                ({"ref": "é" * 33}, "too_long", {"field": "ref", "limit": 64, "count": 66}),
                ({"expiry": 59}, "out_of_range", {"field": "expiry", "min": 60}),
                ({"expiry": 2_592_001}, "out_of_range", {"field": "expiry", "max": 2_592_000}),
                ({"expiry": 60.0}, "wrong_type", {"field": "expiry"}),
                ({"device": " "}, "invalid_name", {"field": "device"}),
                ({"device": "d", "accounts": [name, "other"]}, "out_of_range",
                 {"field": "device"})):
            with self.subTest(change=str(change)[:100]):
                got = c.call("send", {"accounts": [name], "body": "x", **change})
                self.rejected(got, 414, reason, **data)
                self.assertIn("`%s`" % data["field"], got["error"]["message"])
        for missing in ("accounts", "body"):
            params = {"accounts": [name], "body": "x"}
            del params[missing]
            self.rejected(c.call("send", params), 414, "missing_field", field=missing)
        self.assertEqual(self.reader(name).welcome["waiting"], 0)
        for id in ("", "x", 5, None, "000000000000i", NEVER_SENT + "0", "GZZZZZZZZZZZZ"):
            reason = "out_of_range" if isinstance(id, str) else "wrong_type"
            self.rejected(c.call("take", {"id": id}), 414, reason, field="id")
        self.rejected(c.call("take", {}), 414, "missing_field", field="id")
        self.rejected(self.server().call("discard", {}), 414, "missing_field", field="account")

    def test_messages_of_login_is_a_boolean_or_an_object(self):
        for value in (None, 1, "true", [], {"sent": 1}, {"sent": None}):
            c = self.connect()
            self.rejected(c.call("login", {"account": self.name("a"), "device": "d",
                                           "messages": value}), 414, "wrong_type", field="messages")

    def test_visibility_decides_who_may_write(self):
        app = self.server()
        for visibility in ("approved", "hidden"):
            shy, other, eye = (self.person(stem) for stem in ("shy", "other", "eye"))
            self.befriend(eye, shy)
            shown = self.person("shown")
            self.befriend(shy, shown)
            self.say(other, shy, "request")
            shy.ok("setVisibility", {"visibility": visibility})
            got = other.call("send", {"accounts": ["anybody", shy.account], "body": "x"})
            self.rejected(got, 403, "not_permitted", field="accounts", failed=[
                {"account": shy.account, "reason": "not_permitted"}])
            for friend in (eye, shown, shy, app):
                self.leave(friend, shy.account)
            self.assertEqual(self.reader(shy.account, "d2").welcome["waiting"], 4)
            shy.ok("setVisibility", {"visibility": "open"})
            self.leave(other, shy.account)

    def test_the_rate_limit_counts_recipients(self):
        c = self.login(self.name("c"), service=self.limited(publishes_per_second=1,
                                                            publishes_burst=20))
        names = [self.name("r") for _ in range(10)]
        # However slow the machine: of three in a row, one comes less than ten seconds after
        # the one before it.
        answers = [c.call("send", {"accounts": names, "body": "x"}) for _ in range(12)]
        rejected = [answer for answer in answers if "error" in answer]
        data = self.rejected(rejected[0], 416, "rate_limited")
        self.assertGreaterEqual(data["retryAfter"], 1)
        self.assertGreaterEqual(answers.index(rejected[0]), 2)

    def test_strangers_together_have_a_pace_for_each_recipient(self):
        s = self.limited(stranger_messages_per_second=1, stranger_messages_burst=30,
                         messages_per_account_max=1000)
        li, friend = self.pair(s)
        self.befriend(friend, li)
        reader, other = self.reader(li.account, "d2", service=s), self.name("other")
        strangers = [self.login("s%d" % n, service=s) for n in range(3)]
        # However slow the machine: of three in a row, one comes less than a second after the
        # one before it.
        rejected = None
        for number in range(1000):
            got = strangers[number % 3].call("send", {
                "accounts": [other, li.account] if number % 3 == 0 else [li.account],
                "body": "x"})
            if "error" in got:
                rejected = got
                break
            # A recipient that takes at once makes no difference.
            self.accept(reader, self.given(reader, 1)[0])
        # Three that share a burst of 30 have a quarter each.
        self.assertGreaterEqual(number, 21)
        failed = [{"account": li.account, "reason": "rate_limited"}]
        data = self.rejected(rejected, 416, "rate_limited", field="accounts", failed=failed)
        self.assertGreaterEqual(data["retryAfter"], 1)
        waiting = self.reader(other, service=s).welcome["waiting"]
        self.assertEqual(waiting, (number + 2) // 3, "nothing of what was rejected is stored")
        for sender in (friend, li, self.keep(s.server())):
            self.leave(sender, li.account)
        app = self.keep(s.server())
        self.leave(app, li.account, account=strangers[0].account)
        self.leave(strangers[0], self.name("third"))


class Room(Messages):
    flags = None

    def test_a_full_box(self):
        s = self.limited(messages_per_account_max=10)
        li, friend = self.pair(s)
        self.befriend(friend, li)
        stranger, other = self.login("stranger", service=s), self.name("other")
        for _ in range(3):
            self.leave(stranger, li.account)
        # One alone does not shut others out.
        for name in "second", "third":
            self.leave(self.login(name, service=s), li.account)
        full = [{"account": li.account, "reason": "inbox_full"}]
        got = stranger.call("send", {"accounts": [other, li.account], "body": "x"})
        self.rejected(got, 419, "inbox_full", field="accounts", limit=10, failed=full)
        self.assertEqual(self.reader(other, service=s).welcome["waiting"], 0)
        for _ in range(3):
            self.leave(friend, li.account)
        got = friend.call("send", {"accounts": [li.account], "body": "x"})
        self.rejected(got, 419, "inbox_full", limit=10, failed=full)
        for _ in range(2):
            self.leave(self.keep(s.server()), li.account)
        for sender in (friend, self.keep(s.server())):
            got = sender.call("send", {"accounts": [li.account], "body": "x"})
            self.rejected(got, 419, "inbox_full", limit=10, failed=full)
        s.kill()
        s.start()
        friend = self.login(friend.account, service=s)
        got = friend.call("send", {"accounts": [li.account], "body": "x"})
        self.rejected(got, 419, "inbox_full", limit=10, failed=full)
        li = self.reader(li.account, service=s)
        found = self.given(li, 10)
        self.assertEqual(self.accept(li, found[0]), 9)
        self.leave(self.keep(s.server()), li.account)
        stranger = self.login("stranger", service=s)
        self.rejected(stranger.call("send", {"accounts": [li.account], "body": "x"}), 419,
                      "inbox_full")
        self.assertEqual(self.accept(li, found[-1]), 1)
        self.leave(stranger, li.account)

    def test_a_box_that_is_full_of_bytes(self):
        s = self.limited(message_bytes_per_account_max=262_144)
        a, name = self.login("a", service=s), "li"
        self.leave(a, name, body="x" * 80_000)
        body = "x" * 60_000
        self.rejected(a.call("send", {"accounts": [name], "body": body}), 419, "inbox_full",
                      field="body", limit=262_144,
                      failed=[{"account": name, "reason": "inbox_full"}])
        self.leave(self.login("b", service=s), name, body="x" * 50_000)
        self.leave(self.keep(s.server()), name, body=body)

    def test_what_a_sender_may_have_waiting(self):
        s = self.limited(messages_per_sender_max=10)
        a, li = self.login("a", service=s), self.reader("li", service=s)
        self.leave(a, *("r%d" % n for n in range(7)))
        self.rejected(a.call("send", {"accounts": ["w", "x", "y", "z"], "body": "x"}), 419,
                      "sender_quota", limit=10, count=7)
        self.leave(a, "x", "y", "li")
        got = a.call("send", {"accounts": ["z"], "body": "x"})
        self.rejected(got, 419, "sender_quota", limit=10, count=10)
        app = self.keep(s.server())
        self.leave(app, "z")
        self.leave(app, "z", account="a")
        s.terminate()
        s.start()
        a, li = self.login("a", service=s), self.reader("li", service=s)
        self.rejected(a.call("send", {"accounts": ["z"], "body": "x"}), 419, "sender_quota")
        self.accept(li, self.given(li, 1)[0])
        app = self.keep(s.server())
        self.assertEqual(app.ok("discard", {"account": "x"}), {"discarded": 1})
        self.leave(a, "z")

    def test_what_is_rejected_is_counted(self):
        s = self.limited(messages_per_account_max=10, message_bytes_in_all_max=8_388_608,
                         messages_per_sender_max=20)
        a, app = self.login("a", service=s), self.keep(s.server())

        def count(name):
            text = app.ok("metrics")["text"]
            return int(next(line for line in text.splitlines()
                            if line.startswith(name + " ")).split()[1])

        def rejected(reason):
            return count('porchlight_messages_rejected_total{reason="%s"}' % reason)

        before = {reason: rejected(reason) for reason in (
            "not_permitted", "rate_limited", "inbox_full", "sender_quota", "overloaded",
            "store_unavailable")}
        self.assertEqual(set(before.values()), {0})
        shy = self.login("shy", service=s)
        shy.ok("setVisibility", {"visibility": "hidden"})
        self.rejected(a.call("send", {"accounts": ["shy"], "body": "x"}), 403, "not_permitted")
        for _ in range(3):
            self.leave(a, "li")
        self.rejected(a.call("send", {"accounts": ["li"], "body": "x"}), 419, "inbox_full")
        self.leave(a, *("x%d" % n for n in range(10)))
        self.rejected(a.call("send", {"accounts": ["x%d" % n for n in range(10)], "body": "x"}),
                      419, "sender_quota")
        self.assertEqual([rejected(reason) for reason in (
            "not_permitted", "inbox_full", "sender_quota", "overloaded")], [1, 1, 1, 0])
        self.assertEqual(count("porchlight_messages_waiting"), 13)
        self.assertEqual(count("porchlight_messages_waiting_bytes"), 13 * 512)
        self.assertEqual(count("porchlight_messages_waiting_bytes_max"), 8_388_608)
        # What is not valid is not counted.
        self.rejected(a.call("send", {"accounts": ["li"], "body": ""}), 414, "out_of_range")
        body = "x" * 40_000
        for number in range(8_388_608 // (40_000 * 100) + 1):
            got = app.call("send", {"accounts": ["y%d-%d" % (number, n) for n in range(100)],
                                    "body": body})
        self.rejected(got, 503, "overloaded")
        self.assertEqual(rejected("overloaded"), 1)

    def test_discard(self):
        s = self.fresh()
        a, app = self.login("a", service=s), self.keep(s.server())
        self.assertEqual(app.ok("discard", {"account": "nobody"}), {"discarded": 0})
        for _ in range(3):
            self.leave(a, "li", "other")
        li = self.reader("li", service=s)
        found = self.given(li, 3)
        self.assertEqual(app.ok("discard", {"account": "li"}), {"discarded": 3})
        self.assertEqual(li.ok("take", {"id": found[2]["id"]}), {"waiting": 0})
        self.leave(a, "li", body="next")
        self.assertEqual(self.bodies(li, 1), ["next"])
        self.assertEqual(self.reader("other", service=s).welcome["waiting"], 3)

    def test_what_was_discarded_stays_so_after_a_crash(self):
        s = self.fresh()
        for number in range(5):
            a, app = self.login("a", service=s), self.keep(s.server())
            self.leave(a, "li%d" % number, "other%d" % number)
            if number % 2:
                found = app.ok("discard", {"account": "li%d" % number})
            else:
                found = app.ok("discard", {"account": "li%d" % number, "from": "a"})
            self.assertEqual(found["discarded"], 1)
            s.kill()
            s.start()
            self.assertEqual(self.reader("li%d" % number, service=s).welcome["waiting"], 0)
            self.assertEqual(self.reader("other%d" % number, service=s).welcome["waiting"], 1)

    def test_discard_by_sender(self):
        s = self.fresh()
        a, mallory, app = self.login("a", service=s), self.login("m", service=s), s.server()
        self.keep(app)
        for c in (a, mallory):
            self.leave(c, "x", "y", "z")
        self.assertEqual(app.ok("discard", {"from": "m", "account": "y"}),
                         {"discarded": 1, "more": False})
        self.assertEqual(app.ok("discard", {"from": "m"}), {"discarded": 2, "more": False})
        self.assertEqual(app.ok("discard", {"from": "m"}), {"discarded": 0, "more": False})
        self.assertEqual(app.ok("discard", {"from": "never-seen"}),
                         {"discarded": 0, "more": False})
        self.rejected(app.call("discard", {"from": ""}), 414, "invalid_name", field="from")
        self.rejected(a.call("discard", {"from": "m"}), 403, "forbidden")
        for name in "xyz":
            self.assertEqual(self.reader(name, service=s).welcome["waiting"], 1)

    def test_messages_off(self):
        s = self.limited(messages="off")
        path = s.flags[1]
        app, a = self.keep(s.server()), self.reader("a", service=s)
        self.assertNotIn("waiting", a.welcome)
        for c, method, params in (
                (a, "send", {"accounts": ["b"], "body": "x"}), (a, "send", {}),
                (a, "take", {"id": NEVER_SENT}), (app, "send", {"accounts": ["b"], "body": "x"}),
                (app, "discard", {"account": "b"})):
            self.rejected(c.call(method, params), 403, "forbidden")

        self.reload(s, path, "messages: on\n")
        self.leave(a, "b")
        self.reload(s, path, "messages: off\n")
        self.rejected(a.call("send", {"accounts": ["b"], "body": "x"}), 403, "forbidden")
        self.reload(s, path, "messages: on\n")
        self.given(self.reader("b", service=s), 1)


class Restart(Messages):
    flags = None
    weight = 4

    def around(self, end):
        s = self.fresh()
        a, b = self.login("a", service=s), self.reader("b", service=s)
        self.leave(a, "b", body="taken")
        taken, = self.given(b, 1)
        self.assertEqual(self.accept(b, taken), 0)
        kept = [
            self.leave(a, "b", "c", body="\0今\"", ext="\0", ref="r", expiry=60),
            self.leave(a, "b", body="d2", device="d2"),
            self.leave(self.keep(s.server()), "b", body="x" * 49_152)]
        sent = self.given(b, 2)
        self.assertEqual([m["id"] for m in sent], [kept[0]["id"], kept[2]["id"]])
        # In the order of the store's writes, so what was taken is on disk with it.
        end(s)
        s.start()
        b = self.reader("b", service=s)
        found = self.given(b, b.welcome["waiting"])
        self.assertEqual(found[-2:], sent)
        # What was taken just before a crash may be sent again.
        self.assertIn(found[:-2], ([], [taken]))
        self.assertEqual(self.accept(b, found[-1]), 0)
        two = self.reader("b", "d2", service=s)
        message, = self.given(two, 1)
        self.assertEqual((message["id"], message["body"]), (kept[1]["id"], "d2"))
        c = self.reader("c", service=s)
        self.assertEqual(self.given(c, 1), sent[:1])
        new = self.leave(self.login("a", service=s), "c")
        self.assertGreater(new["id"], kept[2]["id"])
        return found

    def test_after_a_stop(self):
        found = self.around(lambda s: self.assertEqual(s.terminate(), 0))
        self.assertEqual(len(found), 2)

    def test_after_kill_9(self):
        self.around(lambda s: s.kill())

    def test_what_one_session_has_taken_is_not_sent_after_kill_9(self):
        s = self.fresh()
        zs = self.login("zs", service=s)
        quick, slow = self.reader("li", "quick", s), self.reader("li", "slow", s)
        for number in range(10):
            self.leave(zs, "li", body=str(number) * 10_000)
            self.accept(quick, self.given(quick, 1)[0])
        self.given(slow, 6)
        # In the order of the store's writes.
        self.leave(zs, "li", body="last")
        s.kill()
        s.start()
        late = self.reader("li", "late", s)
        self.assertEqual(late.welcome["waiting"], 1)
        self.assertEqual(self.bodies(late, 1), ["last"])

    def test_kill_9_while_messages_are_sent_and_taken(self):
        """Every answered message is taken or waits, and each has its place in the order."""
        s = self.fresh("--rate-limits", "off")
        names = ["r%d" % n for n in range(4)]
        senders = [self.login("s%d" % n, service=s) for n in range(4)]
        readers = [self.reader(name, service=s) for name in names]
        answered = [[] for _ in senders]
        taken = [[] for _ in readers]
        accepted = [[] for _ in readers]

        def send(at):
            number = 0
            while True:
                try:
                    got = senders[at].call("send", {
                        "accounts": names, "body": "x", "ref": "%d-%d" % (at, number)})
                except (AssertionError, OSError):
                    return
                if "result" in got:
                    answered[at].append(got["result"]["id"])
                number += 1

        def take(at):
            while True:
                try:
                    for message in readers[at].note("messages")["params"]["messages"]:
                        taken[at].append(message["id"])
                    readers[at].ok("take", {"id": taken[at][-1]})
                except (AssertionError, OSError):
                    return
                accepted[at] = list(taken[at])

        threads = [threading.Thread(target=work, args=(at,))
                   for work in (send, take) for at in range(4)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + WAIT
        while sum(map(len, answered)) < 200 and time.monotonic() < end:
            time.sleep(0.005)
        s.kill()
        for thread in threads:
            thread.join()
        self.assertGreaterEqual(sum(map(len, answered)), 100)
        s.start()
        ids = sorted(id for own in answered for id in own)
        for at, name in enumerate(names):
            reader = self.reader(name, service=s)
            waiting = []
            while len(waiting) < reader.welcome["waiting"]:
                waiting += reader.note("messages")["params"]["messages"]
                reader.ok("take", {"id": waiting[-1]["id"]})
            left = [message["id"] for message in waiting]
            self.assertEqual(left, sorted(set(left)))
            self.assertEqual(taken[at], sorted(set(taken[at])))
            missing = set(ids) - set(accepted[at]) - set(left)
            # A message that was sent, and whose `take` was lost with its response, is taken.
            self.assertLessEqual(missing, set(taken[at]), name)
