"""Compares what this service sends in the flows of golden/ with what Prosody sent, or sends.

golden/FLOW.txt has the steps of a flow and what Prosody sent; `Tests/XMPP/traces --record` writes
it. golden/differences.txt has each difference that is intended, below its reason, once for all
flows that have it:

    # Why it is so.
    FLOW FLOW: STEP
      - what only Prosody sends
      + what only this service sends
"""

import collections
import difflib
import os
import re

import flows
import prosody
from service import XMPPService

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
DIFFERENCES = "differences.txt"
# Where a client that is lost may come back; it is gone at once in the other flows.
GRACE = {"reconnect": "300"}


def names():
    return sorted(name[:-len(".txt")] for name in os.listdir(FOLDER) if name != DIFFERENCES)


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def stored(flow):
    """For each step of a flow, what Prosody sent."""
    found = []
    for line in read(flow + ".txt").splitlines():
        if flows.RECEIVED.fullmatch(line):
            found[-1][1].append(line)
        elif line and not line.startswith("#"):
            found.append((line, []))
    return found


def played(port, flow):
    return list(flows.Player(port, flow).play(flows.steps_of(read(flow + ".txt"))))


def reference():
    return prosody.Prosody(["%s-%s" % (flow, name) for flow in names()
                            for name in ("anna", "ben", "cara")])


def record():
    """Writes each flow again, with what Prosody sends now."""
    server = reference()
    try:
        for flow in names():
            found = dict(enumerate(played(server.port, flow)))
            lines, number = [], 0
            for line in read(flow + ".txt").splitlines():
                if flows.RECEIVED.fullmatch(line):
                    continue
                lines.append(line)
                if line and not line.startswith("#"):
                    lines += found[number][1]
                    number += 1
            with open(os.path.join(FOLDER, flow + ".txt"), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
    finally:
        server.close()


def ours():
    """What this service sends in all flows."""
    found = {}
    for grace in sorted({GRACE.get(flow, "0") for flow in names()}):
        service = XMPPService("--disconnect-grace", grace, plain=True)
        try:
            for flow in names():
                if GRACE.get(flow, "0") == grace:
                    found[flow] = played(service.xmpp_port, flow)
        finally:
            service.close()
    return found


def theirs(live):
    if not live:
        return {flow: stored(flow) for flow in names()}
    server = reference()
    try:
        return {flow: played(server.port, flow) for flow in names()}
    finally:
        server.close()


def compare(golden, own):
    """What is different in a flow, as in differences.txt: a step and lines with a sign."""
    for (step, expected), (_, received) in zip(golden, own, strict=True):
        lines = ["  " + line for line in difflib.ndiff(expected, received) if line[0] in "+-"]
        if lines:
            yield "\n".join([step, *lines])


def intended():
    """How often each difference is in each flow; each must be below a reason."""
    found, reason = collections.Counter(), None
    for block in re.split(r"\n(?!  )", read(DIFFERENCES).strip()):
        if not block or block.startswith("# "):
            reason = block
            continue
        assert reason, "no reason for " + block
        in_flows, difference = block.split(": ", 1)
        found.update((flow, difference) for flow in in_flows.split())
    return found


def differences(live=False):
    """What is not as intended, as text: new differences, and those that are no more."""
    golden, own = theirs(live), ours()
    found = collections.Counter(
        (flow, difference) for flow in names() for difference in compare(golden[flow], own[flow]))
    expected = intended()
    return ["%s\n%s: %s" % (what, *block)
            for what, blocks in (("Not intended:", found - expected),
                                 ("Not any more:", expected - found))
            for block in blocks.elements()]
