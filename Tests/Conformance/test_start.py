"""Bad flags, a folder in use, and databases of other programs."""

import hashlib
import os
import socket
import subprocess

from porchlight import BINARY, Case

# What carries the frames makes no difference to these tests.
CARRIED = False


class Rejecting(Case):
    """Runs the service to an end that comes at once."""

    flags = None

    def setUp(self):
        super().setUp()
        self.data = self.new_folder()

    def rejects(self, *flags, data=None, listen="127.0.0.1:0", code=None):
        """Runs to the end; returns what was said. It must not say `ready`.

        With `code`, that is the exit code.
        """
        done = subprocess.run([BINARY, "serve", "--listen", listen, "--data", data or self.data,
                               *map(str, flags)], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        self.assertNotIn("ready on", said)
        self.assertGreater(done.returncode, 0, said)
        self.assertLess(done.returncode, 128, said)
        if code is not None:
            self.assertEqual(done.returncode, code, said)
        for word in ("Fatal error", "Backtrace", "Swift/"):
            self.assertNotIn(word, said)
        lines = [l for l in said.splitlines() if l.strip() and not l.startswith("  -")
                 and "usage" not in l.lower() and "--help" not in l.lower()]
        self.assertGreater(len(lines), 0, "rejected without a word")
        self.assertLessEqual(len(lines), 2, said)       # the error and the flag's own help
        return said


class Start(Rejecting):
    def test_seconds_out_of_range(self):
        for flag, values in (("--disconnect-grace", (-1, 301, "x", "1.5", "", 2**70)),
                             ("--restart-grace", (-1, 601, "x")),
                             ("--heartbeat", (0, 4, 301, -5, "5s"))):
            for value in values:
                with self.subTest(flag=flag, value=value):
                    said = self.rejects("%s=%s" % (flag, value), code=64)
                    self.assertIn(flag.strip("-"), said)

    def test_seconds_in_range(self):
        for flags in (("--disconnect-grace", 0), ("--disconnect-grace", 300),
                      ("--restart-grace", 0), ("--restart-grace", 600),
                      ("--heartbeat", 5), ("--heartbeat", 300)):
            with self.subTest(flags=flags):
                s = self.fresh(*flags)
                c = self.login("a", service=s)
                told = {"--heartbeat": "heartbeat", "--restart-grace": "restartGraceSeconds"}
                if flags[0] in told:
                    self.assertEqual(c.welcome[told[flags[0]]], flags[1])
                c.close()
                self.assertEqual(s.terminate(), 0)

    def test_words(self):
        for flag in ("--push-reachable", "--durability", "--rate-limits", "--auth",
                     "--log-level"):
            with self.subTest(flag=flag):
                self.rejects(flag, "nonsense")
        self.rejects("--nonsense")
        self.rejects("extra")

    def test_addresses(self):
        for listen in ("", "nonsense", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
                       "127.0.0.1:-1", "256.0.0.1:0", "localhost:0x", ":0", "[::1:0", "1.2.3:0"):
            with self.subTest(listen=listen):
                self.rejects(listen=listen)

    def test_open_to_the_world_must_be_said(self):
        for listen in ("0.0.0.0:0", "[::]:0"):
            with self.subTest(listen=listen):
                said = self.rejects(listen=listen)
                self.assertIn("--i-know-this-is-open", said)

    def test_port_in_use(self):
        s = self.fresh()
        said = self.rejects(listen="127.0.0.1:%d" % s.port, code=75)
        self.assertIn(str(s.port), said)
        self.assertTrue(said.endswith("The address is from: flag --listen.\n"), said)
        self.assertEqual(len(said.splitlines()), 1, said)

    def test_http_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            said = self.rejects("--http", address, code=75)
        self.assertIn("Cannot listen on %s " % address, said)
        self.assertEqual(len(said.splitlines()), 1, said)

    def test_second_instance(self):
        s = self.fresh()
        c = self.login("a", service=s)
        c.subscribe("x")
        self.rejects(data=s.data)
        self.assertEqual(c.subscribe("y")["count"], 2)
        s.kill()
        s.start()
        self.assertEqual(self.login("a", service=s).welcome["subscriptions"], 2)

    def test_server_key_files(self):
        path = os.path.join(self.data, "keys")
        for text in (b"short\n", b"x" * 513 + b"\n", b"", b"# nothing\n", b"a sha256:00\n",
                     b"a/b sha256:" + b"0" * 64):
            with self.subTest(text=text[:10]):
                with open(path, "wb") as file:
                    file.write(text)
                os.chmod(path, 0o600)
                said = self.rejects("--server-key", path, data=self.data + "/d")
                if len(text) > 2:
                    self.assertNotIn("x" * 100, said)
        self.rejects("--server-key", path + "-none")

    def test_data_is_no_folder(self):
        path = os.path.join(self.data, "file")
        with open(path, "w") as file:
            file.write("text")
        self.rejects(data=path)
        self.assertEqual(open(path).read(), "text")

    def digest(self, folder):
        out = {}
        for root, _, files in os.walk(folder):
            for name in files:
                path = os.path.join(root, name)
                out[os.path.relpath(path, folder)] = hashlib.sha256(
                    open(path, "rb").read()).hexdigest()
        return out

    def used(self):
        """A folder the service has used and left in order, and its database's name."""
        s = self.fresh()
        c = self.login("a", service=s)
        for i in range(10):
            c.subscribe(*("name-%d-%d" % (i, k) for k in range(100)))
        self.assertEqual(s.terminate(), 0)
        big = max((n for n in os.listdir(s.data)),
                  key=lambda n: os.path.getsize(os.path.join(s.data, n)))
        return s, os.path.join(s.data, big)

    def test_broken_databases_are_rejected_and_left_alone(self):
        s, path = self.used()
        good = open(path, "rb").read()
        self.assertGreater(len(good), 8192)
        import sqlite3
        other = os.path.join(self.data, "foreign.db")
        with sqlite3.connect(other) as db:
            db.execute("create table notes(text)")
            db.execute("insert into notes values('precious')")
        db.close()
        flipped = bytearray(good)
        for at in range(4096 + 8, 4096 + 300):
            flipped[at] ^= 0x5A
        broken = {
            "text": b"this is no database\n" * 500,
            "zeroes": bytes(len(good)),
            "header": b"\xff" * 100 + good[100:],
            "half": good[:len(good) // 2 // 4096 * 4096],
            "cut": good[:5000],
            "flipped": bytes(flipped),
            "foreign": open(other, "rb").read(),
        }
        for name, data in broken.items():
            with self.subTest(name):
                for extra in ("-wal", "-shm"):
                    if os.path.exists(path + extra):
                        os.unlink(path + extra)
                with open(path, "wb") as file:
                    file.write(data)
                self.rejects(data=s.data)
                self.assertEqual(open(path, "rb").read(), data, "the file was changed")
        with open(path, "wb") as file:
            file.write(good)
        s.start()
        self.assertEqual(self.login("a", service=s).welcome["subscriptions"], 1000)

    def test_newer_schema_is_rejected(self):
        s, path = self.used()
        import sqlite3
        db = sqlite3.connect(path)
        version = db.execute("pragma user_version").fetchone()[0]
        tables = [r[0] for r in db.execute("select name from sqlite_master where type='table'")]
        if version:
            db.execute("pragma user_version = %d" % (version + 1000))
        elif "grdb_migrations" in tables:
            db.execute("insert into grdb_migrations values('v9999')")
        else:
            self.skipTest("the schema's version is kept elsewhere: %r" % tables)
        db.commit()
        db.close()
        before = open(path, "rb").read()
        self.rejects(data=s.data)
        self.assertEqual(open(path, "rb").read(), before)

    def test_database_is_private(self):
        s, path = self.used()
        self.assertEqual(os.stat(path).st_mode & 0o077, 0)
