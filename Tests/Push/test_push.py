"""Web Push: what a browser is sent, when again, and what is never connected to."""

import contextlib
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
import unittest

import porchlight
import tls
from porchlight import WAIT, Service
from push_service import Browser, PushService, Trap, base64url

ENTRY = "push.localhost"


class Pushing(unittest.TestCase):
    """A push service, and a service that pushes to it."""

    environment = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="porchlight-push-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.authority = tls.make_authority(cls.folder)
        cls.key = os.path.join(cls.folder, "web-push.key")
        made = subprocess.run(
            [porchlight.BINARY, "key", "--web-push", cls.key], check=True, capture_output=True)
        cls.public_key = made.stdout.decode().strip()
        cls.push = PushService(cls.authority, cls.folder)
        cls.addClassCleanup(cls.push.close)
        cls.number = 0
        cls.service = Service(
            "--push-key", cls.key, "--push-subject", "mailto:ops@example.com", "--push-hosts",
            "127.0.0.1:%d, %s:%d" % (cls.push.port, ENTRY, cls.push.port), "--rate-limits", "off",
            environment={"SSL_CERT_FILE": cls.authority[0], **cls.environment})
        cls.addClassCleanup(cls.service.close)

    def setUp(self):
        self.assertIsNone(self.push.next(0), "a push of another test")
        self.app = self.service.server()

    def name(self):
        type(self).number += 1
        return "a%d" % self.number

    def browser(self, path=None, host="127.0.0.1"):
        path = path or "/" + base64url(os.urandom(9))
        return Browser("https://%s:%d%s" % (host, self.push.port, path))

    def subscribe(self, account, address, device="web"):
        self.app.ok("setDevice", {"account": account, "device": device, "pushAddress": address})

    def send(self, account, body, **more):
        return self.app.ok("send", {"accounts": [account], "body": body, **more})["id"]

    def expect(self, browser):
        """The next push, which must be for this browser."""
        request = self.push.next(WAIT)
        self.assertIsNotNone(request, "no push: " + self.service.log_text()[-2000:])
        self.assertTrue(browser.endpoint.endswith(request.path), request.path)
        return request

    def address(self, account):
        devices = self.app.ok("devices", {"account": account})["devices"]
        return devices[0].get("pushAddress") if devices else None

    def until(self, holds):
        end = time.monotonic() + WAIT
        while not holds():
            self.assertLess(time.monotonic(), end, self.service.log_text()[-2000:])
            time.sleep(0.02)

    def metric(self, name, entry=None):
        label = entry or "127.0.0.1:%d" % self.push.port
        text = self.app.ok("metrics")["text"]
        found = re.search(r'^%s\{host="%s"\} (\d+)$' % (name, re.escape(label)), text, re.M)
        self.assertIsNotNone(found, text[-3000:])
        return int(found.group(1))


class Story(Pushing):
    """zhangsan writes to lisi, whose app is in the foreground, in the background, killed."""

    def test_lisi_is_pushed_to_when_her_app_cannot_take(self):
        service = Service(
            "--push-key", self.key, "--push-subject", "mailto:ops@example.com", "--push-hosts",
            "127.0.0.1:%d" % self.push.port,
            environment={"SSL_CERT_FILE": self.authority[0], "PORCHLIGHT_PUSH_AFTER": "1"})
        self.addCleanup(service.close)
        lisi, browser = self.name(), self.browser()
        zhangsan = service.login(self.name(), "phone")

        def write(body):
            return zhangsan.ok("send", {"accounts": [lisi], "body": body})["id"]

        def message(body):
            found, = app.note("messages")["params"]["messages"]
            self.assertEqual(found["body"], body)
            return found["id"]

        # In the foreground she takes it, and there is nothing to push.
        app = service.login(lisi, "web", messages=True)
        app.ok("setDevice", {"pushAddress": browser.subscription()})
        begin = time.monotonic()
        first = write("one")
        app.ok("take", {"id": message("one")})
        was_in_time = time.monotonic() - begin < 0.9
        # In the background the connection is still there, and nobody reads it.
        second = write("two")
        content = browser.decrypt(self.expect(browser))
        if content["message"] == first and not was_in_time:
            content = browser.decrypt(self.expect(browser))
        self.assertEqual((content["message"], content["body"]), (second, "two"))
        self.assertEqual((content["from"], content["waiting"]), (zhangsan.account, 1))
        app.ok("take", {"id": message("two")})
        # Killed, she is pushed to at once, and given it when she opens the notification.
        app.ok("logout")
        third = write("three")
        self.assertEqual(browser.decrypt(self.expect(browser))["message"], third)
        app = service.login(lisi, "web", messages=True)
        self.assertEqual(app.welcome["waiting"], 1)
        app.ok("take", {"id": message("three")})
        self.assertIsNone(self.push.next(0))


