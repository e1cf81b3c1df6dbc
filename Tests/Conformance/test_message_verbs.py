"""The verbs of messages: `porchlight send` and `porchlight receive`."""

import json
import os
import signal
import subprocess

from porchlight import BINARY, WAIT
from test_command import Verb
from test_messages import Messages

# What carries the frames makes no difference to these tests.
CARRIED = False


class MessageVerbs(Messages):
    """What the classes below share."""

    flags = ("--disconnect-grace", "300")

    def connect_words(self, service=None):
        return "--connect", "127.0.0.1:%d" % (service or self.service).port

    def run_verb(self, *words, typed="", service=None, **options):
        """The exit code, and what is printed and said of errors."""
        done = subprocess.run(
            [BINARY, *words, *self.connect_words(service)], input=typed.encode(),
            capture_output=True, timeout=WAIT, **options)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def sends(self, *words, **options):
        code, said, errors = self.run_verb("send", *words, **options)
        self.assertEqual((code, errors), (0, ""))
        return said

    def fails(self, code, *words, **options):
        got, said, errors = self.run_verb(*words, **options)
        self.assertEqual((got, said), (code, ""), errors)
        self.assertTrue(errors.startswith("Error: "), errors)
        return errors[7:]

    def receives(self, *words, service=None):
        return self.keep(Verb("receive", *words, *self.connect_words(service)))

    def file(self, content):
        path = os.path.join(self.new_folder(), "text")
        with open(path, "wb") as file:
            file.write(content)
        return path


