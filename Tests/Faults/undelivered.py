"""A hundred thousand messages that nobody pushes, and then a reader of all of them."""

import json
import os
import time

from support import Service, case, require, room_for, say
from waiting import AHEAD, BODY, require_waiting

# Accounts without a session, and accounts whose device does not take what it is sent.
AWAY = 900
SLOW = 100
# As many as a box has room for.
EACH = 100
COUNT = (AWAY + SLOW) * EACH
ACCOUNTS_PER_SEND = 100
# What the hand-over of `untaken` waits for, at least.
PUSH_AFTER = 1
SECONDS = 120
PER_SECOND_MIN = 2_000
# How often memory is read while nobody reads, once a second.
SAMPLES = 6
# The service may take as much more while nobody reads, and for a reader's buffers.
FLAT_BYTES = 4 << 20
READING_BYTES = 16 << 20


def accounts():
    """All of them, those that are away first, a hundred in a list."""
    names = ["away-%04d" % number for number in range(AWAY)]
    names += ["slow-%04d" % number for number in range(SLOW)]
    return [names[at:at + ACCOUNTS_PER_SEND] for at in range(0, len(names), ACCOUNTS_PER_SEND)]


def send_all(service):
    """Leaves a hundred messages for each account, pipelined."""
    server, open_ones = service.server(), []
    for number in range(EACH):
        for names in accounts():
            params = {"accounts": names, "body": BODY % number}
            open_ones.append(server.send("send", params))
            if len(open_ones) == AHEAD:
                require(server.answer(open_ones.pop(0))["recipients"] == len(names), "recipients")
    for each in open_ones:
        server.answer(each)
    server.close()


def processor_seconds(service):
    with open("/proc/%d/stat" % service.pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read_all(service):
    """Reads everything that is undelivered; returns the entries and the seconds it took."""
    reader = service.server()
    begin = time.monotonic()
    reader.ok("undelivered")
    entries, cursor = [], ""
    while len(entries) < COUNT:
        left = begin + SECONDS - time.monotonic()
        require(left > 0, "%d of %d entries in %d s", len(entries), COUNT, SECONDS)
        frame = reader.take(left)
        if not frame or frame.get("method") != "undelivered":
            continue
        require(frame["params"]["cursor"] > cursor, "a cursor that does not rise")
        cursor = frame["params"]["cursor"]
        entries += frame["params"]["undelivered"]
    seconds = time.monotonic() - begin
    reader.close()
    return entries, seconds


def require_each_once(entries):
    names = [(entry["account"], entry["message"]) for entry in entries]
    require(len(names) == len(set(names)) == COUNT, "%d entries, %d of them different",
            len(names), len(set(names)))
    for entry in entries:
        why = "absent" if entry["account"].startswith("away") else "untaken"
        require(entry["why"] == why, "%s, and the reason is not %s", json.dumps(entry), why)
        require(entry["waiting"] == EACH, "%s, and %d wait", json.dumps(entry), EACH)


@case("100,000 undelivered that nobody reads take no more memory, and are read at 2,000 a second")
def unread_undelivered():
    room_for(SLOW + 100)
    settings = {"PORCHLIGHT_PUSH_AFTER": "%d" % PUSH_AFTER}
    with Service("--rate-limits", "off", env=settings) as service:
        empty = service.memory_kibibytes() << 10
        # Each has room for what waits in the buffers of its connection.
        slow = [service.login("slow-%04d" % number, messages=True) for number in range(SLOW)]
        send_all(service)
        require_waiting(service, COUNT)
        # Nobody reads meanwhile, and the last ones are handed over.
        sizes = []
        for _ in range(SAMPLES):
            sizes.append(service.memory_kibibytes() << 10)
            time.sleep(1)
        require(sizes[-1] - sizes[0] < FLAT_BYTES, "memory grows while nobody reads: %s", sizes)
        before = processor_seconds(service)
        entries, seconds = read_all(service)
        each = (processor_seconds(service) - before) / COUNT
        require_each_once(entries)
        require(COUNT / seconds >= PER_SECOND_MIN, "%d a second", COUNT / seconds)
        after = service.memory_kibibytes() << 10
        require(after - sizes[-1] < READING_BYTES, "memory grows from %d to %d by reading",
                sizes[-1], after)
        for client in slow:
            client.close()
        say("%.0f bytes each; %+.1f MB in %d s while nobody reads, %+.1f MB by reading;"
            " %.0f are read a second, for %.1f us of CPU each", (sizes[0] - empty) / COUNT,
            (sizes[-1] - sizes[0]) / 1e6, SAMPLES - 1, (after - sizes[-1]) / 1e6,
            COUNT / seconds, each * 1e6)
