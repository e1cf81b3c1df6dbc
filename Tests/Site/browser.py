"""The site in Chromium: browser.py CHROMIUM FOLDER. Prints what is wrong, one line each.

From a server in two widths, light and dark, and from the disk: no page is wider than the window,
nothing is loaded from elsewhere, the console has no error, and a search finds its page.
"""

import functools
import http.server
import os
import re
import sys
import threading

from playwright.sync_api import expect, sync_playwright

WAIT = 15_000  # milliseconds for one thing to happen
PAGES = ("index.html", "overview.html", "http-reference.html", "operations.html")


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def search(page, is_narrow):
    """Finds where a setting is explained."""
    if is_narrow:
        page.locator("header label[for=__search]").first.click()
    page.locator("input.md-search__input").click()
    page.keyboard.type("webhook-retry-max")
    link = page.locator(".md-search-result__link").first
    expect(link).to_have_attribute("href", re.compile(r"/webhooks\.html"), timeout=WAIT)


def main(chromium, folder):
    handler = functools.partial(Handler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wrong = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        served, kept = "http://127.0.0.1:%d/" % server.server_port, "file://%s/" % folder
        for root, width, scheme, names in ((served, 1280, "light", PAGES),
                                           (served, 360, "dark", PAGES),
                                           (kept, 1280, "dark", PAGES[:1])):
            page = browser.new_context(
                viewport={"width": width, "height": 800}, color_scheme=scheme).new_page()
            page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("request", lambda request, own=(root, "data:", "about:"):
                    request.url.startswith(own) or wrong.append("loads " + request.url))
            for name in names:
                page.goto(root + name)
                wide = page.evaluate("document.documentElement.scrollWidth")
                if wide > width:
                    wrong.append("%s is %d pixels wide in a window of %d" % (name, wide, width))
            search(page, is_narrow=width < 1000)
            page.context.close()
        browser.close()
    print("\n".join(wrong), end="")


if __name__ == "__main__":
    main(sys.argv[1], os.path.realpath(sys.argv[2]))
