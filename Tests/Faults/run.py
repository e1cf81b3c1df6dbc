"""Runs the cases: all, the quick ones, or those that are named."""

import importlib
import os
import sys
import time
import traceback

from support import CASES, Broken, Skip, binary

import deaths

for file in sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))):
    if file.endswith(".py") and file not in ("run.py", "support.py"):
        importlib.import_module(file[:-3])


def main(names):
    if names in (["-h"], ["--help"], ["list"]):
        for name, title, quick, _ in CASES:
            print("%-28s %s%s" % (name, title, " (quick)" if quick else ""))
        return 0
    known = {name for name, *_ in CASES}
    unknown = [name for name in names if name not in known | {"all", "quick"}]
    if unknown:
        print("no such case: %s; `scripts/faults list` lists them" % " ".join(unknown))
        return 2
    chosen = [entry for entry in CASES if not names or "all" in names or entry[0] in names
              or ("quick" in names and entry[2])]
    print("against %s" % binary())
    passed = failed = skipped = 0
    for name, title, _, function in chosen:
        print("%s: %s" % (name, title), flush=True)
        begin = time.monotonic()
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
