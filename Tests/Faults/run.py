"""Runs cases of tests that break what the service uses: all, the quick ones, or named ones."""

import importlib
import os
import resource
import signal
import sys
import time
import traceback

from support import CASES, Broken, Skip, binary

import deaths

for file in sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))):
    if file.endswith(".py") and file not in ("run.py", "support.py"):
        importlib.import_module(file[:-3])


USAGE = """\
usage: scripts/faults [all | quick | list | CASE...]

Runs the service while the machine or the network fails: no descriptors, a full disk, kill -9,
clocks that jump. Without arguments, or with `all`, runs every case: about seven minutes. `quick`
runs the short ones, as `make test` does; `list` lists the cases. Some cases need root.

PORCHLIGHT_BIN names the binary. By default it is .build/release/porchlight, or
.build/debug/porchlight if there is no release build.

Cases:
"""


def list_cases():
    for name, title, quick, _ in CASES:
        print("  %s%s\n      %s" % (name, " (quick)" if quick else "", title))


def main(names):
    if names == ["list"] or {"-h", "--help"} & set(names):
        # `head` may close the pipe early.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if {"-h", "--help"} & set(names):
        print(USAGE, end="")
        list_cases()
        return 0
    if names == ["list"]:
        list_cases()
        return 0
    known = {name for name, *_ in CASES}
    unknown = [name for name in names if name not in known | {"all", "quick"}]
    if unknown:
        print("no such case: %s; `scripts/faults list` lists them" % " ".join(unknown),
              file=sys.stderr)
        return 64
    chosen = [entry for entry in CASES if not names or "all" in names or entry[0] in names
              or ("quick" in names and entry[2])]
    print("against %s" % binary())
    passed = failed = skipped = 0
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)
    for name, title, _, function in chosen:
        print("%s: %s" % (name, title), flush=True)
        begin = time.monotonic()
        # No case depends on what an earlier one has raised.
        resource.setrlimit(resource.RLIMIT_NOFILE, descriptors)
        try:
            function()
            died = deaths.rest()
            if died:
                raise Broken("\n".join(died))
            passed += 1
            verdict = "ok"
        except Skip as reason:
            skipped += 1
            verdict = "skipped: %s" % reason
        except Exception as error:  # the next case runs all the same
            failed += 1
            verdict = "FAILED: %s" % (error or type(error).__name__)
            if not isinstance(error, Broken):
                traceback.print_exc()
        print("    %s (%.1f s)" % (verdict, time.monotonic() - begin), flush=True)
    print("%d passed, %d failed%s" % (
        passed, failed, ", %d skipped" % skipped if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
