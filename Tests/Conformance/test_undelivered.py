"""What no device has taken in time: the method `undelivered` and webhooks that post it, over
restarts and crashes, beside a naive pusher."""

import http.server
import json
import os
import queue
import random
import subprocess
import threading

from porchlight import BINARY, Service
from test_messages import Messages

ALL = "0000000000000"
WAIT = 60


class Undelivered(Messages):
    flags = None

    def begin(self, *flags, **settings):
        """A service of this test that hands over after a second."""
        return self.fresh(*flags, environment={"PORCHLIGHT_PUSH_AFTER": "1", **settings})

    def pusher(self, service=None, cursor=None):
        """An app server that reads what is undelivered, and where it begins."""
        server = self.server() if service is None else self.keep(service.server())
        params = {} if cursor is None else {"cursor": cursor}
        server.begun = server.ok("undelivered", params)["cursor"]
        return server

    def told(self, pusher, count, account=None):
        """The next entries, of all accounts or of one; notes the cursor after them."""
        found = []
        while len(found) < count:
            params = pusher.note("undelivered", WAIT)["params"]
            found += [e for e in params["undelivered"] if account in (None, e["account"])]
            pusher.cursor = params["cursor"]
        self.assertEqual(len(found), count, found)
        return found


class Stream(Undelivered):
    @classmethod
    def setUpClass(cls):
        cls.service = Service(environment={"PORCHLIGHT_PUSH_AFTER": "1"})

    def test_one_who_is_not_there(self):
        pusher = self.pusher()
        self.assertEqual((len(pusher.begun), pusher.begun[13:]), (26, ALL))
        zs, name = self.login(self.name("zs"), "phone"), self.name("li")
        sent = zs.ok("send", {"accounts": [name], "body": "今天", "ext": "{}", "ref": "m1"})
        entry, = self.told(pusher, 1, name)
        self.assertEqual(entry, {
            "message": sent["id"], "account": name, "from": zs.account, "fromDevice": "phone",
            "why": "absent", "time": sent["time"], "expires": sent["expires"], "body": "今天",
            "ext": "{}", "ref": "m1", "waiting": 1, "devices": []})
        self.assertGreater(pusher.cursor, pusher.begun)

    def test_one_who_does_not_take(self):
        pusher = self.pusher(cursor=self.pusher().begun)
        li = self.reader(self.name("li"))
        app = self.server()
        sent = self.leave(app, li.account)
        self.given(li, 1)
        entry, = self.told(pusher, 1, li.account)
        self.assertEqual((entry["message"], entry["why"]), (sent["id"], "untaken"))
        self.assertEqual(set(entry), {
            "message", "account", "why", "time", "expires", "body", "waiting", "devices"})

    def test_devices_that_push_reaches(self):
        name = self.name("li")
        phone = self.login(name, "phone", client="ios", pushReachable=True)
        self.login(name, "pad")
        self.leave(self.server(), name, body="all")
        self.leave(self.server(), name, body="pad only", device="pad")
        found = self.told(self.pusher(), 2, name)
        self.assertEqual(found[0]["devices"], [
            {"device": "phone", "client": "ios", "push": True}])
        self.assertEqual(found[1]["devices"], [{"device": "pad", "client": "other"}])
        phone.ok("ping")

    def test_texts_are_cut(self):
        name, app = self.name("li"), self.server()
        bodies = ("x" * 1_024, "x" * 1_025, "今" * 342, "x" * 1_000)
        for body in bodies:
            self.leave(app, name, body=body, ext="y" * 30)
        found = self.told(self.pusher(), len(bodies), name)
        self.assertEqual([e["body"] for e in found], [
            "x" * 1_024, "x" * 1_024, "今" * 341, "x" * 1_000])
        self.assertEqual([e.get("ext") for e in found], [None, None, None, "y" * 24])
        self.assertEqual([e["cut"] for e in found], [True] * 4)
        self.assertEqual([e["waiting"] for e in found], [4] * 4)

    def test_requests(self):
        alice = self.login(self.name("alice"))
        self.rejected(alice.call("undelivered"), 403, "forbidden")
        server = self.server()
        self.rejected(server.call("undelivered", {"cursor": 5}), 414, "wrong_type", field="cursor")
        for cursor in ("", "x" * 26, ALL * 2, "0" * 25, "z" * 4_000):
            self.assertEqual(server.ok("undelivered", {"cursor": cursor})["cursor"][13:], ALL)


