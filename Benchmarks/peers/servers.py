"""The servers that are compared: how each is installed, started, asked for its version."""

import glob
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

import relate

HERE = os.path.dirname(os.path.abspath(__file__))


class Failure(Exception):
    """What a person is told instead of a table."""


class Server:
    """A kind of server. `protocol` is the name of its driver in the load program."""

    title = protocol = package = program = config = None
    # In how many rounds it takes part.
    rounds_max = 100

    def __init__(self, tools):
        self.tools = tools  # Paths of what was built or installed for this run.

    def command(self, folder, port, workload):
        return [self.binary(), *self.arguments(self.write_config(folder, port))]

    def arguments(self, config):
        return [config]

    def binary(self):
        return find_program(self.program)

    def version(self):
        package = self.package
        return run_for_text(["dpkg-query", "-W", "-f=${Version}", package]) or "unknown"

    def provision(self, folder, workload):
        """Writes what must be there before the start."""

    def write_config(self, folder, port):
        with open(os.path.join(HERE, "config", self.config)) as file:
            text = file.read()
        path = os.path.join(folder, self.config)
        with open(path, "w") as file:
            file.write(text.replace("@PORT@", str(port)).replace("@DIR@", folder))
        return path

    def wait_until_ready(self, process, port):
        """Waits until somebody listens, and gives the port."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return port
            time.sleep(0.02)
        raise Failure(f"{self.title} does not listen; what it said is above.")


class SaysItsPort(Server):
    """A server that takes any port and prints `ready on HOST:PORT`."""

    said = r"ready on \S+?:(\d+)"

    def wait_until_ready(self, process, port):
        line = process.stdout.readline().decode()
        found = re.match(self.said, line)
        if not found:
            raise Failure(f"{self.title} does not start; it said {line!r}.")
        return int(found[1])


class Ours(SaysItsPort):
    title, protocol = "Porchlight", "ours"

    def command(self, folder, port, workload):
        # Limits on pace are for abuse, which this is not; a heartbeat would be noise.
        return [
            self.tools["porchlight"], "serve", "--listen", "127.0.0.1:0",
            "--data", os.path.join(folder, "data"), "--rate-limits", "off", "--heartbeat", "300",
        ]

    def version(self):
        return run_for_text([self.tools["porchlight"], "version"]).replace("porchlight ", "")


class OursOverWebSocket(Ours):
    title, protocol = "Porchlight, WebSocket", "ours-ws"


class OursOverTLS(Ours):
    title, protocol = "Porchlight, TLS", "ours+tls"

    def command(self, folder, port, workload):
        certificate, key = make_certificate(folder)
        return super().command(folder, port, workload) + [
            "--listen-tls", "127.0.0.1:0", "--tls-certificate", certificate, "--tls-key", key]

    said = r"ready on \S+, tls on \S+?:(\d+)"


class OursOverSecureWebSocket(OursOverTLS):
    title, protocol = "Porchlight, wss", "ours-ws+tls"


class OursOverXMPP(Ours):
    """XMPP clients; their relationships are made by app servers before the start."""

    title, protocol = "Porchlight, XMPP", "ours-xmpp"
    said = r"ready on .*xmpp on \S+?:(\d+)"
    # The database of a workload, made once for all rounds.
    made = {}

    def provision(self, folder, workload):
        size = (workload["accounts"], workload["group"])
        if size not in self.made:
            template = tempfile.TemporaryDirectory(prefix="porchlight-peers-")
            relate.make_groups(
                self.tools["porchlight"], os.path.join(template.name, "data"), *size)
            self.made[size] = template
        shutil.copytree(
            os.path.join(self.made[size].name, "data"), os.path.join(folder, "data"))

    def command(self, folder, port, workload):
        return super().command(folder, port, workload) + [
            "--xmpp-listen", "127.0.0.1:0", "--xmpp-domain", "localhost", "--xmpp-plaintext",
            "--restart-grace", "0"]


class UWebSockets(Server):
    """Topics by uWebSockets; an event costs a few lines of Python, a delivery none."""

    title, protocol = "uWebSockets", "uws"

    def command(self, folder, port, workload):
        return [self.tools["socketify"], os.path.join(HERE, "config", "uws_server.py"), str(port)]

    def version(self):
        return "in socketify " + run_for_text([
            self.tools["socketify"], "-c",
            "from importlib.metadata import version; print(version('socketify'))"])


class UWebSocketsOverTLS(UWebSockets):
    title, protocol = "uWebSockets, wss", "uws+tls"

    def command(self, folder, port, workload):
        return super().command(folder, port, workload) + [*make_certificate(folder)]


class Floor(SaysItsPort):
    title, protocol = "the floor: write", "floor"

    def command(self, folder, port, workload):
        return [
            self.tools["porchlight"], "bench", "floor-server",
            "--accounts", str(workload["accounts"]), "--group", str(workload["group"]),
            "--event-bytes", str(workload["payload"])]

    def version(self):
        return "Sources/CBench/floor.c"


class Redis(Server):
    title, protocol, config = "Redis pub/sub", "redis", "redis.conf"
    package = program = "redis-server"


class Mosquitto(Server):
    title, protocol, config = "Mosquitto", "mqtt", "mosquitto.conf"
    package = program = "mosquitto"

    def arguments(self, config):
        return ["-c", config]


class Nats(Server):
    title, protocol, config = "NATS", "nats", "nats.conf"

    def arguments(self, config):
        return ["-c", config]

    def binary(self):
        return self.tools["nats-server"]

    def version(self):
        return run_for_text([self.binary(), "--version"]).split("v")[-1]


class Prosody(Server):
    title, protocol, config = "Prosody (XMPP)", "xmpp", "prosody.cfg.lua"
    package = program = "prosody"
    # A thousand logins with presence take it longer than all others need for everything.
    rounds_max = 2

    def arguments(self, config):
        return ["-F", "--config", config]

    def provision(self, folder, workload):
        """Accounts, and rosters with subscriptions both ways, as Prosody keeps them."""
        host = os.path.join(folder, "data", "localhost")
        for kind in ("accounts", "roster"):
            os.makedirs(os.path.join(host, kind))
        for account in range(workload["accounts"]):
            name = f"u{account:07}"
            with open(os.path.join(host, "accounts", f"{name}.dat"), "w") as file:
                file.write(f'return {{ ["password"] = "{name}"; }};\n')
            first = account - account % workload["group"]
            with open(os.path.join(host, "roster", f"{name}.dat"), "w") as file:
                file.write('return {\n[false] = { ["version"] = 1; ["pending"] = {}; };\n')
                for other in range(first, first + workload["group"]):
                    if other != account:
                        file.write(
                            f'["u{other:07}@localhost"] = '
                            '{ ["subscription"] = "both"; ["groups"] = {}; };\n')
                file.write("};\n")


class Ejabberd(Server):
    title, protocol, config = "ejabberd (XMPP)", "ejabberd", "ejabberd.yml"
    package, program = "ejabberd", "ejabberdctl"
    rounds_max = 2
    rosters = os.path.join(HERE, "config", "ejabberd_rosters.eval")
    # The database of a workload, made once for all rounds.
    made = {}

    def command(self, folder, port, workload):
        """Erlang without a node name: it starts no epmd and listens to no other node.

        Its threads do not spin while they wait: that would be counted as the cost of a delivery.
        """
        libraries = glob.glob("/usr/lib/*/ejabberd-*/ebin")
        if not libraries:
            raise Failure("ejabberd is not where Debian puts it.")
        environment = {
            "ERL_LIBS": os.path.dirname(os.path.dirname(libraries[0])),
            "ERL_CRASH_DUMP_SECONDS": "0",
            "EJABBERD_CONFIG_PATH": self.write_config(folder, port),
            "EJABBERD_LOG_PATH": os.path.join(folder, "ejabberd.log"),
            "SPOOL_DIR": os.path.join(folder, "data"),
        }
        return [
            "env", *(f"{name}={value}" for name, value in environment.items()),
            find_program("erl"), "-noinput", "+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio",
            "none", "-mnesia", "dir", f'"{folder}/data"', "-s", "ejabberd"]

    def provision(self, folder, workload):
        size = (workload["accounts"], workload["group"])
        if size not in self.made:
            self.made[size] = self.make_rosters(*size)
        shutil.copytree(
            os.path.join(self.made[size].name, "data"), os.path.join(folder, "data"))

    def make_rosters(self, accounts, group):
        template = tempfile.TemporaryDirectory(prefix="porchlight-peers-")
        os.mkdir(os.path.join(template.name, "data"))
        command = self.command(template.name, 0, None) + [
            "-accounts", str(accounts), "-group", str(group), "-eval",
            f'ok = ejabberd:start_app(ejabberd), ok = file:eval("{self.rosters}").']
        done = subprocess.run(
            command, cwd=template.name, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120, check=False)
        if "rosters made" not in done.stdout:
            raise Failure(f"ejabberd makes no rosters; it said {done.stdout[-2000:]!r}.")
        return template


ALL = [
    Floor, Ours, OursOverWebSocket, UWebSockets, OursOverTLS, OursOverSecureWebSocket,
    UWebSocketsOverTLS, Redis, Mosquitto, Nats, OursOverXMPP, Prosody, Ejabberd,
]


def make_certificate(folder):
    """A self-signed certificate (P-256) and its key: two paths."""
    certificate, key = (os.path.join(folder, name) for name in ("tls.crt", "tls.key"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", key, "-out", certificate, "-days", "60", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, capture_output=True)
    os.chmod(key, 0o600)
    return certificate, key


def find_program(name):
    """A path; Debian keeps servers where not everybody looks."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def run_for_text(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip()
