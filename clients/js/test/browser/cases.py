#!/usr/bin/env python3
"""Runs the SDK, the pages of the demo and the page of the SDK's README in browsers.

An error on a page's console fails the case.
"""

import argparse
import atexit
import base64
import functools
import hashlib
import http.server
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

from playwright.sync_api import expect, sync_playwright

CLIENTS = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.path += [os.path.join(CLIENTS, "..", "Tests", name) for name in ("Push", "Conformance")]
import push_service  # pylint: disable=wrong-import-position
BINARY = os.environ.get(
    "PORCHLIGHT_BIN", os.path.join(CLIENTS, "..", ".build", "debug", "porchlight"))
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FIREFOX = os.environ.get("FIREFOX", "/usr/bin/firefox-esr")
# Those of Debian, with their warnings.
REACT = ["/usr/share/nodejs/react/umd/react.development.js",
         "/usr/share/nodejs/react-dom/umd/react-dom.development.js"]
VUE = os.environ.get("VUE", "")
WAIT = 15_000  # milliseconds for one thing to happen
HIDDEN_GRACE = 10  # seconds until timers of a hidden page run once a minute; by default 5 minutes
# README.md has its script in the page. The SDK comes from the service.
POLICY = ("default-src 'none'; script-src 'self' http://127.0.0.1:*%s; style-src 'self'; "
          "connect-src 'self' ws://127.0.0.1:* wss://localhost:*")


class Service:
    """A service on a free port, with a new directory."""

    def __init__(self, *flags, environment=None):
        self.directory = tempfile.mkdtemp(prefix="porchlight-")
        self.environment = {**os.environ, **(environment or {})}
        self.flags, self.port, self.http_port = flags, 0, 0
        self.start()

    def start(self):
        command = [BINARY, "serve", "--listen", "127.0.0.1:%d" % self.port,
                   "--http", "127.0.0.1:%d" % self.http_port,
                   "--data", os.path.join(self.directory, "data"), "--log-level", "error",
                   *self.flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                        env=self.environment)
        ready = self.process.stdout.readline()
        self.port = int(re.match(r"ready on [^ ,]+:(\d+)", ready).group(1))
        self.http_port = int(re.search(r"http on [^ ,]+:(\d+)", ready).group(1))
        self.tls = re.search(r"tls on [^ ,]+:(\d+)", ready)
        self.url = "ws://127.0.0.1:%d/v1/socket" % self.port

    def filled(self, text):
        """A script or a page of the examples, with the addresses of this service."""
        return (text.replace("ws://127.0.0.1:7400/v1/socket", self.url)
                .replace("127.0.0.1:7401", "127.0.0.1:%d" % self.http_port))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.kill()
        shutil.rmtree(self.directory)


class Authority:
    """A CA of the test's own, and a certificate for localhost that it has signed."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="porchlight-")
        atexit.register(shutil.rmtree, self.directory)
        ca, ca_key, request, names, self.chain, self.key = (
            os.path.join(self.directory, name + ".pem")
            for name in ("ca", "ca-key", "request", "names", "chain", "key"))
        new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        self.openssl("req", "-x509", *new, "-keyout", ca_key, "-out", ca, "-days", "30",
                     "-subj", "/CN=Test CA")
        self.openssl("req", *new, "-keyout", self.key, "-out", request, "-subj", "/CN=localhost")
        with open(names, "w", encoding="ascii") as file:
            file.write("subjectAltName=DNS:localhost\n")
        self.openssl("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key,
                     "-CAcreateserial", "-days", "30", "-extfile", names, "-out", self.chain)
        with open(self.chain, "a", encoding="ascii") as chain, open(ca, encoding="ascii") as file:
            chain.write(file.read())
        public = self.openssl("pkey", "-in", ca_key, "-pubout", "-outform", "der")
        self.spki = base64.b64encode(hashlib.sha256(public).digest()).decode()

    @staticmethod
    def openssl(*arguments):
        return subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout

    @property
    def flags(self):
        return ("--listen-tls", "127.0.0.1:0", "--tls-certificate", self.chain,
                "--tls-key", self.key)


TRUSTED, UNKNOWN = Authority(), Authority()


class Native:
    """A client of the native protocol, for what the SDK does not do."""

    def __init__(self, service, **login):
        self.stream = socket.create_connection(("127.0.0.1", service.port), 10).makefile("rwb")
        self.call("login", **login)

    def call(self, method, **params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        self.stream.write(struct.pack(">I", len(body)) + body)
        self.stream.flush()
        while True:
            message = self.read()
            if "id" in message:
                assert "result" in message, message
                return message["result"]

    def read(self):
        (length,) = struct.unpack(">I", self.stream.read(4))
        return json.loads(self.stream.read(length))

    def events(self, account):
        """Everything about `account` that was sent up to now."""
        found = []
        self.stream.write(struct.pack(">I", 0))
        self.stream.flush()
        while True:
            head = self.stream.read(4)
            if head == bytes(4):
                return found
            message = json.loads(self.stream.read(struct.unpack(">I", head)[0]))
            for event in message.get("params", {}).get("events", []):
                if event["publisher"] == account:
                    found.append(event["cause"])


class Pages(http.server.SimpleHTTPRequestHandler):
    """The demo's page of a user under a strict policy; the page of README.md, and its `/token`."""

    service = readme = token = None  # set by the case
    scripts = {}

    def bundle(self):
        """A file of the SDK: the core loads others when they are used."""
        path = os.path.join(CLIENTS, "js", "dist", os.path.basename(self.path))
        with open(path, encoding="utf-8") as file:
            return file.read()

    def address(self):
        return 'export const service = "%s";' % Pages.service.url

    def do_GET(self):
        made = {"/service.js": self.address, "/readme.html": Pages.readme, "/token": Pages.token,
                **Pages.scripts}.get(self.path)
        if self.path.startswith("/sdk/"):
            made = self.bundle
        if not made:
            return super().do_GET()
        text = made()
        if text is None:
            return self.send_error(503)
        body = text.encode()
        self.send_response(200)
        kind = "text/javascript" if self.path.endswith(".js") else "text/html"
        self.send_header("Content-Type", kind + "; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self):
        is_readme = self.path == "/readme.html"
        policy = POLICY % (" 'unsafe-inline'" if is_readme else "")
        # The demo has an icon; without an image, browsers ask for one that is not there.
        self.send_header("Content-Security-Policy",
                         policy if is_readme else policy + "; img-src 'self'")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_):
        pass