class Arriving(Pushing):
    def test_a_browser_decrypts_what_an_offline_account_was_sent(self):
        account, browser = self.name(), self.browser()
        client = self.service.login(account, "web")
        self.assertEqual(client.welcome["pushKey"], self.public_key)
        client.ok("setDevice", {"pushAddress": browser.subscription()})
        client.ok("logout")
        message = self.send(account, "今天的天气真好。", ext="{}", expiry=600)
        request = self.expect(browser)
        headers = request.headers
        self.assertEqual(headers["Content-Encoding"], "aes128gcm")
        self.assertEqual(headers["Topic"], message)
        self.assertEqual(headers["Urgency"], "high")
        self.assertTrue(300 < int(headers["TTL"]) <= 600, headers["TTL"])
        content = browser.decrypt(request)
        self.assertLess(abs(content.pop("time") / 1000 - time.time()), 600)
        self.assertEqual(content, {
            "message": message, "account": account, "body": "今天的天气真好。", "ext": "{}",
            "waiting": 1})
        claims, key = request.claims()
        self.assertEqual(key, self.public_key)
        self.assertEqual(claims["aud"], "https://127.0.0.1:%d" % self.push.port)
        self.assertEqual(claims["sub"], "mailto:ops@example.com")
        self.assertTrue(0 < claims["exp"] - time.time() <= 24 * 3600, claims)
        # Once: the next push is of the next message.
        other = self.send(account, "b")
        self.assertEqual(self.expect(browser).headers["Topic"], other)

    def test_all_browsers_of_an_account_are_pushed_to(self):
        account, browsers = self.name(), [self.browser() for _ in range(3)]
        for place, browser in enumerate(browsers):
            self.subscribe(account, browser.subscription(), "web%d" % place)
        self.subscribe(account, "apns:6f0c", "phone")
        self.send(account, "a")
        arrived = [self.push.next(WAIT) for _ in browsers]
        by_path = {request.path: request for request in arrived}
        for browser in browsers:
            path = "/" + browser.endpoint.split("/", 3)[3]
            self.assertEqual(browser.decrypt(by_path[path])["body"], "a")

    def test_a_long_body_is_cut(self):
        account, browser = self.name(), self.browser()
        self.subscribe(account, browser.subscription())
        self.send(account, "é" * 5_000)
        content = browser.decrypt(self.expect(browser))
        self.assertTrue(content["cut"])
        self.assertEqual(content["body"], "é" * 512)

    def test_set_device_says_what_is_pushed_to(self):
        account, good = self.name(), self.browser()
        elsewhere = json.dumps({**json.loads(good.subscription()),
                                "endpoint": "https://other.example/a"})
        incomplete = json.dumps({"endpoint": good.endpoint})
        cases = {"good": (good.subscription(), None), "phone": ("apns:6f0c", "not_a_subscription"),
                 "keys": (incomplete, "invalid_keys"), "host": (elsewhere, "host_not_allowed")}

        def passed_over():
            text = self.app.ok("metrics")["text"]
            return dict(re.findall(
                r'^porchlight_push_passed_over_total\{reason="(\w+)"\} (\d+)$', text, re.M))

        before = passed_over()
        for device, (address, reason) in cases.items():
            answer = self.app.ok(
                "setDevice", {"account": account, "device": device, "pushAddress": address})
            self.assertEqual(answer["pushable"], reason is None)
            self.assertEqual(answer.get("pushReason"), reason)
        # Two of them have the endpoint of one browser: the one that was given it last has it.
        answer = self.app.ok("setDevice", {
            "account": account, "device": "good", "pushAddress": good.subscription()})
        self.assertIs(answer["pushable"], True)
        self.send(account, "a")
        self.expect(good)
        after = passed_over()
        self.assertEqual({reason: int(after[reason]) - int(before[reason]) for reason in after},
                         {"not_a_subscription": 1, "invalid_keys": 0, "host_not_allowed": 1})
        tags = self.app.ok("setDevice", {"account": account, "device": "good", "tags": ["a"]})
        self.assertIs(tags["pushable"], True)
        none = self.app.ok("setDevice", {"account": account, "device": "good", "pushAddress": ""})
        self.assertNotIn("pushable", none)
        self.app.ok("discard", {"account": account})

    def test_the_log_and_the_metrics_have_no_endpoint(self):
        account, browser = self.name(), self.browser()
        self.push.answers["/" + browser.endpoint.split("/", 3)[3]] = [(400, {})]
        dropped = self.metric("porchlight_push_dropped_total")
        self.subscribe(account, browser.subscription())
        self.send(account, "a")
        self.expect(browser)
        self.until(lambda: self.metric("porchlight_push_dropped_total") == dropped + 1)
        text = self.service.log_text() + self.app.ok("metrics")["text"]
        for secret in (browser.endpoint.split("/", 3)[3], base64url(browser.secret)):
            self.assertNotIn(secret, text)


