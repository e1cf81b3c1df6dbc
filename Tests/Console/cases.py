#!/usr/bin/env python3
"""Runs the console in browsers, against services of its own.

An error on a page's console fails the case.
"""

import argparse
import os
import re
import subprocess
import sys
import time

from playwright.sync_api import expect, sync_playwright

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import appearance  # pylint: disable=wrong-import-position
from world import (  # pylint: disable=wrong-import-position
    HOSTILE, TEXT, TEXT_SHOWN, WAIT, World, ask, counter, device_of, is_live, look, rows, sdk, until)

LATEST = 1.5  # seconds within which the page shows what has happened
HEAP_MAX = 60e6  # bytes
ROWS_MAX = 100


# The cases.


def overview(world):
    """Counters, charts, publishers and the list of events."""
    page = world.page()
    is_live(page)
    expect(page.locator("#version")).to_have_text(re.compile(r"^\d+\.\d+\.\d+"))
    expect(page.locator("#readers-none")).to_be_visible()
    expect(page.locator("#feed-none")).to_have_text("Events appear here as they happen.")
    alice = world.account("alice")
    alice.call("subscribe", type=1, expiry=3600, publishers=["bob"])
    bob = world.account("bob", "laptop", "web")
    bob.call("publish", type=1, value=10001, ext="in a meeting")
    expect(rows(page).first).to_have_text(re.compile(r"bobpublishweb laptop“in a meeting” 10001$"))
    expect(rows(page).nth(1)).to_have_text(re.compile("boblogin"))
    expect(counter(page, "Online")).to_have_text("2")
    expect(page).to_have_title("2 online – Porchlight")
    expect(counter(page, "Subscriptions")).to_have_text("1")
    expect(counter(page, "Statuses")).to_have_text("1")
    expect(page.locator("#publishers tbody tr").first).to_have_text("bob22")
    expect(page.locator(".chart")).to_have_count(4)
    for chart in page.locator(".chart").all():
        expect(chart.locator("polyline")).to_have_count(1)
    label = page.locator(".chart.events svg").get_attribute("aria-label")
    assert re.match(r"Events, /s: now [\d.]+, at most [\d.]+ in 2 minutes$", label), label
    page.get_by_role("button", name="10 min").click()
    expect(page.locator(".chart.events .axis")).to_have_text(re.compile("^−10 min"))
    # The chart says what was at the time under the pointer.
    page.locator(".chart.events .plot").hover(position={"x": 5, "y": 5})
    expect(page.locator(".chart.cpu .axis")).to_have_text(re.compile("not known"))
    page.locator("h1").hover()
    expect(page.locator(".chart.cpu .axis")).to_have_text(re.compile("peak"))


def names(world):
    """Names and texts of others are shown as text, with what would change it made visible."""
    app = world.server()
    for name in HOSTILE:
        account = world.account(name, device=device_of(name))
        account.call("subscribe", type=1, expiry=3600, publishers=["bob", "watched"])
        account.call("relate", contact="bob", action="request", text=name)
    page = world.page()
    is_live(page)
    for name, shown in HOSTILE.items():
        app.call("publish", account=name, type=1, value=10_000, ext=name + TEXT)
        row = rows(page).filter(has=page.locator("a", has_text=shown)).first
        expect(row).to_contain_text("“%s” 10000" % (shown + TEXT_SHOWN))
        expect(page.locator("#publishers tbody a", has_text=shown)).to_be_visible()
        look(page, name)
        card = page.locator(".card")
        expect(card.locator("h2 .name")).to_have_text(shown)
        expect(card.locator(".summary")).to_contain_text("“%s”" % (shown + TEXT_SHOWN))
        expect(card.locator("tbody th .name")).to_have_text(shown[:64])
        expect(card.locator(".list").first.locator("li")).to_have_count(2)
        ask(page, name, "bob")
        expect(page.locator(".verdict")).to_have_text(re.compile(
            "^" + re.escape("%s sees bob" % shown)))
        # The link in the list of another's card leads here.
        look(page, "bob")
        page.locator(".card .list").nth(1).locator("a.name", has_text=shown).click()
        expect(card.locator("h2 .name")).to_have_text(shown)
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img").count() == 0
    marks = page.evaluate("document.body.innerText.match(/[\\x00-\\x08\\x0b-\\x1f\\u200b\\u202e]/g)")
    assert marks is None, marks
    # A path of a browser cannot have such a name; the page says so, and what can.
    look(page, "..")
    lost = re.compile("^Browsers remove “..” from paths.*curl --path-as-is.*kick")
    expect(page.locator(".card .error")).to_have_text(lost)
    expect(page.locator(".card .error")).to_have_count(1)
    world.account("dora", device="..")
    look(page, "dora")
    page.get_by_role("button", name="End the session on ..").click()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("dialog#end .error")).to_have_text(lost)
    page.keyboard.press("Escape")
    expect(page.locator(".card tbody tr")).to_have_count(1)


