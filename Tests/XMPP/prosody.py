"""A Prosody for a test: the installed one, or Debian's packages unpacked in .build/prosody."""

import glob
import os
import shutil
import socket
import subprocess
import tempfile
import time

import debian

PACKAGES = (
    "prosody", "lua5.4", "lua-expat", "lua-filesystem", "lua-sec", "lua-socket", "lua-bitop")

CONFIG = """
pidfile = "%(folder)s/prosody.pid"
data_path = "%(folder)s/data"
log = { error = "%(folder)s/prosody.log" }
run_as_root = true
modules_enabled = {
    "roster", "saslauth", "presence", "ping", "disco", "version", "time", "uptime", "lastactivity" }
modules_disabled = { "s2s", "tls", "offline" }
authentication = "internal_plain"
allow_unencrypted_plain_auth = true
c2s_require_encryption = false
storage = "internal"
interfaces = { "127.0.0.1" }
c2s_ports = { %(port)d }
VirtualHost "localhost"
"""


def command():
    """How Prosody is started, and the environment that it needs."""
    installed = shutil.which("prosody")
    if installed:
        return [installed], None
    folder, is_new = debian.unpacked("prosody", *PACKAGES)
    script = folder + "/usr/bin/prosody"
    if is_new:
        with open(script) as file:
            text = file.read().replace("'/usr/lib/prosody", "'%s/usr/lib/prosody" % folder)
        with open(script, "w") as file:
            file.write(text)
    share = folder + "/usr/share/lua/5.4/"
    modules = glob.glob(folder + "/usr/lib/*/lua/5.4")
    environment = dict(
        os.environ, LD_LIBRARY_PATH=debian.libraries(folder),
        LUA_PATH_5_4="%s?.lua;%s?/init.lua;;" % (share, share),
        LUA_CPATH_5_4="".join(path + "/?.so;" for path in modules) + ";")
    return [folder + "/usr/bin/lua5.4", script], environment


class Prosody:
    """One with accounts, without TLS."""

    def __init__(self, accounts, password="x"):
        started, environment = command()
        self.folder = tempfile.mkdtemp(prefix="porchlight-prosody-")
        self.provision(accounts, password)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        config = os.path.join(self.folder, "prosody.cfg.lua")
        with open(config, "w") as file:
            file.write(CONFIG % {"folder": self.folder, "port": self.port})
        self.log = open(os.path.join(self.folder, "output"), "wb")
        self.process = subprocess.Popen(
            [*started, "-F", "--config", config], env=environment, stdout=self.log,
            stderr=self.log, stdin=subprocess.DEVNULL)
        self.wait_until_it_listens()

    def provision(self, accounts, password):
        folder = os.path.join(self.folder, "data", "localhost", "accounts")
        os.makedirs(folder)
        for account in accounts:
            # Prosody writes other bytes than letters and digits of a name as %hh.
            with open(os.path.join(folder, account.replace("-", "%2d") + ".dat"), "w") as file:
                file.write('return { ["password"] = "%s"; };\n' % password)

    def wait_until_it_listens(self):
        end = time.monotonic() + 20
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.05)
        with open(self.log.name, errors="replace") as file:
            text = file.read()[-2000:]
        self.close()
        raise debian.Missing("Prosody does not start: " + text)

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(60)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
