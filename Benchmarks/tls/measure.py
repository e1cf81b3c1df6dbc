"""The cases: each yields rows of (what, figure, goal, whether it holds or None)."""

import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import statistics
import subprocess
import tempfile
import threading
import time

import tls
from porchlight import BINARY, Client, Service

resource.setrlimit(resource.RLIMIT_NOFILE, 2 * (resource.getrlimit(resource.RLIMIT_NOFILE)[1],))
HZ = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20


class World:
    """A service with a certificate that an authority has signed."""

    def __init__(self, *flags):
        self.folder = tempfile.mkdtemp(prefix="porchlight-bench-")
        self.authority = tls.make_authority(self.folder)
        self.certificate, self.key = tls.sign(self.authority, self.folder, "localhost")
        settings = os.path.join(self.folder, "porchlight.yml")
        with open(settings, "w") as file:
            file.write("connections-per-address-max: unlimited\n")
        self.service = Service(
            "--listen-tls", "127.0.0.1:0", "--tls-certificate", self.certificate, "--tls-key",
            self.key, "--rate-limits", "off", "--disconnect-grace", "60", "--config", settings,
            *flags)
        self.pid = self.service.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.service.close()
        shutil.rmtree(self.folder)

    def bench(self, *words, over_tls=True):
        """The figures of a scenario of `porchlight bench`, by name."""
        port = self.service.tls_port if over_tls else self.service.port
        secured = ["--tls", "--ca", self.authority[0]] if over_tls else []
        done = subprocess.run(
            [BINARY, "bench", *map(str, words), "--connect", "127.0.0.1:%d" % port, *secured,
             "--process", str(self.pid), "--json"], capture_output=True, text=True, timeout=580)
        if done.returncode:
            raise SystemExit("bench %s: %s" % (" ".join(map(str, words)), done.stderr))
        return {f["name"]: f["value"] for f in json.loads(done.stdout)["figures"]}

    def memory(self, field="VmRSS"):
        with open("/proc/%d/status" % self.pid) as file:
            return int(re.search(field + r":\s+(\d+) kB", file.read()).group(1)) * 1024

    def metric(self, name):
        client = self.service.server()
        text = client.ok("metrics")["text"]
        client.close()
        found = re.findall(r"^%s(?:\{[^}]*\})? (\d+)" % name, text, re.M)
        return sum(map(int, found))

    def newcomer(self):
        """Seconds until a new client has logged in over TLS."""
        began = time.monotonic()
        client = Client.over(tls.connect(self.service.tls_port))
        client.ok("login", {"account": "newcomer", "device": "d"})
        client.close()
        return time.monotonic() - began