def wrong(world):
    """Names that no account can have: one sentence, and no further requests. Spaces are cut off."""
    world.expected = ("422",)
    page = world.page()
    page.clock.install()
    page.reload()
    is_live(page)
    card, asked = page.locator(".card"), []
    page.on("request", lambda request: "/v1/accounts/" in request.url and asked.append(request.url))
    look(page, "é" * 128)
    expect(card.locator(".error")).to_have_text(re.compile("^No account can have this name"))
    for selector in "table", ".list", ".summary", "button":
        expect(card.locator(selector)).to_have_count(0)
    # The next look at an account would be 5 s later.
    page.clock.run_for(20_000)
    assert len(asked) == 2, asked
    look(page, "  bob ")
    expect(card.locator("h2 .name")).to_have_text("bob")
    expect(card.locator(".summary")).to_contain_text("never seen")
    expect(card.locator(".error")).to_be_hidden()
    ask(page, " alice", "bob ")
    expect(page.locator("#why-title")).to_have_text("Does alice see bob?")
    expect(page.locator("#ask [name=publisher]")).to_have_value("bob")
    expect(card.locator("h2 .name")).to_have_text("bob")


def long(world):
    """A long status leaves the sessions and their buttons in sight."""
    world.account("alice").call("subscribe", type=1, expiry=3600, publishers=["bob"])
    world.account("bob").call("publish", type=1, value=10_001, ext="word " * 780)
    page = world.page("#account=bob&subscriber=alice&publisher=bob", 360)
    is_live(page)
    expect(page.locator(".card .summary")).to_contain_text("word word")
    expect(page.locator(".why-card .verdict")).to_be_visible()
    for selector in ".card", ".why-card":
        height = page.locator(selector).bounding_box()["height"]
        assert height < 900, "%s is %d high" % (selector, height)
    appearance.check(page)


def looks(world):
    """Widths and schemes: nothing overflows, contrast, names of controls."""
    app = world.server()
    for name in [*HOSTILE, *("desk-%02d" % number for number in range(30))]:
        world.account(name, device=device_of(name)).call(
            "subscribe", type=1, expiry=3600, publishers=["bob", "alice"])
    long = "x" * 128
    bob = world.account("bob")
    bob.call("subscribe", type=1, expiry=3600, publishers=list(HOSTILE))
    for scheme in "light", "dark":
        for width in 360, 400, 1_000, 1_280, 1_920:
            page = world.page("#account=bob&subscriber=%s&publisher=bob" % long, width, scheme)
            is_live(page)
            for name in HOSTILE:
                app.call("publish", account=name, type=1, value=10_001, ext=name * 3)
            expect(rows(page)).to_have_count(len(HOSTILE))
            expect(page.locator(".verdict")).to_be_visible()
            expect(page.locator(".card .list").nth(1).locator("li")).to_have_count(len(HOSTILE) + 30)
            appearance.check(page)
            world.shot(page, "answers-%d-%s" % (width, scheme))
            page.locator(".card .danger").click()
            expect(page.locator("dialog#end")).to_be_visible()
            appearance.check(page)
            page.keyboard.press("Escape")
            page.goto(page.url.split("#")[0] + "#")
            expect(page.locator("#answers")).to_be_hidden()
            appearance.check(page)
            page.context.close()
    for motion, name in ("reduce", "none"), ("no-preference", "breathe"):
        page = world.page(reduced_motion=motion)
        is_live(page)
        found = page.locator("#live").evaluate(
            "(node) => getComputedStyle(node, '::before').animationName")
        assert found == name, found