class Failing(Pushing):
    def test_410_removes_the_address(self):
        account, browser = self.name(), self.browser("/gone")
        self.push.answers["/gone"] = [(410, {})]
        self.subscribe(account, browser.subscription())
        self.send(account, "a")
        self.expect(browser)
        self.until(lambda: self.address(account) is None)
        # Another subscription of the same device is pushed to.
        other = self.browser()
        self.subscribe(account, other.subscription())
        self.send(account, "b")
        self.assertEqual(other.decrypt(self.expect(other))["body"], "b")

    def test_an_address_that_was_replaced_meanwhile_stays(self):
        account, browser, other = self.name(), self.browser("/replaced"), self.browser()
        self.push.answers["/replaced"] = [None]
        removed = self.metric("porchlight_push_addresses_removed_total")
        self.subscribe(account, browser.subscription())
        self.send(account, "a")
        request = self.expect(browser)
        self.subscribe(account, other.subscription())
        request.respond(410)
        # After the answer was handled: pushes are sent in order. If it came too late, the first
        # message is sent to the new address, too.
        self.send(account, "b")
        while other.decrypt(self.expect(other))["body"] != "b":
            pass
        self.assertEqual(self.address(account), other.subscription())
        self.assertEqual(self.metric("porchlight_push_addresses_removed_total"), removed)

    def test_what_was_taken_meanwhile_is_not_sent_again(self):
        taken, kept = self.name(), self.name()
        browsers = [self.browser("/taken"), self.browser("/kept")]
        for account, browser in zip((taken, kept), browsers):
            self.subscribe(account, browser.subscription())
        self.push.answers["/taken"] = [None]
        self.send(taken, "a")
        request = self.expect(browsers[0])
        # While it is in flight, a device takes the message.
        self.send(kept, "b")
        client = self.service.login(taken, "phone", messages=True)
        message = client.note("messages")["params"]["messages"][0]
        client.ok("take", {"id": message["id"]})
        request.respond(503, Retry_After=1)
        self.assertEqual(browsers[1].decrypt(self.expect(browsers[1]))["body"], "b")
        # The reader has read past both: the next push is of a new message.
        self.send(kept, "c")
        self.assertEqual(browsers[1].decrypt(self.expect(browsers[1]))["body"], "c")

    def test_one_account_does_not_delay_others(self):
        """Endpoints that hang, and one that answers 503 with a Retry-After, of one account."""
        bad, good = self.name(), self.name()
        browser = self.browser()
        self.subscribe(good, browser.subscription())
        slow = ["/slow%d" % place for place in range(12)]  # nothing is answered until the end
        for place, path in enumerate(slow):
            self.push.answers[path] = [None] * 100
            self.subscribe(bad, self.browser(path).subscription(), "web%d" % place)
        self.push.answers["/busy"] = [(503, {"Retry_After": 3600})] * 100
        self.subscribe(bad, self.browser("/busy").subscription(), "busy")
        held = []
        for number in range(12):
            self.send(bad, "x")
            sent = self.send(good, str(number))
            while True:
                request = self.push.next(WAIT)
                self.assertIsNotNone(request, "no push: " + self.service.log_text()[-2000:])
                if browser.endpoint.endswith(request.path):
                    break
                held.append(request)
            self.assertEqual(request.headers["Topic"], sent)
        # Of the account, four are in flight; one may follow the one that is answered.
        while len([request for request in held if request.path in slow]) < 4:
            held.append(self.push.next(WAIT))
            self.assertIsNotNone(held[-1], self.service.log_text()[-2000:])
        # The others wait, and have nothing to read again now.
        self.app.ok("discard", {"account": bad})
        for request in held:
            request.respond(410)

    def test_a_restart_continues_at_the_position(self):
        first, second = self.name(), self.name()
        browsers = [self.browser("/first"), self.browser("/second")]
        for account, browser in zip((first, second), browsers):
            self.subscribe(account, browser.subscription())
        self.send(first, "a")
        self.expect(browsers[0])
        self.push.answers["/second"] = [(503, {"Retry_After": 3600})]
        self.send(second, "b")
        self.expect(browsers[1])
        self.assertEqual(self.service.terminate(), 0)
        self.service.start()
        self.app = self.service.server()
        again = self.expect(browsers[1])
        self.assertEqual(browsers[1].decrypt(again)["body"], "b")
        self.send(first, "c")
        self.assertEqual(browsers[0].decrypt(self.expect(browsers[0]))["body"], "c")