class OverRestarts(Undelivered):
    weight = 5

    def pushers(self, end):
        s = self.begin("--restart-grace", 1)
        pusher = self.pusher(s)
        app = self.keep(s.server())
        one = self.leave(app, "a", "b", body="one")
        first = self.told(pusher, 2)
        self.assertEqual([(e["message"], e["account"]) for e in first],
                         [(one["id"], "a"), (one["id"], "b")])
        two = self.leave(app, "c", body="two")
        reader = self.reader("d", service=s)
        three = self.leave(app, "d", body="three")
        self.given(reader, 1)
        cursor = pusher.cursor
        end(s)
        s.start()
        # It goes on where it was; what was not handed over is, when the restart grace has ended.
        again = self.pusher(s, cursor)
        self.assertEqual(again.begun, cursor)
        self.assertEqual(
            [(e["message"], e["why"]) for e in self.told(again, 2)],
            [(two["id"], "absent"), (three["id"], "untaken")])
        # What is taken now is not told to one that begins anew.
        reader = self.reader("a", service=s)
        self.accept(reader, self.given(reader, 1)[0])
        anew = self.pusher(s)
        self.assertEqual([e["account"] for e in self.told(anew, 3)], ["b", "c", "d"])

    def test_after_a_stop(self):
        self.pushers(lambda s: self.assertEqual(s.terminate(), 0))

    def test_after_kill_9(self):
        self.pushers(lambda s: s.kill())

    @staticmethod
    def verb(*words):
        subprocess.run([BINARY, *words], check=True, capture_output=True, timeout=WAIT)

    def test_after_a_restore_of_a_backup(self):
        folder = self.new_folder()
        before, copy, after = (os.path.join(folder, name) for name in ("before", "copy", "after"))
        s = self.keep(Service(data=before))
        app, pusher = self.keep(s.server()), self.pusher(s)
        one = self.leave(app, "a", body="one")
        self.told(pusher, 1)
        middle = pusher.cursor
        two = self.leave(app, "b", body="two")
        self.told(pusher, 1)
        self.verb("backup", copy, "--data", before)
        # What follows the backup is lost by the restore, and its numbers are not given again.
        self.leave(app, "c", body="lost")
        self.told(pusher, 1)
        s.kill()
        self.verb("restore", copy, "--data", after)
        s = self.keep(Service(data=after))
        app, late = self.keep(s.server()), self.pusher(s, pusher.cursor)
        self.assertEqual(late.begun, pusher.cursor)
        four = self.leave(app, "d", body="four")
        self.assertEqual([e["message"] for e in self.told(late, 1)], [four["id"]])
        self.assertGreater(late.cursor, pusher.cursor)
        early = self.pusher(s, middle)
        self.assertEqual([e["message"] for e in self.told(early, 2)], [two["id"], four["id"]])
        self.assertLess(one["id"], two["id"])
        self.assertLess(two["id"], four["id"])


class Pusher:
    """A naive pusher, and what it may be told."""

    def __init__(self, case, service):
        self.case, self.service = case, service
        # By message and account: the body; what was told, and what nobody was there for.
        self.waiting, self.told, self.absent = {}, {}, set()
        # What was taken, and what a crash may have brought back of it.
        self.taken, self.doubtful = set(), set()
        self.cursor = None
        self.begin()

    def begin(self):
        self.connection = self.case.pusher(self.service, self.cursor)
        self.cursor = self.connection.begun

    def drain(self):
        self.connection.ok("ping")
        for said in [n for n in self.connection.notes if n["method"] == "undelivered"]:
            self.connection.notes.remove(said)
            self.note(said)

    def note(self, said):
        for entry in said["params"]["undelivered"]:
            key = (entry["message"], entry["account"])
            if key in self.doubtful:
                continue
            self.case.assertNotIn(key, self.told)
            self.case.assertEqual(self.waiting.get(key), entry["body"], key)
            if key in self.absent:
                # A session that has read may return within its grace.
                self.case.assertIn(entry["why"], ("absent", "untaken"))
            self.told[key] = entry["why"]
        self.cursor = said["params"]["cursor"]

    def take(self, account):
        for key in [key for key in self.waiting if key[1] == account]:
            del self.waiting[key]
            self.taken.add(key)