def keys(world):
    """A key is asked for once; one that may only read ends nothing."""
    full, read = world.keys()
    world.expected = ("401 (Unauthorized)",)
    app = world.server(key=full)
    bob = world.account("bob")
    page = world.page("#account=bob")
    dialog = page.locator("dialog#key")
    expect(page.locator("#live")).to_have_text("needs a key")
    expect(dialog.locator("input")).to_be_focused()
    # Nothing is known yet.
    for selector in "#publishers-none", "#readers-none":
        expect(page.locator(selector)).to_be_hidden()
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    for wrong, answer in ("ключ", "only ASCII"), ("plk_ x", "no spaces"), ("wrong", "key"):
        dialog.locator("input").fill(wrong)
        dialog.locator("input").press("Enter")
        expect(dialog.locator(".error")).to_contain_text(answer)
    dialog.locator("input").fill(read)
    dialog.get_by_role("button", name="Continue").click()
    is_live(page)
    end = page.locator(".card").get_by_role("button", name="End the session on phone")
    expect(end).to_be_disabled()
    expect(page.locator(".card .note")).to_have_text(
        "Sessions cannot be ended with this key: it is read-only.")
    bob.call("publish", type=1, value=10001)
    expect(rows(page).first).to_contain_text("publish")
    ask(page, "alice", "bob")
    expect(page.locator(".verdict")).to_contain_text("alice does not see bob")
    # It is kept for this tab, and in no address.
    world.expected = ()
    page.reload()
    is_live(page)
    expect(dialog).to_be_hidden()
    assert read not in page.url
    stored = page.evaluate("JSON.stringify([{ ...localStorage }, document.cookie])")
    assert stored == '[{},""]', stored
    world.expected = ("401 (Unauthorized)",)
    page.get_by_role("button", name="Change key").click()
    dialog.locator("input").fill(full)
    dialog.locator("input").press("Enter")
    is_live(page)
    expect(end).to_be_enabled()
    expect(page.locator(".card .note")).to_be_hidden()
    assert app.call("sessions", account="bob")["sessions"]


def card(world):
    """An account's card: its state and sessions, whom it watches, who watches it, contacts."""
    app = world.server()
    look_at = world.page("#account=bob")
    is_live(look_at)
    card = look_at.locator(".card")
    expect(card.locator(".summary")).to_contain_text("never seen")
    expect(card.get_by_text("No sessions.")).to_be_visible()
    expect(card.locator(".list .none")).to_have_text(
        ["No subscriptions.", "No subscribers.", "No contacts."])
    bob = world.account("bob")
    expect(card.locator(".summary strong").first).to_have_text("online")
    expect(card.locator("h2 .dot")).to_have_attribute("aria-label", "online")
    other = world.account("bob", "laptop", "web")
    other.call("setAvailability", show="dnd", text="until noon")
    expect(card.locator("tbody tr")).to_have_count(2)
    expect(card.locator("tbody tr").nth(1)).to_contain_text("laptop web")
    expect(card.locator("tbody tr").nth(1)).to_contain_text("connected, dnd, “until noon”")
    expect(card.locator("tbody tr").first).to_contain_text("127.0.0.1:")
    app.call("publish", account="bob", type=1, value=10002, ext="in a meeting", expiry=600)
    expect(card.locator(".summary")).to_contain_text("status 10002 “in a meeting” until ")
    # What waits is not told to a session without messages.
    app.call("send", accounts=["bob"], body="Lunch?")
    expect(card.locator(".summary")).to_contain_text("1 message waits", timeout=WAIT)
    bob.call("subscribe", type=1, expiry=3600, publishers=["w%03d" % n for n in range(100)])
    bob.call("subscribe", type=1, expiry=3600, publishers=["w100"])
    bob.call("subscribe", type=200, expiry=3600, publishers=["w000"])
    world.account("alice").call("subscribe", type=1, expiry=3600, publishers=["bob"])
    world.account("carol").call("relate", contact="bob", action="request", text="hi")
    look(look_at, "bob")
    watches, watched, contacts = (card.locator(".list").nth(index) for index in range(3))
    expect(watches.locator("h3")).to_have_text("Watches 102")
    expect(watches.locator("li")).to_have_count(50)
    watches.get_by_role("button", name="More").click()
    expect(watches.locator("li")).to_have_count(100)
    watches.get_by_role("button", name="More").click()
    expect(watches.locator("li")).to_have_count(102)
    expect(watches.get_by_role("button", name="More")).to_be_hidden()
    expect(watches.locator("li", has_text="type 200")).to_have_count(1)
    # With a date if that is tomorrow.
    expect(watched.locator("li")).to_have_text(
        re.compile(r"^aliceuntil (\d{4}-\d\d-\d\d )?\d\d:\d\dwhy$"))
    expect(contacts.locator("li")).to_have_text(re.compile("^carolasks to see it, not a contact"))
    # From the list to the question, and by the close buttons out of both.
    watched.get_by_role("link", name="Why does alice see bob?").click()
    expect(look_at.locator(".verdict")).to_have_text("alice sees bob online.")
    expect(look_at.locator("#why-title")).to_be_focused()
    expect(card).to_be_visible()
    look_at.locator(".why-card .close").click()
    expect(look_at.locator(".why-card")).to_have_count(0)
    bob.call("logout")
    other.call("logout")
    expect(card.locator(".summary")).to_contain_text("last seen")
    expect(card.locator("h2 .dot")).to_have_attribute("aria-label", "offline")
    card.locator(".close").click()
    expect(look_at.locator("#answers")).to_be_hidden()
    look_at.go_back()
    expect(card).to_be_visible()