class World:
    """A browser, a web server and a service."""

    is_full = False

    def __init__(self, browser, site, flags, environment):
        self.browser, self.site = browser, site
        self.service = Service(*flags, environment=environment)
        self.contexts, self.problems = [], []
        Pages.service = self.service

    def context(self, **options):
        # Chromium was told which CA to trust; Firefox trusts all.
        context = self.browser.new_context(
            ignore_https_errors=self.browser.browser_type.name == "firefox", **options)
        context.set_default_timeout(WAIT)
        self.contexts.append(context)
        return context

    def page(self, me, context=None, path=None):
        page = (context or self.context()).new_page()
        page.on("pageerror", lambda error: self.note(me, str(error)))
        page.on("console", lambda line: line.type == "error" and self.note(me, line.text))
        page.goto(self.site + (path or "/person.html?" + urllib.parse.urlencode({"me": me})))
        return page

    expected = ()

    def note(self, me, text):
        # Firefox says that the policy forbids its own request for an icon.
        if not any(word in text for word in (*self.expected, "/favicon.ico")):
            self.problems.append("%s: %s" % (me, text))

    def end(self):
        for context in self.contexts:
            context.close()
        self.service.end()


class HiddenPage:
    """The demo in a tab that can be hidden and frozen. Playwright's own pages cannot: it makes each
    of them count as visible, and Chromium does not freeze what is visible."""

    def __init__(self, world, me):
        self.browser = world.browser.new_browser_cdp_session()
        self.context = self.browser.send("Target.createBrowserContext")["browserContextId"]
        target = self.browser.send("Target.createTarget", {
            "url": "%s/person.html?me=%s" % (world.site, me), "browserContextId": self.context})["targetId"]
        self.session = self.browser.send("Target.attachToTarget", {
            "targetId": target, "flatten": False})["sessionId"]
        self.answers, self.count = {}, 0
        self.browser.on("Target.receivedMessageFromTarget", self.receive)
        # Its events are received while a page of Playwright's waits.
        self.clock = world.context().new_page()

    def receive(self, event):
        message = json.loads(event["message"])
        self.answers[message.get("id")] = message

    def send(self, method, **params):
        self.count += 1
        message = json.dumps({"id": self.count, "method": method, "params": params})
        self.browser.send("Target.sendMessageToTarget", {
            "sessionId": self.session, "message": message})
        begin = time.monotonic()
        while self.count not in self.answers:
            assert time.monotonic() - begin < WAIT / 1_000, "no answer to " + method
            self.clock.wait_for_timeout(10)
        return self.answers.pop(self.count)["result"]

    def evaluate(self, expression):
        return self.send("Runtime.evaluate", expression=expression)["result"].get("value")

    def friend(self, name):
        """The state of a friend in words; the page's own account is no friend of its own."""
        return self.evaluate("document.querySelector('#friends [data-account=%s] .state')"
                             "?.textContent" % name)

    def sees(self, name, text):
        begin = time.monotonic()
        while self.friend(name) != text:
            assert time.monotonic() - begin < WAIT / 1_000, self.friend(name)
            self.clock.wait_for_timeout(50)

    def freeze(self):
        self.evaluate("document.addEventListener('freeze', () => (window.isFrozen = true)); "
                      "setInterval(() => (window.turns = (window.turns ?? 0) + 1), 10)")
        self.send("Page.setWebLifecycleState", state="frozen")
        begin = time.monotonic()
        while not self.evaluate("document.visibilityState === 'hidden' && window.isFrozen"):
            assert time.monotonic() - begin < WAIT / 1_000, "it is not frozen"
            self.clock.wait_for_timeout(50)
        self.turns = self.evaluate("window.turns")

    def hide(self):
        # What was frozen is hidden when it is thawed.
        self.freeze()
        self.thaw()
        assert self.evaluate("document.visibilityState") == "hidden"

    def thaw(self):
        assert self.evaluate("window.turns") == self.turns, "it was not frozen"
        self.send("Page.setWebLifecycleState", state="active")

    def close(self):
        self.browser.send("Target.disposeBrowserContext", {"browserContextId": self.context})


def friend(page, name):
    return page.locator("#friends [data-account=%s]" % name)


def sees(page, name, text):
    expect(friend(page, name).locator(".state")).to_have_text(text, timeout=WAIT)


def is_connected(page):
    expect(page.locator("#condition")).to_have_text("connected", timeout=WAIT)


def devices(server, account):
    sessions = server.call("sessions", account=account)["sessions"]
    return sorted(session["device"] for session in sessions)


# The cases.


def dots(world):
    """Two pages see each other, and each other's status; closing one puts out its dot."""
    alice, bob = world.page("alice"), world.page("bob")
    sees(alice, "bob", "online")
    sees(bob, "alice", "online")
    sees(alice, "carol", "offline")
    bob.locator("[name=text]").fill("<b>in a meeting</b> ☕")
    bob.locator("[name=text]").press("Enter")
    sees(alice, "bob", "online · <b>in a meeting</b> ☕")
    bob.locator("[name=clear]").click()
    sees(alice, "bob", "online")
    bob.close()
    sees(alice, "bob", "offline")


def tabs(world):
    """Each tab is a device; a reload keeps its name and causes no event."""
    server = Native(world.service, client="server")
    observer = Native(world.service, account="observer", device="o")
    observer.call("subscribe", type=1, expiry=3600, publishers=["alice"])
    context = world.context()
    first, second = world.page("alice", context), world.page("alice", context)
    is_connected(first)
    is_connected(second)
    before = devices(server, "alice")
    assert len(before) == 2 and before[0][:-1] == before[1][:-1], before
    assert [name[-1] for name in before] == ["1", "2"], before
    assert observer.events("alice") == ["login", "login"]
    for page in (first, second, first):
        page.reload()
        is_connected(page)
    sees(first, "bob", "offline")
    assert devices(server, "alice") == before, devices(server, "alice")
    assert observer.events("alice") == []
    second.close()
    sees(first, "bob", "offline")
    other = world.page("alice")  # another browser
    is_connected(other)
    assert len({name[:-1] for name in devices(server, "alice")}) == 2
tabs.flags = ["--disconnect-grace", "30"]


