"""No space, no permission, and bytes that are not what was written."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from support import (WAIT, Broken, Closed, Rejected, Service, Skip, binary, case, need, need_root,
                     require, say, small_disk)

DATABASE = "porchlight.sqlite"


def fill(folder):
    """Takes all space that is left."""
    path = os.path.join(folder, "ballast")
    with open(path, "ab", buffering=0) as file:
        for size in (65536, 4096, 512):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass
    return path


@case("the disk is full: 503, nothing is lost, the service recovers by itself", quick=True)
def disk_full():
    with small_disk(6) as disk:
        with Service("--rate-limits", "off", data=os.path.join(disk, "data")) as service:
            client = service.login("a")
            watcher = service.login("w")
            watcher.subscribe("p")
            answered, rejected = set(), set()
            client.subscribe("before")
            answered.add("before")
            ballast = fill(disk)
            for number in range(3000):
                try:
                    client.subscribe("n%d" % number)
                    answered.add("n%d" % number)
                except Rejected as error:
                    require((error.code, error.reason) == (503, "store_unavailable"),
                            "rejected with %s", error)
                    rejected.add("n%d" % number)
                    if len(rejected) == 20:
                        break
            require(rejected, "3,000 subscriptions found space on a full disk")
            say("%d answered, then 503", len(answered))
            # Reading and delivering go on.
            require(set(client.subscriptions()) == answered, "the engine knows other ones")
            publisher = service.login("p")
            publisher.ok("publish", {"type": 1, "value": 10001, "expiry": 600})
            watcher.event(lambda event: event["value"] == 10001)
            status = 10001
            try:
                # A small change may find a place where a larger one did not.
                publisher.ok("publish", {"type": 1, "value": 10002, "onlineOnly": False})
                status = 10002
            except Rejected as error:
                require(error.code == 503, "rejected with %s", error)
            publisher.ok("ping")
            os.unlink(ballast)
            begin = time.monotonic()
            while True:
                try:
                    client.subscribe("after")
                    answered.add("after")
                    break
                except Rejected:
                    require(time.monotonic() - begin < WAIT, "no recovery")
                    time.sleep(0.05)
            say("writes again %.2f s after there was space", time.monotonic() - begin)
            for line in ("cannot write to the database", "the database can be written to again"):
                require(line in service.log_text(), "the log does not say: %s", line)
            time.sleep(6)
            service.kill()
            service.start()
            known = set(service.login("a").subscriptions())
            require(known == answered, "missing %s, come back %s", answered - known,
                    known - answered)
            # Writes without a response were made when there was space: the publisher is back
            # within its grace, and its status is there.
            state = service.server().ok("query", {"type": 1, "accounts": ["p"]})["states"][0]
            require(state.get("status", {}).get("value") == status, "the status: %s", state)


@case("the disk is full and the service is killed: every acknowledged change is there")
def disk_full_kill_9():
    for round in range(10):
        with small_disk(5) as disk:
            with Service("--rate-limits", "off", data=os.path.join(disk, "data")) as service:
                client = service.login("a")
                answered = set()
                client.subscribe(*["x%d" % n for n in range(round * 7 + 1)])
                answered |= {"x%d" % n for n in range(round * 7 + 1)}
                ballast = fill(disk)
                failures = 0
                for number in range(3000):
                    try:
                        client.subscribe("n%d" % number)
                        answered.add("n%d" % number)
                    except Rejected:
                        failures += 1
                        if failures > round:
                            break
                service.kill()
                if round % 2:
                    # A start on a full disk is served, and what was acknowledged is there.
                    service.start()
                    known = set(service.login("a").subscriptions())
                    require(known == answered, "round %d, full: missing %s, come back %s", round,
                            answered - known, known - answered)
                    service.kill()
                os.unlink(ballast)
                service.start()
                known = set(service.login("a").subscriptions())
                require(known == answered, "round %d: missing %s, come back %s", round,
                        answered - known, known - answered)
    say("10 rounds")


@contextlib.contextmanager
def failing_disk():
    """A disk in a file, which can be made to fail as one that the kernel has given up."""
    need_root()
    need("mkfs.ext4")
    with tempfile.TemporaryDirectory(prefix="porchlight-faults-disk-") as scratch:
        image, folder = os.path.join(scratch, "image"), os.path.join(scratch, "disk")
        os.mkdir(folder)
        with open(image, "wb") as file:
            file.truncate(32 << 20)
        subprocess.run(["mkfs.ext4", "-q", image], check=True, capture_output=True)
        if subprocess.run(["mount", "-o", "loop", image, folder], capture_output=True).returncode:
            raise Skip("mounting a file is not permitted")
        try:
            yield image, folder
        finally:
            subprocess.run(["umount", "-l", folder], check=False)


@case("the disk becomes read-only: 503, queries are answered, nothing is lost",
      quick=True)
def read_only_while_running():
    with failing_disk() as (image, disk):
        with Service("--rate-limits", "off", data=os.path.join(disk, "data")) as service:
            client = service.login("a")
            answered = {"before"}
            client.subscribe("before")
            watcher = service.login("w")
            watcher.subscribe("p")
            subprocess.run(["mount", "-o", "remount,abort", disk], check=True)
            for number in range(5):
                try:
                    client.subscribe("during%d" % number)
                    raise Broken("answered on a read-only disk")
                except Rejected as error:
                    require(error.code == 503, "%s", error)
            require(set(client.subscriptions()) == answered, "reads")
            service.login("p").ok("publish", {"type": 1, "value": 10001})
            watcher.event(lambda event: event["value"] == 10001)
            require(service.is_alive(), "it died")
            service.signal(signal.SIGTERM)
            code = service.wait()
            # Sessions could not be stored: that is said, in a sentence.
            say("SIGTERM: exit code %s, %s", code, service.log_text().strip().split("\n")[-1][:160])
            require(code >= 0, "died of signal %s", -code)
            subprocess.run(["umount", disk], check=True)
            subprocess.run(["mount", "-o", "loop", image, disk], check=True)
            service.start()
            require(set(service.login("a").subscriptions()) == answered, "lost")


@case("writes and syncs fail with EIO: 503, no acknowledged change is lost, it recovers",
      quick=True)
def disk_errors():
    need("strace")
    with Service("--rate-limits", "off") as service:
        client = service.login("a")
        client.subscribe("before")
        answered, rejected = {"before"}, set()
        for calls in ("fdatasync,fsync", "pwrite64", "fdatasync,fsync,pwrite64,ftruncate"):
            tracer = subprocess.Popen(
                ["strace", "-f", "-e", "trace=" + calls, "-e",
                 "inject=%s:error=EIO" % calls, "-p", str(service.pid), "-o", "/dev/null"],
                stderr=subprocess.PIPE)
            # Says so, once, when it holds every thread.
            if b"attached" not in tracer.stderr.readline():
                raise Skip("tracing is not permitted")
            before = len(rejected)
            for number in range(5):
                name = "%s-%d" % (calls, number)
                try:
                    client.subscribe(name)
                    answered.add(name)
                except Rejected as error:
                    require(error.code == 503, "%s", error)
                    rejected.add(name)
            require(len(rejected) == before + 5, "%s: answered while the disk failed", calls)
            require(set(client.subscriptions()) == answered, "reads")
            tracer.send_signal(signal.SIGINT)
            tracer.communicate(timeout=60)
            begin = time.monotonic()
            while True:
                try:
                    client.subscribe("after-" + calls)
                    answered.add("after-" + calls)
                    break
                except Rejected:
                    require(time.monotonic() - begin < WAIT, "no recovery")
                    time.sleep(0.05)
            say("%s: %d rejected so far, recovered in %.2f s", calls, len(rejected),
                time.monotonic() - begin)
        service.kill()
        service.start()
        known = set(service.login("a").subscriptions())
        require(known == answered, "missing %s, come back %s", answered - known, known - answered)


@case("the disk stalls for 10 s: waiting clients that send keep-alives are not closed")
def disk_stalls():
    need("strace")
    with Service("--rate-limits", "off", "--heartbeat", "5", "--disconnect-grace", "1") as service:
        waiting = [service.login("a%d" % number) for number in range(3)]
        reading = service.login("r")
        tracer = subprocess.Popen(
            ["strace", "-f", "-e", "trace=fdatasync,fsync", "-e",
             "inject=fdatasync,fsync:delay_enter=10000000:when=1", "-p", str(service.pid), "-o",
             "/dev/null"], stderr=subprocess.PIPE)
        if b"attached" not in tracer.stderr.readline():
            raise Skip("tracing is not permitted")
        try:
            asked = [client.send("subscribe", {"type": 1, "expiry": 600, "publishers": ["b"]})
                     for client in waiting]
            begin = time.monotonic()
            slowest = 0
            while time.monotonic() - begin < 9:
                for client in waiting:
                    client.keep_alive()
                sent = time.monotonic()
                reading.ok("ping")
                slowest = max(slowest, time.monotonic() - sent)
                time.sleep(0.5)
            for client, number in zip(waiting, asked):
                try:
                    client.answer(number, wait=15)
                except Closed:
                    raise Broken("closed with %s" % client.closing)
            say("answered after %.1f s; slowest ping of the others %.0f ms",
                time.monotonic() - begin, slowest * 1000)
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.communicate(timeout=60)


@case("a read-only disk at startup: one sentence", quick=True)
def read_only_at_start():
    with small_disk(16) as disk:
        data = os.path.join(disk, "data")
        with Service(data=data) as service:
            service.login("a").subscribe("b")
            service.stop()
            before = contents(data)
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
            code, said = service.rejection()
            sentence(code, said)
            subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
            require(contents(data) == before, "the files have changed")
            service.start()
            require(set(service.login("a").subscriptions()) == {"b"}, "lost")
        with Service(data=os.path.join(disk, "new"), start=False) as service:
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
            sentence(*service.rejection())


@case("unusable data directories: one sentence each", quick=True)
def wrong_directory():
    with Service() as first:
        with Service(data=first.data, start=False) as second:
            sentence(*second.rejection())
        first.login("a").subscribe("b")
        require(first.is_alive(), "the first one died")
    with Service(data="/proc/porchlight", start=False) as service:
        sentence(*service.rejection())
    with Service(start=False) as service:
        open(service.data, "w").close()
        sentence(*service.rejection())


def sentence(code, said):
    require(code not in (0, None) and code > 0, "exit code %s: %s", code, said)
    require(said and said.count("\n") == 0 and len(said) < 500, "not one sentence: %r", said)
    say("%s", said[:150])


def contents(folder):
    out = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith((".lock", "-shm")):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            out[name] = file.read()
    return out


# Damage

def make(folder, pages, dies):
    """A database with `pages` × 100 subscriptions; with its log, if the service dies.

    Returns what was written together, in order.
    """
    with Service("--rate-limits", "off", data=folder) as service:
        chunks = []
        for account in ("a", "b"):
            client = service.login(account)
            for page in range(pages):
                chunk = ["%s-publisher-%04d" % (account, page * 100 + n) for n in range(100)]
                client.subscribe(*chunk)
                chunks.append(set(chunk))
        client.ok("publish", {"type": 1, "value": 10001, "onlineOnly": False, "ext": "x" * 4000})
        if dies:
            service.kill()
        else:
            service.stop()
    return chunks


def try_damaged(damaged, chunks, what):
    """Starts on damaged files: rejected with them untouched, or everything is there.

    Returns "rejected", "started" or what was lost.
    """
    before = contents(damaged)
    with Service("--rate-limits", "off", data=damaged, start=False) as service:
        service.launch()
        line = service.process.stdout.readline()
        if not line:
            service.process.wait(60)
            code, said = service.process.returncode, service.log_text().strip()
            require(code > 0, "%s: ended with %s: %s", what, code, said[-300:])
            require(said.count("\n") == 0 and len(said) < 700, "%s: said %r", what, said[:700])
            after = contents(damaged)
            require(after == before, "%s: rejected, but %s changed", what,
                    [name for name in set(after) | set(before)
                     if after.get(name) != before.get(name)])
            return "rejected"
        service.port = int(line.strip().rsplit(b":", 1)[1])
        known = set()
        for account in ("a", "b"):
            known |= set(service.login(account).subscriptions())
        service.stop()
    names = set().union(*chunks)
    if known == names:
        return "started"
    if any(known == set().union(*chunks[:count]) for count in range(len(chunks))):
        return "lost the end: %d of %d" % (len(names - known), len(names))
    return "lost %d of %d, gained %d" % (len(names - known), len(names), len(known - names))


def damage_loop(dies, harm, bearable=()):
    """Tries every damage that `harm` makes of a database.

    What is lost without a word is a fault, unless it is `bearable`.
    """
    with Service(start=False) as scratch:
        source = os.path.join(scratch.temporary, "source")
        chunks = make(source, 3, dies)
        counts = {}
        silent = []
        for what, change in harm(source):
            damaged = os.path.join(scratch.temporary, "damaged")
            shutil.copytree(source, damaged, ignore=shutil.ignore_patterns("*.socket"))
            change(damaged)
            result = try_damaged(damaged, chunks, what)
            if result.startswith("lost") and not result.startswith(tuple(bearable)):
                silent.append("%s: %s" % (what, result))
            kind = result.split(":")[0]
            counts[kind] = counts.get(kind, 0) + 1
            shutil.rmtree(damaged)
        say("%s", ", ".join("%d %s" % (counts[key], key) for key in sorted(counts)))
        require(not silent, "%d kinds of damage lost something silently, such as %s", len(silent),
                "; ".join(silent[:3]))


# SQLite takes a log that ends too early for one that was being written when the power failed.
END = "lost the end"
# Pages carry no checksums: a letter of a name is as good as another.
LETTER = "lost 1 of 600, gained 1"


def flips(path, offsets):
    for offset in offsets:
        def change(folder, offset=offset):
            with open(os.path.join(folder, path), "r+b") as file:
                file.seek(offset)
                byte = file.read(1)
                file.seek(offset)
                file.write(bytes([byte[0] ^ 0x41]))
        yield "%s: byte %d flipped" % (path, offset), change


def cuts(path, lengths):
    for length in lengths:
        def change(folder, length=length):
            os.truncate(os.path.join(folder, path), length)
        yield "%s cut to %d" % (path, length), change


def zeros(path, offsets):
    for offset in offsets:
        def change(folder, offset=offset):
            with open(os.path.join(folder, path), "r+b") as file:
                file.seek(offset)
                file.write(bytes(4096))
        yield "%s: page at %d zeroed" % (path, offset), change


def size(folder, path):
    return os.path.getsize(os.path.join(folder, path))


@case("the database is truncated, zeroed in part, text, or empty", quick=True)
def damaged_database():
    def harm(source):
        whole = size(source, DATABASE)
        yield from cuts(DATABASE, range(0, whole, max(4096, whole // 16 // 4096 * 4096)))
        yield from zeros(DATABASE, range(0, whole, max(4096, whole // 12 // 4096 * 4096)))

        def text(folder):
            with open(os.path.join(folder, DATABASE), "w") as file:
                file.write("This is not a database. " * 1000)
        yield "a text", text
    damage_loop(False, harm)


@case("the write-ahead log is truncated, removed, or of another database", quick=True)
def damaged_log():
    log = DATABASE + "-wal"

    def harm(source):
        def garbage(folder):
            with open(os.path.join(folder, log), "wb") as file:
                file.write(os.urandom(100000))
        yield "%s: garbage" % log, garbage

        def alone(folder):
            os.unlink(os.path.join(folder, DATABASE))
        yield "only the log is left", alone
    damage_loop(True, harm, [END])


@case("bytes of each page of the database are flipped, and it is truncated at every 4 KiB")
def damaged_pages():
    def harm(source):
        whole = size(source, DATABASE)
        for page in range(0, whole, 4096):
            yield from flips(DATABASE, [page + n for n in (0, 3, 9, 17, 101, 1000, 3000, 4090)])
        yield from cuts(DATABASE, range(0, whole, 4096))
    damage_loop(False, harm, [LETTER])


@case("each frame of the log is flipped and truncated: only its end is lost, never the middle")
def damaged_frames():
    log = DATABASE + "-wal"

    def harm(source):
        whole = size(source, log)
        frames = list(range(32, whole, 4096 + 24))
        yield from flips(log, [0, 5, 20] + [at + n for at in frames[::4] for n in (2, 9, 30, 2000)])
        yield from cuts(log, [at for at in frames[::3]])
    damage_loop(True, harm, [END])


@case("other programs find the database of a running service locked; backups go on", quick=True)
def database_of_a_running_service():
    with Service() as service:
        service.login("a").subscribe("b")
        path = os.path.join(service.data, DATABASE)
        for uri in ("file:%s", "file:%s?mode=ro"):
            database = sqlite3.connect(uri % path, uri=True, timeout=0)
            try:
                database.execute("SELECT count(*) FROM subscription")
                raise Broken("another program reads it")
            except sqlite3.OperationalError as error:
                require("locked" in str(error), "%s", error)
            finally:
                database.close()
        for number in range(3):
            service.login("a").subscribe("c%d" % number)
            copy = os.path.join(service.temporary, "copy%d.sqlite" % number)
            subprocess.run([binary(), "backup", copy, "--data", service.data], check=True,
                           capture_output=True, timeout=WAIT)
            database = sqlite3.connect(copy)
            count = database.execute("SELECT count(*) FROM subscription").fetchone()[0]
            database.close()
            require(count == number + 2, "backup %d has %d subscriptions", number, count)
            require(not os.path.exists(copy + "-wal"), "a backup of several files")
        service.stop()
        left = sorted(os.listdir(service.data))
        require(left == ["porchlight.lock", DATABASE, DATABASE + "-wal"], "left: %s", left)
        require(os.path.getsize(path + "-wal") == 0, "the log is not empty")


@case("a disk without room for a new database: the start waits, and begins by itself", quick=True)
def new_database_on_a_full_disk():
    with small_disk(5) as disk:
        ballast = fill(disk)
        with Service(data=os.path.join(disk, "data"), start=False) as service:
            service.launch()
            line = "warning porchlight: the disk is full; trying again path="
            wait_for_log(service, line, 2)
            require(service.is_alive(), "it ended: %s", service.log_text())
            require(service.data in service.log_text(), "the log does not name the directory")
            service.signal(signal.SIGTERM)
            code = service.wait()
            require(code == 0, "exit code %s after SIGTERM while it waits", code)
            before = service.log_text().count(line)
            service.launch()
            wait_for_log(service, line, before + 1)
            os.unlink(ballast)
            service.ready()
            service.login("a").subscribe("b")


def wait_for_log(service, line, count):
    """Waits until the log has a line so many times."""
    end = time.monotonic() + WAIT
    while service.log_text().count(line) < count:
        require(time.monotonic() < end, "not %d times %r: %s", count, line, service.log_text())
        time.sleep(0.05)
