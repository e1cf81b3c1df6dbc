"""examples/python: the table of who is online must be the truth, whatever is lost or repeated."""

import contextlib
import hashlib
import hmac
import http.client
import json
import os
import random
import select
import socket
import sqlite3
import sys
import time

from support import ROOT, WAIT, Program
from porchlight import Case, Service

PROGRAM = os.path.join(ROOT, "examples", "python", "presence.py")
SECRET, OTHER = b"a secret of some length", b"another secret of some length"
SETTLE = 30.0  # seconds in which the table becomes the truth


def signature(body, secret=SECRET, at=None):
    moment = str(int(time.time() if at is None else at))
    digest = hmac.new(secret, moment.encode() + b"." + body, hashlib.sha256).hexdigest()
    return "t=%s,v1=%s" % (moment, digest)


def event(publisher, seq, devices, number=1):
    online = [{"client": "web", "device": device} for device in devices]
    return {"type": number, "publisher": publisher, "value": 1, "cause": "login", "id": "0",
            "seq": seq, "time": 0, "online": online}


class Backend(Program):
    def __init__(self, folder, *secrets):
        files = []
        for number, secret in enumerate(secrets or (SECRET,)):
            files.append(os.path.join(folder, "secret-%d" % number))
            with open(files[-1], "wb") as file:
                file.write(secret + b"\n")
        database = os.path.join(folder, "presence.sqlite")
        super().__init__(sys.executable, PROGRAM, 0, database, *files)
        self.words[2] = str(self.port)  # the same port after a restart

    def post(self, batch, header=None, length=None):
        body = batch if isinstance(batch, bytes) else json.dumps(batch).encode()
        headers = {"Porchlight-Signature": signature(body) if header is None else header}
        if length is not None:
            headers["Content-Length"] = length
        return self.ask("POST", "/presence", body, headers)[0]

    def online(self, *accounts):
        """Who of these is online; None if it does not know."""
        query = "&".join("account=" + name for name in accounts)
        status, _, body = self.ask("GET", "/online?" + query)
        return json.loads(body)["online"] if status == 200 else None


class Example(Case):
    flags = None

    def setUp(self):
        super().setUp()
        self.folder = self.new_folder()

    def backend(self, *secrets):
        return self.keep(Backend(self.folder, *secrets))


class Signatures(Example):
    FIRST = {"id": "a-1", "reset": True, "synced": True, "events": [event("bob", 1, ["d"])]}

    def test_only_right_ones_are_accepted(self):
        backend, body = self.backend(), json.dumps(self.FIRST).encode()
        right = signature(body)
        moment, digest = right.split(",")
        for wrong in ("", "t=,v1=", "v1=" + "0" * 64, moment, digest, moment + ",v1=é",
                      moment + ",v1=" + "0" * 64, signature(body, OTHER), signature(body + b" "),
                      signature(body, at=time.time() - 400), signature(body, at=time.time() + 400),
                      "t=%s,%s" % ("9" * 5_000, digest), "t=x," + digest, "t=-1," + digest,
                      "t=%d,%s" % (time.time() - 9, digest)):
            self.assertEqual(backend.post(self.FIRST, wrong.encode()), 401, wrong)
        self.assertIsNone(backend.online("bob"))
        self.assertEqual(backend.post(self.FIRST, "v0=x," + right + ", more"), 204)
        self.assertEqual(backend.online("bob"), ["bob"])

    def test_both_are_while_the_secret_is_changed(self):
        backend, body = self.backend(OTHER, SECRET), json.dumps(self.FIRST).encode()
        for secret in (SECRET, OTHER):
            self.assertEqual(backend.post(self.FIRST, signature(body, secret)), 204)

    def test_what_is_no_batch_is_rejected(self):
        backend = self.backend()
        for length in ("", "x", "-1", str(1 << 30), "9" * 5_000):
            self.assertEqual(backend.post(b"{}", length=length), 400, length)
        self.assertEqual(backend.ask("POST", "/", b"{}")[0], 400)
        self.assertEqual(backend.ask("GET", "/")[0], 404)


