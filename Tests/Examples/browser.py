"""The page of examples/node in Chromium: browser.py CHROMIUM URL. An error on its console fails."""

import sys

from playwright.sync_api import expect, sync_playwright

WAIT = 60_000  # milliseconds for one thing to happen


def signed_in(browser, url, account, errors):
    """The page of an account, in a browser of its own."""
    page = browser.new_context().new_page()
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    page.get_by_label("Account").fill(account)
    page.get_by_label("Password").fill(account + "-secret")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#me")).to_have_text(account, timeout=WAIT)
    expect(page.locator("#condition")).to_have_text("connected", timeout=WAIT)
    return page


def main(chromium, url):
    errors = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        alice = signed_in(browser, url, "alice", errors)
        expect(alice.locator("li")).to_have_text(["bob · offline", "carol · offline"], timeout=WAIT)
        bob = signed_in(browser, url, "bob", errors)
        expect(alice.locator("li")).to_have_text(["bob · online", "carol · offline"], timeout=WAIT)
        expect(bob.locator("li").first).to_have_text("alice · online", timeout=WAIT)

        # A name or text is text.
        bob.get_by_label("Status").fill("<b>lunch</b>")
        bob.get_by_role("button", name="Set").click()
        expect(alice.locator("li").first).to_have_text("bob · online · <b>lunch</b>", timeout=WAIT)

        bob.get_by_role("button", name="Sign out").click()
        expect(bob.get_by_label("Password")).to_be_visible(timeout=WAIT)
        expect(alice.locator("li").first).to_have_text(
            "bob · offline · <b>lunch</b>", timeout=WAIT)
        browser.close()
    if errors:
        sys.exit("on the console: %s" % errors)


if __name__ == "__main__":
    main(*sys.argv[1:])