class Restarting(Pushing):
    """What was pushed is not pushed again, and what was not is; what waits at the start is not."""

    def hold(self, count):
        """A push service that is asked for so many pushes and answers none of them."""
        browsers = [self.browser() for _ in range(count)]
        for browser in browsers:
            account = self.name()
            self.push.answers["/" + browser.endpoint.rsplit("/", 1)[1]] = [None]
            self.subscribe(account, browser.subscription())
            self.send(account, "held")
        return browsers, [self.push.next(WAIT) for _ in browsers]

    def stop(self):
        self.assertEqual(self.service.terminate(), 0)

    def stop_after_a_push(self):
        account, browser = self.name(), self.browser()
        self.subscribe(account, browser.subscription())
        self.send(account, "pushed")
        self.expect(browser)
        self.until(lambda: self.metric("porchlight_push_sent_total") > 0)
        self.stop()

    def again(self):
        """Starts the service, and returns the paths of what it pushes before what is new."""
        self.service.start()
        self.app = self.service.server()
        # What comes in the order of the messages is there when the next one is.
        account, last = self.name(), self.browser()
        self.subscribe(account, last.subscription())
        self.send(account, "last")
        paths = []
        while not paths or not last.endpoint.endswith(paths[-1]):
            request = self.push.next(WAIT)
            self.assertIsNotNone(request, self.service.log_text()[-2000:])
            paths.append(request.path)
        return paths[:-1]

    def test_only_what_was_not_finished_is_pushed_again(self):
        for _ in range(2):
            browsers, held = self.hold(3)
            done = self.name()
            self.subscribe(done, self.browser().subscription())
            self.send(done, "done")
            self.assertIsNotNone(self.push.next(WAIT))
            self.until(lambda: self.metric("porchlight_push_sent_total") > 0)
            held[1].respond(201)
            self.until(lambda: self.metric("porchlight_push_sent_total") > 1)
            self.stop()
            paths = self.again()
            left = sorted(held[place].path for place in (0, 2))
            extra = [path for path in paths if path not in left]
            self.assertEqual(extra, [])
            # They are sent beside what is new, so some may come after it.
            while len(paths) < 2:
                paths.append(self.push.next(WAIT).path)
            self.assertEqual(sorted(paths), left)
            for request in held:
                request.respond(201)

    def test_a_restore_elsewhere_pushes_nothing_again(self):
        self.stop_after_a_push()
        folder = os.path.join(self.folder, self.name())
        copy = folder + ".copy"
        for words in (("backup", "--data", self.service.data, copy),
                      ("restore", copy, "--data", folder)):
            subprocess.run([porchlight.BINARY, *words], check=True, capture_output=True)
        self.assertEqual(
            [name for name in os.listdir(folder) if name.startswith("push-")], [])
        before, self.service.data = self.service.data, folder
        try:
            self.assertEqual(self.again(), [])
        finally:
            self.stop()
            self.service.data = before
            self.again()

    def test_a_push_service_that_is_new_in_the_list_begins_now(self):
        account, other = self.name(), self.browser()
        hosts = self.service.flags[self.service.flags.index("--push-hosts") + 1]
        with_one = [flag if flag != hosts else hosts.split(", ")[1] for flag in self.service.flags]
        self.stop()
        self.service.start(*with_one)
        self.app = self.service.server()
        self.subscribe(account, other.subscription())
        self.send(account, "waits")
        # The entry is configured again: what waits already is not pushed.
        self.stop()
        self.assertEqual(self.again(), [])
        self.send(account, "new")
        self.assertEqual(other.decrypt(self.expect(other))["body"], "new")

    def test_a_position_of_a_version_before_is_taken_over(self):
        self.stop_after_a_push()
        # As that version has left it: a file, and no row.
        name = "push-127.0.0.1_%d" % self.push.port
        with contextlib.closing(
                sqlite3.connect(os.path.join(self.service.data, "porchlight.sqlite"))) as database:
            (cursor,), = database.execute(
                "SELECT cursor FROM reader WHERE name = ?", (
                    "push:127.0.0.1:%d" % self.push.port,))
            with database:
                database.execute("DELETE FROM reader")
        path = os.path.join(self.service.data, name)
        with open(path, "w") as file:
            file.write("porchlight push 1\n%s\n" % cursor)
        self.assertEqual(self.again(), [])
        self.assertFalse(os.path.exists(path))