class Limits(Example):
    def connect(self, backend):
        connection = socket.create_connection(("127.0.0.1", backend.port), timeout=WAIT)
        self.addCleanup(connection.close)
        return connection

    def test_a_request_that_arrives_slowly_is_ended(self):
        backend = self.backend()
        head = b"POST /presence HTTP/1.1\r\nContent-Length: 100000\r\n"
        slow = {self.connect(backend): head + b"\r\n", self.connect(backend): head + b"A: "}
        for connection, text in slow.items():
            connection.sendall(text)
        end = time.monotonic() + WAIT
        while slow:
            self.assertLess(time.monotonic(), end, "%d are still read" % len(slow))
            ended, _, _ = select.select(list(slow), [], [], 0.1)
            for connection in ended:
                self.assertIn(connection.recv(1_000)[:12], (b"HTTP/1.0 408", b""))
                del slow[connection]
            for connection in slow:
                with contextlib.suppress(ConnectionError):  # the next round sees it
                    connection.sendall(b"x")
        self.assertEqual(backend.said(), "")

    def test_connections_have_a_limit(self):
        backend = self.backend()
        held = [self.connect(backend) for _ in range(32)]
        self.assertEqual(self.connect(backend).recv(1), b"", "one more is accepted")
        self.assertEqual(select.select(held, [], [], 0)[0], [], "it waited for these to end")
        for connection in held:
            connection.close()
        end = time.monotonic() + WAIT
        while True:
            with contextlib.suppress(ConnectionError, http.client.HTTPException):
                self.assertIsNone(backend.online("bob"))
                return
            self.assertLess(time.monotonic(), end, "those that ended still count")

    def test_pages_of_other_sites_are_not_told(self):
        backend = self.backend()
        for host, status in (("127.0.0.1", 503), ("localhost:%d" % backend.port, 503),
                             ("evil.example:%d" % backend.port, 403), ("", 403),
                             ("127.0.0.1.evil.example", 403), ("localhost@evil.example", 403)):
            said = backend.ask("GET", "/online?account=bob", headers={"Host": host})
            self.assertEqual(said[0], status, host)


class Batches(Example):
    def start(self):
        backend = self.backend()
        first = {"id": "a-1", "reset": True, "synced": True,
                 "events": [event("bob", 5, ["d"]), event("carol", 6, [])]}
        self.assertEqual(backend.post(first), 204)
        return backend, first

    def test_order_is_that_of_seq(self):
        backend, _ = self.start()
        for number, (seq, devices, expected) in enumerate([
                (7, [], []), (6, ["d"], []), (8, ["d"], ["bob"]), (8, [], [])]):
            events = [event("bob", seq, devices), event("bob", 99, ["x"], number=100)]
            self.assertEqual(backend.post({"id": "b-%d" % number, "events": events}), 204)
            self.assertEqual(backend.online("bob", "carol"), expected)

    def test_the_last_event_of_a_batch_counts(self):
        backend, _ = self.start()
        events = [event("bob", 7, []), event("bob", 8, ["d"]), event("carol", 9, ["d"]),
                  event("carol", 10, [])]
        backend.post({"id": "b", "events": events})
        self.assertEqual(backend.online("bob", "carol"), ["bob"])

    def test_a_repeated_batch_changes_nothing(self):
        backend, first = self.start()
        backend.post({"id": "b", "events": [event("bob", 5, [])]})
        for _ in range(2):
            self.assertEqual(backend.post(first), 204)
        self.assertEqual(backend.online("bob"), [])
        backend.post({"id": "c", "events": [event("carol", 11, ["d"])]})
        self.assertEqual(backend.online("bob", "carol"), ["carol"], "a reset began again")

    def test_a_batch_is_kept_before_its_response(self):
        backend, _ = self.start()
        backend.post({"id": "b", "events": [event("carol", 7, ["d"])]})
        backend.kill()
        backend.start()
        self.assertEqual(backend.online("bob", "carol"), ["bob", "carol"])
        self.assertEqual(backend.post({"id": "b", "events": [event("carol", 7, [])]}), 204)
        self.assertEqual(backend.online("carol"), ["carol"], "the id of the batch was lost")

    def test_after_a_reset_the_old_table_answers_until_the_new_one_is_complete(self):
        backend, _ = self.start()
        snapshot = {"reset": True, "snapshot": True}
        backend.post({**snapshot, "id": "b", "events": [event("dave", 2, ["d"])]})
        self.assertEqual(backend.online("bob", "dave"), ["bob"])
        # The service crashes while it posts the snapshot, and begins with another one.
        backend.post({**snapshot, "id": "c", "events": [event("erin", 3, ["d"])]})
        backend.post({"id": "d", "snapshot": True, "events": [event("carol", 1, ["d"])]})
        self.assertEqual(backend.online("bob", "carol", "erin"), ["bob"])
        backend.post({"id": "e", "synced": True, "events": []})
        self.assertEqual(backend.online("bob", "carol", "dave", "erin"), ["carol", "erin"])
        path = os.path.join(self.folder, "presence.sqlite")
        with contextlib.closing(sqlite3.connect(path)) as database:
            kept = database.execute("SELECT name FROM account ORDER BY name").fetchall()
        self.assertEqual(kept, [("carol",), ("erin",)], "old tables are kept")

    def test_without_a_table_it_accepts_no_changes(self):
        backend = self.backend()
        change = {"id": "b", "synced": True, "events": [event("bob", 7, ["d"])]}
        self.assertEqual(backend.post(change), 205)
        self.assertIsNone(backend.online("bob"))
        self.assertIn("asking for everything", backend.said())
        backend.start()
        self.assertEqual(backend.post({**change, "reset": True}), 204)
        self.assertEqual(backend.online("bob"), ["bob"])


