"""The verbs of the command as a user meets them: signals, wrong ports, wrong words, a terminal."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

from porchlight import BINARY, WAIT, Case, Timeout, native_only

# What carries the frames makes no difference to these tests.
CARRIED = False


class Verb:
    """A verb that runs, and what it prints."""

    def __init__(self, *words, before=(), **options):
        self.process = subprocess.Popen(
            [*before, BINARY, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, **options)
        self.said = ""

    def until(self, words, wait=WAIT):
        end = time.monotonic() + wait
        while words not in self.said:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Timeout("no %r in %r" % (words, self.said))
            got = os.read(self.process.stdout.fileno(), 4096)
            if not got:
                raise Timeout("no %r in all of %r" % (words, self.said))
            self.said += got.decode("utf-8", "replace")

    def end(self, number):
        """Sends a signal; returns the exit code."""
        self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=WAIT)
        self.said += rest.decode("utf-8", "replace")
        return self.process.returncode

    def close(self):
        self.process.kill()
        self.process.communicate()


class Watching(Case):
    flags = ("--disconnect-grace", "300")

    def watch(self, *words, **options):
        verb = self.keep(Verb("watch", *words, "--connect", "127.0.0.1:%d" % self.service.port,
                              **options))
        verb.until("unknown" if "--as" not in words else "\n")
        return verb

    def watchers(self, publisher):
        return [s["account"] for s in self.server().ok(
            "subscribers", {"type": 1, "publisher": publisher})["subscribers"]]

    def test_each_process_has_an_account_of_its_own(self):
        bob, carol = self.name("bob"), self.name("carol")
        first, second = self.watch(bob), self.watch(carol)
        accounts = self.watchers(bob) + self.watchers(carol)
        self.assertEqual(len(set(accounts)), 2)
        for verb, account in zip((first, second), accounts):
            self.assertRegex(account, r"^porchlight-watch-.*%d$" % verb.process.pid)

    def test_twenty_at_a_time(self):
        bob = self.name("bob")
        for _ in range(20):
            self.watch(bob)
        self.assertEqual(len(self.watchers(bob)), 20)

    def test_signals_end_it_in_order(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number=number):
                bob = self.name("bob")
                verb = self.watch(bob)
                account, = self.watchers(bob)
                self.assertEqual(verb.end(number), 0, verb.said)
                self.assertEqual(self.watchers(bob), [])
                # Not after the grace: it has logged out.
                state = self.server().ok("query", {"type": 1, "accounts": [account]})["states"][0]
                self.assertEqual((state["online"], state["value"]), ([], 2))

    def test_a_closed_terminal_ends_it_in_order(self):
        bob = self.name("bob")
        verb = self.watch(bob, before=("env", "--default-signal=HUP"))
        self.assertEqual(verb.end(signal.SIGHUP), 0, verb.said)
        self.assertEqual(self.watchers(bob), [])

    def test_a_closed_terminal_is_ignored_under_nohup(self):
        bob = self.name("bob")
        verb = self.watch(bob, before=("env", "--ignore-signal=HUP"))
        verb.process.send_signal(signal.SIGHUP)
        self.login(bob).publish(10001)
        verb.until("10001")
        self.assertEqual(verb.end(signal.SIGINT), 0, verb.said)

    def test_it_shows_only_the_accounts_that_were_asked_for(self):
        alice, bob, carol = self.name("alice"), self.name("bob"), self.name("carol")
        own = self.login(alice)
        own.subscribe(bob, carol)
        own.subscribe(bob, type=100)
        verb = self.watch(bob, "--as", alice)
        bobs = self.login(bob)
        self.login(carol).publish(10001)
        bobs.publish(10007, type=100)
        bobs.publish(10002)
        verb.until("10002")
        self.assertNotIn(carol, verb.said)
        self.assertNotIn("type 100", verb.said)
        # Those that the account had before are left to it.
        self.assertEqual(verb.end(signal.SIGINT), 0, verb.said)
        self.assertEqual(own.ok("subscriptions")["count"], 3)

    def test_too_many_sessions_say_what_to_do(self):
        alice = self.name("alice")
        for number in range(10):
            self.login(alice, "d%d" % number)
        done = subprocess.run(
            [BINARY, "watch", "bob", "--as", alice, "--connect",
             "127.0.0.1:%d" % self.service.port], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Error: %s cannot log in. " % alice, done.stderr)
        self.assertIn("give another account with --as", done.stderr)


class Mistakes(Case):
    """A rejected verb does not make its account come online and go again."""

    def run_verb(self, *words):
        # Three thousand words take two seconds of a processor, which others may use.
        return subprocess.run(
            [BINARY, *words, "--connect", "127.0.0.1:%d" % self.service.port],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=4 * WAIT)

    def mistakes(self, bob):
        """Words, and the beginning of the error."""
        publish, own = ("publish", "10001", "--account", bob), ("--as", bob)
        return (
            (("publish", "1", *publish[2:]), "VALUE 1 is out of range: give 10000 to 2147483647."),
            (("publish", "9999", *publish[2:]), "VALUE 9999 is out of range"),
            (("publish", "2147483648", *publish[2:]), "VALUE 2147483648 is out of range"),
            ((*publish, "--expiry", "59"),
             "--expiry 59 is out of range: give 60 to 604800 seconds."),
            ((*publish, "--expiry", "-1"),
             "--expiry -1 is out of range: give 60 to 604800 seconds."),
            ((*publish, "--expiry", "604801"), "--expiry 604801 is out of range"),
            ((*publish, "--expiry", "0", "--keep"), "--expiry 0 is out of range"),
            ((*publish, "--ext", "x" * 4097), "--ext has 4097 bytes: give at most 4096."),
            ((*publish, "--ext", "\u00e9" * 2049), "--ext has 4098 bytes: give at most 4096."),
            ((*publish, "--type", "0"), "--type 0 is out of range: give 1, or 100 to 65535."),
            ((*publish, "--type", "99"), "--type 99 is out of range"),
            ((*publish, "--type", "65536"), "--type 65536 is out of range"),
            (("watch", "carol", *own, "--type", "7"), "--type 7 is out of range"),
            (("watch", "c" * 129, *own), "ACCOUNT \u201cccc"),
            (("watch", "carol", "a\u0085", *own), "ACCOUNT \u201ca"),
            (("watch", *("c%d" % n for n in range(3001)), *own), "ACCOUNT is given 3001 times"),
            (("publish", "10001", "--account", "b" * 129), "--account \u201cbbb"),
            (("query", bob, "--type", "2"), "--type 2 is out of range"),
            (("why", bob, "carol", "--type", "2"), "--type 2 is out of range"),
            (("query", "q" * 129), "ACCOUNT \u201cqqq"))

    def test_are_found_before_the_account_logs_in(self):
        alice, bob = self.login(self.name("alice")), self.name("bob")
        alice.subscribe(bob)
        for words, fault in self.mistakes(bob):
            with self.subTest(words=words[:8]):
                done = self.run_verb(*words)
                # The commands may take longer than a client may be silent.
                alice.ok("ping")
                self.assertEqual((done.returncode, done.stdout), (64, ""), done)
                self.assertIn("Error: " + fault, done.stderr)
        # The first that alice hears of bob.
        self.login(bob, "real")
        event = alice.event()
        self.assertEqual((event["cause"], event["device"]), ("login", "real"))

    def test_names_are_counted_once(self):
        alice = self.name("alice")
        verb = self.keep(Verb("watch", *["bob", "carol"] * 1501, "--as", alice, "--connect",
                              "127.0.0.1:%d" % self.service.port))
        verb.until("carol")
        self.assertEqual(verb.end(signal.SIGINT), 0, verb.said)

    def test_are_left_to_a_service_with_other_limits(self):
        service = self.fresh("--config", self.settings(
            "custom-value-min: 5\nstatus-expiry-min: 5\next-bytes-max: 8\n"
            "custom-type-max: 200\naccount-bytes-max: 20\n"))
        connect = ("--connect", "127.0.0.1:%d" % service.port)

        def run_verb(*words):
            done = subprocess.run([BINARY, *words, *connect], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=WAIT)
            return done.returncode, done.stdout + done.stderr

        once = ("--account", "bob", "--once")
        code, said = run_verb("publish", "5", *once, "--expiry", "5", "--unchecked")
        self.assertEqual(code, 0, said)
        # What such a service rejects is told in the words of the command.
        for words, fault in (
                (("publish", "4", *once, "--unchecked"), "VALUE must be at least 5; lower"),
                (("publish", "5", *once, "--expiry", "4", "--unchecked"),
                 "--expiry must be 5 to 604800 seconds."),
                (("publish", "10001", *once, "--ext", "123456789"), "--ext has 9 bytes"),
                (("publish", "10001", *once, "--type", "201"), "--type must be 1 or 100 to 200."),
                (("publish", "10001", "--once", "--account", "b" * 21), "--account has 21 bytes"),
                (("publish", "10001", "--account", "b" * 21), "--account has 21 bytes"),
                (("watch", "bob", "--as", "b" * 21), "--as has 21 bytes"),
                (("watch", "b" * 21, "--as", "bob"),
                 "The element at index 0 of ACCOUNT has 21 bytes"),
                (("query", "bob", "b" * 21), "The element at index 1 of ACCOUNT has 21 bytes"),
                (("query", "bob", "--type", "201"), "--type must be 1 or 100 to 200."),
                (("why", "b" * 21, "bob"), "SUBSCRIBER has 21 bytes"),
                (("why", "bob", "b" * 21), "PUBLISHER has 21 bytes")):
            with self.subTest(words=words):
                code, said = run_verb(*words)
                self.assertEqual(code, 1, said)
                self.assertTrue(said.startswith("Error: " + fault), said)
                self.assertTrue(said.endswith(" (414)\n"), said)

    def settings(self, text):
        path = os.path.join(self.new_folder(), "porchlight.yml")
        with open(path, "w") as file:
            file.write(text)
        return path

    def test_a_host_without_an_address(self):
        done = subprocess.run([BINARY, "query", "bob", "--connect", "nohost..invalid:7400"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (
            1, "Error: Cannot connect to nohost..invalid:7400: the host name has no address. Check "
            "the name.\n"))


class Words(Case):
    flags = None

    def rejects(self, *words, code=64):
        done = subprocess.run([BINARY, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done)
        return done.stderr

    def test_verbs_that_are_none(self):
        self.assertEqual(self.rejects("serv"),
                         "Error: porchlight has no subcommand serv: did you mean serve?\n")
        self.assertEqual(self.rejects("bench", "fanoot"),
                         "Error: porchlight bench has no subcommand fanoot: did you mean fanout?\n")
        self.assertEqual(
            self.rejects("xyzzyxyzzy"), "Error: porchlight has no subcommand xyzzyxyzzy: "
            "`porchlight --help` lists them.\n")

    def test_the_usage_is_that_of_the_verb(self):
        for words, verb, fault in (
                (("watch", "bob", "--connect", "bob"), "watch", "not an address with a port"),
                (("query", "bob", "--connect", "a:99999"), "query", "has a port above 65535"),
                (("publish", "10001"), "publish", "--account"),
                (("publish", "10001", "--once"), "publish", "--account"),
                (("publish", "10001", "--account", "bob", "--server-key", "k"), "publish",
                 "--once"),
                (("bench", "fanout", "--connect", "bob"), "bench fanout", "not an address"),
                (("watch", ""), "watch", "ACCOUNT “” is not an account name"),
                (("query", "a", " b"), "query", "ACCOUNT “ b” is not an account name"),
                (("why", "a", ""), "why", "PUBLISHER “” is not an account name"),
                (("watch", "bob", "--password-file", "p"), "watch", "--as"),
                (("publish", "10001", "--password-file", "p"), "publish", "--account"),
                (("watch", "bob", "--as", "a", "--token-file", "t", "--password-file", "p"),
                 "watch", "one credential"),
                (("publish", "10001", "--once", "--account", "a", "--password-file", "p"),
                 "publish", "--server-key"),
                (("publish", "10001", "--once", "--account", "a", "--token-file", "t"),
                 "publish", "--server-key"),
                (("publish", "10001", "--once", "--token-file", "t"), "publish",
                 "give --server-key and --account, not the account's --token-file"),
                (("watch", "bob", "--server-key", "/nope"), "watch", "--server-key")):
            with self.subTest(words=words):
                said = self.rejects(*words)
                self.assertIn(fault, said)
                self.assertRegex(said, r"(?m)^Usage: porchlight %s " % verb)

    def test_the_load_test_is_a_program_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(BINARY, folder)
            for words in (["bench"], ["bench", "--help"], ["help", "bench"], ["bench", "storm"]):
                done = subprocess.run([alone, *words], stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.stderr, "Error: The load test is a program of its own, and "
                                 "%s-bench does not exist. Debian's package of it is "
                                 "porchlight-bench; `make build` and `make static` build both.\n"
                                 % alone)
                self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_the_help_of_the_load_test_is_found_either_way(self):
        for words in (["bench", "fanout", "--help"], ["help", "bench", "fanout"]):
            done = subprocess.run([BINARY, *words], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("\nUSAGE: porchlight bench fanout [<options>]\n", done.stdout)

    def test_help_has_no_line_of_a_single_word(self):
        for verb in ("serve", "config", "watch", "publish", "send", "receive", "query", "devices",
                     "why", "top", "stats", "token", "password", "backup", "restore", "key",
                     "bench", "version"):
            done = subprocess.run([BINARY, verb, "--help"], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=60,
                                  env=dict(os.environ, COLUMNS="80"))
            head = done.stdout.split("\nUSAGE:")[0]
            for paragraph in head.split("\n\n"):
                lines = [line for line in paragraph.splitlines() if line.strip()]
                for line in lines[:-1]:
                    self.assertGreater(len(line.split()), 2, head)


class Output(Case):
    """Verbs whose output cannot be written."""

    # An account that is offline has logged out.
    flags = ("--disconnect-grace", "300")

    def into_full(self, *words):
        """Runs a verb with a full disk behind its output; returns what it says of that."""
        with open("/dev/full", "w") as full:
            done = subprocess.run([BINARY, *words], stdin=subprocess.DEVNULL, stdout=full,
                                  stderr=subprocess.PIPE, timeout=WAIT)
        said = done.stderr.decode("utf-8", "replace")
        self.assertEqual(done.returncode, 1, said)
        return said

    def test_a_full_disk_is_an_error(self):
        connect = ("--connect", "127.0.0.1:%d" % self.service.port)
        with tempfile.NamedTemporaryFile("w") as key:
            key.write("0123456789" * 7)
            key.flush()
            for words in (("key", "billing"), ("token", "bob", "--key", key.name, "--for", "1h"),
                          ("query", "bob", *connect), ("stats", *connect),
                          ("why", "alice", "bob", *connect), ("top", "--once", *connect),
                          ("config",), ("version",), ("--version",), ("--help",)):
                with self.subTest(words=words):
                    # Nothing else: no line of a key that is lost.
                    self.assertEqual(self.into_full(*words), "Error: Standard output cannot be "
                                                             "written: No space left on device.\n")

    def test_a_full_disk_leaves_no_account_online(self):
        bob = self.name("bob")
        self.into_full("publish", "10001", "--account", bob,
                       "--connect", "127.0.0.1:%d" % self.service.port)
        state = self.server().ok("query", {"type": 1, "accounts": [bob]})["states"][0]
        self.assertEqual(state["online"], [])

    def test_a_closed_pipe_ends_it_quietly(self):
        bob = self.name("bob")
        out, into = os.pipe()
        verb = subprocess.Popen(
            [BINARY, "watch", bob, "--connect", "127.0.0.1:%d" % self.service.port],
            stdin=subprocess.DEVNULL, stdout=into, stderr=subprocess.PIPE)
        os.close(into)
        os.read(out, 4096)
        os.close(out)
        self.login(bob)
        self.assertEqual(verb.communicate(timeout=WAIT)[1], b"")
        self.assertEqual(verb.returncode, 128 + signal.SIGPIPE)
        # It has logged out, and its subscription is left to expire.
        account, = [s["account"] for s in self.server().ok(
            "subscribers", {"type": 1, "publisher": bob})["subscribers"]]
        state = self.server().ok("query", {"type": 1, "accounts": [account]})["states"][0]
        self.assertEqual(state["online"], [])


class Log(Case):
    flags = None

    def test_keys_with_open_authentication_are_warned_of(self):
        with tempfile.NamedTemporaryFile("w") as keys:
            keys.write("a-key-of-an-app-server\n")
            keys.flush()
            service = self.fresh("--server-key", keys.name)
            said = service.log_text()
            self.assertRegex(said, r"(?m)^\S+ warning porchlight: server keys are set, and auth "
                                   r"is open: the native port \(127\.0\.0\.1:0\) accepts app ")
            # Not again at each reload.
            service.signal(signal.SIGHUP)
            end = time.monotonic() + WAIT
            while "read again" not in service.log_text():
                self.assertLess(time.monotonic(), end, "no word of SIGHUP")
                time.sleep(0.01)
            self.assertEqual(service.log_text().count("server keys are set"), 1)
        self.assertNotIn(" warning ", self.fresh().log_text())

    def test_the_start_names_the_data_directory(self):
        service = self.fresh()
        self.assertRegex(service.log_text(), r"(?m)^\S+ notice porchlight: started auth=open "
                         r"data=%s version=\d" % re.escape(service.data))
        with tempfile.TemporaryDirectory(prefix="porchlight-conf-") as folder:
            said = subprocess.Popen(
                [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", "./here"], cwd=folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                said.stdout.readline()
            finally:
                said.terminate()
                text = said.communicate(timeout=60)[1].decode()
            self.assertIn("data=%s/here" % os.path.realpath(folder), text)


@native_only
class WrongPort(Case):
    def ask(self, text):
        client = self.connect()
        client.raw(text)
        answer = b""
        while True:
            got = client.socket.recv(4096)
            if not got:
                return answer.decode()
            answer += got

    def test_http_on_the_native_port_gets_the_way_to_the_http_api(self):
        for method in ("GET", "PUT", "POST", "HEAD", "DELETE", "OPTIONS", "PATCH"):
            with self.subTest(method=method):
                answer = self.ask(("%s /v1/x HTTP/1.1\r\nHost: a\r\n\r\n" % method).encode())
                head, body = answer.split("\r\n\r\n")
                status = "404 Not Found" if method == "GET" else "405 Method Not Allowed"
                self.assertTrue(head.startswith("HTTP/1.1 %s\r\n" % status), answer)
                self.assertIn("Content-Length: %d\r\n" % len(body), head)
                self.assertIn("--http", body)

    def test_a_request_byte_by_byte_is_recognised(self):
        client = self.connect()
        for byte in b"GET / HTTP/1.1\r\nHost: a\r\n\r\n":
            client.raw(bytes([byte]))
        self.assertTrue(client.socket.recv(4096).startswith(b"HTTP/1.1 404"))

    def test_other_bytes_get_a_close_notification(self):
        client = self.connect()
        client.raw(b"PUTX")
        self.assertEqual(client.closing()["reason"], "protocol_violation")

    def test_after_login_it_is_a_violation_like_any_other(self):
        client = self.login(self.name("a"))
        client.raw(b"GET / HTTP/1.1\r\n\r\n")
        self.assertEqual(client.closing()["reason"], "protocol_violation")


class Terminal(Case):
    def test_q_leaves_top_and_the_terminal_is_as_before(self):
        main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        before = termios.tcgetattr(other)
        verb = subprocess.Popen(
            ["setsid", "--ctty", "--wait", BINARY, "top", "--connect",
             "127.0.0.1:%d" % self.service.port], stdin=other, stdout=other, stderr=other)
        try:
            said = b""
            end = time.monotonic() + WAIT
            while b"memory" not in said:
                if not select.select([main], [], [], max(0, end - time.monotonic()))[0]:
                    raise Timeout("top says nothing: %r" % said)
                said += os.read(main, 4096)
            os.write(main, b"xq")
            self.assertEqual(verb.wait(WAIT), 0)
            self.assertEqual(termios.tcgetattr(other), before)
        finally:
            verb.kill()
            verb.wait()
            os.close(main)
            os.close(other)
