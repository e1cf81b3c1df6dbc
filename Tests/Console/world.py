"""A browser and a service with the console, and what cases do with its page."""

import importlib.util
import os
import re
import subprocess
import time

from playwright.sync_api import expect

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")


def sdk_cases():
    """The cases of the SDK, for their services and clients."""
    path = os.path.join(ROOT, "clients", "js", "test", "browser", "cases.py")
    found = importlib.util.spec_from_file_location("sdk_cases", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


sdk = sdk_cases()
WAIT = sdk.WAIT
HOSTILE = {  # names, and how they are shown
    "<img src=x onerror=hacked=1>": "<img src=x onerror=hacked=1>",
    "\u202egnp.exe": "\\u{202e}gnp.exe",
    "zero\u200bwidth": "zero\\u{200b}width",
    "a/b?c#d&e=f%41": "a/b?c#d&e=f%41",
    "שלום": "שלום",
    "\"'`</script>": "\"'`</script>",
    "x" * 128: "x" * 128,
}
# A text may also have what a name may not.
TEXT, TEXT_SHOWN = "bell\u0007 line\nend\u2028", "bell\\u{7} line\\u{a}end\\u{2028}"


def device_of(name):
    """A name of a device, which may be half as long as one of an account."""
    return name.encode()[:64].decode()


class World:
    """A browser and a service."""

    is_full, shots = False, None

    def __init__(self, browser, flags):
        self.browser, self.service = browser, sdk.Service(*flags)
        self.contexts, self.problems, self.expected, self.clients = [], [], (), []

    def page(self, hash="", width=1_280, scheme="light", **options):
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        context.set_default_timeout(WAIT)
        self.contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda line: line.type in ("error", "warning") and self.note(line.text))
        page.goto("http://127.0.0.1:%d/console/%s" % (self.service.http_port, hash))
        return page

    def note(self, text):
        if not any(word in text for word in self.expected):
            self.problems.append(text)

    def client(self, **login):
        client = sdk.Native(self.service, **login)
        self.clients.append(client)
        return client

    def account(self, name, device="phone", client="ios"):
        return self.client(account=name, device=device, client=client)

    def server(self, **login):
        return self.client(client="server", **login)

    def shot(self, page, name):
        if self.shots:
            page.screenshot(path=os.path.join(self.shots, name + ".png"), full_page=True)

    def restart(self, *flags):
        self.service.kill()
        self.service.flags = flags
        self.service.start()

    def keys(self):
        """Restarts the service so that it asks for keys; a full key and a read-only one."""
        keys, lines = [], []
        for arguments in ["ops"], ["wall", "--read-only"]:
            done = subprocess.run([sdk.BINARY, "key", *arguments], check=True, text=True,
                                  capture_output=True)
            keys.append(done.stdout.strip())
            lines.append(done.stderr)
        path = os.path.join(self.service.directory, "keys")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(lines)
        self.restart("--server-key", path)
        return keys

    def end(self):
        for context in self.contexts:
            context.close()
        self.service.end()


def is_live(page):
    expect(page.locator("#live")).to_have_text("live", timeout=WAIT)
    expect(page.locator("#feed-state")).to_have_text(re.compile("^since "), timeout=WAIT)


def counter(page, name):
    return page.locator("#counters > div", has_text=name).locator("dd")


def rows(page):
    return page.locator("#feed tbody tr")


def ask(page, subscriber, publisher):
    page.locator("#ask [name=subscriber]").fill(subscriber)
    page.locator("#ask [name=publisher]").fill(publisher)
    page.locator("#ask [name=publisher]").press("Enter")


def look(page, account):
    page.locator("#look [name=account]").fill(account)
    page.locator("#look [name=account]").press("Enter")


def until(condition, page, seconds=WAIT / 1_000):
    """Waits until the condition holds, and returns how long that took."""
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < seconds, "it does not come"
        page.wait_for_timeout(20)
    return time.monotonic() - begin