def restart(world):
    """The service is killed and started: the page shows that it is old, then what is true."""
    world.expected = ("WebSocket connection to",)
    alice, bob = world.page("alice"), world.page("bob")
    sees(alice, "bob", "online")
    world.service.kill()
    expect(friend(alice, "bob")).to_have_class(re.compile("online old"), timeout=WAIT)
    bob.close()
    world.service.start()
    expect(friend(alice, "bob")).not_to_have_class(re.compile("old"), timeout=WAIT)
    sees(alice, "bob", "offline")
restart.flags = ["--restart-grace", "2"]


def offline(world):
    """Without a network what is shown is old; with it, it is current again."""
    world.expected = ("WebSocket connection to", "ERR_INTERNET_DISCONNECTED")
    context = world.context()
    alice, bob = world.page("alice", context), world.page("bob")
    sees(alice, "bob", "online")
    context.set_offline(True)
    expect(friend(alice, "bob")).to_have_class(re.compile("online old"), timeout=WAIT)
    bob.locator("[name=text]").fill("missed")
    bob.locator("[name=text]").press("Enter")
    context.set_offline(False)
    expect(friend(alice, "bob")).not_to_have_class(re.compile("old"), timeout=WAIT)
    sees(alice, "bob", "online · missed")


def hidden(world):
    """A hidden page, whose timers run rarely, stays online and current."""
    bob, alice = world.page("bob"), HiddenPage(world, "alice")
    alice.sees("bob", "online")
    sees(bob, "alice", "online")
    alice.hide()
    alice.sees("bob", "online")
    # Chromium closes the connection of a frozen page when it is thawed.
    bob.wait_for_timeout(HIDDEN_GRACE * 1_000 + 2_000)
    observer = Native(world.service, account="observer", device="o")
    observer.call("subscribe", type=1, expiry=3600, publishers=["alice"], sync=True)
    turns, begin, number = alice.evaluate("window.turns"), time.monotonic(), 0
    while time.monotonic() - begin < (180 if World.is_full else 20):
        number += 1
        bob.locator("[name=text]").fill("number %d" % number)
        bob.locator("[name=text]").press("Enter")
        alice.sees("bob", "online · number %d" % number)
        assert observer.events("alice") == [], "the hidden page is not online"
        bob.wait_for_timeout(1_000)
    rate = (alice.evaluate("window.turns") - turns) / (time.monotonic() - begin)
    assert rate < 5, "a timer ran %.1f times a second: it was not throttled" % rate
    alice.close()
hidden.flags = ["--heartbeat", "5"]
hidden.full_flags = ["--heartbeat", "30"]


def frozen(world):
    """A page that is frozen for four heartbeats stays online, and is current when it is thawed.

    Chromium closes a frozen page's WebSocket when the page is thawed, not before: the page is back
    within the grace, which is too short to hide a loss in the meantime."""
    bob, alice = world.page("bob"), HiddenPage(world, "alice")
    alice.sees("bob", "online")
    sees(bob, "alice", "online")
    alice.freeze()
    begin = time.monotonic()
    bob.locator("[name=text]").fill("missed")
    bob.locator("[name=text]").press("Enter")
    observer = Native(world.service, account="observer", device="o")
    observer.call("subscribe", type=1, expiry=3600, publishers=["alice"], sync=True)
    while time.monotonic() - begin < (180 if World.is_full else 20):
        assert observer.events("alice") == [], "the frozen page is not online"
        bob.wait_for_timeout(1_000)
    assert alice.friend("bob") == "online", "it was not frozen"
    alice.thaw()
    alice.sees("bob", "online · missed")
    assert alice.evaluate("document.querySelector('#condition').innerText") == "connected"
    assert observer.events("alice") == []
    alice.close()
frozen.flags = ["--heartbeat", "5"]
frozen.full_flags = ["--heartbeat", "30"]


def thawed(world):
    """A page whose session ended while it was frozen is current when it is thawed."""
    world.expected = ("WebSocket connection to",)
    bob, alice = world.page("bob"), HiddenPage(world, "alice")
    alice.sees("bob", "online")
    alice.freeze()
    world.service.kill()
    world.service.start()
    is_connected(bob)
    bob.locator("[name=text]").fill("missed")
    bob.locator("[name=text]").press("Enter")
    expect(bob.locator("#me")).to_have_text("Others see: online · missed", timeout=WAIT)
    bob.wait_for_timeout(180_000 if World.is_full else 5_000)
    sees(bob, "alice", "offline")
    assert alice.friend("bob") == "online", "it was not frozen"
    alice.thaw()
    alice.sees("bob", "online · missed")
    sees(bob, "alice", "online")
    alice.close()
thawed.flags = thawed.full_flags = ["--restart-grace", "2"]


def kicked(world):
    """A kick ends it: the page does not reconnect."""
    alice = world.page("alice")
    is_connected(alice)
    server = Native(world.service, client="server")
    assert server.call("kick", account="alice", reason="Your password was changed.")["kicked"] == 1
    expect(alice.locator("#condition")).to_have_text("Your password was changed.", timeout=WAIT)
    alice.wait_for_timeout(2_000)
    assert server.call("sessions", account="alice")["sessions"] == []


def tokens(world):
    """Restarts the service so that it asks for tokens, and returns what makes them."""
    key = os.path.join(world.service.directory, "secret")
    with open(key, "w", encoding="ascii") as file:
        file.write("0123456789abcdef" * 4)
    world.service.kill()
    world.service.flags = ("--auth", "jwt", "--jwt-key", key)
    world.service.start()
    return lambda account, life: subprocess.run(
        [BINARY, "token", account, "--key", key, "--for", life],
        capture_output=True, check=True, text=True).stdout.strip()


def page_of_readme(world):
    """The first page of README.md, with the token of its second example."""
    with open(os.path.join(CLIENTS, "js", "README.md"), encoding="utf-8") as file:
        text = file.read()
    page = re.search(r"```html\n(.*?)```", text, re.S).group(1)
    token = re.search(r"^const token = .*?^};$", text, re.M | re.S).group(0)
    before, after = page.split("{ account: \"alice\" }")
    before = before.replace("const porchlight", token + "\n  const porchlight")
    return world.service.filled(before + "{ token }" + after)


