"""A page of all settings, from the example file that `porchlight config --example` prints."""

import re

HELP = re.compile(r"# (?P<about>.*?)(?: \((?P<range>[^()]*)\))?(?P<star> \*)?$")
LINE = re.compile(r"#(?P<name>[a-z][a-z0-9-]*): (?P<default>.*)$")
HEAD = """# Settings

Every setting with its default and range, as `porchlight config --example` prints them. [Operations](../docs/OPERATIONS.md#settings)
says how they are given: in a file, in the environment, and the common ones as flags. `porchlight config` prints those in force, and
where each comes from.
"""


def blocks(path):
    """The paragraphs of the file after its head."""
    with open(path, encoding="utf-8") as file:
        return [block.split("\n") for block in re.split(r"\n\n+", file.read().strip())[1:]]


def entry(about, line):
    """A setting, by its two lines."""
    found, name = HELP.fullmatch(about), line["name"]
    values = " Values: %s." % found["range"] if found["range"] else ""
    yield "### %s" % name
    yield ""
    yield found["about"]
    yield ""
    yield "Default: `%s`.%s A change takes effect %s. Environment: `PORCHLIGHT_%s`." % (
        line["default"], values, "at the next start" if found["star"] else "with a reload",
        name.upper().replace("-", "_"))
    yield ""


def lines(path):
    yield HEAD
    for block in blocks(path):
        line = LINE.fullmatch(block[-1])
        if line is None:
            yield "## %s\n" % block[0].removeprefix("# ")
            continue
        yield from entry(" ".join(block[:-1]), line)


def page(path):
    return "\n".join(lines(path)) + "\n"