def why(world):
    """The sentences of `porchlight why`, line by line."""
    alice = world.account("alice")
    alice.call("subscribe", type=1, expiry=3600, publishers=["bob"])
    world.account("bob").call("publish", type=1, value=10001, ext="in a meeting")
    page = world.page()
    is_live(page)
    for subscriber, publisher, sign in ("alice", "bob", "✓"), ("bob", "alice", "✕"), ("bob", "bob", "✕"):
        ask(page, subscriber, publisher)
        expect(page.locator("#why-title")).to_have_text("Does %s see %s?" % (subscriber, publisher))
        expect(page.locator(".verdict")).to_have_text(re.compile("^%s " % subscriber))
        done = subprocess.run(
            [sdk.BINARY, "why", subscriber, publisher, "--connect",
             "127.0.0.1:%d" % world.service.port], check=True, text=True, capture_output=True)
        said = [line.strip() for line in done.stdout.split("\n") if line.strip()]
        shown = page.locator(".story p").all_text_contents()
        without_times = [[re.sub(r"\d+ s ago", "ago", line) for line in lines]
                         for lines in (said, shown)]
        assert without_times[0] == without_times[1], (said, shown)
        mark = page.locator(".verdict").evaluate("node => getComputedStyle(node, '::before').content")
        assert sign in mark, mark
    alice.call("unsubscribe", type=1, publishers=["bob"])
    ask(page, "alice", "bob")
    expect(page.locator(".verdict")).to_have_text("alice does not see bob: there is no subscription.")
    alice.call("subscribe", type=1, expiry=3600, publishers=["bob"])
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".verdict")).to_have_text("alice sees bob online.")
    # An answer says of when it is.
    expect(page.locator(".why-card > small")).to_have_text(re.compile(r"^as of \d\d:\d\d:\d\d$"))
    alice.call("unsubscribe", type=1, publishers=["bob"])
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".verdict")).to_have_text("alice does not see bob: there is no subscription.")
    alice.call("subscribe", type=1, expiry=3600, publishers=["bob"])
    # The address has the question.
    other = world.page(page.url[page.url.index("#"):])
    expect(other.locator(".verdict")).to_have_text("alice sees bob online.")


def end(world):
    """A session is ended after a question, by keyboard, and its client is told why."""
    bob = world.account("bob")
    world.account("bob", "laptop", "web")
    page = world.page("#account=bob")
    is_live(page)
    button = page.get_by_role("button", name="End the session on phone")
    dialog = page.locator("dialog#end")
    button.focus()
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("bob on phone")
    expect(dialog.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator(".card tbody tr")).to_have_count(2)
    button.focus()
    page.keyboard.press("Enter")
    dialog.locator("input").fill("Your password was changed.")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator(".card tbody tr")).to_have_count(1)
    message = bob.read()
    while message["method"] != "close":
        message = bob.read()
    assert message["params"]["message"] == "Your password was changed.", message
    assert message["params"]["reason"] == "kicked", message
    expect(rows(page).first).to_contain_text("kicked")


