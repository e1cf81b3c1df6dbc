"""A control group limits the memory of the service."""

import contextlib
import os
import sqlite3
import time

from support import Rejected, Service, Skip, case, need_root, require, say

LEAST = 80 << 20


@contextlib.contextmanager
def memory_group(limit):
    """A group of its own: a function that sets its limit, and what starts a process in it."""
    need_root()
    folder, file = group_place()
    folder = os.path.join(folder, "porchlight-faults-%d" % os.getpid())
    try:
        os.mkdir(folder)
        def set_limit(count):
            with open(os.path.join(folder, file), "w") as out:
                out.write("%d" % count)
        set_limit(limit)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.rmdir(folder)
        raise Skip("a group with a memory limit cannot be made here: %s" % error)
    try:
        yield set_limit, ["sh", "-c", 'echo $$ > "$0"/cgroup.procs && exec "$@"', folder]
    finally:
        os.rmdir(folder)


def group_place():
    """Where groups with a memory limit are made, and the file that has the limit."""
    with open("/proc/self/cgroup") as own:
        paths = dict(line.strip().split(":", 2)[1:] for line in own)
    for controllers, path in paths.items():
        if "memory" in controllers.split(","):
            return "/sys/fs/cgroup/memory" + path, "memory.limit_in_bytes"
    if "" not in paths or not os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        raise Skip("no control groups are mounted at /sys/fs/cgroup")
    # Beside the own group: one with processes cannot have groups with limits in it.
    return "/sys/fs/cgroup" + os.path.dirname(paths[""].rstrip("/")), "memory.max"


@case("requests that grow it, in a group of 128 MB: 503, never the kernel, nor after kill -9",
      quick=True)
def memory_limit_of_a_group():
    limit = 128 << 20
    with memory_group(limit) as (_, prefix):
        with Service("--rate-limits", "off", prefix=prefix) as service:
            least = int(metric(service, "porchlight_memory_limit_bytes"))
            require(least == limit * 80 // 100, "memory-bytes-max is %d", least)
            accepted = fill(service)
            require(service.is_alive(), "it died after %d requests", accepted)
            client = service.login("account0")
            require(len(client.subscriptions()) == 1000, "what there is is not served")
            service.kill()
            service.start()
            require(len(service.login("account0").subscriptions()) == 1000, "lost after kill -9")
            say("%d requests of 100 subscriptions accepted, then 503; %d KiB after kill -9",
                accepted, service.memory_kibibytes())


def fill(service):
    """Subscribes to unknown accounts until that is rejected; how many requests were accepted."""
    # What is there can log in again.
    clients = [service.login("account%d" % number) for number in range(300)]
    for number, client in enumerate(clients):
        for request in range(10):
            names = ["%s-%d-%d" % ("n" * 50, number, request * 100 + k) for k in range(100)]
            try:
                client.subscribe(*names)
            except Rejected as error:
                require(error.reason == "overloaded", "%s", error)
                return number * 10 + request
    raise AssertionError("3,000 requests are accepted: %d KiB" % service.memory_kibibytes())


def metric(service, name):
    text = service.server().ok("metrics")["text"]
    return next(line for line in text.split("\n") if line.startswith(name + " ")).split()[1]


@case("the limit of a group changes, is too low, or below what the database needs", quick=True)
def memory_limit_and_start():
    with memory_group(128 << 20) as (set_limit, prefix):
        with Service(prefix=prefix) as service:
            set_limit(160 << 20)
            require(metric(service, "porchlight_memory_limit_bytes") == "134217728", "not read again")
            service.stop()
            set_limit(LEAST - 4096)
            code, text = service.rejection()
            require(code == 64 and "%d bytes" % (LEAST - 4096) in text and str(LEAST) in text,
                    "exit code %s: %s", code, text)
            add_sessions(service.data, 200_000)
            set_limit(LEAST)
            code, text = service.rejection()
            require(code == 1 and "the database needs about " in text
                    and " bytes of memory; the limit of the group is %d" % LEAST in text,
                    "exit code %s: %s", code, text)
            say("%s", text)
            set_limit(512 << 20)
            service.start()
            peak = service.memory_kibibytes()
            require(peak << 10 > LEAST, "only %d KiB are needed", peak)


def add_sessions(data, count):
    """Adds accounts that are online to a database whose service does not run."""
    now = int(time.time() * 1000)
    database = sqlite3.connect(os.path.join(data, "porchlight.sqlite"))
    database.executemany(
        "INSERT INTO session (account, device, client, push, pushUntil, loggedIn, ordinal, address,"
        " show, priority, text, language, extra)"
        " VALUES (?, 'phone', 1, 0, 0, ?, ?, '10.0.0.1', 0, 0, NULL, '', '')",
        (("account%06d" % number, now, number + 1) for number in range(count)))
    database.commit()
    database.close()
