"""Backups of a running service, and restoring one."""

import os
import subprocess
import threading

from porchlight import BINARY, Case, Service

# What carries the frames makes no difference to these tests.
CARRIED = False


class Backup(Case):
    flags = None

    def setUp(self):
        super().setUp()
        self.folder = self.new_folder()
        self.data = os.path.join(self.folder, "data")
        self.copy = os.path.join(self.folder, "copy")

    def verb(self, *words):
        return subprocess.run([BINARY, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60)

    def works(self, *words):
        done = self.verb(*words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def rejects(self, *words, saying):
        done = self.verb(*words)
        self.assertGreater(done.returncode, 0)
        self.assertIn(saying, done.stderr.decode())

    def test_backup_under_load_and_restore(self):
        service = self.keep(Service(data=self.data))
        alice = self.keep(service.login("alice"))
        alice.subscribe("bob")
        server = self.keep(service.server())
        server.ok("publish", {"account": "bob", "type": 1, "value": 10001, "onlineOnly": False})
        enough = threading.Event()
        busy = service.login("busy")

        def load():
            for number in range(3000):
                if enough.is_set():
                    break
                busy.ok("subscribe", {"type": 1, "expiry": 3600,
                                      "publishers": ["p%d" % number]})

        worker = threading.Thread(target=load)
        worker.start()
        self.works("backup", self.copy, "--data", self.data)
        enough.set()
        worker.join()
        busy.close()
        self.rejects("backup", self.copy, "--data", self.data, saying="--force")
        self.works("backup", self.copy, "--data", self.data, "--force")
        # What happens after the copy is lost, but its numbers are not given out again.
        newest = server.ok("publish", {"account": "bob", "type": 1, "value": 10002})["seq"]
        other = os.path.join(self.folder, "other")
        self.rejects("restore", self.copy, "--data", self.data, saying="in use")
        service.kill()
        self.rejects("restore", self.copy, "--data", self.data, saying="already contains a database")
        self.works("restore", self.copy, "--data", other)
        again = self.keep(Service(data=other))
        server = self.keep(again.server())
        state = server.ok("query", {"type": 1, "accounts": ["bob"]})["states"][0]
        self.assertEqual(state["status"]["value"], 10001)
        self.assertGreater(state["seq"], newest)
        alice = self.keep(again.login("alice", sync="all"))
        self.assertEqual(alice.ok("subscriptions")["count"], 1)

    def test_a_name_means_to_sqlite_what_it_means_to_the_system(self):
        """SQLite reads `file:` as a URI and `:memory:` as no file, where a path begins so."""
        service = self.keep(Service(data=self.data))
        alice = self.keep(service.login("alice"))
        alice.subscribe("bob")
        self.assertEqual(service.terminate(), 0)
        for name in ("file:copy.sqlite", ":memory:", "file::memory:", "file:/copy?mode=memory",
                     "a b%20c?d#e"):
            with self.subTest(name=name):
                def run(*words):
                    return subprocess.run(
                        [BINARY, *words], stdin=subprocess.DEVNULL, capture_output=True,
                        text=True, timeout=60, cwd=self.folder)
                folder = os.path.dirname(os.path.join(self.folder, name))
                os.makedirs(folder, exist_ok=True)
                done = run("backup", name, "--data", "data")
                self.assertEqual(done.returncode, 0, done)
                size = os.path.getsize(os.path.join(self.folder, name))
                self.assertGreater(size, 512)
                self.assertIn("holds the database, %d bytes" % size, done.stdout)
                other = "file:%d" % len(os.listdir(self.folder))
                done = run("restore", name, "--data", other)
                self.assertEqual(done.returncode, 0, done)
                again = self.keep(Service(data=os.path.join(self.folder, other)))
                alice = self.keep(again.login("alice"))
                self.assertEqual(alice.ok("subscriptions")["count"], 1)
                # A data directory with such a name can be copied, too.
                done = run("backup", "again", "--data", other, "--force")
                self.assertEqual(done.returncode, 0, done)

    def test_backups_of_one_file_at_the_same_time(self):
        service = self.keep(Service(data=self.data))
        self.keep(service.login("alice")).subscribe("bob")
        for force in (["--force"], []):
            copies = [subprocess.Popen(
                [BINARY, "backup", self.copy, "--data", self.data, *force],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                text=True) for _ in range(6)]
            said = [copy.communicate(timeout=60)[1] for copy in copies]
            codes = [copy.returncode for copy in copies]
            if force:
                self.assertEqual(codes, 6 * [0], said)
                self.works("restore", self.copy, "--data", self.data + "2")
                os.remove(self.copy)
            else:
                self.assertEqual(codes.count(0), 1, said)
                for code, words in zip(codes, said):
                    self.assertTrue(code == 0 or "already exists" in words, words)
                self.works("restore", self.copy, "--data", self.data + "3")
        self.assertEqual([name for name in os.listdir(self.folder) if "partial" in name], [])

    def test_restore_of_what_is_no_copy(self):
        with open(self.copy, "w") as file:
            file.write("Dear diary, " * 1000)
        self.rejects("restore", self.copy, "--data", self.data, saying="cannot be restored")
        self.rejects("restore", self.copy + "x", "--data", self.data, saying="no such file")
        self.rejects("backup", self.copy, "--data", self.data, saying="There is no database")

    def test_without_permission_it_says_so(self):
        """Not that there is no database: that cannot be known."""
        service = self.keep(Service(data=self.data))
        self.assertEqual(service.terminate(), 0)
        os.chmod(self.folder, 0o755)
        options = {}
        if os.geteuid() == 0:
            options = {"user": 65534, "group": 65534, "extra_groups": []}
            probe = subprocess.run(["test", "-x", BINARY], **options)
            if probe.returncode:
                self.skipTest("another user may not run the binary")
        paths = (self.data, os.path.join(self.data, "porchlight.sqlite"))
        for path, mode in ((paths[0], 0o000), (paths[1], 0o000)):
            with self.subTest(path=path):
                os.chmod(path, mode)
                done = subprocess.run(
                    [BINARY, "backup", os.path.join(self.folder, "c"), "--data", self.data],
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                    **options)
                os.chmod(path, 0o755)
                self.assertEqual(done.returncode, 1, done)
                self.assertIn("%s cannot be read (Permission denied)" % paths[1], done.stderr)
                self.assertIn("sudo -u porchlight", done.stderr)