def readme(world):
    """The first page of README.md; its token is refreshed before it expires."""
    token = tokens(world)
    served = []

    def page_token():
        served.append("8s" if not served else "1h")
        return token("alice", served[-1])

    Pages.token = staticmethod(page_token)
    Pages.readme = staticmethod(lambda: page_of_readme(world))
    bob = Native(world.service, token=token("bob", "1h"), device="phone")
    page = world.page("alice", path="/readme.html")
    items = page.locator("#friends li")
    expect(items).to_have_text(["● bob ", "○ carol ", "○ dave "], timeout=WAIT)
    bob.call("publish", type=1, value=10001, ext="in a meeting")
    expect(items.first).to_have_text("● bob in a meeting", timeout=WAIT)
    begin = time.monotonic()
    while len(served) < 2 and time.monotonic() - begin < WAIT / 1_000:
        page.wait_for_timeout(200)
    assert served == ["8s", "1h"], served
    bob.call("logout")
    expect(items.first).to_have_text("○ bob in a meeting", timeout=WAIT)
    expect(items.first).to_have_css("opacity", "1")


def expired(world):
    """A token ends while the app has no new one: the page is old, and current with the next."""
    world.expected = ("Failed to load resource",)
    token = tokens(world)
    given = [token("alice", "6s")]
    Pages.token = staticmethod(lambda: given.pop() if given else None)
    Pages.readme = staticmethod(lambda: page_of_readme(world))
    bob = Native(world.service, token=token("bob", "1h"), device="phone")
    page = world.page("alice", path="/readme.html")
    items = page.locator("#friends li")
    expect(items.first).to_have_text("● bob ", timeout=WAIT)
    expect(items.first).to_have_css("opacity", "1")
    # The service allows for clocks that differ by 30 s.
    expect(items.first).to_have_css("opacity", "0.5", timeout=4 * WAIT)
    bob.call("publish", type=1, value=10001, ext="missed")
    given.append(token("alice", "1h"))
    expect(items.first).to_have_text("● bob missed", timeout=4 * WAIT)
    expect(items.first).to_have_css("opacity", "1")


def wss(world):
    """TLS, with a CA that this browser was told to trust; one that it was not told is rejected."""
    world.expected = ("WebSocket connection to",)
    is_strict = world.browser.browser_type.name == "chromium"
    for authority in (UNKNOWN, TRUSTED) if is_strict else (TRUSTED,):
        world.service.kill()
        world.service.url = "ws://127.0.0.1:%d/v1/socket" % world.service.port
        world.service.flags = authority.flags
        world.service.start()
        bob = world.page("bob")
        is_connected(bob)
        world.service.url = "wss://localhost:%s/v1/socket" % world.service.tls.group(1)
        alice = world.page("alice")
        if authority is TRUSTED:
            sees(alice, "bob", "online")
            sees(bob, "alice", "online")
        else:
            expect(alice.locator("#condition")).to_have_text(
                "no connection, trying again", timeout=WAIT)
            sees(bob, "alice", "offline")
            alice.close()
        bob.close()


def away(world):
    """A page in which nothing is done is away, and an account only if each of its pages is."""
    observer = Native(world.service, account="observer", device="o")
    observer.call("subscribe", type=1, expiry=3600, publishers=["alice"])
    context = world.context()
    script = """
      const porchlight = connect("ws://127.0.0.1:7400/v1/socket",
        { account: "alice", away: { after: 1 } });
      const own = porchlight.watch(["alice"]);
      const show = () => (document.title = own.get("alice").is);
      own.addEventListener("change", show);"""
    first = script_page(world, script, [], context, before=IMPORT)
    expect(first).to_have_title("away", timeout=WAIT)
    second = world.page("alice", context, path="/readme.html")
    expect(second).to_have_title("away", timeout=WAIT)
    second.keyboard.press("a")
    expect(first).to_have_title("online", timeout=WAIT)
    expect(first).to_have_title("away", timeout=WAIT)
    first.mouse.move(5, 5)
    expect(second).to_have_title("online", timeout=WAIT)
    expect(second).to_have_title("away", timeout=WAIT)
    # What is not known is whether the user is in the other page: it was shown last.
    second.reload()
    expect(first).to_have_title("online", timeout=WAIT)
    assert set(observer.events("alice")) == {"login", "changed"}, "a reload is not seen"


def snippet(begin):
    """The block of README.md that begins like this."""
    with open(os.path.join(CLIENTS, "js", "README.md"), encoding="utf-8") as file:
        return re.search(r"```\w+\n(%s.*?)```" % re.escape(begin), file.read(), re.S).group(1)


IMPORT = 'import { connect } from "http://127.0.0.1:7401/sdk/porchlight.min.js";\n'
# A page's connection and list.
CONNECT = IMPORT + """
const porchlight = connect("ws://127.0.0.1:7400/v1/socket", { account: "alice" });
const friends = window.friends = porchlight.watch(["bob", "carol"]);
"""


