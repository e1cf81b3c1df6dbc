"""Keeps a table of who is online from the webhooks of Porchlight, and answers questions from it.

presence.py PORT DATABASE SECRET_FILE [OLD_SECRET_FILE]

POST /presence                           what Porchlight posts to: --webhook
GET  /online?account=bob&account=carol   {"online": ["bob"]}, for your own backend
"""

import contextlib
import hashlib
import hmac
import http.server
import json
import socket
import sqlite3
import sys
import time
import urllib.parse

BODY_MAX = 1 << 20  # a batch has at most 256 KiB of events, and a little around them
AGE_MAX = 300  # seconds
REQUEST_MAX = 10  # seconds for a request to arrive
CONNECTIONS_MAX = 32  # each has a thread

# A reset begins a new generation of the table. The one before it answers until the new one is
# complete, so that no account seems offline while a snapshot is read.
TABLES = """
CREATE TABLE IF NOT EXISTS account (generation INTEGER, name TEXT, seq INTEGER, online INTEGER,
    PRIMARY KEY (generation, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS progress (filling INTEGER, shown INTEGER);
CREATE TABLE IF NOT EXISTS batch (id TEXT PRIMARY KEY, accepted REAL);
"""
STORE = """
INSERT INTO account VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET seq = excluded.seq, online = excluded.online WHERE excluded.seq >= seq
"""


def number(text):
    """A number in a header. None if it is none, or longer than any that is right."""
    return int(text) if text.isdecimal() and len(text) <= 12 else None


def is_signed(body, header, secrets):
    parts = dict(part.strip().partition("=")[::2] for part in header.split(","))
    moment, signature = parts.get("t", ""), parts.get("v1", "").encode()
    signed_at = number(moment)
    if signed_at is None or abs(time.time() - signed_at) > AGE_MAX:
        return False
    known = False
    for secret in secrets:  # two of them while the secret is changed
        right = hmac.new(secret, moment.encode() + b"." + body, hashlib.sha256).hexdigest()
        known |= hmac.compare_digest(right.encode(), signature)
    return known


def apply(database, batch):
    """Stores a batch, in one transaction: what a crash cuts off is posted again. Returns whether it
    is stored."""
    # Also waits for an attempt with the same batch that the service has given up.
    database.execute("BEGIN IMMEDIATE")
    if database.execute("SELECT 1 FROM batch WHERE id = ?", (batch["id"],)).fetchone():
        return True  # the response to it was lost, or a third party replays it
    filling, shown = database.execute("SELECT * FROM progress").fetchone() or (0, 0)
    if batch.get("reset"):
        filling += 1
    if filling == 0:
        return False  # the service continues a table that this database does not have
    for event in batch["events"]:
        if event["type"] == 1:
            is_online = bool(event.get("online"))  # the sessions of the account
            database.execute(STORE, (filling, event["publisher"], event["seq"], is_online))
    if batch.get("synced"):
        shown = filling
        database.execute("DELETE FROM account WHERE generation != ?", (shown,))
    database.execute("DELETE FROM progress")
    database.execute("INSERT INTO progress VALUES (?, ?)", (filling, shown))
    # Older ones cannot be replayed: their signatures have expired, also if the clocks differ.
    database.execute("DELETE FROM batch WHERE accepted < ?", (time.time() - 2 * AGE_MAX,))
    database.execute("INSERT INTO batch VALUES (?, ?)", (batch["id"], time.time()))
    return True


def those_online(database, names):
    """Those of these accounts that are online; None before the first snapshot is complete."""
    found = database.execute("SELECT shown FROM progress").fetchone()
    if not found or found[0] == 0:
        return None
    query = "SELECT 1 FROM account WHERE generation = ? AND name = ? AND online"
    return [name for name in names if database.execute(query, (found[0], name)).fetchone()]


def opened(path):
    """A connection. What is committed through it is on disk: SQLite's default is FULL."""
    database = sqlite3.connect(path, timeout=5, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    return database


class Server(http.server.ThreadingHTTPServer):
    """Has limits, so that slow clients and many of them do not use up this machine."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.ends = {}  # by connection, which has one request

    def verify_request(self, connection, _):
        return len(self.ends) < CONNECTIONS_MAX  # if not, it is closed

    def process_request(self, connection, address):
        self.ends[connection] = time.monotonic() + REQUEST_MAX
        super().process_request(connection, address)

    def shutdown_request(self, connection):
        self.ends.pop(connection, None)
        super().shutdown_request(connection)

    def service_actions(self):  # is called twice a second
        for connection, end in list(self.ends.items()):
            if end < time.monotonic():
                with contextlib.suppress(OSError):  # it has just been closed
                    connection.shutdown(socket.SHUT_RD)

    def handle_error(self, connection, address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client that went away
            super().handle_error(connection, address)


class Handler(http.server.BaseHTTPRequestHandler):
    timeout = REQUEST_MAX  # also for a client that does not read the response

    def do_POST(self):
        length = number(self.headers.get("Content-Length", ""))
        if self.path != "/presence" or length is None or length > BODY_MAX:
            return self.answer(400)
        body = self.rfile.read(length)
        if len(body) < length:
            return self.answer(408)
        if not is_signed(body, self.headers.get("Porchlight-Signature", ""), self.server.secrets):
            return self.answer(401)
        with contextlib.closing(opened(self.server.path)) as database, database:  # and commit
            is_stored = apply(database, json.loads(body))
        if not is_stored:
            print("this database is new: asking for everything", file=sys.stderr, flush=True)
        self.answer(204 if is_stored else 205)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path != "/online":
            return self.answer(404)
        # Another name of this address can be that of a page in a browser on this machine.
        if self.headers.get("Host", "").partition(":")[0] not in ("127.0.0.1", "localhost"):
            return self.answer(403)
        names = urllib.parse.parse_qs(query).get("account", [])
        with contextlib.closing(opened(self.server.path)) as database, database:
            database.execute("BEGIN")  # both queries read the same state
            found = those_online(database, names)
        self.answer(503 if found is None else 200, {"online": found})

    def answer(self, status, content=None):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        if content:
            self.wfile.write(json.dumps(content).encode())

    def log_message(self, *_):
        pass


def main(port, path, *files):
    with contextlib.closing(opened(path)) as database:
        database.executescript(TABLES)
    server = Server(("127.0.0.1", int(port)), Handler)
    server.path = path
    server.secrets = [open(file, "rb").read().rstrip(b"\r\n") for file in files]
    print("ready on 127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
