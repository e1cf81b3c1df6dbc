"""One server under the workload: starts both, reads the server's clocks between the phases."""

import contextlib
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import clocks
from servers import Failure

PATIENCE_SECONDS = 180
# What a server needs to do its work is not what a connection costs: Porchlight gives its
# database's cache back three seconds after the last write.
REST_SECONDS = 4
# What a server has started may take as long to end when the server has.
ENDING_SECONDS = 5


def free_port():
    """A port that nobody has now. Who takes it first is a race that is seldom lost."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cores():
    """The core of the server and that of the load; the same where there is one alone."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[-1], allowed[0]


@contextlib.contextmanager
def running(server, workload):
    """A server on a core of its own, in a folder that goes with it: its process and port."""
    folder = tempfile.mkdtemp(prefix="porchlight-peers-")
    process = None
    try:
        server.provision(folder, workload)
        port = free_port()
        process = start(server.command(folder, port, workload), cores()[0], folder)
        yield process, server.wait_until_ready(process, port)
    finally:
        end(process)
        shutil.rmtree(folder, ignore_errors=True)


def start(command, core, folder=None):
    return subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}))


def end(process):
    """Ends what was started here, and nothing else."""
    if process is None:
        return
    descendants = open_descendants(process.pid)
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdin.close()
    process.stdout.close()
    end_descendants(descendants)


def open_descendants(pid):
    """A file descriptor of each process that a server has started: a number may be used again."""
    found = []
    for descendant in clocks.family(pid)[1:]:
        with contextlib.suppress(ProcessLookupError):
            found.append(os.pidfd_open(descendant))
    return found


def end_descendants(descendants):
    """Those of ejabberd end with it, some a moment later."""
    deadline = time.monotonic() + ENDING_SECONDS
    for descendant in descendants:
        # Readable once the process has ended.
        left = max(0, deadline - time.monotonic())
        if not select.select([descendant], [], [], left)[0]:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descendant, signal.SIGKILL)
            select.select([descendant], [], [], 5)
        os.close(descendant)


class Sample:
    """What a server has used up to now, and the load with it."""

    def __init__(self, server, load=None):
        self.cpu = clocks.cpu_seconds(server)
        self.memory = clocks.memory_bytes(server)
        self.load_cpu = clocks.cpu_seconds(load) if load else 0.0


def measure(server, workload):
    """Runs the whole workload against `server` and gives its figures."""
    with running(server, workload) as (process, port):
        base = Sample(process.pid)
        names = ("accounts", "group", "window", "payload", "single", "saturated", "patience")
        command = [server.tools["load"], server.protocol, str(port)]
        load = start(command + [str(workload[name]) for name in names], cores()[1])
        try:
            phases = follow(load, process)
        except Failure as failure:
            raise Failure(f"{server.title}: {failure}") from None
        finally:
            end(load)
    return figures(phases, base, workload)


def follow(load, server):
    """Takes a sample where the load says that a phase is over, and has it go on."""
    phases = {}
    for line in load.stdout:
        name, *numbers = line.decode().split()
        if name == "event-bytes":
            phases[name] = int(numbers[0])
            continue
        phases[name] = (Sample(server.pid, load.pid), *map(float, numbers))
        if name == "subscribed":
            time.sleep(REST_SECONDS)
            phases["rested"] = (Sample(server.pid, load.pid),)
        load.stdin.write(b"\n")
        load.stdin.flush()
    if load.wait(timeout=PATIENCE_SECONDS) != 0 or "saturated" not in phases:
        raise Failure("the load program has found a fault; what it said is above.")
    return phases


def figures(phases, base, workload):
    connected, subscribed = phases["connected"][0], phases["subscribed"][0]
    rested = phases["rested"][0]
    subscriptions = workload["accounts"] * (workload["group"] - 1)
    result = {
        "login_us": (connected.cpu - base.cpu) * 1e6 / workload["accounts"],
        "subscription_us": (subscribed.cpu - connected.cpu) * 1e6 / subscriptions,
        "connection_bytes": (rested.memory - base.memory) / workload["accounts"],
    }
    if "event-bytes" in phases:
        result["event_bytes"] = phases["event-bytes"]
    for name in ("single", "saturated"):
        begin = phases[f"{name}-begins"][0]
        after, deliveries, events, seconds = phases[name]
        if deliveries == 0:
            raise Failure(f"nothing was delivered in {seconds} s.")
        result[name] = {
            "delivery_us": (after.cpu - begin.cpu) * 1e6 / deliveries,
            "deliveries": int(deliveries),
            "events": int(events),
            "seconds": seconds,
            "server_share": (after.cpu - begin.cpu) / seconds,
            "load_share": (after.load_cpu - begin.load_cpu) / seconds,
        }
    return result