def feed(world):
    """The filter, the hold, and a list with an end."""
    app = world.server()
    page = world.page()
    is_live(page)

    def publish(count, account, ext=None):
        for number in range(count):
            app.call("publish", account=account, type=1, value=10_000, ext=ext or str(number))

    publish(ROWS_MAX + 20, "bob")
    expect(rows(page).first).to_contain_text("“119”")
    expect(rows(page)).to_have_count(ROWS_MAX)
    publish(1, "Carol", "LUNCH")
    expect(rows(page).first).to_contain_text("Carol")
    for word in "carol", "lunch", "PUBLISH":
        page.locator("#filter").fill(word)
        expect(rows(page).first).to_contain_text("Carol")
    page.locator("#filter").fill("lunch")
    expect(rows(page)).to_have_count(1)
    publish(2, "bob")
    publish(1, "dave", "after lunch")
    expect(rows(page)).to_have_count(2)
    page.locator("#filter").fill("nothing like it")
    expect(page.locator("#feed-none")).to_have_text("No event of the last thousand matches.")
    page.locator("#filter").fill("")
    expect(rows(page)).to_have_count(ROWS_MAX)
    hold = page.locator("#hold")
    hold.focus()
    page.keyboard.press("Space")
    expect(hold).to_have_attribute("aria-pressed", "true")
    publish(3, "erin")
    expect(hold).to_have_text("Held: 3 new")
    expect(rows(page).first).to_contain_text("dave")
    page.keyboard.press("Space")
    expect(hold).to_have_text("Hold")
    expect(rows(page).first).to_contain_text("erin")
    # What has focus does not move away.
    rows(page).first.locator("a").focus()
    publish(1, "frank")
    expect(hold).to_have_text("Held: 1 new")
    page.keyboard.press("Enter")
    expect(page.locator(".card h2 .name")).to_have_text("erin")
    # A custom type says which.
    hold.click()
    app.call("publish", account="bob", type=200, value=10_000, ext="Debussy")
    expect(rows(page).first).to_contain_text("bobpublish, type 200")


def restart(world):
    """A service that is killed and started again: the page says since when, and comes back."""
    world.expected = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING",
                      "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "ERR_SOCKET_NOT_CONNECTED")
    world.account("bob")
    page = world.page("#account=bob")
    is_live(page)
    expect(page.locator(".chart.events polyline")).to_have_count(1)
    world.service.kill()
    expect(page.locator("#live")).to_have_text(re.compile(r"^disconnected since \d\d:\d\d:\d\d$"))
    expect(page.locator("body")).to_have_class("old")
    expect(page).to_have_title("disconnected – Porchlight")
    appearance.check(page)
    world.shot(page, "disconnected")
    expect(page.get_by_role("button", name="Try now")).to_be_visible()
    world.service.start()
    page.get_by_role("button", name="Try now").click()
    is_live(page)
    expect(page.locator("body")).not_to_have_class("old")
    # The charts have a gap where nothing is known.
    expect(page.locator(".chart.events polyline")).to_have_count(2)
    gap = rows(page).filter(has_text="not read from")
    expect(gap).to_have_count(1)
    world.server().call("publish", account="bob", type=1, value=10_001, ext="back")
    expect(rows(page).first).to_contain_text("back")
    expect(page.locator(".card .summary")).to_contain_text("back")


def hidden(world):
    """A page that is hidden asks rarely; after a minute it reads the feed no more."""
    app = world.server()
    page = world.page()
    page.clock.install()
    page.reload()
    is_live(page)
    until(lambda: app.call("stats")["feedReaders"] == 1, page)

    def be(state):
        page.evaluate("""(state) => {
          Object.defineProperty(document, "hidden", { value: state === "hidden", configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""", state)

    asked = []
    page.on("request", lambda request: "/v1/top" in request.url and asked.append(request.url))
    be("hidden")
    page.clock.run_for(50_000)
    assert app.call("stats")["feedReaders"] == 1
    page.clock.run_for(20_000)
    until(lambda: app.call("stats")["feedReaders"] == 0, page)
    expect(page.locator("#feed-state")).to_have_text("not read while the page is hidden")
    assert len(asked) < 12, "%d requests in 70 s" % len(asked)
    app.call("publish", account="bob", type=1, value=10_001, ext="missed")
    be("visible")
    until(lambda: app.call("stats")["feedReaders"] == 1, page)
    app.call("publish", account="bob", type=1, value=10_001, ext="seen")
    page.clock.run_for(2_000)
    expect(rows(page).first).to_contain_text("seen")
    expect(rows(page).nth(1)).to_contain_text("not read from")
    expect(rows(page)).to_have_count(2)


