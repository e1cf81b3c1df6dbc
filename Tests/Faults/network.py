"""Clients that vanish, in network namespaces of the run's own."""

import contextlib
import ctypes
import os
import subprocess
import threading
import time

from support import Service, Skip, case, need, need_root, require, say


def inside(namespace, function):
    """Does something with the sockets of a namespace, on a thread of its own."""
    result, failure = [], []

    def run():
        try:
            descriptor = os.open("/run/netns/" + namespace, os.O_RDONLY)
            if ctypes.CDLL(None, use_errno=True).setns(descriptor, 0x40000000) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            os.close(descriptor)
            result.append(function())
        except BaseException as error:
            failure.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    if failure:
        raise failure[0]
    return result[0]


def ip(*words):
    done = subprocess.run(["ip"] + list(words), capture_output=True, text=True)
    if done.returncode:
        raise Skip("ip %s: %s" % (" ".join(words), done.stderr.strip()))


@contextlib.contextmanager
def two_machines():
    """Two namespaces with a cable between them: the service's and the clients'."""
    need_root()
    need("ip")
    here, there = "plf-%d-a" % os.getpid(), "plf-%d-b" % os.getpid()
    try:
        ip("netns", "add", here)
        ip("netns", "add", there)
        ip("link", "add", "cable", "netns", here, "type", "veth", "peer", "cable", "netns", there)
        for name, address in ((here, "10.77.0.1/24"), (there, "10.77.0.2/24")):
            ip("-n", name, "addr", "add", address, "dev", "cable")
            ip("-n", name, "link", "set", "cable", "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield here, there
    finally:
        for name in (here, there):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@case("a client vanishes: disconnect event within 1.5 heartbeats and the grace")
def half_open():
    heartbeat, grace = 5, 2
    with two_machines() as (here, there):
        with Service("--rate-limits", "off", "--heartbeat", str(heartbeat), "--disconnect-grace",
                     str(grace), "--i-know-this-is-open", prefix=["ip", "netns", "exec", here],
                     host="10.77.0.1") as service:
            watcher = inside(here, lambda: service.login("w"))
            watcher.subscribe(*["p%d" % number for number in range(20)])
            peers = inside(there, lambda: [service.login("p%d" % n) for n in range(20)])
            for peer in peers:
                peer.ok("ping")
            watcher.drain(0.5)
            before = service.descriptors()
            ip("-n", there, "link", "set", "cable", "down")
            begin = time.monotonic()
            gone = []
            while len(gone) < len(peers) and time.monotonic() - begin < 20:
                watcher.keep_alive()
                gone += [(event["publisher"], event["value"], time.monotonic() - begin)
                         for event in watcher.drain(0.5)]
            require(len(gone) == len(peers) and {value for _, value, _ in gone} == {3},
                    "the watcher saw %s", gone)
            last = max(at for _, _, at in gone)
            require(last < 1.5 * heartbeat + grace + 1.5, "3 came after %.1f s", last)
            time.sleep(11)
            watcher.keep_alive()
            require(service.descriptors() <= before - len(peers), "descriptors are not given back")
            say("20 peers; the last 3 after %.1f s, of %.1f s", last, 1.5 * heartbeat + grace)


@case("the cable is out for a moment: no account goes offline")
def short_outage():
    with two_machines() as (here, there):
        with Service("--rate-limits", "off", "--heartbeat", "10", "--i-know-this-is-open",
                     prefix=["ip", "netns", "exec", here], host="10.77.0.1") as service:
            watcher = inside(here, lambda: service.login("w"))
            watcher.subscribe("p")
            peer = inside(there, lambda: service.login("p"))
            watcher.drain(0.3)
            ip("-n", there, "link", "set", "cable", "down")
            for _ in range(4):
                watcher.keep_alive()
                time.sleep(1)
            ip("-n", there, "link", "set", "cable", "up")
            peer.ok("publish", {"type": 1, "value": 10001}, wait=15)
            seen = [event["value"] for event in watcher.drain(1)]
            require(seen == [10001], "the watcher saw %s", seen)
