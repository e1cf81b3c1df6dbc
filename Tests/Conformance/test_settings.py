"""The settings: file, environment and flags, what is rejected, and what SIGHUP does."""

import json
import os
import signal
import socket
import subprocess
import threading
import time

from porchlight import BINARY, LOOPS, WAIT, Case, Timeout

# What carries the frames makes no difference to these tests.
CARRIED = False


class Files(Case):
    flags = None

    def setUp(self):
        super().setUp()
        self.folder = self.new_folder()

    def file(self, text, name="porchlight.yml"):
        """Writes a file as a deployment does: atomically, under its name."""
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w") as file:
            file.write(text)
        os.chmod(path + ".new", 0o600)
        os.rename(path + ".new", path)
        return path

    def run_command(self, *words, **variables):
        return subprocess.run([BINARY, *map(str, words)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, **variables))

    def until(self, holds, what):
        end = time.monotonic() + WAIT
        while not holds():
            if time.monotonic() > end:
                raise Timeout(what)
            time.sleep(0.01)

    def config(self, *flags, **variables):
        done = self.run_command("config", "--json", *flags, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def rejects(self, *flags, verbs=("serve", "config"), **variables):
        """What is said when it does not start; the same by both verbs."""
        said = set()
        for verb in verbs:
            more = ["--data", self.folder + "/data"] if verb == "serve" else []
            done = self.run_command(verb, *more, *flags, **variables)
            self.assertEqual((done.returncode, done.stdout), (64, ""), done)
            for line in done.stderr.splitlines():
                self.assertTrue(line.startswith("Error: "), done.stderr)
            said.add(done.stderr)
        self.assertEqual(len(said), 1, said)
        self.assertFalse(os.path.exists(self.folder + "/data"), "it began to work")
        return said.pop().rstrip()


class Start(Files):
    def test_what_is_in_force_and_where_it_comes_from(self):
        path = self.file("# a comment\nheartbeat: 10\ndisconnect-grace: 7\nlog-level: info\n")
        found = self.config("--config", path, "--heartbeat", "20",
                            PORCHLIGHT_DISCONNECT_GRACE="8")
        self.assertEqual(found["heartbeat"], {"value": 20, "from": "flag", "place": "--heartbeat",
                                              "takesEffect": "restart"})
        self.assertEqual(found["disconnect-grace"], {
            "value": 8, "from": "environment", "place": "PORCHLIGHT_DISCONNECT_GRACE",
            "takesEffect": "reload"})
        self.assertEqual(found["log-level"]["place"], path + ":4")
        self.assertEqual(found["listen"], {"value": "127.0.0.1:7400", "from": "default",
                                           "takesEffect": "restart"})
        lines = self.run_command("config", "--config", path).stdout.splitlines()
        self.assertEqual(len(lines), len(found))
        line = next(line for line in lines if line.startswith("disconnect-grace"))
        self.assertEqual(line.split(), ["disconnect-grace", "7", path + ":3"])

    def test_the_example_sets_every_setting_to_its_default(self):
        example = self.run_command("config", "--example").stdout
        plain = "\n".join(line[1:] if line.startswith("#") and not line.startswith("# ")
                          else line for line in example.splitlines())
        before = self.config()
        after = self.config("--config", self.file(plain))
        self.assertEqual({k: v["value"] for k, v in before.items()},
                         {k: v["value"] for k, v in after.items()})
        self.assertEqual({one["from"] for one in after.values()}, {"file"})
        self.assertEqual(self.config("--config", self.file(example, "other.yml")), before)

    def test_quiet_says_only_what_is_wrong(self):
        right = self.run_command("config", "--quiet", "--config", self.file("heartbeat: 10\n"))
        self.assertEqual((right.returncode, right.stdout, right.stderr), (0, "", ""))
        wrong = self.run_command("config", "--quiet", "--config", self.file("hartbeat: 10\n"))
        self.assertEqual((wrong.returncode, wrong.stdout), (64, ""))
        self.assertIn("/porchlight.yml:1: there is no setting hartbeat", wrong.stderr)

    def test_an_address_in_use_is_named_with_its_source(self):
        s = self.fresh("--http", "127.0.0.1:0")
        taken = "127.0.0.1:%d" % s.port
        path = self.file("# a comment\nlisten: %s\n" % taken)
        for words, variables, source in (
                (("--config", path), {}, path + ":2"),
                ((), {"PORCHLIGHT_LISTEN": taken}, "environment PORCHLIGHT_LISTEN"),
                (("--listen", "127.0.0.1:0"), {"PORCHLIGHT_HTTP": taken},
                 "environment PORCHLIGHT_HTTP"),
                (("--listen", taken), {}, "flag --listen")):
            with self.subTest(source=source):
                done = self.run_command(
                    "serve", "--data", self.folder + "/data", *words, **variables)
                self.assertEqual((done.returncode, done.stdout), (75, ""), done)
                self.assertIn("Cannot listen on %s (" % taken, done.stderr)
                self.assertTrue(done.stderr.endswith("The address is from: %s.\n" % source),
                                done.stderr)

    def test_settings_reach_the_service(self):
        path = self.file("heartbeat: 11\next-bytes-max: 10\nsubscription-expiry-min: 30\n")
        s = self.fresh("--config", path)
        c = self.login("a", service=s)
        self.assertEqual(c.welcome["heartbeat"], 11)
        self.assertEqual(c.welcome["limits"]["extBytesMax"], 10)
        c.subscribe("x", expiry=30)
        self.rejected(c.call("subscribe", {"type": 1, "expiry": 29, "publishers": ["x"]}),
                      414, "out_of_range", field="expiry", min=30)
        self.rejected(c.call("publish", {"type": 1, "value": 10001, "ext": "x" * 11}),
                      414, "too_long", limit=10)

    def test_unknown_names_are_rejected_with_the_nearest(self):
        path = self.file("\nhartbeat: 10\n")
        self.assertEqual(
            self.rejects("--config", path),
            "Error: %s:2: there is no setting hartbeat: did you mean heartbeat?" % path)
        self.assertEqual(
            self.rejects(PORCHLIGHT_HEARTBEET="10"),
            "Error: PORCHLIGHT_HEARTBEET is set in the environment and is not a setting: did you "
            "mean PORCHLIGHT_HEARTBEAT?")

    def test_values_are_rejected_with_their_place_and_what_would_be_right(self):
        path = self.file("heartbeat: 301\ndurability: mostly\n")
        self.assertEqual(
            self.rejects("--config", path, "--restart-grace=-1", PORCHLIGHT_LISTEN="7400"),
            "Error: %s:1: heartbeat 301 is out of range: give 5 to 300 seconds.\n"
            "Error: %s:2: durability mostly is not allowed: give full or relaxed.\n"
            "Error: PORCHLIGHT_LISTEN=7400 is not an address with a port: give a numeric address, "
            "or localhost, and a port from 0 to 65535, such as 127.0.0.1:7400 or [::1]:7400.\n"
            "Error: --restart-grace -1 is out of range: give 0 to 600 seconds."
            % (path, path))

    def test_what_contradicts_itself_is_rejected(self):
        path = self.file("page-entries-max: 10\n")
        self.assertEqual(
            self.rejects("--config", path),
            "Error: page-entries-default must not exceed page-entries-max. In force: "
            "page-entries-default 100 (default), page-entries-max 10 (%s:1)." % path)

    def test_the_reason_comes_first_and_defaults_are_left_out(self):
        self.assertEqual(
            self.rejects("--listen", "0.0.0.0:7400"),
            "Error: With --auth open, any client on another machine can log in as any account: "
            "use --auth jwt or password, listen on 127.0.0.1, or add --i-know-this-is-open. In "
            "force: listen 0.0.0.0:7400 (flag --listen).")
        self.assertEqual(
            self.rejects(PORCHLIGHT_AUTH="jwt"),
            "Error: --auth jwt needs the keys of tokens: give a file or a URL with --jwt-key. In "
            "force: auth jwt (environment PORCHLIGHT_AUTH).")
        # Unless the default is what it is about.
        self.assertEqual(
            self.rejects("--http", "127.0.0.1:7400"),
            "Error: Only one can listen on an address: give each a port of its own. In force: "
            "listen 127.0.0.1:7400 (default), http 127.0.0.1:7400 (flag --http).")

    def test_files_with_secrets_that_all_can_read_are_warned_of(self):
        def warnings(*flags):
            service = self.fresh(*flags)
            self.assertEqual(service.terminate(), 0)
            return service.log_text()

        secret = self.file("0123456789" * 4 + "\n", "secret")
        words = "the file %s given with %s holds a secret and can be read by all users: chmod 640"
        for flags in (("--jwt-key", secret, "--auth", "jwt"), ("--server-key", secret)):
            with self.subTest(flags=flags):
                os.chmod(secret, 0o644)
                self.assertIn(words % (secret, flags[0]), warnings(*flags))
                link = self.folder + "/link" + flags[0]
                os.symlink(secret, link)
                os.chmod(secret, 0o640)
                self.assertNotIn("can be read by all", warnings(flags[0], link, *flags[2:]))

    def test_secrets_are_hidden(self):
        secret = "marker-" + "x" * 20
        self.file(secret, "secret")
        flags = ("--webhook", "https://a.example/" + secret, "--webhook-secret",
                 self.folder + "/secret")
        said = self.run_command("config", *flags).stdout
        self.assertIn("set, hidden", said)
        self.assertNotIn(secret, said)
        self.assertEqual(self.config(*flags)["webhook"]["value"], "set, hidden")
        said = self.rejects("--webhook", "ftp://a.example/" + secret, *flags[2:])
        self.assertNotIn(secret, said)
        said = self.rejects("--webhook", "", PORCHLIGHT_WEBHOOK="")
        self.assertIn("--webhook (hidden) is empty", said)

    def test_files_that_are_none(self):
        self.rejects("--config", self.folder + "/none.yml")
        self.rejects("--config", self.folder)
        for text in ("heartbeat", "- 1", "heartbeat: [", "\t: :", "a: b: c", "\0", "heartbeat: {}",
                     "heartbeat: &a [*a]", "!!binary x", "? [a]\n: b", "heartbeat: 10\n...\nx: 1"):
            with self.subTest(text=text):
                said = self.rejects("--config", self.file(text))
                self.assertIn(self.folder, said)
        with open(self.folder + "/latin", "wb") as file:
            file.write(b"data: \xe9\xff\n")
        self.assertIn("latin", self.rejects("--config", self.folder + "/latin"))

    def test_all_files_are_told_at_once(self):
        said = self.rejects(
            "--server-key", self.folder + "/no-key", "--webhooks", self.folder + "/no-hooks",
            "--listen-tls", "127.0.0.1:0", "--tls-certificate", self.folder + "/no-certificate",
            "--tls-key", self.folder + "/no-tls-key")
        for name in ("no-key", "no-hooks", "no-certificate"):
            self.assertRegex(said, r"Error: The file \S+/%s .*cannot be read" % name)


class JSONLog(Files):
    def lines(self, text):
        """The lines of the log, each an object with the same first members."""
        lines = [json.loads(line) for line in text.splitlines()
                 if not line.startswith("Failed to set thread priority")]
        for line in lines:
            self.assertEqual(list(line)[:3], ["time", "level", "message"])
            self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        return lines

    def test_each_line_is_an_object(self):
        data = self.folder + "/d\"\\\n\t\x1b\x7f\u2028\u202eé"
        path = self.file("log-format: json\nlog-level: info\n")
        s = self.fresh("--config", path, data=data)
        self.assertRegex(s.ready, r"^ready on \S+")
        self.assertEqual(s.terminate(), 0)
        first, *_, last = self.lines(s.log_text())
        self.assertEqual((first["level"], first["message"]), ("notice", "started"))
        self.assertEqual((first["data"], first["auth"]), (data, "open"))
        self.assertEqual((last["level"], last["message"], last["signal"]),
                         ("info", "stopping", signal.SIGTERM))
        # Nothing in it controls the terminal that shows it.
        self.assertFalse(set("\t\x1b\x7f\u2028\u202e") & set(s.log_text()))

    def test_a_reload_changes_the_format(self):
        path = self.file("log-format: text\n")
        s = self.fresh("--config", path)
        before = len(s.log_text())
        self.file("log-format: json\n")
        s.signal(signal.SIGHUP)
        self.until(lambda: "1 changed" in s.log_text()[before:], "no word of SIGHUP")
        changed, done = self.lines(s.log_text()[before:])
        self.assertIn("setting changed: log-format text → json", changed["message"])
        self.assertEqual(done["message"], "settings, keys and certificates read again, 1 changed")

    def test_why_a_start_fails_is_a_line_too(self):
        s = self.fresh()
        for code, flags, words in (
                (75, ["--listen", "127.0.0.1:%d" % s.port], "Cannot listen on"),
                (64, ["--server-key", self.folder + "/none"], "cannot be read")):
            with self.subTest(flags=flags):
                done = self.run_command("serve", "--listen", "127.0.0.1:0", "--data",
                                        self.folder + "/data", "--log-format", "json", *flags)
                self.assertEqual((done.returncode, done.stdout), (code, ""), done)
                line, = self.lines(done.stderr)
                self.assertEqual(line["level"], "critical")
                self.assertIn(words, line["message"])


class Reload(Files):
    weight = 5

    def reload(self, s):
        """SIGHUP; returns what the log says of it."""
        before = len(s.log_text())
        s.signal(signal.SIGHUP)
        words = ("read again", "nothing was changed")
        self.until(lambda: any(w in s.log_text()[before:] for w in words), "no word of SIGHUP")
        if LOOPS:
            # Every loop answers this, and is told of the settings before.
            self.keep(s.server()).ok("stats")
        return s.log_text()[before:]

    def test_without_anything_to_read_it_ends_nothing(self):
        s = self.fresh()
        c = self.login("a", service=s)
        self.assertIn("0 changed", self.reload(s))
        self.assertIn("time", c.ok("ping"))
        self.assertEqual(s.terminate(), 0)

    def test_limits_change_for_connected_clients(self):
        path = self.file("ext-bytes-max: 10\nsubscriptions-per-account-max: 2\n")
        s = self.fresh("--config", path)
        c = self.login("a", service=s)
        c.subscribe("x", "y")
        self.rejected(c.call("publish", {"type": 1, "value": 10001, "ext": "x" * 20}),
                      414, "too_long", limit=10)
        self.file("ext-bytes-max: 20\nsubscriptions-per-account-max: 1\ndisconnect-grace: 9\n")
        said = self.reload(s)
        self.assertIn("setting changed: ext-bytes-max 10 → 20 (%s:1)" % path, said)
        self.assertIn("setting changed: disconnect-grace 5 → 9", said)
        self.assertIn("3 changed", said)
        c.publish(10001, ext="x" * 20)
        self.rejected(c.call("subscribe", {"type": 1, "expiry": 60, "publishers": ["z"]}),
                      419, "subscription_quota", limit=1, count=2)
        self.assertEqual(self.login("b", service=s).welcome["limits"]["extBytesMax"], 20)

    def test_what_needs_a_restart_is_named_and_not_done(self):
        path = self.file("heartbeat: 20\n")
        s = self.fresh("--config", path)
        self.file("heartbeat: 40\nframe-bytes-max: 100000\nlisten: 127.0.0.1:1\n")
        for _ in range(2):
            said = self.reload(s)
            self.assertIn("setting needs a restart: heartbeat 20 → 40 (%s:1)" % path, said)
            self.assertIn("setting needs a restart: frame-bytes-max 262144 → 100000", said)
        c = self.login("a", service=s)
        self.assertEqual(c.welcome["heartbeat"], 20)
        self.assertEqual(c.welcome["limits"]["frameBytesMax"], 262144)

    def test_missing_files_are_all_named_with_where_they_are_set(self):
        path = self.file("listen-tls: 127.0.0.1:0\ntls-certificate: {0}/c\ntls-key: {0}/k\n"
                         "server-key: {0}/s\n".format(self.folder))
        said = self.rejects("--config", path, "--webhooks", self.folder + "/w",
                            PORCHLIGHT_JWT_KEY=self.folder + "/j")
        for name, place in (("j", "PORCHLIGHT_JWT_KEY"), ("s", "server-key in %s:4" % path),
                            ("w", "--webhooks"), ("c", "tls-certificate in %s:2" % path),
                            ("k", "tls-key in %s:3" % path)):
            self.assertIn("The file %s/%s given with %s cannot be read: No such file or directory."
                          % (self.folder, name, place), said)
        self.assertEqual(len(said.splitlines()), 5, said)

    def test_a_restart_that_would_be_rejected_is_told(self):
        path = self.file("heartbeat: 20\n")
        s = self.fresh("--config", path)
        self.file("heartbeat: 20\nwebhooks: %s/none\n" % self.folder)
        said = self.reload(s)
        self.assertIn("setting needs a restart: webhooks none → %s/none" % self.folder, said)
        self.assertIn("a restart would be rejected: The file %s/none given with webhooks in "
                      "%s:2 cannot be read" % (self.folder, path), said)
        self.file("heartbeat: 40\n")
        self.assertNotIn("a restart would be rejected", self.reload(s))

    def test_a_broken_file_changes_nothing(self):
        path = self.file("ext-bytes-max: 10\n")
        s = self.fresh("--config", path)
        c = self.login("a", service=s)
        for text, word in (
                ("ext-bytes-max: 20\nheartbeat: 1\n", path + ":2"),
                ("ext-bytes-max: 20\nhartbeat: 10\n", "did you mean heartbeat?"),
                ("ext-bytes-max: 20\npage-entries-max: 1\n", "page-entries-max 1"),
                ("ext-bytes-max: [", "not YAML")):
            with self.subTest(text=text):
                self.file(text)
                said = self.reload(s)
                self.assertIn(word, said)
                self.assertEqual(len(said.strip().splitlines()), 1, said)
                self.assertEqual(self.login("b", service=s).welcome["limits"]["extBytesMax"], 10)
        os.unlink(path)
        self.assertIn("cannot be read", self.reload(s))
        self.assertIn("time", c.ok("ping"))

    def test_keys_change_for_new_logins(self):
        old, new = "old-key-" + "x" * 20, "new-key-" + "y" * 20
        path = self.file(old + "\n", "keys")
        s = self.fresh("--server-key", path)
        first = self.keep(s.connect())
        first.ok("login", {"key": old})
        self.file(new + "\n", "keys")
        said = self.reload(s)
        self.keep(s.connect()).ok("login", {"key": new})
        self.rejected(self.keep(s.connect()).call("login", {"key": old}), 401, "invalid_token")
        self.assertIn("accounts", first.ok("stats"))
        for key in (old, new):
            self.assertNotIn(key, said)

    def test_a_broken_key_file_changes_nothing(self):
        key = "some-key-" + "x" * 20
        keys = self.file(key + "\n", "keys")
        self.file("ext-bytes-max: 10\n")
        s = self.fresh("--config", self.folder + "/porchlight.yml", "--server-key", keys)
        self.file("ext-bytes-max: 20\n")
        self.file("short\n", "keys")
        said = self.reload(s)
        self.assertIn(keys, said)
        self.assertNotIn("short", said)
        c = self.keep(s.connect())
        self.assertEqual(c.ok("login", {"key": key})["limits"]["extBytesMax"], 10)

    def test_the_log_level_changes(self):
        path = self.file("log-level: notice\n")
        s = self.fresh("--config", path)
        self.file("log-level: warning\n")
        before = len(s.log_text())
        s.signal(signal.SIGHUP)
        self.file("log-level: notice\n")
        self.reload(s)
        self.assertTrue(s.log_text()[before:])

    def test_a_thousand_signals_under_load(self):
        path = self.file("ext-bytes-max: 1000\n")
        s = self.fresh("--config", path, "--rate-limits", "off")
        watcher = self.login("w", service=s)
        watcher.subscribe("p")
        publisher = self.login("p", service=s)
        stop = threading.Event()
        sent = []

        def load():
            while not stop.is_set():
                sent.append(publisher.publish(10001, ext="x" * 900)["seq"])

        thread = threading.Thread(target=load)
        thread.start()
        for number in range(1000):
            if number % 100 == 0:
                self.file("ext-bytes-max: %d\n" % (1000 + number))
            s.signal(signal.SIGHUP)
            time.sleep(0.001)
        stop.set()
        thread.join()
        self.until(lambda: "→ 1900" in s.log_text(), "the last file is not in force")
        self.assertTrue(s.alive())
        seen = []
        while not seen or seen[-1] < sent[-1]:
            seen += [e["seq"] for e in self.events_of(watcher)]
        self.assertEqual(seen, sorted(seen))
        self.assertEqual(self.login("b", service=s).welcome["limits"]["extBytesMax"], 1900)
        self.assertEqual(s.terminate(), 0)

    def events_of(self, client):
        note = client.note()
        return note["params"]["events"] if note["method"] == "events" else []

    def notified(self, count, **environment):
        """What the service sends to a supervisor: its first messages without repetitions."""
        path = os.path.join(self.folder, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(path)
            listener.settimeout(WAIT)
            done = subprocess.Popen(
                [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", self.folder + "/d"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=dict(os.environ, NOTIFY_SOCKET=path, **environment))
            seen = set()
            try:
                while len(seen) < count:
                    seen.add(listener.recv(100))
            finally:
                done.terminate()
                done.communicate(timeout=60)
            self.assertEqual(done.returncode, 0)
        return seen

    def test_a_supervisor_is_notified_when_it_is_ready(self):
        self.assertEqual(self.notified(1), {b"READY=1"})

    def test_a_supervisor_is_notified_while_the_loops_respond(self):
        self.assertEqual(self.notified(2, WATCHDOG_USEC="2000000"), {b"READY=1", b"WATCHDOG=1"})

    def test_the_watchdog_of_another_process_is_not_notified(self):
        self.assertEqual(
            self.notified(1, WATCHDOG_USEC="20000", WATCHDOG_PID="1"), {b"READY=1"})

    def test_signals_while_it_stops(self):
        s = self.fresh()
        c = self.login("a", service=s)
        s.signal(signal.SIGTERM)
        for _ in range(20):
            if s.alive():
                s.signal(signal.SIGHUP)
            time.sleep(0.005)
        self.assertEqual(c.closing()["code"], 4503)
        self.assertEqual(s.wait(), 0)