class Sending(MessageVerbs):
    def test_the_last_word_is_the_text(self):
        li, away = self.reader(self.name("li")), self.name("away")
        said = self.sends(li.account, away, " 今天\n", "--from", "zs", "--ext", "{}", "--ref", "r1",
                          "--expiry", "60")
        message, = self.given(li, 1)
        self.assertEqual(message, {"id": message["id"], "time": message["time"], "from": "zs",
                                   "body": " 今天\n", "ext": "{}", "ref": "r1"})
        self.assertEqual(said, "sent as %s to 2 accounts, 1 receiving now\n" % message["id"])
        self.assertEqual(self.bodies(self.reader(away), 1), [" 今天\n"])

    def test_without_a_sender_it_is_from_the_service(self):
        name = self.name("li")
        self.assertRegex(self.sends(name, "x"),
                         r"^sent as \w{13} to 1 account, 0 receiving now\n$")
        self.assertEqual(set(self.given(self.reader(name), 1)[0]), {"id", "time", "body"})

    def test_no_account_comes_online(self):
        zs = self.name("zs")
        self.sends(self.name("li"), "x", "--from", zs)
        state = self.server().ok("query", {"type": 1, "accounts": [zs]})["states"][0]
        self.assertEqual(state["value"], 0)

    def test_the_text_is_read_from_standard_input_or_a_file(self):
        a, b = self.reader(self.name("a")), self.reader(self.name("b"))
        for typed, body in (("one\n", "one"), ("two\r\n", "two"), ("\n\n", "\n"), ("x", "x"),
                            ("a\0b", "a\0b"), ("-\té\n\n", "-\té\n"), ("y\n" * 20_000, None)):
            with self.subTest(typed=typed[:9]):
                body = body or typed[:-1]
                self.sends(a.account, typed=typed)
                self.sends(a.account, b.account, "--file", "-", typed=typed)
                self.sends(b.account, a.account, "--file", self.file(typed.encode()))
                for client in (a, a, a, b, b):
                    message, = self.given(client, 1)
                    self.assertEqual(message["body"], body)
                    self.accept(client, message)

    def test_to_one_device(self):
        name = self.name("li")
        self.sends(name, "for one", "--device", "one")
        self.sends(name, "for all")
        self.assertEqual(self.bodies(self.reader(name, "two"), 1), ["for all"])
        self.assertEqual(self.bodies(self.reader(name, "one"), 2), ["for one", "for all"])

    def test_to_devices_by_their_labels(self):
        app, name, tag = self.server(), self.name("li"), "t%d" % id(self)
        for device, label in (("pad", {"tags": [tag, "ios"]}), ("phone", {"tags": [tag]}),
                              ("watch", {"alias": tag})):
            app.ok("setDevice", {"account": name, "device": device, **label})
        pad = self.reader(name, "pad")
        self.assertRegex(self.sends("to all", "--tag", tag),
                         r"^sent as \w{13} to 2 devices, 1 receiving now\n$")
        self.sends("--tag", tag, "--tag-all", "ios", typed="to one\n")
        self.sends("not to it", "--tag-all", tag, "--tag-not", "ios", "--from", "zs")
        self.sends("--alias", tag, "--alias", "none", "--file", self.file(b"to the watch"))
        self.assertEqual(self.bodies(pad, 2), ["to all", "to one"])
        self.assertEqual(self.bodies(self.reader(name, "phone"), 2), ["to all", "not to it"])
        self.assertEqual(self.bodies(self.reader(name, "watch"), 1), ["to the watch"])
        for option in ("--tag", "--alias"):
            said = self.fails(1, "send", "x", option, "nobody")
            self.assertEqual(said, "No device is selected by these aliases or tags. (1011)\n")

    def test_mistakes_are_found_before_it_connects(self):
        for words, fault in (
                ((), "No recipient is given: give an ACCOUNT, --alias or --tag"),
                (("bob", "x", "--tag", "t"), "With --alias or --tag the only word is the text"),
                (("x", "--alias", "a", "--tag", "t"), "--alias selects devices by itself"),
                (("x", "--tag-not", "t"), "--tag-not selects nothing alone"),
                (("x", "--tag", "t", "--device", "d"), "--device is for a message to one"),
                (("", "--tag", "t"), "TEXT is empty"),
                (("", "x"), "ACCOUNT “” is not an account name"),
                (("bob", " carol", "x"), "ACCOUNT “ carol” is not an account name"),
                (("bob", ""), "TEXT is empty"),
                (("bob", "x", "--from", "a "), "--from “a ” is not an account name"),
                (("bob", "carol", "x", "--device", "d"), "--device is for a message to one"),
                (("bob", "x", "--expiry", "soon"), "The value 'soon' is invalid")):
            with self.subTest(words=words):
                said = self.fails(64, "send", *words)
                self.assertIn(fault, said)
                self.assertIn("\nUsage: porchlight send <account> ... [<text>]", said)

    def test_texts_that_are_none(self):
        empty, binary = self.file(b""), self.file(b"\xff\n")
        long = "x" * 131_073
        for words, typed, fault in (
                (("bob",), "", "Standard input holds no text: it is empty.\n"),
                (("bob",), "\n", "Standard input holds no text: it is empty.\n"),
                (("bob",), long, "The text has 131073 bytes: give at most 131072.\n"),
                (("bob", "xy", "--ext", long[:-2]), "",
                 "The text and --ext together have 131073 bytes: give at most 131072.\n"),
                (("bob", "--file", empty), "",
                 "The file %s given with --file holds no text: it is empty.\n" % empty),
                (("bob", "--file", binary), "",
                 "The file %s given with --file holds no text: it is not UTF-8.\n" % binary),
                (("bob", "--file", "/nope"), "", "The file /nope given with --file cannot be read: "
                                                 "No such file or directory.\n"),
                (("bob", "--file", "/dev/zero"), "", "The file /dev/zero given with --file cannot "
                                                     "be read: it has more than 4 MiB.\n")):
            with self.subTest(words=words, typed=typed[:9]):
                self.assertEqual(self.fails(1, "send", *words, typed=typed), fault)

    def test_rejections_name_what_was_typed(self):
        for words, fault in (
                (("bob", "x", "--expiry", "59"), "--expiry must be 60 to 2592000 seconds. (414)\n"),
                (("bob", "x", "--expiry", "-1"), "--expiry must be 60 to 2592000 seconds. (414)\n"),
                (("bob", "x", "--ref", ""), "--ref must "),
                (("bob", "x", "--ref", "r" * 65), "--ref has"),
                (("bob", "x", "--device", " "), "--device "),
                ((*("a%d" % n for n in range(101)), "x"), "ACCOUNT ")):
            with self.subTest(words=words):
                said = self.fails(1, "send", *words)
                self.assertTrue(said.startswith(fault), said)
                self.assertTrue(said.endswith(" (414)\n"), said)

    def test_a_full_box_is_named(self):
        service = self.fresh("--config", self.file(b"messages-per-account-max: 10\n"))
        bob = self.name("bob")
        for _ in range(10):
            self.sends(bob, "x", service=service)
        said = self.fails(1, "send", bob, self.name("carol"), "x", service=service)
        self.assertTrue(said.startswith(
            "There is no room for the message at the accounts %s; 10 messages may wait" % bob), said)

    def test_keys_and_other_services(self):
        key = self.file(b"a-key-of-an-app-server-of-enough-length\n")
        service = self.fresh("--auth", "password", "--server-key", key)
        self.assertEqual(self.fails(1, "send", "bob", "x", service=service),
                         "This service requires a server key: give the file with it as "
                         "--server-key. (401)\n")
        self.sends("bob", "x", "--server-key", key, service=service)
        off = self.fresh("--config", self.file(b"messages: off\n"))
        self.assertIn("(403)", self.fails(1, "send", "bob", "x", service=off))
        self.assertEqual(self.fails(1, "receive", "--account", "bob", service=off),
                         "Messages are turned off at this service (messages: off).\n")


