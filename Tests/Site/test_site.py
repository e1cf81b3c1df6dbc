"""The documentation site, built as `make docs` builds it, and what must not be in it."""

import functools
import html
import html.parser
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "site"))

import hooks  # noqa: E402

PLAYWRIGHT = os.path.join(ROOT, ".build", "playwright", "bin", "python")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")

# What a browser fetches by itself when it shows a page, by element and attribute.
LOADED = {("link", "href"), ("script", "src"), ("img", "src"), ("img", "srcset"), ("iframe", "src"),
          ("source", "src"), ("source", "srcset"), ("video", "src"), ("audio", "src"),
          ("object", "data"), ("embed", "src"), ("use", "href"), ("image", "href"),
          ("form", "action")}
FOREIGN = re.compile(r"(?:[a-z]+:)?//")
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def build(root, folder):
    return subprocess.run([os.path.join(root, "scripts", "docs"), folder], capture_output=True,
                          text=True, timeout=120)


class Reader(html.parser.HTMLParser):
    """What a page of the site refers to, and the names in it that can be referred to."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.styles = set(), [], [], []
        self.is_style = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.is_style = tag == "style"
        for name, value in attributes:
            value = value or ""
            if name in ("id", "name"):
                self.ids.add(value)
            if name == "style":
                self.styles.append(value)
            if (tag, name) in LOADED:
                self.loaded.append(value)
            elif name in ("href", "src"):
                self.links.append(value)

    def handle_data(self, data):
        if self.is_style:
            self.styles.append(data)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="porchlight-site-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = os.path.join(folder.name, "site")
        done = build(ROOT, cls.folder)
        if done.returncode:
            raise AssertionError("the site is not built:\n" + done.stdout + done.stderr)
        cls.files = {os.path.relpath(os.path.join(where, name), cls.folder)
                     for where, _, names in os.walk(cls.folder) for name in names}
        cls.pages = {name: Reader(cls.text(name)) for name in cls.files if name.endswith(".html")}

    @classmethod
    def text(cls, name):
        with open(os.path.join(cls.folder, name), encoding="utf-8") as file:
            return file.read()

    def test_no_link_and_no_anchor_is_dead(self):
        count = 0
        for name, page in self.pages.items():
            for link in page.links + page.loaded:
                if re.match(r"[a-z]+:|//", link):
                    continue
                path, anchor = map(urllib.parse.unquote, urllib.parse.urldefrag(link))
                # That of an unknown address is shown at any path.
                is_absolute = name == "404.html" and path.startswith("/")
                place = path[1:] if is_absolute else posixpath.join(posixpath.dirname(name), path)
                place = posixpath.normpath(place) if path else name
                if place == ".":
                    place = "index.html"
                self.assertIn(place, self.files, "%s: %s" % (name, link))
                if anchor and place in self.pages and not anchor.startswith("__"):
                    self.assertIn(anchor, self.pages[place].ids, "%s: %s" % (name, link))
                count += 1
        self.assertGreater(count, 1_000)

    def test_pages_load_nothing_from_elsewhere(self):
        for name, page in self.pages.items():
            self.assertGreater(len(page.loaded), 3, name)
            for address in page.loaded:
                self.assertFalse(FOREIGN.match(address), "%s loads %s" % (name, address))
            for style in page.styles:
                self.assertNotRegex(style, r"url\(|@import", name)

    def test_neither_do_styles_and_pictures(self):
        seen = 0
        for name in self.files:
            if name.endswith(".css"):
                for address in re.findall(r"url\(\s*[\"']?([^)\"']*)", self.text(name)):
                    self.assertRegex(address, r"^data:", "%s: %s" % (name, address))
                self.assertNotRegex(self.text(name), r"@import|@font-face", name)
                seen += 1
            elif name.endswith(".svg"):
                self.assertNotRegex(
                    self.text(name), r"(?:href|src)=[\"'](?!#)|url\((?!#)|<script", name)
                seen += 1
        self.assertGreater(seen, 3)

    def test_scripts_know_no_address_to_load_from(self):
        """Theirs are links that a reader may follow, licences, and names of XML namespaces."""
        seen = 0
        for name in self.files:
            # The index of the search has the texts of the pages, and what these link to is text.
            if not name.endswith(".js") or name.startswith(("search/", "clients/", "examples/")):
                continue
            code = re.sub(r"/\*.*?\*/", "", self.text(name), flags=re.DOTALL)
            for address in re.findall(r"[\"'`](?:https?:)?//([\w.-]+\.\w+)[/\"'`]", code):
                self.assertIn(address, ("www.w3.org", "api.github.com", "gitlab.com"), name)
            seen += 1
        self.assertGreater(seen, 2)

    def test_every_page_can_be_searched(self):
        entries = json.loads(self.text("search/search_index.json"))["docs"]
        found = {entry["location"].split("#")[0] or "index.html" for entry in entries}
        self.assertEqual(found, set(self.pages) - {"404.html"})
        text = " ".join(entry["title"] + " " + entry["text"] for entry in entries)
        for word in ("webhook-retry-max", "Porchlight-Signature", "/v1/states", "enablePush"):
            self.assertIn(word, text)

    @unittest.skipUnless(os.access(PLAYWRIGHT, os.X_OK) and os.access(CHROMIUM, os.X_OK),
                         "the site in Chromium needs Playwright: run make test-browser")
    def test_in_a_browser(self):
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "browser.py")
        done = subprocess.run([PLAYWRIGHT, "-B", program, CHROMIUM, self.folder],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr[-3000:])

    def test_examples_have_their_programs(self):
        for name, heading in (("example-with-node.html", "serverjs"),
                              ("example-with-node.html", "friendsjs"),
                              ("example-with-python.html", "presencepy")):
            self.assertIn(heading, self.pages[name].ids)
        self.assertIn("timingSafeEqual", self.text("example-with-node.html"))

    def test_nothing_is_left_of_the_markup(self):
        """As where the generator takes something for text that code hosts do not."""
        for name in self.pages:
            article = re.search(r"<article.*?</article>", self.text(name), re.DOTALL).group()
            article = re.sub(r"<(pre|code)\b.*?</\1>", "", article, flags=re.DOTALL)
            text = html.unescape(re.sub(r"<[^>]*>", "", article))
            for left in (r"\*\*", r"\]\(", r"^ *\|", r"`", r"^ *[*-] \S", r"^#"):
                found = re.search(left + ".*", text, re.MULTILINE)
                self.assertIsNone(found, "%s: %r" % (name, found))

    def test_the_http_reference_has_every_operation(self):
        with open(os.path.join(ROOT, "docs", "openapi.json"), encoding="utf-8") as file:
            paths = json.load(file)["paths"]
        page = hooks.text_of("site/http-reference.md")
        operations = [(method.upper(), path, content["summary"]) for path, item in paths.items()
                      for method, content in item.items() if method != "parameters"]
        for method, path, summary in operations:
            self.assertIn("```http\n%s %s\n```" % (method, path), page)
            self.assertIn("### %s\n" % summary, page)
        self.assertEqual(page.count("```http"), len(operations))

    def test_the_page_of_settings_has_every_setting(self):
        with open(os.path.join(ROOT, "packaging", "porchlight.yml"), encoding="utf-8") as file:
            settings = re.findall(r"(?m)^#([a-z][a-z0-9-]*): (.*)$", file.read())
        page = hooks.text_of("site/settings.md")
        for name, default in settings:
            self.assertIn("### %s\n" % name, page)
            self.assertIn("\n\nDefault: `%s`." % default, page)
        self.assertEqual(page.count("\n### "), len(settings))
        self.assertGreater(len(settings), 100)
        self.assertIn("### heartbeat\n\nTime within which a client must send a frame.\n\n"
                      "Default: `30`. Values: 5 to 300 seconds. A change takes effect at the next "
                      "start. Environment: `PORCHLIGHT_HEARTBEAT`.\n", page)

    def test_the_way_in_begins_with_a_clone(self):
        with open(os.path.join(ROOT, "site", "index.md"), encoding="utf-8") as file:
            place = re.search(r"\[Try it\]\(\.\./README\.md#([\w-]+)\)", file.read()).group(1)
        readme = hooks.text_of("README.md")
        section = readme[readme.index("## " + place.capitalize().replace("-", " ")):]
        first = re.search(r"```\w*\n(.*?)```", section, re.DOTALL).group(1)
        self.assertRegex(first, r"\Agit clone .*\nmake run\b")

    def test_links_are_underlined(self):
        with open(os.path.join(ROOT, "site", "assets", "site.css"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"\.md-typeset a[^{]*\{ text-decoration: underline;")


@functools.cache
def anchors(path):
    """Those that a code host makes from the headings of a page, and its own."""
    text = FENCED.sub("", hooks.text_of(path))
    found = set(re.findall(r'<a id="([^"]+)">', text))
    for heading in re.findall(r"^#+ (.*?) *$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number, first = 0, name
        while name in found:
            number += 1
            name = "%s-%d" % (first, number)
        found.add(name)
    return found


class CodeHost(unittest.TestCase):
    """The pages as they are in the repository."""

    def test_no_link_and_no_anchor_is_dead(self):
        pages, files = hooks.reachable(["site/index.md", "README.md"])
        self.assertGreater(len(pages), 15)
        count = 0
        for path in pages:
            for target in hooks.LINK.findall(FENCED.sub("", hooks.text_of(path))):
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, anchor = target.partition("#")
                place = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) \
                    if name else path
                self.assertIn(place, pages + files, "%s: %s" % (path, target))
                if anchor and place.endswith(".md"):
                    self.assertIn(anchor, anchors(place), "%s: %s" % (path, target))
                count += 1
        self.assertGreater(count, 200)

    def test_they_are_in_plain_technical_english(self):
        """Also those to which Tests/SourceRulesTests, which has the phrases, does not look."""
        with open(os.path.join(ROOT, "Tests", "SourceRulesTests",
                               "SourceRulesTests+Language.swift"), encoding="utf-8") as file:
            phrases = dict(re.findall(r'\("([^"]+)", "([^"]+)"\)', file.read()))
        self.assertGreater(len(phrases), 70)
        for path in hooks.reachable(["site/index.md", "README.md"])[0]:
            if path == "docs/GLOSSARY.md":
                continue
            prose = re.sub(r"`[^`]*`", "·", FENCED.sub("", hooks.text_of(path))).lower()
            words = " %s " % " ".join(re.findall(r"[^\W\d]+(?:['_-][^\W\d]+)*|·|\|", prose))
            for phrase, instead in phrases.items():
                self.assertNotIn(" %s " % phrase, words, "%s: not %r but: %s" % (
                    path, phrase, instead))

    def test_pages_are_links_to_pages(self):
        """Which the generator would not rewrite if they were written as HTML."""
        for path in hooks.reachable(["site/index.md", "README.md"])[0]:
            text = FENCED.sub("", hooks.text_of(path))
            text = re.sub(r"`[^`]*`", "", text)
            self.assertNotRegex(text, r"<(?:a|img)\s[^>]*(?:href|src)=", path)


class Faults(unittest.TestCase):
    """What must fail the build, each in a copy of the pages."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="porchlight-site-")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        pages, files = hooks.reachable(["site/index.md", "README.md"])
        for path in pages + files:
            if path not in hooks.GENERATED:
                self.copy(path)
        for where, _, names in os.walk(os.path.join(ROOT, "site")):
            for name in names:
                self.copy(os.path.relpath(os.path.join(where, name), ROOT))
        self.copy("scripts/docs")
        os.makedirs(os.path.join(self.root, ".build"))
        os.symlink(os.path.join(ROOT, ".build", "mkdocs-material"),
                   os.path.join(self.root, ".build", "mkdocs-material"))

    def copy(self, path):
        place = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy(os.path.join(ROOT, path), place)

    def append(self, path, text):
        with open(os.path.join(self.root, path), "a", encoding="utf-8") as file:
            file.write("\n%s\n" % text)

    def built(self):
        return build(self.root, os.path.join(self.root, "out"))

    def test_each_dead_link_and_anchor(self):
        self.append("docs/HTTP.md", "See [it](NOTHING.md).")
        self.append("README.md", "See [it](packaging/nothing.service).")
        self.append("CONTRIBUTING.md", "See [it](docs/HTTP.md#no-anchor-of-another-page).")
        self.append("clients/js/README.md", "See [it](#no-anchor-of-the-same-page).")
        done = self.built()
        self.assertEqual(done.returncode, 1)
        for page, target in (("docs/HTTP.md", "NOTHING.md"),
                             ("README.md", "packaging/nothing.service"),
                             ("CONTRIBUTING.md", "#no-anchor-of-another-page"),
                             ("clients/js/README.md", "#no-anchor-of-the-same-page")):
            self.assertRegex(done.stderr, "'%s'.*%s" % (page, target))

    def test_one_alone(self):
        self.append("docs/HTTP.md", "See [it](PROTOCOL.md#nothing).")
        self.assertEqual(self.built().returncode, 1)

    def test_a_page_that_the_navigation_lacks_is_added(self):
        with open(os.path.join(self.root, "docs", "NEW.md"), "w", encoding="utf-8") as file:
            file.write("# A new page\n\nSee [HTTP](HTTP.md).\n")
        done = self.built()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(os.path.join(self.root, "out", "index.html"), encoding="utf-8") as file:
            self.assertIn('href="a-new-page.html"', file.read())