def script_page(world, script, files, context=None, before=CONNECT, head=""):
    """A page with this module, which imports the SDK, after the files."""
    def content(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    Pages.scripts = {"/" + os.path.basename(path): functools.partial(content, path)
                     for path in files}
    Pages.scripts["/react.js"] = lambda: REACT_MODULE
    Pages.scripts["/page.js"] = lambda: world.service.filled(before + script)
    Pages.readme = staticmethod(lambda: (
        '<!doctype html><meta charset="utf-8">' + head + '<div id="app"></div>'
        + "".join('<script src="/%s"></script>' % os.path.basename(path) for path in files
                  if path != VUE)
        + '<script type="module" src="/page.js"></script>'))
    return world.page("alice", context, path="/readme.html")


def lives(world, page):
    """The framework's page follows bob and carol, and lets go of the watch when it ends."""
    bob = Native(world.service, account="bob", device="phone")
    expect(page.locator("i")).to_have_count(2, timeout=WAIT)
    expect(page.locator("i").first).to_have_class("online", timeout=WAIT)
    expect(page.locator("i").last).to_have_class("offline", timeout=WAIT)
    carol = Native(world.service, account="carol", device="phone")
    expect(page.locator("i").last).to_have_class("online", timeout=WAIT)
    bob.call("logout")
    expect(page.locator("i").first).to_have_class("offline", timeout=WAIT)
    carol.call("logout")
    expect(page.locator("i").last).to_have_class("offline", timeout=WAIT)
    page.evaluate("() => stop()")
    expect(page.locator("i")).to_have_count(0, timeout=WAIT)


# Counts the listeners of the watch.
COUNTED = """
window.listeners = 0;
const { addEventListener, removeEventListener } = friends;
friends.addEventListener = (...all) => (listeners += 1, addEventListener.apply(friends, all));
friends.removeEventListener = (...all) => (listeners -= 1, removeEventListener.apply(friends, all));
"""


REACT_MODULE = """export const {
  createContext, createElement, useCallback, useContext, useEffect, useMemo, useRef, useState,
  useSyncExternalStore } = React;"""


def react(world):
    """README.md's lines for React, under React's own strict mode and warnings."""
    observer = Native(world.service, account="observer", device="o")
    observer.call("subscribe", type=1, expiry=3600, publishers=["alice"])
    source = snippet('import { connect } from "porchlight";\nimport { PorchlightProvider').replace(
        '"wss://presence.example.com", { token }', '"%s", { account: "alice" }' % world.service.url)
    source += """
      const root = ReactDOM.createRoot(document.querySelector("#app"));
      root.render(<React.StrictMode><App /></React.StrictMode>);
      window.stop = () => root.unmount();"""
    script = subprocess.run(["esbuild", "--loader=jsx"], input=source, check=True,
                            capture_output=True, text=True).stdout
    page = script_page(world, script, REACT, before="",
                       head=world.service.filled(snippet('<script type="importmap">')))
    lives(world, page)
    causes = []
    end = time.monotonic() + WAIT / 1_000
    while "logout" not in causes and time.monotonic() < end:
        causes += observer.events("alice")
        page.wait_for_timeout(20)
    assert causes == ["login", "logout"], causes
react.needs = [*REACT, "/usr/bin/esbuild"]


def vue(world):
    """README.md's lines for Vue."""
    script = 'import { createApp, customRef, h, onScopeDispose } from "/vue.js";\n' + COUNTED
    script += snippet("const usePresence") + """
      const Dot = { props: ["account"], setup({ account }) {
        const presence = usePresence(friends, account);
        return () => h("i", { class: presence.value?.is });
      } };
      const app = createApp(() => [h(Dot, { account: "bob" }), h(Dot, { account: "carol" })]);
      app.mount("#app");
      window.stop = () => app.unmount();"""
    page = script_page(world, script, [VUE])
    lives(world, page)
    assert page.evaluate("() => listeners") == 0, "it still listens"
vue.needs = [VUE]


def dot(world):
    """The element of README.md: shapes, texts and parts, one client, and accounts that are let go."""
    text = snippet("<porchlight-dot")
    Pages.readme = staticmethod(lambda: '<!doctype html><meta charset="utf-8"><title>dots</title>'
                                + world.service.filled(text))
    bob = Native(world.service, account="bob", device="phone")
    bob.call("publish", type=1, value=10001, ext="in a <b>meeting</b>")
    page = world.page("alice", path="/readme.html")
    dots = page.locator("porchlight-dot")
    expect(dots.first.locator("[part=text]")).to_have_text(
        "online, in a <b>meeting</b>", timeout=WAIT)
    expect(dots.last.locator("[part=text]")).to_have_text("offline", timeout=WAIT)
    # A screen reader is given the text, not the dot; only the second is seen as text.
    assert "online, in a <b>meeting</b> bob offline carol" in " ".join(
        page.locator("body").aria_snapshot().split()), page.locator("body").aria_snapshot()
    assert dots.first.locator("[part=text]").bounding_box()["width"] <= 1
    assert dots.last.locator("[part=text]").bounding_box()["width"] > 10
    shapes = {}
    shapes["online"], shapes["offline"] = shape(dots.first), shape(dots.last)
    bob.call("setAvailability", show="away")
    expect(dots.first.locator("[part~=away]")).to_have_count(1, timeout=WAIT)
    shapes["away"] = shape(dots.first)
    page.evaluate("() => document.querySelector('porchlight-dot').account = 'dave'")
    expect(dots.first.locator("[part=text]")).to_have_text("offline", timeout=WAIT)
    page.evaluate("""async () => {
      const { PorchlightDot } = await import(document.querySelector("script").text
        .match(/"(\\S+dot\\.min\\.js)"/)[1]);
      PorchlightDot.text = ({ is }) => is.toUpperCase();
      PorchlightDot.use(null);
      window.PorchlightDot = PorchlightDot;
    }""")
    expect(dots.first.locator("[part=text]")).to_have_text("UNKNOWN")
    shapes["unknown"] = shape(dots.first)
    assert len(set(shapes.values())) == 4, shapes
    color = "porchlight-dot::part(dot) { color: rgb(1, 2, 3) }"
    page.evaluate("(text) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(text);"
                  " document.adoptedStyleSheets = [sheet]; }", color)
    expect(dots.first.locator("[part~=dot]")).to_have_css("color", "rgb(1, 2, 3)")


# What is left of a dot without its colours.
SHAPE = """(dot) => {
  const { backgroundColor, backgroundImage, borderStyle } = getComputedStyle(
    dot.shadowRoot.querySelector("[part~=dot]"));
  const isFilled = backgroundColor !== "rgba(0, 0, 0, 0)";
  return [isFilled, backgroundImage !== "none", borderStyle].join();
}"""


def shape(locator):
    return locator.evaluate(SHAPE)


def dots_many(world):
    """A page with 2,000 dots of 200 accounts has one subscription for each account that is shown."""
    server = Native(world.service, client="server")
    script = """
      import { PorchlightDot } from "http://127.0.0.1:7401/sdk/dot.min.js";
      const porchlight = connect("ws://127.0.0.1:7400/v1/socket", { account: "alice" });
      PorchlightDot.use(porchlight);
      const begin = performance.now();
      const dots = Array.from({ length: 2_000 }, (_, index) => {
        const dot = document.createElement("porchlight-dot");
        dot.account = "a" + index % 200;
        return dot;
      });
      document.querySelector("#app").append(...dots);
      window.took = performance.now() - begin;
      window.wanted = "offline";
      setInterval(() => document.title = dots.filter(
        ({ presence, isConnected }) => isConnected && presence.is === wanted).length, 50);
      window.shuffle = () => document.querySelector("#app").append(...dots.toReversed());
      window.keep = (count) => dots.slice(count).forEach((dot) => dot.remove());"""
    page = script_page(world, script, [], before=IMPORT)
    expect(page).to_have_title("2000", timeout=WAIT)
    print("2,000 dots were made in %.0f ms" % page.evaluate("() => window.took"))
    # Moving them is no change of what is shown.
    page.evaluate("() => shuffle()")
    phone = Native(world.service, account="a7", device="phone")
    page.evaluate("() => (window.wanted = 'online')")
    expect(page).to_have_title("10", timeout=WAIT)
    assert server.call("subscriptions", account="alice", limit=1)["count"] == 200
    page.evaluate("() => { window.wanted = 'offline'; keep(50); }")
    phone.call("logout")
    expect(page).to_have_title("50", timeout=WAIT)


class Pushes:
    """A push service on loopback, and a key for the service that pushes to it."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="porchlight-")
        atexit.register(shutil.rmtree, self.directory)
        authority = push_service.tls.make_authority(self.directory)
        self.service = push_service.PushService(authority, self.directory)
        key = os.path.join(self.directory, "web-push.key")
        subprocess.run([BINARY, "key", "--web-push", key], check=True, capture_output=True)
        self.flags = ["--push-key", key, "--push-subject", "mailto:ops@example.com",
                      "--push-hosts", "localhost:%d" % self.service.port]
        self.environment = {"SSL_CERT_FILE": authority[0]}


pushes = functools.cache(Pushes)

# What the browser's own push service would give the page.
SUBSCRIBED = """
PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
  window.key = applicationServerKey;
  return { toJSON: () => (%s) };
};
"""

def pushed(world):
    """A message for a page that is closed becomes a notification. Chromium's own push service is
    out of reach: the page is given a subscription to the test's, and the developer tools give the
    service worker what has arrived there."""
    push = pushes().service
    browser = push_service.Browser("https://localhost:%d/alice" % push.port)
    context = world.context()
    context.grant_permissions(["notifications"], origin=world.site)
    context.add_init_script(SUBSCRIBED % browser.subscription())
    page = world.page("alice", context)
    page.get_by_role("button", name="Notify me").click()
    expect(page.get_by_role("button", name="Notify me")).to_have_attribute(
        "aria-disabled", "true", timeout=WAIT)
    app = Native(world.service, client="server")
    device, = app.call("devices", account="alice")["devices"]
    assert json.loads(device["pushAddress"])["endpoint"] == browser.endpoint, device
    key = page.evaluate("() => window.key")
    page.close()
    bob = world.page("bob")
    bob.locator("[name=body]").fill("今天的天气真好。")
    bob.locator("[name=body]").press("Enter")
    arrived = push.next(WAIT / 1_000)
    assert arrived.claims()[1] == key, "the token is of another key"
    content = browser.decrypt(arrived)
    Pages.readme = staticmethod(lambda: "<!doctype html>")
    other = world.page("alice", context, path="/readme.html")
    registrations = []
    tools = context.new_cdp_session(other)
    tools.on("ServiceWorker.workerRegistrationUpdated",
             lambda event: registrations.extend(event["registrations"]))
    tools.send("ServiceWorker.enable")
    end = time.monotonic() + WAIT / 1_000
    while not registrations and time.monotonic() < end:
        other.wait_for_timeout(50)
    tools.send("ServiceWorker.deliverPushMessage", {
        "origin": world.site, "registrationId": registrations[0]["registrationId"],
        "data": json.dumps(content)})
    # Not `wait_for_function`: it ends with a promise, whatever that becomes.
    shown, end = None, time.monotonic() + WAIT / 1_000
    while not shown and time.monotonic() < end:
        other.wait_for_timeout(50)
        shown = other.evaluate("""async () => {
          const { ready } = navigator.serviceWorker;
          const [found] = await (await ready).getNotifications();
          return found && [found.title, found.body, found.tag];
        }""")
    assert shown == ["bob", "今天的天气真好。", content["message"]], shown
    # The message waits all the same.
    again = world.page("alice", context)
    expect(again.locator("#messages li")).to_have_text("bob: 今天的天气真好。", timeout=WAIT)


class Demo:
    """`porchlight demo`, in a window of a browser."""

    def __init__(self, world, **options):
        self.process = subprocess.Popen([BINARY, "demo", "--port", "0"], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.site = self.process.stdout.readline().strip()
        self.world = world
        self.page = self.window(**options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(WAIT) == 0

    def window(self, path="", **options):
        page = self.world.context(**options).new_page()
        page.on("pageerror", lambda error: self.world.note("demo", str(error)))
        page.on("console", lambda line: line.type == "error" and self.world.note("demo", line.text))
        page.goto(self.site + path)
        return page

    @property
    def port(self):
        """That of its service."""
        script = urllib.request.urlopen(self.site + "service.js", timeout=WAIT).read().decode()
        return int(re.search(r":(\d+)/", script).group(1))

    def user(self, name):
        """The page of a user, in its frame; it is connected."""
        frame = self.page.frame_locator("iframe[title='The page of %s']" % name)
        expect(frame.locator("#condition")).to_have_text("connected", timeout=WAIT)
        return frame


def demo(world):
    """Two users in frames, and a third: states, messages that wait, and why a user is grey."""
    with Demo(world) as it:
        alice, bob = it.user("alice"), it.user("bob")
        sees(alice, "bob", "online")
        sees(bob, "alice", "online")
        expect(friend(bob, "carol").locator(".why")).to_have_text("never seen")
        alice.locator("#state label", has_text="In a meeting").click()
        sees(bob, "alice", "in a meeting")
        expect(it.page.locator(".noticed").first).to_have_text(
            re.compile(r"^seen by bob after \d+ ms$"), timeout=WAIT)
        expect(friend(bob, "alice").locator(".dot")).to_have_class("dot meeting")
        expect(friend(bob, "alice").locator(".why")).to_have_text(re.compile(r"^until \d.* · web$"))
        alice.locator("[name=text]").fill("<i>planning</i>")
        alice.get_by_role("button", name="Set").click()
        sees(bob, "alice", "in a meeting · <i>planning</i>")
        expect(alice.locator("#me")).to_have_text("Others see: in a meeting · <i>planning</i>")
        alice.get_by_role("button", name="Clear").click()
        sees(bob, "alice", "online")
        # A message for a user that is not there yet.
        bob.locator("[name=to]").select_option("carol")
        text = "welcome <b>carol</b>\u202e"
        bob.locator("[name=body]").fill(text)
        bob.locator("[name=body]").press("Enter")
        expect(bob.locator("#messages li")).to_have_text(
            "to carol: %s (carol was offline)" % text, timeout=WAIT)
        # U+202E turns the rest of a line, but not that of another one.
        assert bob.locator("#messages li").evaluate("""(item) => {
            const range = document.createRange();
            range.selectNode(item.lastChild);
            return range.getBoundingClientRect().left
                >= item.querySelector("bdi").getBoundingClientRect().right - 1;
        }""")
        it.page.get_by_role("button", name="Add carol").click()
        carol = it.user("carol")
        sees(bob, "carol", "online")
        expect(carol.locator("#messages li")).to_have_text("bob: " + text, timeout=WAIT)
        # An app's own `ext` is no test's, whatever it is.
        dave = Native(it, client="server", account="dave", device="app")
        for ext in ('{"test":', "test", "test:1 2"):
            dave.call("send", accounts=["carol"], body="with ext", ext=ext)
        dave.call("send", accounts=["carol"], body="without")
        expect(carol.locator("#messages li").last).to_have_text("dave: without", timeout=WAIT)
        # The same account in a window of its own.
        alone = it.window("person.html?me=carol")
        expect(friend(bob, "carol").locator(".why")).to_have_text("2 devices: web", timeout=WAIT)
        alone.close()
        expect(friend(bob, "carol").locator(".why")).to_have_text("web", timeout=WAIT)
        # Offline in three ways.
        carol.get_by_role("button", name="Log out").click()
        carol_seen = friend(bob, "carol").locator(".why")
        expect(carol_seen).to_have_text("logged out · last seen just now", timeout=WAIT)
        carol.get_by_role("button", name="Log in").click()
        sees(bob, "carol", "online")
        cut = it.user("carol").get_by_role("button", name="Lose the network")
        cut.click()
        expect(friend(carol, "bob").locator(".why")).to_have_text("may be old: not live", timeout=WAIT)
        expect(carol_seen).to_have_text(re.compile("^connection lost · last seen"), timeout=WAIT)
        cut.click()
        sees(bob, "carol", "online")
        it.page.locator(".window").nth(2).get_by_role("button", name="Close tab").click()
        expect(carol_seen).to_have_text(re.compile("^connection lost · last seen"), timeout=WAIT)
        it.page.get_by_role("button", name="Open again").click()
        sees(bob, "carol", "online")


# What browsers say of a WebSocket that is lost: Chromium, and Firefox.
LOST = ("WebSocket connection to", "connection to the server at ws://", "The connection to ws://")


def survives(world):
    """kill -9 by the button of the demo: the states stay, no presence flickers, and no message is
    lost; what is counted is what an observer sees, too."""
    world.expected = LOST
    with Demo(world) as it:
        alice, bob = it.user("alice"), it.user("bob")
        bob.locator("#state label", has_text="Busy").click()
        sees(alice, "bob", "busy")
        # All that alice's page ever says of bob.
        it.page.frames[1].evaluate("""() => {
            const state = () => document.querySelector("[data-account=bob] .state").textContent;
            window.seen = [state()];
            new MutationObserver(() => seen.at(-1) === state() || seen.push(state()))
                .observe(document.querySelector("#friends"), { childList: true });
        }""")
        for number in (1, 2):
            it.page.locator("#kill9").click()
            expect(it.page.locator("#kill9")).to_have_attribute("aria-disabled", "true")
            expect(it.page.locator("#result")).to_have_text(re.compile(
                r"^No user was shown as offline, and all 4 messages have arrived\. Each page waits "),
                timeout=4 * WAIT)
            expect(it.page.locator("#kill9")).to_have_attribute("aria-disabled", "false")
            expect(it.page.locator("#flickers")).to_have_text("0")
            expect(it.page.locator("#lost")).to_have_text("0")
            expect(it.page.locator("#away")).to_have_text(re.compile(r"^\d+\.\d s$"))
            expect(it.page.locator("#stale")).to_have_text(re.compile(r"^\d+\.\d s$"))
            for user in (alice, bob):
                expect(user.locator("#messages .test")).to_have_count(2 * number)
            expect(it.page.locator(".noticed")).to_have_text([re.compile("^not live for")] * 2)
        assert it.page.frames[1].url.endswith("me=alice"), it.page.frames
        assert it.page.frames[1].evaluate("seen") == ["busy"], it.page.frames[1].evaluate("seen")
        # One that leaves on purpose is no flicker, and is waited for no longer.
        it.page.locator("#kill9").click()
        it.page.locator(".window").nth(1).get_by_role("button", name="Close tab").click()
        expect(it.page.locator("#result")).to_have_text(re.compile("^No user"), timeout=2 * WAIT)
        expect(friend(alice, "bob").locator(".why")).to_have_text(
            re.compile("^(connection lost · )?last seen"), timeout=4 * WAIT)
        expect(it.page.locator("#flickers")).to_have_text("0")
        # With one user there is nobody to notice anything: nothing is killed.
        it.page.locator("#kill9").click()
        expect(it.page.locator("#result")).to_have_text("Open two tabs first.")
        expect(alice.locator("#condition")).to_have_text("connected")


# Text whose contrast with what is behind it is too low (WCAG 2.2, 1.4.3), and boxes that are wider
# than the page.
FAULTS = """() => {
  const faults = [];
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => rgb(colour).slice(0, 3).reduce((sum, part, index) => {
    const c = part / 255;
    return sum + [.2126, .7152, .0722][index] * (c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
  }, 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (rgb(backgroundColor)[3] === 255) return backgroundColor;
    }
    return "white";
  };
  for (const element of document.querySelectorAll("body *")) {
    const { width, right } = element.getBoundingClientRect();
    if (!width) continue;
    if (right > innerWidth + 1) faults.push(["too wide", element.outerHTML.slice(0, 80)]);
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    // What is dimmed on purpose has its state in words beside it.
    if (!isText || element.closest(".avatar, :disabled, option")) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((a, b) => b - a);
    const contrast = (a + .05) / (b + .05);
    if (contrast < 4.5) faults.push([contrast, element.outerHTML.slice(0, 80)]);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page scrolls sideways");
  return faults;
}"""


def looks(world):
    """Phones and screens, light and dark: nothing is cut off, and all text can be read."""
    with Demo(world) as it:
        for scheme in ("light", "dark"):
            for width in (360, 1280):
                it.page.close()
                it.page = it.window(viewport={"width": width, "height": 800}, color_scheme=scheme)
                it.user("alice").locator("#state label", has_text="Away").click()
                bob = it.user("bob")
                sees(bob, "alice", "away")
                bob.locator("[name=body]").fill("a long message " * 9)
                bob.locator("[name=body]").press("Enter")
                expect(bob.locator("#messages .mine:not(.pending)")).to_have_count(1)
                it.page.get_by_role("button", name="Add carol").click()
                it.user("carol")
                for frame in it.page.frames:
                    faults = frame.evaluate(FAULTS)
                    assert not faults, (scheme, width, frame.url, faults)
                if width == 1280:
                    boxes = [it.page.locator(".window").nth(n).bounding_box() for n in (0, 1, 2)]
                    assert boxes[0]["y"] == boxes[1]["y"] == boxes[2]["y"], boxes
        alone = it.window("person.html?me=dave", viewport={"width": 360, "height": 800})
        expect(alone.locator("#condition")).to_have_text("connected", timeout=WAIT)
        assert not alone.evaluate(FAULTS), alone.evaluate(FAULTS)


def keys(world):
    """All of the demo by keyboard: the focus shows, in the order of the page."""
    world.expected = LOST
    with Demo(world) as it:
        alice, bob = it.user("alice"), it.user("bob")
        press = it.page.keyboard.press

        def focused():
            return [frame.evaluate("""() => {
                const at = document.activeElement;
                return at.matches("iframe, body") ? null
                    : [at.id || at.name || at.textContent.trim(), at.matches(":focus-visible")
                        && getComputedStyle(at.closest("label") ?? at).outlineStyle];
            }""") for frame in it.page.frames]

        def tab(name):
            press("Tab")
            found = [one for one in focused() if one]
            assert found == [[name, "solid"]], (name, found)

        tab("kill9")
        tab("alice ↗")
        tab("Close tab")
        tab("cut")
        tab("logout")
        tab("value")
        press("ArrowRight")
        sees(bob, "alice", "away")
        press("ArrowRight")
        sees(bob, "alice", "busy")
        tab("text")
        it.page.keyboard.type("writing")
        press("Enter")
        sees(bob, "alice", "busy · writing")
        tab("seconds")
        tab("Set")
        tab("clear")
        press("Space")
        sees(bob, "alice", "online")
        tab("messages")
        tab("to")
        tab("body")
        it.page.keyboard.type("hello")
        press("Enter")
        expect(bob.locator("#messages li")).to_have_text("alice: hello", timeout=WAIT)
        it.page.locator("#kill9").focus()
        press("Enter")
        # A second time does nothing while the first one lasts.
        press("Enter")
        expect(it.page.locator("#result")).to_have_text(re.compile("^No user"), timeout=4 * WAIT)
        expect(it.page.locator("#kill9")).to_be_focused()
        expect(it.page.locator("#kill9")).to_have_attribute("aria-disabled", "false")
        expect(bob.locator("#messages .test")).to_have_count(2)


CASES = [demo, survives, looks, keys, dots, tabs, restart, offline, hidden, frozen, thawed, kicked,
         readme, expired, wss, away, react, vue, dot, dots_many, pushed]
# They use the protocol of Chromium's developer tools.
ONLY_CHROMIUM = [offline, hidden, frozen, thawed, pushed]


def launch(playwright, name):
    if name == "firefox":
        # Debian's own, by WebDriver BiDi.
        return playwright.firefox.launch(channel="moz-firefox", executable_path=FIREFOX)
    return playwright.chromium.launch(
        executable_path=CHROMIUM,
        args=["--no-sandbox", "--ignore-certificate-errors-spki-list=" + TRUSTED.spki,
              "--enable-features=IntensiveWakeUpThrottling:grace_period_seconds/%d" % HIDDEN_GRACE],
        # Hidden pages are to be treated as for users.
        ignore_default_args=["--disable-background-timer-throttling",
                             "--disable-backgrounding-occluded-windows",
                             "--disable-renderer-backgrounding"])


def run(browser, case, site):
    """Whether the case passes."""
    flags = World.is_full and getattr(case, "full_flags", None) or getattr(case, "flags", [])
    environment = {}
    if case is pushed:
        flags, environment = pushes().flags, pushes().environment
    world = World(browser, site, flags, environment)
    begin = time.monotonic()
    try:
        case(world)
        assert not world.problems, world.problems
        verdict = "ok"
    except Exception as error:  # pylint: disable=broad-except
        verdict = "FAILED: %s %s" % (error, world.problems)
    finally:
        world.end()
    print("%-8s %s (%.1f s)" % (case.__name__, verdict, time.monotonic() - begin), flush=True)
    return verdict == "ok"


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    options.add_argument("-k", metavar="WORD", default="", help="only cases whose name has this")
    options.add_argument("--full", action="store_true", help="hidden and frozen pages for three minutes")
    options.add_argument("--browser", choices=["chromium", "firefox"],
                         help="only this one; the default is those that are installed")
    options = options.parse_args()
    World.is_full = options.full
    handler = functools.partial(Pages, directory=os.path.join(CLIENTS, "demo"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = "http://127.0.0.1:%d" % server.server_address[1]
    failed = False
    for name, path in (("chromium", CHROMIUM), ("firefox", FIREFOX)):
        if options.browser not in (None, name):
            continue
        if not options.browser and not os.path.exists(path):
            print("skipped: %s: there is no %s" % (name, path))
            continue
        with sync_playwright() as playwright:
            browser = launch(playwright, name)
            print("== %s %s" % (name, browser.version), flush=True)
            for case in CASES:
                if options.k not in case.__name__:
                    continue
                missing = [path for path in getattr(case, "needs", [])
                           if not os.path.exists(path)]
                if missing:
                    print("%-8s skipped: there is no %s" % (case.__name__, missing[0]))
                elif name != "chromium" and case in ONLY_CHROMIUM:
                    print("%-8s skipped: only in Chromium" % case.__name__)
                else:
                    failed |= not run(browser, case, site)
            browser.close()
    server.shutdown()
    sys.exit(failed)


if __name__ == "__main__":
    main()