class Receiving(MessageVerbs):
    def left(self, name):
        """How many messages wait for an account."""
        return self.reader(name, "left").welcome["waiting"]

    def test_it_prints_what_waits_and_what_arrives(self):
        zs, name = self.login(self.name("zs"), "phone"), self.name("li")
        self.leave(zs, name, body="one", ext="{}")
        verb = self.receives("--account", name)
        verb.until("(phone)  “one”  ext “{}”\n")
        self.leave(zs, name, body="two\n\x1b[31m")
        verb.until("  %s (phone)  “two\\u{a}\\u{1b}[31m”\n" % zs.account)
        self.sends(name, "three")
        verb.until("  the service  “three”\n")
        self.assertEqual(verb.end(signal.SIGINT), 0, verb.said)
        for line in verb.said.splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  ")
        self.assertEqual(self.left(name), 0)
        # It has logged out.
        state = self.server().ok("query", {"type": 1, "accounts": [name]})["states"][0]
        self.assertEqual([s["device"] for s in state["online"]], ["left"])

    def test_as_json(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        sent = self.leave(zs, name, body="a\nb", ref="r")
        code, said, errors = self.run_verb("receive", "--account", name, "--once", "--json")
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(json.loads(said), {
            "id": sent["id"], "from": zs.account, "fromDevice": "d1", "time": sent["time"],
            "body": "a\nb", "ref": "r"})
        self.assertEqual(said.count("\n"), 1)

    def test_once_takes_one(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        for body in "abc":
            self.leave(zs, name, body=body)
        for body in "ab":
            code, said, _ = self.run_verb("receive", "--account", name, "--once")
            self.assertEqual(code, 0)
            self.assertRegex(said, r"^\S+ \S+  %s \(d1\)  “%s”\n$" % (zs.account, body))
        self.assertEqual(self.left(name), 1)

    def test_once_waits_for_one(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        verb = self.receives("--account", name, "--once")
        while not self.server().ok("sessions", {"account": name})["sessions"]:
            self.assertIsNone(verb.process.poll())
        self.leave(zs, name, body="a")
        verb.until("“a”\n")
        self.assertEqual(verb.process.wait(WAIT), 0)
        self.assertEqual(self.left(name), 0)

    def test_as_a_device(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        self.leave(zs, name, body="for one", device="one")
        self.leave(zs, name, body="for all")
        words = ("receive", "--account", name, "--once")
        self.assertIn("“for all”", self.run_verb(*words)[1])
        self.assertIn("“for one”", self.run_verb(*words, "--device", "one")[1])
        self.assertIn("--device ", self.fails(1, *words, "--device", " "))

    def test_many_and_long_ones(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        # One stranger has at most half of what strangers share.
        for number in range(25):
            self.leave(zs, name, body="%d %s" % (number, "x" * 4_000))
        verb = self.receives("--account", name)
        verb.until("“24 " + "x" * 4_000 + "”\n")
        self.assertEqual(verb.end(signal.SIGTERM), 0)
        lines = [line.split("“")[1].split()[0] for line in verb.said.splitlines()]
        self.assertEqual(lines, [str(n) for n in range(25)])
        self.assertEqual(self.left(name), 0)

    def test_a_repeat_is_not_printed(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        verb = self.receives("--account", name)
        for ref, body in (("r", "one"), ("r", "one"), ("e\u0301", "two"), ("\xe9", "three")):
            self.leave(zs, name, body=body, ref=ref)
        verb.until("“three”\n")
        self.assertEqual(verb.end(signal.SIGINT), 0, verb.said)
        self.assertEqual([line.split("“")[1] for line in verb.said.splitlines()],
                         ["one”", "two”", "three”"])
        self.assertEqual(self.left(name), 0)

    def test_after_kill_9(self):
        service = self.fresh()
        port = service.port
        verb = self.receives("--account", "li", service=service)
        zs = self.login("zs", service=service)
        self.leave(zs, "li", body="one", ref="r")
        verb.until("“one”\n")
        service.kill()
        verb.until("Trying again in 1 s.\n")
        service.start("--listen", "127.0.0.1:%d" % port)
        # What was taken just before may be sent again.
        self.leave(self.login("zs", service=service), "li", body="two")
        verb.until("“two”\n")
        self.assertEqual(verb.end(signal.SIGINT), 0, verb.said)
        self.assertEqual(verb.said.count("“one”"), 1)

    def test_a_signal_during_a_take_ends_it_in_order(self):
        zs = self.login(self.name("zs"))
        for _ in range(20):
            name = self.name("li")
            self.leave(zs, name, body="a")
            verb = self.receives("--account", name)
            verb.until("“a”\n")
            self.assertEqual(verb.end(signal.SIGINT), 0, verb.said)
            self.assertEqual(self.left(name), 0)

    def test_what_cannot_be_printed_is_not_taken(self):
        zs, name = self.login(self.name("zs")), self.name("li")
        self.leave(zs, name)
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [BINARY, "receive", "--account", name, *self.connect_words()], stdout=full,
                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=WAIT)
        self.assertEqual((done.returncode, done.stderr), (
            1, b"Error: Standard output cannot be written: No space left on device.\n"))
        self.assertEqual(self.left(name), 1)

    def test_mistakes(self):
        for words, fault in (
                ((), "No account is given: use --account or --token-file."),
                (("--account", " a"), "--account “ a” is not an account name"),
                (("--password-file", "p"), "--password-file needs the account that has it"),
                (("--account", "a", "--token-file", "t", "--password-file", "p"),
                 "one credential"),
                (("--account", "a", "bob"), "Unexpected argument 'bob'")):
            with self.subTest(words=words):
                said = self.fails(64, "receive", *words)
                self.assertIn(fault, said)
                self.assertIn("\nUsage: porchlight receive ", said)


class Devices(MessageVerbs):
    """`porchlight devices`."""

    def test_each_is_a_line(self):
        name = self.name("li")
        self.assertEqual(self.run_verb("devices", name), (0, "", ""))
        app = self.server()
        app.ok("setDevice", {"account": name, "device": "phone", "alias": "li", "tags": ["b", "a"],
                             "pushAddress": "apns:\n"})
        app.ok("setDevice", {"account": name, "device": "tablet", "tags": ["中"]})
        self.keep(self.login(name, "tablet", client="ios"))
        lines = self.run_verb("devices", name)[1].splitlines()
        self.assertEqual(lines, [
            "phone  no session  alias li  tags a, b  push address “apns:\\u{a}”",
            "tablet  ios, connected  tags 中"])
        first, _ = self.run_verb("devices", name, "--json")[1].splitlines()
        self.assertEqual(json.loads(first), {"device": "phone", "alias": "li", "tags": ["a", "b"],
                                             "pushAddress": "apns:\n"})

    def test_a_mistake_is_named(self):
        self.assertIn("ACCOUNT “a ” is not an account name", self.fails(64, "devices", "a "))
