"""Verbs and passwords: `porchlight password`, and those that log in as an account with one."""

import os
import pty
import select
import signal
import subprocess
import termios
import time

from passwords import PasswordCase
from porchlight import BINARY, WAIT, Timeout
from test_command import Verb

# What carries the frames makes no difference to these tests.
CARRIED = False


class AtTerminal:
    """A verb at a terminal of its own, and what that shows."""

    def __init__(self, *words):
        self.main, self.other = pty.openpty()
        self.before = termios.tcgetattr(self.other)
        self.process = subprocess.Popen(
            ["setsid", "--ctty", "--wait", BINARY, *words], stdin=self.other, stdout=self.other,
            stderr=self.other)
        self.said = b""

    def until(self, words):
        end = time.monotonic() + WAIT
        while words not in self.said:
            if not select.select([self.main], [], [], max(0, end - time.monotonic()))[0]:
                raise Timeout("no %r in %r" % (words, self.said))
            self.said += os.read(self.main, 4096)

    def types(self, text):
        os.write(self.main, text)

    def ends(self):
        """Returns the exit code and what was shown, and whether the terminal is as before."""
        code = self.process.wait(WAIT)
        while select.select([self.main], [], [], 0)[0]:
            self.said += os.read(self.main, 4096)
        return code, self.said.decode(), termios.tcgetattr(self.other) == self.before

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.main)
        os.close(self.other)


class PasswordVerb(PasswordCase):
    def run_verb(self, service, *words, typed="", key=True):
        """The exit code of a verb, and what it prints."""
        flags = ["--connect", "127.0.0.1:%d" % service.port]
        flags += ["--server-key", self.key] if key else []
        done = subprocess.run([BINARY, "password", *words, *flags], input=typed,
                              capture_output=True, text=True, timeout=WAIT)
        return done.returncode, done.stdout + done.stderr

    def at_terminal(self, service, *words):
        return self.keep(AtTerminal("password", *words, "--server-key", self.key, "--connect",
                                    "127.0.0.1:%d" % service.port))

    def test_it_sets_replaces_and_removes_one(self):
        service, _ = self.with_passwords()
        for typed, done in (("the first\n", "set"), ("\nsec ond \r\nmore\n", "replaced")):
            self.assertEqual(self.run_verb(service, "amy", typed=typed),
                             (0, "the password of amy is %s\n" % done))
        self.denied(service, "amy", "the first")
        self.allowed(service, "amy", "sec ond ")
        self.assertEqual(self.run_verb(service, "amy", "--remove"),
                         (0, "the password of amy is removed\n"))
        self.denied(service, "amy", "sec ond ")
        self.assertEqual(self.run_verb(service, "amy", "--remove"), (0, "amy has no password\n"))

    def test_a_key_is_needed_if_the_service_has_keys(self):
        service, _ = self.with_passwords()
        self.assertEqual(
            self.run_verb(service, "amy", typed="pencil", key=False),
            (1, "Error: This service requires a server key: give the file with it as "
                "--server-key. (401)\n"))
        self.denied(service, "amy", "pencil")

    def test_it_says_how_xmpp_clients_write_a_name_that_may_be_meant_as_another(self):
        service, _ = self.with_passwords()
        for account, localpart in (("amy@localhost", "amy\\40localhost"), ("Amy", "\\41my")):
            self.assertEqual(
                self.run_verb(service, account, typed="pencil 2"),
                (0, "the password of %s is set\nAn account's name has no domain, and case counts: "
                    "XMPP clients log in to %s as %s@DOMAIN.\n" % (account, account, localpart)))
        self.allowed(service, "amy@localhost", "pencil 2")

    def test_a_short_one_is_set_with_a_warning(self):
        service, _ = self.with_passwords()
        for typed, count in (("ab", "2 characters"), ("\u00e9", "1 character"),
                             ("1234567", "7 characters")):
            code, said = self.run_verb(service, "amy", typed=typed)
            self.assertEqual(code, 0, said)
            self.assertIn("Warning: the password has %s, and can be guessed: use at least 8.\n"
                          % count, said)
            self.allowed(service, "amy", typed)

    def test_what_is_no_password(self):
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "pencil"})
        for typed, fault in (("", "Standard input holds no password: it is empty."),
                             ("\n\n", "Standard input holds no password: it is empty."),
                             ("a\tb", "The password must be 1 to 1024 bytes, without control"),
                             ("x" * 1025, "1024")):
            with self.subTest(typed=typed):
                code, said = self.run_verb(service, "amy", typed=typed)
                self.assertEqual(code, 1, said)
                self.assertRegex(said, r"^Error: .*\n$")
                self.assertIn(fault, said)
        self.allowed(service, "amy", "pencil")

    def test_it_is_no_argument(self):
        service, _ = self.with_passwords()
        for words in (("amy", "pencil"), ("amy", "--password", "pencil"), (" amy",), ()):
            code, said = self.run_verb(service, *words, typed="pencil")
            self.assertEqual(code, 64, said)
            self.assertRegex(said, r"(?m)^Usage: porchlight password <account> ")
        self.denied(service, "amy", "pencil")

    def test_a_service_without_passwords_says_so(self):
        service = self.fresh()
        for words in (("amy",), ("amy", "--remove")):
            code, said = self.run_verb(service, *words, typed="pencil", key=False)
            self.assertEqual(code, 1, said)
            self.assertIn("This service does not accept passwords", said)
            self.assertIn("(403)", said)

    def test_at_a_terminal_it_is_typed_twice_without_an_echo(self):
        service, _ = self.with_passwords()
        verb = self.at_terminal(service, "amy")
        for prompt in (b"Password of amy: ", b"again: "):
            verb.until(prompt)
            verb.types("p\u00e9ncil 2\n".encode())
        self.assertEqual(verb.ends(), (0, "Password of amy: \r\nThe same again: \r\n"
                                          "the password of amy is set\r\n", True))
        self.allowed(service, "amy", "p\u00e9ncil 2")

    def test_at_a_terminal_nothing_is_typed_if_it_could_not_be_set(self):
        service, _ = self.with_passwords()
        verb = self.keep(AtTerminal("password", "amy", "--connect", "127.0.0.1:%d" % service.port))
        self.assertEqual(verb.ends(), (1, "Error: This service requires a server key: give the "
                                          "file with it as --server-key. (401)\r\n", True))

    def test_at_a_terminal_nothing_is_changed_unless_both_are_the_same(self):
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "pencil"})
        for first, second, fault in ((b"one\n", b"two\n", "The two passwords differ"),
                                     (b"one\n", b"\x04", "The two passwords differ"),
                                     (b"\n", b"", "No password was typed"),
                                     (b"\x04", b"", "No password was typed"),
                                     (b"one\n", b"\x1a\x03", "Interrupted"),
                                     (b"\x03", b"", "Interrupted")):
            with self.subTest(first=first, second=second):
                verb = self.at_terminal(service, "amy")
                verb.until(b"Password of amy: ")
                verb.types(first)
                if second:
                    verb.until(b"again: ")
                    verb.types(second)
                code, said, is_as_before = verb.ends()
                self.assertEqual((code, is_as_before), (1, True), said)
                self.assertIn("Error: %s: nothing is changed." % fault, said)
                self.assertNotIn("one", said)
        self.allowed(service, "amy", "pencil")

    def test_it_is_removed_without_a_question(self):
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "pencil"})
        verb = self.at_terminal(service, "amy", "--remove")
        self.assertEqual(verb.ends(), (0, "the password of amy is removed\r\n", True))