def cpu(pids):
    total = 0
    for pid in pids:
        with open("/proc/%d/stat" % pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / HZ


def case_memory(full):
    """By the difference of two numbers of connections, each in a service of its own."""
    few, many = (1_000, 10_000) if full else (500, 2_500)
    slopes = {}
    for over_tls in (False, True):
        used = []
        for count in (few, many):
            with World() as world:
                figures = world.bench("connections", "--accounts", count, "--group", 1,
                                      "--duration", 3, over_tls=over_tls)
                used.append(figures["memory a connection"] * count)
        slopes[over_tls] = (used[1] - used[0]) / (many - few)
    more = slopes[True] - slopes[False]
    yield ("memory of a TLS connection beyond plain (slope, %d to %d)" % (few, many),
           "%.1f KB (%.1f against %.1f)" % (more / 1e3, slopes[True] / 1e3, slopes[False] / 1e3),
           "≤ 15 KB", more <= 15_000)


def shake(port, clients, seconds):
    """Full handshakes by so many clients, each one after the other; how many there were."""
    running = [subprocess.Popen(
        ["openssl", "s_time", "-connect", "127.0.0.1:%d" % port, "-new", "-time", str(seconds)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(clients)]
    return sum(int(re.search(r"(\d+) connections in \d+ real", one.communicate()[0]).group(1))
               for one in running)


def case_handshake(full):
    """Beside nginx, in turns."""
    seconds, rounds = (3, 5) if full else (1, 3)
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    with World() as world:
        pids = {"ours": [world.pid]}
        ports = {"ours": world.service.tls_port}
        nginx = start_nginx(program, world) if program else None
        if nginx:
            pids["nginx"], ports["nginx"] = nginx[1], nginx[2]
        for clients, what, goal in ((8, "8 at a time", 1.1), (1, "one at a time", None)):
            costs = {name: [] for name in ports}
            for round in range(rounds + 1):
                for name, port in ports.items():
                    before = cpu(pids[name])
                    count = shake(port, clients, seconds)
                    if round:    # The first one warms up.
                        costs[name].append((cpu(pids[name]) - before) / count * 1e6)
            ours = statistics.median(costs["ours"])
            if nginx:
                ratio = statistics.median(a / b for a, b in zip(costs["ours"], costs["nginx"]))
                yield ("CPU of a full handshake with accept and close, " + what,
                       "%.0f µs, %.2f × nginx (%.0f µs)" % (
                           ours, ratio, statistics.median(costs["nginx"])),
                       "≤ %.1f × nginx" % goal if goal else "–", not goal or ratio <= goal)
            else:
                yield ("CPU of a full handshake, " + what, "%.0f µs; no nginx here" % ours,
                       "≤ 1.1 × nginx", None)
        if nginx:
            nginx[0].terminate()
            nginx[0].wait()


def start_nginx(program, world):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    path = os.path.join(world.folder, "nginx.conf")
    with open(path, "w") as file:
        file.write("""daemon off; worker_processes 1; pid %(folder)s/nginx.pid; user root;
            error_log %(folder)s/nginx.log; events { worker_connections 4096; }
            http { access_log off; server { listen 127.0.0.1:%(port)d ssl backlog=4096;
            ssl_certificate %(certificate)s; ssl_certificate_key %(key)s;
            ssl_protocols TLSv1.2 TLSv1.3; ssl_ecdh_curve X25519:prime256v1; } }""" % {
                "folder": world.folder, "port": port, "certificate": world.certificate,
                "key": world.key})
    process = subprocess.Popen([program, "-c", path, "-p", world.folder],
                               stderr=subprocess.DEVNULL)
    for _ in range(100):
        children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True)
        workers = [int(word) for word in children.stdout.split()]
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            if workers:
                return process, workers, port
        except OSError:
            pass
        time.sleep(0.05)
    raise SystemExit("nginx does not start: see " + path)


class Pings:
    """An established client that pings all the time; the times in milliseconds."""

    def __init__(self, world):
        self.client = Client.over(tls.connect(world.service.tls_port))
        self.client.ok("login", {"account": "pinger", "device": "d"})
        self.times = []
        self.is_over = False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.is_over:
            began = time.monotonic()
            self.client.ok("ping")
            self.times.append((time.monotonic() - began) * 1e3)
            time.sleep(0.002)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()
        self.client.close()

    @property
    def p99(self):
        return sorted(self.times)[len(self.times) * 99 // 100]


def case_storm(full):
    """All clients make full handshakes at once. The client's program is on the same cores."""
    accounts = 15_000 if full else 2_000
    with World() as world:
        plain = world.bench("storm", "--accounts", accounts, "--group", 100, over_tls=False)
    with World() as world, Pings(world) as pings:
        figures = world.bench("storm", "--accounts", accounts, "--group", 100)
    what = "storm of %d full handshakes: " % accounts
    scale = accounts / 15_000
    yield (what + "ping p99 of a client that is in", "%.0f ms" % pings.p99, "< 50 ms",
           pings.p99 < 50)
    took = figures["time until all lists are complete"]
    yield (what + "all logged in", "%.1f s" % took, "< %.1f s" % (6 * scale), took < 6 * scale)
    cpu = "server CPU per client that returns"
    yield (what + "CPU of a client beyond plain", "%.0f µs (%.0f against %.0f)" % (
        figures[cpu] - plain[cpu], figures[cpu], plain[cpu]), "–", True)
    more = figures["server memory at the peak"] - figures["server memory before"]
    yield (what + "memory at the peak above that with all of them in", "%.0f MiB" % more,
           "< 400 MiB", more < 400)


def hello():
    """A whole ClientHello."""
    outgoing = ssl.MemoryBIO()
    made = tls.context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    try:
        made.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def stall(port, bytes, number):
    """A client that sends these bytes, and no more. Each loopback address has its own ports."""
    client = socket.socket()
    client.bind(("127.0.0.%d" % (2 + number % 8), 0))
    client.connect(("127.0.0.1", port))
    client.sendall(bytes)
    return client


def case_half_hellos(full):
    count = 15_000 if full else 3_000
    with World() as world:
        world.newcomer()
        before = world.memory()
        half = hello()[:-20]
        crowd = [stall(world.service.tls_port, half, number) for number in range(count)]
        came = world.newcomer()
        more = (world.memory() - before) / MIB
        for client in crowd:
            client.close()
    what = "%d half ClientHellos: " % count
    yield what + "memory", "%.0f MiB" % more, "< 150 MiB", more < 150
    yield what + "a new client is in within", "%.2f s" % came, "2 s", came < 2


def case_stalled_handshakes(full):
    """Clients that stop after ServerHello; as soon as one is dropped, another one comes."""
    count, seconds = (4_000, 12) if full else (2_500, 4)
    with World() as world:
        world.newcomer()
        before = world.memory()
        whole = hello()
        crowd = [stall(world.service.tls_port, whole, number) for number in range(count)]
        times, peak = [], 0
        end = time.monotonic() + seconds
        number = 0
        while time.monotonic() < end:
            for _ in range(400):
                at = number % count
                crowd[at].setblocking(False)
                try:
                    gone = not crowd[at].recv(4096)
                except BlockingIOError:
                    gone = False
                except ConnectionError:
                    gone = True
                if gone:
                    crowd[at].close()
                    crowd[at] = stall(world.service.tls_port, whole, at)
                number += 1
            peak = max(peak, world.memory())
            times.append(world.newcomer())
        dropped = world.metric("porchlight_tls_handshakes_dropped_total")
        for client in crowd:
            client.close()
    what = "%d clients that stop after ServerHello, again and again: " % count
    more = (peak - before) / MIB
    yield (what + "memory", "%.0f MiB (%d dropped)" % (more, dropped), "< 150 MiB", more < 150)
    yield (what + "new clients are in within", "%.2f s (%d of them)" % (max(times), len(times)),
           "2 s", max(times) < 2)


def case_delivery(full):
    """In turns, with one service."""
    rounds, seconds = (5, 4) if full else (3, 1)
    with World() as world:
        for mode, goal in (("single", 15), ("saturated", 40)):
            costs = {False: [], True: []}
            for _ in range(rounds):
                for over_tls in (False, True):
                    figures = world.bench("fanout", "--mode", mode, "--accounts", 1_000,
                                          "--duration", seconds, over_tls=over_tls)
                    costs[over_tls].append(figures["server CPU per delivery"])
            more = statistics.median(
                b / a for a, b in zip(costs[False], costs[True])) * 100 - 100
            yield ("CPU of a delivery against plain, " + mode,
                   "%+.0f %% (%.2f against %.2f µs)" % (
                       more, statistics.median(costs[True]), statistics.median(costs[False])),
                   "≤ +%d %%" % goal, more <= goal)


def case_reloads(full):
    """A connection that is lost ends `bench fanout` with an error."""
    count = 100 if full else 20
    with World() as world:
        load = threading.Thread(target=lambda: results.append(world.bench(
            "fanout", "--mode", "paced", "--rate", 200, "--accounts", 500, "--duration",
            30 if full else 8)))
        results = []
        load.start()
        held = [Client.over(tls.connect(world.service.tls_port)) for _ in range(50)]
        for number, client in enumerate(held):
            client.ok("login", {"account": "held-%d" % number, "device": "d"})
        # The load checks certificates by the time of its start: later ones are not valid yet.
        while load.is_alive() and world.metric("porchlight_connections") < 550:
            time.sleep(0.05)

        def reload(words):
            said = len(world.service.log_text())
            world.service.signal(signal.SIGHUP)
            while not re.search(words, world.service.log_text()[said:]):
                time.sleep(0.002)

        for number in range(count):
            name = "n%d.example" % number
            for new, old in zip(tls.sign(world.authority, world.folder, name),
                                (world.certificate, world.key)):
                os.replace(new, old)
            reload("read again, 1 changed")
            plain = socket.create_connection(("127.0.0.1", world.service.tls_port))
            made = tls.context(trusted=world.authority[0])
            with made.wrap_socket(plain, server_hostname="localhost") as client:
                subject = dict(pair[0] for pair in client.getpeercert()["subject"])
            if subject["commonName"] != name:
                raise SystemExit("reload %d: %r is served" % (number, subject))
        with open(world.certificate, "w") as file:
            file.write("broken")
        reload("nothing was changed")
        world.newcomer()
        for client in held:
            client.ok("ping")
        load.join()
    yield ("%d reloads under load: connections lost; new certificate each time; a broken file "
           "keeps the old one" % count, "0 of 550; yes; yes", "all", len(results) == 1)


def change_keys(address, count):
    """How many changes of key a client makes before its connection ends."""
    process = subprocess.Popen(["openssl", "s_client", "-connect", address], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    lines = iter(process.stderr.readline, "")
    done = 0
    # A command is the first letter of what is read at once.
    while done < count:
        process.stdin.write("k\n")
        process.stdin.flush()
        for line in lines:
            if "KEYUPDATE" in line:
                done += 1
                break
        else:
            break
    process.communicate()
    return done


def case_s_client(full):
    """What `openssl s_client` can try that Tests/Conformance/test_tls.py does not."""
    with World() as world:
        port = "127.0.0.1:%d" % world.service.tls_port
        ticket = os.path.join(world.folder, "ticket")

        def s_client(*words, typed=b"", wait=1.0):
            process = subprocess.Popen(
                ["openssl", "s_client", "-connect", port, "-servername", "localhost", "-CAfile",
                 world.authority[0], *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT)
            process.stdin.write(typed)
            process.stdin.flush()
            time.sleep(wait)
            return process.communicate()[0].decode("utf-8", "replace")

        said = s_client("-sess_out", ticket)
        yield ("s_client: chain and name verified", "yes" if "Verification: OK" in said else said,
               "yes", "Verification: OK" in said)
        world.service.signal(signal.SIGHUP)
        time.sleep(0.5)
        said = s_client("-sess_in", ticket)
        yield ("s_client: a ticket is resumed after a reload",
               "yes" if "Reused, TLSv1.3" in said else "no", "yes", "Reused, TLSv1.3" in said)
        early = os.path.join(world.folder, "early")
        with open(early, "w") as file:
            file.write("early")
        said = s_client("-sess_in", ticket, "-early_data", early)
        rejected = "Early data was not sent" in said or "Early data was rejected" in said
        yield "s_client: early data is rejected", "yes" if rejected else "no", "yes", rejected
        said = s_client("-no_tls1_3", typed=b"R\n")
        rejected = "no renegotiation" in said.lower() or "renegotiation" in said.lower() and \
            "RENEGOTIATING" in said
        yield ("s_client: renegotiation is rejected", "yes" if rejected else "no", "yes", rejected)
        before = world.metric("porchlight_tls_failures_total")
        updates = change_keys(port, 1_000)
        fine = updates == 1_000 and world.metric("porchlight_tls_failures_total") == before
        yield "s_client: 1,000 changes of key, no fault", "%d" % updates, "1,000", fine
        said = s_client("-split_send_frag", "1", "-max_send_frag", "512", "-quiet",
                        typed=b"\x00\x00\x00\x00", wait=1.0)
        yield ("s_client: small records, a keep-alive is answered",
               "yes" if "\0\0\0\0" in said else "no", "yes", "\0\0\0\0" in said)


SCANS = ["--" + scan for scan in (
    "sslv2", "sslv3", "tlsv1", "tlsv1_1", "tlsv1_2", "tlsv1_3", "elliptic_curves", "reneg",
    "compression", "early_data", "heartbleed", "openssl_ccs", "robot")]


def case_sslyze(full):
    """Needs sslyze of PyPI: `python3 -m venv .build/sslyze && .build/sslyze/bin/pip install
    sslyze`."""
    root = os.path.join(os.path.dirname(__file__), "..", "..")
    program = os.environ.get("SSLYZE") or shutil.which("sslyze") or \
        os.path.join(root, ".build", "sslyze", "bin", "sslyze")
    if not os.path.exists(program):
        yield "sslyze", "there is no sslyze here", "all as listed", None
        return
    with World("--http-tls", "127.0.0.1:0") as world:
        ports = (("listen-tls", world.service.tls_port),
                 ("http-tls", int(world.service.ready.rsplit(":", 1)[1])))
        for name, port in ports:
            path = os.path.join(world.folder, name + ".json")
            subprocess.run([program, "--json_out", path, *SCANS, "localhost:%d" % port], capture_output=True)
            with open(path) as file:
                scan = json.load(file)["server_scan_results"][0]["scan_result"]
            yield from sslyze_rows("sslyze, %s: " % name, scan)


def sslyze_rows(what, scan):
    def accepted(version):
        suites = scan[version + "_cipher_suites"]["result"]["accepted_cipher_suites"]
        return [suite["cipher_suite"]["name"] for suite in suites]

    def result(name):
        if scan[name]["status"] != "COMPLETED":
            raise SystemExit("%s%s: %s" % (what, name, json.dumps(scan[name])[:2000]))
        return scan[name]["result"]

    old = [v for v in ("ssl_2_0", "ssl_3_0", "tls_1_0", "tls_1_1") if accepted(v)]
    yield what + "versions before 1.2", ", ".join(old) or "rejected", "rejected", not old
    weak = [s for s in accepted("tls_1_2") + accepted("tls_1_3")
            if not re.search("GCM|CHACHA20", s) or "_RSA_WITH" in s and "ECDHE" not in s]
    yield (what + "suites without forward secrecy or authenticated encryption",
           ", ".join(weak) or "none of %d" % len(accepted("tls_1_2") + accepted("tls_1_3")), "none",
           not weak)
    curves = {c["name"] for c in result("elliptic_curves")["supported_curves"]}
    yield (what + "curves", ", ".join(sorted(curves)), "X25519, secp256r1",
           curves == {"X25519", "secp256r1"})
    reneg = result("session_renegotiation")
    yield (what + "renegotiation", "secure, rejected to clients"
           if reneg["supports_secure_renegotiation"]
           and not reneg["is_vulnerable_to_client_renegotiation_dos"] else str(reneg), "rejected",
           reneg["supports_secure_renegotiation"]
           and not reneg["is_vulnerable_to_client_renegotiation_dos"])
    faults = [name for name, key in (
        ("tls_compression", "supports_compression"), ("tls_1_3_early_data", "supports_early_data"),
        ("heartbleed", "is_vulnerable_to_heartbleed"),
        ("openssl_ccs_injection", "is_vulnerable_to_ccs_injection")) if result(name)[key]]
    robot = result("robot")["robot_result"]
    if not robot.startswith("NOT_VULNERABLE"):
        faults.append("robot")
    yield (what + "compression, early data, Heartbleed, CCS injection, ROBOT",
           ", ".join(faults) or "none", "none", not faults)