class Live(Example):
    """The service itself."""

    weight = 1
    ACCOUNTS = ["a%d" % number for number in range(8)]
    about = "no seed"

    def setUp(self):
        super().setUp()
        self.table = self.backend()
        self.presence = self.keep(Service(
            "--webhook", "http://127.0.0.1:%d/presence" % self.table.port,
            "--webhook-secret", os.path.join(self.folder, "secret-0"), "--disconnect-grace", "1",
            "--restart-grace", "1", "--rate-limits", "off",
            environment={"PORCHLIGHT_WEBHOOK_RETRY_MAX": "1", "PORCHLIGHT_WEBHOOK_TIMEOUT": "2"}))
        self.clients = []

    def check(self):
        app, end = self.presence.server(), time.monotonic() + SETTLE
        try:
            while True:
                for client in self.clients:
                    with contextlib.suppress(OSError):  # another login has replaced it
                        client.socket.sendall(b"\0\0\0\0")
                states = app.ok("query", {"type": 1, "accounts": self.ACCOUNTS})["states"]
                truth = [state["publisher"] for state in states if state["online"]]
                table = self.table.online(*self.ACCOUNTS)
                if truth == table:
                    return
                self.assertLess(time.monotonic(), end, "%s: table %s, truth %s" % (
                    self.about, table, truth))
                time.sleep(0.05)
        finally:
            app.close()


class Lost(Live):
    def test_a_lost_database_is_filled_again(self):
        self.check()
        self.table.kill()
        for name in os.listdir(self.folder):
            if name.startswith("presence.sqlite"):
                os.unlink(os.path.join(self.folder, name))
        self.table.start()
        self.clients.append(self.keep(self.presence.login("a1", "d1")))
        self.check()
        self.assertIn("webhook endpoint asks for a reset", self.presence.log_text())


class Truth(Live):
    """Both are killed at random."""

    ROUNDS = 3

    def setUp(self):
        super().setUp()
        seed = int(os.environ.get("EXAMPLES_SEED", random.randrange(1 << 32)))
        self.about = "seed %d: EXAMPLES_SEED=%d" % (seed, seed)
        print(self.about)
        self.chance = random.Random(seed)

    def change(self):
        if self.clients and self.chance.random() < 0.4:
            client = self.clients.pop(self.chance.randrange(len(self.clients)))
            client.close() if self.chance.random() < 0.5 else client.reset()
        else:
            account = self.chance.choice(self.ACCOUNTS)
            self.clients.append(self.keep(self.presence.login(
                account, "d%d" % self.chance.randrange(3))))

    def act(self):
        what = self.chance.randrange(12)
        if what == 0:
            self.presence.kill()
        elif what == 1:
            self.assertEqual(self.presence.terminate(), 0, self.about)
        elif what < 4:
            self.table.kill()
            self.change()
            self.table.start()
        else:
            self.change()
        if what < 2:
            self.clients = []
            self.presence.start()

    def test_the_table_becomes_the_truth(self):
        self.check()
        for _ in range(self.ROUNDS):
            for _ in range(8):
                self.act()
            self.check()