class LogIn(PasswordCase):
    """Verbs that log in as an account."""

    def file(self, content):
        path = os.path.join(self.new_folder(), "password")
        with open(path, "wb") as file:
            file.write(content)
        return path

    def words(self, service, *words):
        return [*words, "--connect", "127.0.0.1:%d" % service.port]

    def says(self, service, *words, **variables):
        done = subprocess.run(
            [BINARY, *self.words(service, *words)], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=WAIT, env=dict(os.environ, **variables))
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        return done.stderr

    def test_they_take_it_from_a_file(self):
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "p\u00e9ncil 2"})
        path = self.file("p\u00e9ncil 2\r\n".encode())
        watch = Verb(*self.words(service, "watch", "amy", "--as", "amy", "--password-file", path))
        self.keep(watch).until("\n")
        # A token that lies around does not get in the way.
        publish = Verb(*self.words(service, "publish", "10001", "--account", "amy",
                                   "--password-file", path),
                       env=dict(os.environ, PORCHLIGHT_TOKEN="x"))
        self.keep(publish).until("published as amy")
        watch.until("10001")
        for verb in (publish, watch):
            self.assertEqual(verb.end(signal.SIGINT), 0, verb.said)

    def test_what_they_say_if_it_is_wrong(self):
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "pencil"})
        wrong, empty = self.file(b"pen\n"), self.file(b"")
        for verb in (["watch", "bob", "--as", "amy"], ["publish", "10001", "--account", "amy"]):
            self.assertEqual(
                self.says(service, *verb), "Error: This service requires a password to log in as "
                "an account: give the account as %s, and a file with its password as "
                "--password-file. (401)\n" % verb[2])
            self.assertEqual(
                self.says(service, *verb, "--password-file", wrong),
                "Error: The account has another password, or none. (401) The password is in the "
                "file %s given with --password-file.\n" % wrong)
            self.assertEqual(
                self.says(service, *verb, "--password-file", empty), "Error: The file %s given "
                "with --password-file holds no password: it is empty.\n" % empty)
        self.assertIn("The token is in the environment's PORCHLIGHT_TOKEN.",
                      self.says(service, "publish", "10001", PORCHLIGHT_TOKEN="x.y.z"))

    def test_a_service_without_passwords_says_so(self):
        said = self.says(self.fresh(), "publish", "10001", "--account", "amy", "--password-file",
                         self.file(b"pencil"))
        self.assertIn("This service does not accept passwords", said)
