"""`porchlight demo`: a service as a child process, and the page."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess

from porchlight import BINARY, WAIT, Case, Client

# What carries the frames makes no difference to these tests.
CARRIED = False


class Demo:
    """A demo. Its standard error ends when both of its processes have ended: both have it."""

    def __init__(self, folder, *words, **variables):
        environment = dict(os.environ, TMPDIR=folder, **variables)
        self.process = subprocess.Popen(
            [BINARY, "demo", "--port", "0", *words], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.link = self.process.stdout.readline().strip()
        if not self.link:
            raise AssertionError(self.process.communicate(timeout=WAIT)[1])
        self.port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", self.link).group(1))
        script = self.request("GET", "/service.js")[2].decode()
        self.service = int(re.fullmatch(
            r'export const service = "ws://127\.0\.0\.1:(\d+)/v1/socket";\n', script).group(1))

    def request(self, method, path, **fields):
        """The status, the fields and the body of a response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            connection.request(method, path, headers=fields)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def kill_service(self):
        status, _, body = self.request("POST", "/kill", Origin=self.link[:-1])
        assert status == 200, body
        return json.loads(body)["milliseconds"]

    def child(self):
        """The process of the service."""
        path = "/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)
        with open(path, encoding="ascii") as file:
            child, = file.read().split()
        return int(child)

    def login(self, account, **options):
        return Client(self.service).login(account, **options)

    def ended(self, wait=WAIT):
        """Waits until both processes have ended; the exit code, and what was said of errors."""
        said, errors = self.process.communicate(timeout=wait)
        assert said == "", said
        return self.process.returncode, errors

    def close(self):
        self.process.kill()
        self.process.communicate(timeout=WAIT)


class DemoCase(Case):
    """What the classes below share."""

    flags = None

    def setUp(self):
        super().setUp()
        self.folder = self.new_folder()

    def start(self, *words, **variables):
        return self.keep(Demo(self.folder, *words, **variables))

    def login(self, demo, account, **options):
        return self.keep(demo.login(account, **options))

    def fails(self, *words):
        """What a demo says that does not start."""
        done = subprocess.run([BINARY, "demo", *words], stdin=subprocess.DEVNULL, timeout=WAIT,
                              capture_output=True, text=True, env=dict(os.environ, TMPDIR=self.folder))
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertEqual(os.listdir(self.folder), [])
        return done.stderr


