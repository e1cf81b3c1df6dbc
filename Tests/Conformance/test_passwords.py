"""§3.5: accounts with passwords, which app servers set."""

import os
import sqlite3
import time

from passwords import PasswordCase, app_server
from test_tokens import SECRET, token


class Passwords(PasswordCase):
    def test_an_account_logs_in_with_its_password_alone(self):
        service, server = self.with_passwords()
        self.assertEqual(server.ok("setPassword", {"account": "amy", "password": "pencil"}),
                         {"replaced": False})
        self.allowed(service, "amy", "pencil")
        for account, password in (("amy", "Pencil"), ("amy", "pencil "), ("amy", ""),
                                  ("amy", "x" * 5000), ("amy", "\u0000"), ("bob", "pencil")):
            with self.subTest(account=account, password=password):
                self.denied(service, account, password)
        for params, reason, field in (
                ({"account": "amy"}, "invalid_password", "password"),
                ({"token": "pencil"}, "invalid_token", "token"),
                ({"client": "server"}, "invalid_token", "key")):
            with self.subTest(params=params):
                got = self.keep(service.connect()).call("login", {"device": "d", **params})
                self.rejected(got, 401, reason, field=field)

    def test_a_password_is_one_credential(self):
        service, _ = self.with_passwords()
        for extra, field in (({"token": "t"}, "password"), ({"key": "k"}, "password")):
            got = self.keep(service.connect()).call(
                "login", {"account": "amy", "password": "pencil", "device": "d", **extra})
            self.rejected(got, 414, "duplicate_field", field=field)
        got = self.keep(service.connect()).call("login", {"password": "pencil", "device": "d"})
        self.rejected(got, 414, "missing_field", field="account")
        got = self.keep(service.connect()).call("login", {"account": "amy", "password": 5})
        self.rejected(got, 414, "wrong_type", field="password")

    def test_it_is_changed_and_removed(self):
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "first"})
        amy = self.keep(service.connect())
        amy.ok("login", {"account": "amy", "password": "first", "device": "d"})
        self.assertEqual(server.ok("setPassword", {"account": "amy", "password": "second"}),
                         {"replaced": True})
        self.denied(service, "amy", "first")
        self.allowed(service, "amy", "second")
        self.assertEqual(server.ok("removePassword", {"account": "amy"}), {"removed": True})
        self.assertEqual(server.ok("removePassword", {"account": "amy"}), {"removed": False})
        self.denied(service, "amy", "second")
        # Sessions are ended by `kick`, if they are to end.
        amy.ok("ping")

    def test_what_cannot_be_a_password_is_rejected_and_changes_nothing(self):
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "pencil"})
        for password, reason in (("", "invalid_name"), ("x" * 1025, "too_long"),
                                 ("pen\ncil", "invalid_name"), ("pen\u202ecil", "invalid_name"),
                                 ("\u05e9\u05dc\u05d5\u05dd1", "invalid_name")):
            with self.subTest(password=password):
                self.rejected(server.call("setPassword", {"account": "amy", "password": password}),
                              414, reason, field="password")
        self.rejected(server.call("setPassword", {"account": "amy"}), 414, "missing_field",
                      field="password")
        self.rejected(server.call("setPassword", {"password": "x"}), 414, "missing_field",
                      field="account")
        self.allowed(service, "amy", "pencil")

    def test_clients_may_not_set_them(self):
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "pencil"})
        amy = self.keep(service.connect())
        amy.ok("login", {"account": "amy", "password": "pencil", "device": "d"})
        for method in ("setPassword", "removePassword"):
            self.rejected(amy.call(method, {"account": "amy", "password": "x"}), 403, "forbidden")
            self.rejected(self.keep(service.connect()).call(method, {"account": "amy"}),
                          401, "not_logged_in")

    def test_composed_in_another_way_it_is_the_same(self):
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "caf\u00e9"})
        self.allowed(service, "amy", "cafe\u0301")

    def test_they_outlive_the_service_and_are_stored_as_keys(self):
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "a long password"})
        service.kill()
        service.start()
        self.allowed(service, "amy", "a long password")
        service.terminate()
        path = os.path.join(service.data, "porchlight.sqlite")
        with open(path, "rb") as file:
            self.assertNotIn(b"a long password", file.read())
        with sqlite3.connect(path) as database:
            row = database.execute(
                "SELECT account, iterations, length(storedSHA256) FROM credential").fetchone()
        self.assertEqual(row, ("amy", 4096, 32))
        self.assertNotIn("a long password", service.log_text())

    def test_guessing_ends(self):
        """An address that has guessed too often is not answered by whether it is right."""
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "pencil"})
        guessers = [self.keep(service.connect()) for _ in range(30)]
        reasons, got = [], {}
        # Ten guesses are compared, and then one a second: on a slow machine, in several rounds.
        while "error" not in got:
            self.assertLess(len(reasons), 600)
            requests = [
                guesser.post("login", {"account": "amy", "device": "d", "password": "guess %d" % n})
                for n, guesser in enumerate(guessers)]
            knower = self.keep(service.connect())
            request = knower.post("login", {"account": "amy", "device": "d", "password": "pencil"})
            reasons += [guesser.answer(request)["error"]["data"]["reason"]
                        for guesser, request in zip(guessers, requests)]
            got = knower.answer(request)
        self.assertGreaterEqual(reasons.count("invalid_password"), 10)
        self.rejected(got, 416, "rate_limited")
        self.assertGreater(got["error"]["data"]["retryAfter"], 0)
        self.assertIn("logins rejected: too many wrong passwords from an address address=127.0.0.1",
                      service.log_text())

    def test_guesses_at_once_say_as_little_as_one_after_the_other(self):
        """258 in progress were all answered, and the address had to wait for 248 s."""
        service, server = self.with_passwords()
        server.ok("setPassword", {"account": "amy", "password": "pencil"})
        guessers = [self.keep(service.connect()) for _ in range(150)]
        begun = time.monotonic()
        requests = [
            guesser.post("login", {"account": "amy", "device": "d%d" % n,
                                   "password": "pencil" if n % 10 == 9 else "guess %d" % n})
            for n, guesser in enumerate(guessers)]
        answers = [guesser.answer(request) for guesser, request in zip(guessers, requests)]
        took = time.monotonic() - begun
        wrong = [answer for answer in answers if "error" in answer]
        reasons = [answer["error"]["data"]["reason"] for answer in wrong]
        # A right one is told so only where a wrong one would have been.
        self.assertLessEqual(reasons.count("invalid_password"), 11 + took)
        late = [answer["error"]["data"]["retryAfter"] for answer, reason in zip(wrong, reasons)
                if reason == "rate_limited"]
        self.assertEqual(len(late) + reasons.count("invalid_password"), len(wrong))
        self.assertGreater(len(late), 0)
        self.assertLessEqual(max(late), 10)

    def test_a_service_without_a_way_to_set_them_warns(self):
        warning = "auth is password, and no password can be set"
        self.assertIn(warning, self.fresh("--auth", "password").log_text())
        self.assertNotIn(warning, self.with_passwords()[0].log_text())

    def test_beside_tokens(self):
        path = os.path.join(self.new_folder(), "secret")
        with open(path, "wb") as file:
            file.write(SECRET + b"\n")
        os.chmod(path, 0o600)
        service = self.fresh("--auth", "jwt", "--jwt-key", path, "--passwords",
                             "--server-key", self.key)
        server = self.keep(app_server(service))
        server.ok("setPassword", {"account": "amy", "password": "pencil"})
        self.allowed(service, "amy", "pencil")
        self.denied(service, "amy", "pen")
        self.keep(service.connect()).ok("login", {"token": token("amy"), "device": "d2"})

    def test_without_passwords_they_are_rejected(self):
        service = self.fresh()
        got = self.log_in(service, "amy", "pencil")
        self.rejected(got, 401, "invalid_password", field="password")
        self.assertIn("does not accept passwords", got["error"]["message"])
        self.rejected(self.keep(service.server()).call(
            "setPassword", {"account": "amy", "password": "x"}), 403, "forbidden")
