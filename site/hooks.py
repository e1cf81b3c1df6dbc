"""What mkdocs.yml needs beyond the generator.

The pages stay where they are in the repository, with links from file to file that a code host
follows, too. Here they are found, from the navigation along their links, and given their place in
the site; the generator rewrites the links. A file that is linked and is no page is copied.
"""

import os
import posixpath
import re
import shutil
import sys

from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import reference  # noqa: E402
import settings  # noqa: E402

# The pages that are made, each by what, from which file.
GENERATED = {
    "site/http-reference.md": (reference.page, "docs/openapi.json"),
    "site/settings.md": (settings.page, "packaging/porchlight.yml"),
}
LINK = re.compile(r"\]\(([^)\s]+)\)")
ITEM = re.compile(r"(?:[*-]|\d+\.) +(?=\S)")
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def text_of(path):
    if path in GENERATED:
        page, source = GENERATED[path]
        return page(os.path.join(ROOT, source))
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def links(path):
    """The files that a page links to, by their paths in the repository."""
    for target in LINK.findall(FENCED.sub("", text_of(path))):
        if re.match(r"[a-z]+:|#", target):
            continue
        yield posixpath.normpath(posixpath.join(posixpath.dirname(path), target.split("#")[0]))


def titles(entries):
    """The pages of the navigation, each with its title."""
    for entry in entries:
        for title, content in entry.items():
            if isinstance(content, str):
                yield content, title
            else:
                yield from titles(content)


def reachable(pages):
    """These pages, those of docs/ and those that they link to; and the other files of links."""
    todo = list(pages) + ["docs/" + name for name in sorted(os.listdir(ROOT + "/docs"))]
    found, files = [], []
    while todo:
        path = todo.pop(0)
        if path in found or path in files:
            continue
        if not path.endswith(".md"):
            # What is not there, the generator reports with the page that has the link.
            if os.path.isfile(os.path.join(ROOT, path)):
                files.append(path)
        elif path in GENERATED or os.path.isfile(os.path.join(ROOT, path)):
            found.append(path)
            todo += links(path)
    return found, files


def name_of(title):
    return re.sub(r"\W+", "-", title.lower()).strip("-") + ".html"


def heading(path):
    found = re.search(r"^# (.*)$", text_of(path), re.MULTILINE)
    if not found:
        raise PluginError("%s has no heading" % path)
    return found.group(1)


def on_config(config):
    named = dict(titles(config.nav))
    pages, files = reachable(named)
    more = [{heading(path): path} for path in pages if path not in named]
    if more:
        config.nav.append({"More": more})
    config.extra["pages"] = {**named, **dict(titles(more))}
    config.extra["files"] = files
    return config


def on_files(files, config):
    names = {}
    for path, title in config.extra["pages"].items():
        name = "index.html" if path == "site/index.md" else name_of(title)
        if name in names:
            raise PluginError("%s and %s would both be %s" % (path, names[name], name))
        names[name] = path
        is_generated = path in GENERATED
        file = File(path, None if is_generated else ROOT, config.site_dir, False, dest_uri=name)
        if is_generated:
            file.content_string = text_of(path)
        files.append(file)
    for path in config.extra["files"]:
        files.append(File(path, ROOT, config.site_dir, False, dest_uri=path))
    return files




def indented(lines):
    """Lines in which the content of each item of a list is indented by four columns, as the
    generator wants it. Code hosts take the width of the mark: two columns below `* `."""
    result, number, is_code = [], 0, False
    while number < len(lines):
        line = lines[number]
        result.append(line)
        number += 1
        if line.startswith("```"):
            is_code = not is_code
        mark = not is_code and ITEM.match(line)
        if not mark:
            continue
        width, body = len(mark.group()), []
        while number < len(lines) and lines[number][:width].strip() == "":
            body.append(lines[number][width:])
            number += 1
        result += ["    " + each if each else "" for each in indented(body)]
        if "" in body:
            result.append("")  # or the last of several paragraphs would include the next item
    return result


def on_page_markdown(markdown, page, **_):
    if page.file.src_uri == "README.md":
        page.meta["hide"] = ["navigation"]  # which would be this page alone
    if page.file.src_uri.startswith("examples/"):
        for path in links(page.file.src_uri):
            language = path.rpartition(".")[2]
            if path.startswith("examples/") and language in ("js", "py"):
                markdown += "\n\n## %s\n\n```%s\n%s```\n" % (
                    os.path.basename(path), language, text_of(path))
    return "\n".join(indented(markdown.split("\n")))


@event_priority(-100)  # after the index of the search is written
def on_post_build(config):
    """What is not needed is removed: addresses from which the theme's script would load what no
    page here has, maps of scripts, and what searches in other languages than English."""
    folder = os.path.join(config.site_dir, "assets", "javascripts")
    shutil.rmtree(os.path.join(folder, "lunr"))
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            if name.endswith(".map"):
                os.remove(path)
                continue
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"\n//# sourceMappingURL=.*", "", file.read())
            with open(path, "w", encoding="utf-8") as file:
                file.write(re.sub(r"https://unpkg\.com/[\w./@-]*", "", text))
    # A page that is opened as a file reads the index as a script.
    index = os.path.join(config.site_dir, "search", "search_index.json")
    with open(index, encoding="utf-8") as file, \
            open(index.removesuffix("on"), "w", encoding="utf-8") as script:
        script.write("var __index = " + file.read())