class Rejecting(Pushing):
    def setUp(self):
        super().setUp()
        self.trap = Trap()
        self.addCleanup(self.trap.close)

    def pushes_only_to(self, good, addresses):
        """Of these addresses, the devices of one account, only the good browser is pushed to."""
        account = self.name()
        for place, address in enumerate(addresses):
            self.subscribe(account, address, "bad%d" % place)
        self.subscribe(account, good.subscription(), "web")
        self.send(account, "a")
        self.assertEqual(good.decrypt(self.expect(good))["body"], "a")
        self.assertTrue(self.trap.is_untouched())

    def test_other_hosts_and_ports_and_http_are_not_connected_to(self):
        places = [
            "https://127.0.0.1:%d/a" % self.trap.port, "https://localhost:%d/a" % self.trap.port,
            "http://127.0.0.1:%d/a" % self.trap.port, "http://127.0.0.1:%d/a" % self.push.port,
            "https://[::1]:%d/a" % self.trap.port, "https://2130706433:%d/a" % self.trap.port,
            "https://127.1:%d/a" % self.push.port, "https://localhost:%d/a" % self.push.port,
        ]
        self.pushes_only_to(self.browser(), [Browser(place).subscription() for place in places])

    def test_a_name_in_the_list_does_not_lead_to_a_private_address(self):
        entry = "%s:%d" % (ENTRY, self.push.port)
        account = self.name()
        self.subscribe(account, self.browser(host=ENTRY).subscription())
        before = self.metric("porchlight_push_failures_total", entry)
        self.send(account, "a")
        self.until(lambda: self.metric("porchlight_push_failures_total", entry) > before)
        self.assertIsNone(self.push.next(0))
        self.assertIn("its address is not public", self.service.log_text())
        self.app.ok("discard", {"account": account})

    def test_a_redirect_is_not_followed(self):
        account, browser = self.name(), self.browser("/moved")
        self.push.answers["/moved"] = [
            (307, {"Location": "https://127.0.0.1:%d/a" % self.trap.port})]
        dropped = self.metric("porchlight_push_dropped_total")
        self.subscribe(account, browser.subscription())
        self.send(account, "a")
        self.expect(browser)
        self.until(lambda: self.metric("porchlight_push_dropped_total") == dropped + 1)
        self.assertTrue(self.trap.is_untouched())

    def test_hostile_addresses_harm_nothing(self):
        good = self.browser()
        here = "https://127.0.0.1:%d/" % self.push.port
        point = bytearray(good.point)
        point[64] ^= 1
        keys = {"p256dh": base64url(good.point), "auth": base64url(good.secret)}

        def made(endpoint=here, **changed):
            return json.dumps({"endpoint": endpoint, "keys": {**keys, **changed}})

        addresses = [
            "x" * 2_048, "{" * 2_048, "[" * 1_000 + "]" * 1_000, "{}", "null", "\0",
            json.dumps(here), made()[:-1], made() + "x", made("https://user:word@127.0.0.1:%d/"
                                                              % self.push.port),
            made(here + "#a"), made("https://127.0.0.1:%d@evil.example/" % self.push.port),
            made("https://127.0.0.1:99999/"), made("https://127.0.0.1:0/"),
            made("https://127。0。0。1:%d/" % self.push.port), made("https://１２７.0.0.1/"),
            made(here + "\r\nX: y"), made(here + "a b"), made("https://"), made(""), made(1),
            made(here, p256dh=""), made(here, p256dh=base64url(bytes(point))),
            made(here, p256dh=base64url(b"\x04" + bytes(64))), made(here, p256dh="A" * 87),
            made(here, p256dh=7), made(here, auth=""), made(here, auth="A" * 21),
            made(here, auth="!" * 22), made(here, auth=None), json.dumps({"endpoint": here}),
            '{"endpoint":"%s","endpoint":"%s","keys":%s}' % (here, here, json.dumps(keys)),
        ]
        # An account has at most 20 devices.
        for start in range(0, len(addresses), 15):
            self.pushes_only_to(self.browser(), addresses[start:start + 15])


