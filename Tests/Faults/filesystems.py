"""Small disks of several file systems, full: blocks below a page, and blocks copied on write."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from disk import fill
from support import WAIT, Rejected, Service, Skip, binary, case, need, need_root, require, say

# What makes each, and how large: the least that its tool accepts.
FILE_SYSTEMS = {
    "ext4 with blocks of 1 KB": (64, ["mkfs.ext4", "-q", "-b", "1024"]),
    "ext4 with blocks of 4 KB": (64, ["mkfs.ext4", "-q", "-b", "4096"]),
    "btrfs": (128, ["mkfs.btrfs", "-q", "--mixed"]),
    "xfs": (304, ["mkfs.xfs", "-q"]),
}


@contextlib.contextmanager
def mounted(name):
    """The folder of a new file system in a file."""
    need_root()
    mebibytes, make = FILE_SYSTEMS[name]
    need(make[0])
    with tempfile.TemporaryDirectory(prefix="porchlight-faults-disk-") as scratch:
        image, folder = os.path.join(scratch, "image"), os.path.join(scratch, "disk")
        os.mkdir(folder)
        with open(image, "wb") as file:
            file.truncate(mebibytes << 20)
        made = subprocess.run(make + [image], capture_output=True, text=True)
        require(made.returncode == 0, "%s: %s", make, made.stderr)
        done = subprocess.run(["mount", "-o", "loop", image, folder], capture_output=True, text=True)
        if done.returncode:
            raise Skip("%s cannot be mounted: %s" % (name, done.stderr.strip()))
        try:
            yield folder
        finally:
            subprocess.run(["umount", "-l", folder], check=False)


def full_disk(name):
    with mounted(name) as disk:
        with Service("--rate-limits", "off", "--http", "127.0.0.1:0", "--disconnect-grace", "0",
                     data=os.path.join(disk, "data")) as service:
            known = fill_while_running(service, disk)
            require(not os.path.exists(os.path.join(service.data, "porchlight.sqlite-shm")),
                    "there is a -shm")
            starts_on_full_disk(service, known)
            recovers(service, disk, known)
            service.kill()
            service.start()
            require(names(service) == known, "after kill -9")


def fill_while_running(service, disk):
    """Fills the disk below a service that serves; what it has acknowledged."""
    client = service.login("a")
    client.subscribe("before")
    known = {"before"}
    fill(disk)
    rejected = 0
    for number in range(3000):
        try:
            client.subscribe(*["n%d-%d" % (number, k) for k in range(20)])
            known |= {"n%d-%d" % (number, k) for k in range(20)}
        except Rejected as error:
            require(error.reason == "store_unavailable", "%s", error)
            rejected += 1
            if rejected == 5:
                break
    require(rejected == 5, "3,000 requests found space on a full disk")
    require(service.is_alive(), "it died")
    copy_elsewhere(service, known)
    return known


def copy_elsewhere(service, known):
    """A backup to another disk is whole."""
    with tempfile.TemporaryDirectory(prefix="porchlight-faults-copy-") as folder:
        copy, data = os.path.join(folder, "copy.sqlite"), os.path.join(folder, "data")
        for verb in (["backup", copy, "--data", service.data], ["restore", copy, "--data", data]):
            done = subprocess.run([binary()] + verb, capture_output=True, text=True, timeout=WAIT)
            require(done.returncode == 0, "%s: %s", verb, done.stderr)
        with Service(data=data) as copied:
            require(names(copied) == known, "the backup has something else")


def starts_on_full_disk(service, known):
    """Ends it in every way, and starts it again on the full disk: 16 times, and `seq` rises."""
    newest = 0
    for number in range(16):
        if number % 2:
            service.kill()
        else:
            service.signal(signal.SIGTERM)
            code = service.wait()
            require(code >= 0, "start %d: SIGTERM ends it by signal %s", number, -code)
        # Its end may have freed something.
        fill(os.path.dirname(service.data))
        before = len(service.log_text())
        service.start()
        said = service.log_text()[before:]
        require("the disk is full" in said, "start %d: not said: %s", number, said)
        require(probe(service, "/livez") == 200, "/livez")
        require(probe(service, "/readyz") == 503, "/readyz")
        require(names(service) == known, "start %d: something else is there", number)
        newest = deliver(service, newest)
        with contextlib.suppress(Rejected):
            service.login("a").subscribe(*["x%d-%d" % (number, k) for k in range(100)])
            raise AssertionError("start %d: acknowledged on a full disk" % number)
    say("16 starts on the full disk, %d subscriptions, seq %d", len(known), newest)


def deliver(service, newest):
    """What needs no disk is served; the number of the event, which is above all before."""
    watcher, publisher = service.login("a"), service.login("before")
    publisher.ok("publish", {"type": 1, "value": 10001, "expiry": 600})
    event = watcher.event(lambda event: event["value"] == 10001)
    require(event["seq"] > newest, "seq %d after %d", event["seq"], newest)
    return event["seq"]


def recovers(service, disk, known):
    """There is space again: it writes within 10 s, without a restart."""
    os.unlink(os.path.join(disk, "ballast"))
    client, begin = service.login("a"), time.monotonic()
    while True:
        try:
            client.subscribe("after")
            known.add("after")
            break
        except Rejected:
            require(time.monotonic() - begin < 10, "no recovery in 10 s")
            time.sleep(0.05)
    say("writes again %.1f s after there was space", time.monotonic() - begin)
    while probe(service, "/readyz") != 200:
        # A failure counts for ten seconds.
        require(time.monotonic() - begin < WAIT, "not ready")
        time.sleep(0.05)
    copy_elsewhere(service, known)


def names(service):
    return set(service.login("a").subscriptions())


def probe(service, path):
    port = service.http_port
    try:
        with urllib.request.urlopen("http://127.0.0.1:%d%s" % (port, path), timeout=WAIT) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


@case("a full ext4 with blocks of 1 KB: no signal, starts on it, recovers", quick=True)
def full_ext4_of_small_blocks():
    full_disk("ext4 with blocks of 1 KB")


@case("a full ext4 with blocks of 4 KB: no signal, starts on it, recovers")
def full_ext4():
    full_disk("ext4 with blocks of 4 KB")


@case("a full btrfs: no signal, starts on it, recovers", quick=True)
def full_btrfs():
    full_disk("btrfs")


@case("a full xfs: no signal, starts on it, recovers")
def full_xfs():
    full_disk("xfs")