class Page(DemoCase):
    def test_the_files_have_a_strict_policy_and_no_script_within_a_page(self):
        demo = self.start()
        for path, kind in (("/", "text/html"), ("/index.html", "text/html"),
                           ("/person.html?me=alice", "text/html"), ("/index.js", "text/javascript"),
                           ("/person.css", "text/css"), ("/icon.svg", "image/svg+xml"),
                           ("/service.js", "text/javascript"),
                           ("/sdk/porchlight.min.js", "text/javascript")):
            with self.subTest(path=path):
                status, fields, body = demo.request("GET", path)
                self.assertEqual((status, fields["Content-Type"].split(";")[0]), (200, kind))
                policy = fields["Content-Security-Policy"]
                self.assertIn("default-src 'none'; script-src 'self'; style-src 'self';", policy)
                self.assertIn("connect-src 'self' ws://127.0.0.1:%d;" % demo.service, policy)
                self.assertEqual(demo.request("HEAD", path)[2], b"")
                if kind == "text/html":
                    self.assertNotRegex(body, rb"(?s)<script(?![^>]* src=)|<style| style=| on\w+=")
                # Whatever a page, a style or a script names is served.
                named = re.findall(
                    rb'(?:src|href|from|import|register\() ?"?(?:\./)?"?([a-z][\w./-]*\.\w+)"', body) \
                    if "sdk/" not in path else ()
                for name in named:
                    self.assertEqual(demo.request("GET", "/" + name.decode())[0], 200, name)
        for path in ("/nope.js", "/../README.md", "/sdk/nope.js", "//", "/%2e%2e/x"):
            self.assertEqual(demo.request("GET", path)[0], 404, path)

    def test_other_origins_and_hosts_are_rejected(self):
        demo = self.start()
        child = demo.child()
        own = demo.link[:-1]
        for method, path, fields, status in (
                ("POST", "/kill", {}, 403),
                ("POST", "/kill", {"Origin": "http://evil.example"}, 403),
                ("POST", "/kill", {"Origin": "null"}, 403),
                ("POST", "/kill", {"Origin": "https://127.0.0.1:%d" % demo.port}, 403),
                ("POST", "/kill", {"Origin": own + "0"}, 403),
                # The host and the origin must be the same, and be one of the demo's.
                ("POST", "/kill", {"Origin": own, "Host": "localhost:%d" % demo.port}, 403),
                ("POST", "/kill", {"Origin": "http://evil.example", "Host": "evil.example"}, 421),
                ("GET", "/kill", {"Origin": own}, 405), ("PUT", "/kill", {"Origin": own}, 405),
                ("OPTIONS", "/kill", {"Origin": "http://evil.example"}, 405),
                ("GET", "/", {"Host": "evil.example"}, 421),
                ("GET", "/", {"Host": "127.0.0.1:1"}, 421),
                ("POST", "/", {"Origin": own}, 405),
                ("GET", "/", {"Host": "localhost:%d" % demo.port}, 200)):
            with self.subTest(method=method, path=path, fields=fields):
                got = demo.request(method, path, **fields)
                self.assertEqual(got[0], status, got[2])
                self.assertNotIn("Access-Control-Allow-Origin", got[1])
        self.assertEqual(demo.child(), child)

    def test_input_that_is_no_request_is_rejected(self):
        demo = self.start()
        for text in (b"\0\0\0\1x", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
                     b"POST /kill HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n",
                     b"GET /" + b"x" * 5_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", demo.port), WAIT) as connection:
                connection.sendall(text)
                answer = b""
                while part := connection.recv(65_536):
                    answer += part
                self.assertRegex(answer, rb"^HTTP/1\.1 4\d\d ", text)
        self.assertEqual(demo.request("GET", "/")[0], 200)


class Kill(DemoCase):
    def test_the_service_is_back_with_its_data_and_no_presence_flickers(self):
        demo = self.start()
        first = demo.child()
        bob = self.login(demo, "bob", device="phone", messages=True)
        bob.publish(10001, ext="in a meeting", onlineOnly=False)
        alice = self.login(demo, "alice")
        alice.subscribe("bob")
        alice.ok("send", {"accounts": ["carol"], "body": "call me"})
        self.assertGreater(demo.kill_service(), 0)
        self.assertNotEqual(demo.child(), first)
        alice = self.login(demo, "alice")
        self.login(demo, "bob", device="phone", messages=True)
        state, = alice.list
        self.assertEqual((state["cause"], state["status"]["ext"]), ("sync", "in a meeting"))
        self.assertEqual([session["device"] for session in state["online"]], ["phone"])
        self.assertEqual(alice.drain(), [])
        carol = self.login(demo, "carol", messages=True)
        message, = carol.note("messages")["params"]["messages"]
        self.assertEqual(message["body"], "call me")

    def test_it_is_started_again_if_something_else_kills_it(self):
        demo = self.start()
        client = self.login(demo, "alice")
        os.kill(demo.child(), signal.SIGKILL)
        client.eof()
        # Answered when the service is ready, whether it was alive or not.
        demo.kill_service()
        self.login(demo, "alice")

    def test_a_service_that_ends_by_itself_ends_the_demo(self):
        demo = self.start()
        os.kill(demo.child(), signal.SIGTERM)
        code, errors = demo.ended()
        self.assertEqual(code, 1)
        self.assertIn("Error: Another process has ended the demo's service, so the demo ends, too.",
                      errors)
        self.assertEqual(os.listdir(self.folder), [])


class End(DemoCase):
    def stops(self, client):
        """The service says that it stops, and waits until the client has closed its side."""
        self.assertEqual(client.closing()["reason"], "shutting_down")
        client.close()

    def test_it_ends_with_its_service(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(number=number):
                demo = self.start()
                client = self.login(demo, "alice")
                demo.process.send_signal(number)
                # Its service stops in order, even so.
                self.stops(client)
                code, errors = demo.ended()
                self.assertNotIn("Error", errors)
                if number == signal.SIGKILL:
                    self.assertEqual(code, -signal.SIGKILL)
                else:
                    self.assertEqual((code, os.listdir(self.folder)), (0, []))

    def test_after_a_kill_it_ends_with_its_new_service(self):
        demo = self.start()
        demo.kill_service()
        client = self.login(demo, "alice")
        demo.process.kill()
        self.stops(client)
        demo.ended()

    def test_its_port_is_free_while_its_service_still_ends(self):
        demo = self.start()
        child = demo.child()
        sockets = {os.readlink("/proc/%d/fd/%s" % (demo.process.pid, name))
                   for name in os.listdir("/proc/%d/fd" % demo.process.pid)}
        inherited = {os.readlink("/proc/%d/fd/%s" % (child, name))
                     for name in os.listdir("/proc/%d/fd" % child)} & sockets
        self.assertEqual([name for name in inherited if name.startswith("socket:")], [])

    def test_with_data_it_keeps_them(self):
        data = os.path.join(self.folder, "data")
        demo = self.start("--data", data)
        bob = self.login(demo, "bob")
        bob.publish(10001, ext="at home", onlineOnly=False)
        bob.ok("logout")
        bob.close()
        demo.process.terminate()
        self.assertEqual(demo.ended()[0], 0)
        with open(os.path.join(data, "demo-push.key"), "rb") as file:
            key = file.read()
        demo = self.start("--data", data)
        alice = self.login(demo, "alice")
        state, = alice.subscribe("bob", sync=True)["states"]
        self.assertEqual(state["status"]["ext"], "at home")
        with open(os.path.join(data, "demo-push.key"), "rb") as file:
            self.assertEqual(file.read(), key)


    def test_the_directory_of_a_demo_that_was_killed_is_removed_by_the_next(self):
        killed = self.start()
        killed.process.kill()
        killed.ended()
        left, = os.listdir(self.folder)
        # Neither what others have put there under such a name, nor where a link leads, is removed.
        other = self.new_folder()
        open(os.path.join(other, "file"), "w", encoding="ascii").close()
        link = "porchlight-demo-%d-1" % killed.process.pid
        os.symlink(other, os.path.join(self.folder, link))
        kept = {link, "porchlight-demo-x", "porchlight-demo-", "porchlight-demo--1-1"}
        for name in kept - {link}:
            os.mkdir(os.path.join(self.folder, name))
        # Nor the directory of a demo that runs.
        demo = self.start()
        demos = set(os.listdir(self.folder)) - kept
        self.assertEqual(len(demos), 1)
        self.assertNotIn(left, demos)
        self.start()
        now = set(os.listdir(self.folder))
        self.assertLess(demos | kept, now)
        self.assertEqual(len(now), len(kept) + 2)
        self.assertEqual(os.listdir(other), ["file"])
        self.assertEqual(demo.request("GET", "/")[0], 200)

    def test_the_directory_stays_while_the_service_of_a_killed_demo_still_ends(self):
        killed = self.start()
        child = killed.child()
        os.kill(child, signal.SIGSTOP)
        try:
            killed.process.kill()
            killed.process.wait(WAIT)
            left, = os.listdir(self.folder)
            self.start()
            self.assertIn(left, os.listdir(self.folder))
        finally:
            os.kill(child, signal.SIGCONT)
        killed.ended()


class Start(DemoCase):
    def test_the_settings_of_another_service_are_not_for_the_demo(self):
        config = os.path.join(self.new_folder(), "config.yaml")
        with open(config, "w", encoding="ascii") as file:
            # Without a certificate no service starts with these.
            file.write("webhook: http://127.0.0.1:9/hook\nlisten-tls: 127.0.0.1:0\n")
        demo = self.start(PORCHLIGHT_CONFIG=config, PORCHLIGHT_ACCEPT="nothing", OTHER="kept")
        with open("/proc/%d/environ" % demo.child(), "rb") as file:
            names = [variable.split(b"=")[0] for variable in file.read().split(b"\0")]
        self.assertEqual([name for name in names if name.startswith(b"PORCHLIGHT")], [])
        self.assertIn(b"OTHER", names)
        self.login(demo, "alice")

    def test_the_data_of_another_service_are_rejected(self):
        data = self.new_folder()
        open(os.path.join(data, "porchlight.sqlite"), "w", encoding="ascii").close()
        self.assertEqual(
            self.fails("--port", "0", "--data", data),
            "Error: The directory %s has the data of a service that is not a demo's "
            "(porchlight.sqlite without demo-push.key); choose another one with --data.\n" % data)
        self.assertEqual(os.listdir(data), ["porchlight.sqlite"])

    def test_a_port_in_use_is_named_with_its_option(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            self.assertEqual(
                self.fails("--port", str(port)),
                "Error: Cannot serve the page on 127.0.0.1:%d (bind: address already in use "
                "(EADDRINUSE)); choose another port with --port.\n" % port)

    def test_a_service_that_does_not_start_says_why(self):
        data = self.new_folder()
        demo = self.start("--data", data)
        errors = self.fails("--port", "0", "--data", data)
        self.assertRegex(errors, r"^Error: .*%s" % re.escape(data))
        self.assertTrue(errors.endswith(
            "Error: The demo's service did not start: exit code 1.\n"), errors)
        self.assertEqual(demo.request("GET", "/")[0], 200)

    def test_a_directory_that_cannot_be_made_is_named_with_its_option(self):
        path = os.path.join(self.new_folder(), "file")
        open(path, "w", encoding="ascii").close()
        self.assertRegex(self.fails("--port", "0", "--data", path + "/x"),
                         r"^Error: The directory %s/x cannot be made \(.*\); choose another one "
                         r"with --data\.\n$" % re.escape(path))

    def test_a_port_that_is_none_is_rejected(self):
        for text in ("-1", "65536", "x"):
            done = subprocess.run([BINARY, "demo", "--port=" + text], capture_output=True,
                                  text=True, timeout=WAIT)
            self.assertEqual((done.returncode, done.stdout), (64, ""), done)
            self.assertIn("--port", done.stderr)