class AtRandom(Undelivered):
    weight = 8

    def test_a_naive_pusher_is_told_each_once(self):
        seed = random.randrange(1 << 32)
        print("undelivered: SEED=%d" % seed)
        chance = random.Random(seed)
        s = self.begin("--restart-grace", 1, "--rate-limits", "off")
        names = ["r%d" % n for n in range(5)]
        app, pusher, readers = self.keep(s.server()), Pusher(self, s), {}
        for number in range(150):
            act = chance.random()
            if act < 0.6:
                chosen = chance.sample(names, chance.randint(1, 3))
                sent = self.leave(app, *chosen, body=str(number))
                for name in chosen:
                    pusher.waiting[sent["id"], name] = str(number)
                    if name not in readers:
                        pusher.absent.add((sent["id"], name))
            elif act < 0.75:
                # It is told of nothing while that is being taken.
                pusher.drain()
                pusher.connection.close()
                name = chance.choice(names)
                if name not in readers:
                    readers[name] = self.reader(name, service=s)
                left = sum(1 for _, account in pusher.waiting if account == name)
                while left:
                    message = readers[name].note("messages")["params"]["messages"][-1]
                    left = self.accept(readers[name], message)
                pusher.take(name)
                pusher.begin()
            elif act < 0.85 and readers:
                readers.pop(chance.choice(sorted(readers))).ok("logout")
            elif act < 0.88:
                if chance.random() < 0.5:
                    s.kill()
                    pusher.doubtful |= pusher.taken
                else:
                    s.terminate()
                s.start()
                app, readers = self.keep(s.server()), {}
                pusher.begin()
        while not set(pusher.waiting) <= set(pusher.told):
            pusher.note(pusher.connection.note("undelivered", WAIT))


class Receiver(http.server.ThreadingHTTPServer):
    """Accepts what is posted, after it has rejected some."""
    daemon_threads = True

    def __init__(self, rejections=0):
        super().__init__(("127.0.0.1", 0), Post)
        self.rejections = rejections
        self.batches = queue.Queue()
        self.rejected = queue.Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Post(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        batch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        reject = server.rejections > 0
        server.rejections -= reject
        self.send_response(503 if reject else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()
        (server.rejected if reject else server.batches).put(batch)

    def log_message(self, *_):
        pass


class Webhook(Undelivered):
    weight = 5

    def start(self, receiver, send="undelivered"):
        folder = self.new_folder()
        secret, listed = os.path.join(folder, "secret"), os.path.join(folder, "webhooks.json")
        for path, text in ((secret, "a secret of some length\n"), (listed, json.dumps([{
                "name": "push", "url": "http://127.0.0.1:%d/" % receiver.server_address[1],
                "secret": secret, "send": send}]))):
            with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(text)
        return self.begin("--webhooks", listed, PORCHLIGHT_WEBHOOK_RETRY_MAX="1")

    def receiver(self, rejections=0):
        receiver = Receiver(rejections)
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        return receiver

    def accepted(self, receiver, count):
        found = []
        while len(found) < count:
            batch = receiver.batches.get(timeout=WAIT)
            self.assertEqual(set(batch), {"id", "cursor", "undelivered"})
            found += batch["undelivered"]
        return found

    def test_each_is_posted_once_also_over_restarts(self):
        receiver = self.receiver()
        s = self.start(receiver)
        self.leave(self.keep(s.server()), "a", "b", body="one")
        found = self.accepted(receiver, 2)
        for end in (s.terminate, s.kill):
            # The position is stored after the response, which may be later than this.
            third = self.leave(self.keep(s.server()), "c", body="two")
            found += self.accepted(receiver, 1)
            self.assertEqual(found[-1]["message"], third["id"])
            end()
            s.start()
        fourth = self.leave(self.keep(s.server()), "d", body="three")
        keys = []
        while not keys or keys[-1] != (fourth["id"], "d"):
            keys += [(e["message"], e["account"]) for e in self.accepted(receiver, 1)]
        # After a crash the last batch may be posted again.
        self.assertLessEqual(len(keys), 2)

    def test_what_was_taken_while_it_was_down_is_not_posted(self):
        receiver = self.receiver(rejections=1_000_000)
        s = self.start(receiver)
        app = self.keep(s.server())
        self.leave(app, "a", "b", body="one")
        while len(receiver.rejected.get(timeout=WAIT)["undelivered"]) < 2:
            pass
        reader = self.reader("a", service=s)
        self.accept(reader, self.given(reader, 1)[0])
        receiver.rejections = 0
        self.leave(app, "c", body="two")
        found = self.accepted(receiver, 2)
        # A batch that was being posted when it was taken may have it.
        self.assertEqual([e["account"] for e in found if e["account"] != "a"], ["b", "c"])

    def test_a_webhook_of_nothing_that_is_known(self):
        receiver = self.receiver()
        with self.assertRaises(Exception) as caught:
            self.start(receiver, send="everything")
        self.assertIn('has "send": "everything"; use "events" or "undelivered".',
                      str(caught.exception))