def behind(world):
    """A client that does not read is among the slow readers."""
    app = world.server()
    slow = world.account("carol", "old-tablet", "android")
    slow.call("subscribe", type=1, expiry=3600, publishers=["bob"])
    page = world.page()
    is_live(page)
    row = page.locator("#readers tbody tr")
    text = "x" * 4_000
    begin = time.monotonic()
    while not row.count():
        for _ in range(200):
            app.call("publish", account="bob", type=1, value=10_000, ext=text)
        assert time.monotonic() - begin < 60, "it is not behind"
    expect(row).to_contain_text("carol old-tablet")
    expect(row).to_contain_text("KiB")
    expect(counter(page, "Clients behind")).to_have_text("1")
    appearance.check(page)
    # One that is closed for it, after 15 s, is not forgotten.
    expect(page.locator("#readers-count")).to_have_text("")

    def closed(route):
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "closedTooSlow": 1_234})
    page.route("**/v1/stats", closed)
    expect(page.locator("#readers-count")).to_have_text("1,234 closed since the start")
    row.locator("a").click()
    expect(page.locator(".card h2 .name")).to_have_text("carol")
behind.flags = ["--rate-limits", "off"]


def load(world):
    """2,000 accounts and 500 changes a second: the page is current, and does not grow."""
    seconds = 600 if world.is_full else 15
    bench = subprocess.Popen(
        [sdk.BINARY, "bench", "mixed", "--accounts", "2000", "--group", "10", "--rate", "500",
         "--logins", "10", "--returns", "5", "--statuses", "85", "--renewals", "0",
         "--queries", "0", "--pings", "0", "--duration", str(seconds + 30),
         "--connect", "127.0.0.1:%d" % world.service.port,
         "--process", str(world.service.process.pid)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    app = world.server()
    try:
        page = world.page()
        until(lambda: app.call("stats")["accountsOnline"] >= 1_900, page, 120)
        is_live(page)
        tools = page.context.new_cdp_session(page)
        tools.send("Performance.enable")
        page.locator("#filter").fill("marker")
        latest, begin, number = [], time.monotonic(), 0
        counts = app.call("stats")["events"]
        while time.monotonic() - begin < seconds:
            number += 1
            app.call("publish", account="the marker", type=1, value=10_000, ext="<%d>" % number)
            sent = time.monotonic()
            mark = rows(page).first.get_by_text("<%d>" % number)
            until(mark.count, page)
            latest.append(time.monotonic() - sent)
            page.wait_for_timeout(500)
        changes = (app.call("stats")["events"] - counts) / (time.monotonic() - begin)
        online = float(counter(page, "Online").text_content().replace(",", ""))
        page.locator("#filter").fill("")
        tools.send("HeapProfiler.collectGarbage")
        metrics = {each["name"]: each["value"]
                   for each in tools.send("Performance.getMetrics")["metrics"]}
        print("    %.0f events a second; shown after %.2f s at the median, %.2f s at most; "
              "heap %.1f MB, %d nodes" % (
                  changes, sorted(latest)[len(latest) // 2], max(latest),
                  metrics["JSHeapUsedSize"] / 1e6, metrics["Nodes"]), flush=True)
        assert max(latest) < LATEST, latest
        assert changes > 300, "the load is too small: %.0f a second" % changes
        assert online >= 1_900, online
        assert metrics["JSHeapUsedSize"] < HEAP_MAX, metrics
        assert metrics["Nodes"] < 20_000, metrics
        assert rows(page).count() <= ROWS_MAX
    finally:
        bench.kill()
        bench.wait()
load.flags = ["--rate-limits", "off"]


CASES = [overview, names, wrong, long, looks, keys, card, why, end, feed, restart, hidden, behind, load]
ONLY_CHROMIUM = [looks, hidden, load]


def run(browser, case):
    """Whether the case passes."""
    world = World(browser, getattr(case, "flags", []))
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
    options.add_argument("--full", action="store_true", help="the load for ten minutes")
    options.add_argument("--shots", metavar="FOLDER", help="where to keep pictures of the page")
    options.add_argument("--browser", choices=["chromium", "firefox"],
                         help="only this one; the default is those that are installed")
    options = options.parse_args()
    World.is_full = options.full
    World.shots = options.shots and os.path.abspath(options.shots)
    failed = False
    for name, path in (("chromium", sdk.CHROMIUM), ("firefox", sdk.FIREFOX)):
        if options.browser not in (None, name):
            continue
        if not os.path.exists(path):
            print("skipped: %s: there is no %s" % (name, path))
            continue
        with sync_playwright() as playwright:
            browser = sdk.launch(playwright, name)
            print("== %s %s" % (name, browser.version), flush=True)
            for case in CASES:
                if options.k not in case.__name__:
                    continue
                if name != "chromium" and case in ONLY_CHROMIUM:
                    print("%-8s skipped: only in Chromium" % case.__name__)
                else:
                    failed |= not run(browser, case)
            browser.close()
    sys.exit(failed)


if __name__ == "__main__":
    main()