class Proxied(Pushing):
    """With a proxy in the environment."""

    @classmethod
    def setUpClass(cls):
        cls.proxy = socket.create_server(("127.0.0.1", 0))
        cls.addClassCleanup(cls.proxy.close)
        cls.proxy.settimeout(WAIT)
        cls.environment = {
            "https_proxy": "http://127.0.0.1:%d" % cls.proxy.getsockname()[1], "no_proxy": "*"}
        super().setUpClass()

    def test_every_push_to_a_name_is_sent_through_it(self):
        account = self.name()
        self.subscribe(account, self.browser(host=ENTRY).subscription())
        self.send(account, "a")
        connection, _ = self.proxy.accept()
        with connection:
            line = connection.makefile("rb").readline()
            self.assertEqual(
                line, b"CONNECT %s:%d HTTP/1.1\r\n" % (ENTRY.encode(), self.push.port))
        self.assertIsNone(self.push.next(0))


class Settings(unittest.TestCase):
    """What a start rejects, and what the key is."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="porchlight-push-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.key = os.path.join(self.folder, "web-push.key")

    def make(self):
        return subprocess.run(
            [porchlight.BINARY, "key", "--web-push", self.key], capture_output=True, text=True)

    def check(self, *flags):
        done = subprocess.run(
            [porchlight.BINARY, "serve", "--listen", "127.0.0.1:0", "--data", self.folder, *flags],
            capture_output=True, text=True, timeout=2 * WAIT)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_a_key_is_made_once(self):
        first = self.make()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertRegex(first.stdout, r"^[A-Za-z0-9_-]{87}\n$")
        self.assertEqual(os.stat(self.key).st_mode & 0o777, 0o600)
        with open(self.key) as file:
            content = file.read()
        again = self.make()
        self.assertEqual((again.returncode, again.stdout), (1, ""))
        self.assertIn("cannot be made: File exists", again.stderr)
        with open(self.key) as file:
            self.assertEqual(file.read(), content)

    def test_settings_are_checked_at_the_start(self):
        self.make()
        subject = ("--push-subject", "mailto:ops@example.com")
        key = ("--push-key", self.key)
        self.assertIn("set both", self.check(*key))
        self.assertIn("set both", self.check(*subject))
        self.assertIn("push-subject is invalid", self.check(*key, "--push-subject", "ops"))
        for hosts in ("https://a.example", "a_b", "*", "127.1", ",", "*.com"):
            got = self.check(*key, *subject, "--push-hosts", hosts)
            self.assertIn("given with --push-hosts are invalid", got, hosts)
        with open(self.key, "w") as file:
            file.write("no key of any kind")
        got = self.check(*key, *subject)
        self.assertIn("contains no private key of P-256", got)
        self.assertNotIn("no key of any kind", got)

    def test_without_a_key_there_is_no_web_push(self):
        service = Service()
        self.addCleanup(service.close)
        client = service.login("a")
        self.assertNotIn("pushKey", client.welcome)
        self.assertNotIn("porchlight_push_", service.server().ok("metrics")["text"])
