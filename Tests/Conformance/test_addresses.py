"""A start on addresses that the machine does not have yet."""

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import time
import unittest

from porchlight import BINARY, WAIT, Case

# What carries the frames makes no difference to these tests.
CARRIED = False

# For documentation (RFC 5737): no machine has it, unless a test adds it.
ADDRESS = "203.0.113.1"
LINE = "warning porchlight: the address of a listener is not available yet; trying again address="


def can_make_networks():
    """Whether a process can be given a network of its own, to which addresses can be added."""
    with contextlib.suppress(FileNotFoundError):
        return subprocess.run(["unshare", "--net", "ip", "link", "set", "lo", "up"],
                              capture_output=True, timeout=WAIT).returncode == 0
    return False


class Waiting(Case):
    flags = None

    def setUp(self):
        super().setUp()
        self.folder = self.new_folder()
        self.log = os.path.join(self.folder, "log")

    def begin(self, *flags, before=(), environment=None):
        """Starts a service on the address."""
        with open(self.log, "wb") as log:
            process = subprocess.Popen(
                [*before, BINARY, "serve", "--listen", ADDRESS + ":0", "--auth", "open",
                 "--i-know-this-is-open", "--data", os.path.join(self.folder, "data"), *flags],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                env=dict(os.environ, **(environment or {})))
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()

    def text(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read()

    def await_lines(self, count, process):
        """The pauses of the first `count` lines, once there are so many."""
        end = time.monotonic() + WAIT
        while True:
            found = re.findall(re.escape(LINE + ADDRESS) + r":0 seconds=(\d+)\n", self.text())
            if len(found) >= count:
                return [int(seconds) for seconds in found[:count]]
            self.assertIsNone(process.poll(), self.text())
            self.assertLess(time.monotonic(), end, self.text())
            time.sleep(0.01)

    def test_it_tries_again_until_it_is_stopped(self):
        for number, pauses in ((signal.SIGTERM, [1, 2, 4]), (signal.SIGINT, [1])):
            with self.subTest(signal=number):
                process = self.begin()
                self.assertEqual(self.await_lines(len(pauses), process), pauses)
                process.send_signal(number)
                self.assertEqual(process.wait(WAIT), 0)
                self.assertEqual(process.stdout.read(), b"")
                self.assertNotIn("rror", self.text())

    def test_the_supervisor_is_notified(self):
        path = os.path.join(self.folder, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
            supervisor.bind(path)
            supervisor.settimeout(WAIT)
            process = self.begin(environment={"NOTIFY_SOCKET": path})
            for seconds in (1, 2):
                told = supervisor.recv(4096).decode().splitlines()
                self.assertIn("STATUS=Waiting for the address of a listener: %s:0" % ADDRESS, told)
                extended = [int(line.partition("=")[2]) for line in told
                            if line.startswith("EXTEND_TIMEOUT_USEC=")]
                self.assertEqual(len(extended), 1, told)
                self.assertGreater(extended[0], seconds * 1_000_000)
            process.terminate()
            self.assertEqual(process.wait(WAIT), 0)

    @unittest.skipUnless(can_make_networks(), "needs root, for a network of its own")
    def test_it_starts_when_the_address_is_there(self):
        path = os.path.join(self.folder, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
            supervisor.bind(path)
            supervisor.settimeout(WAIT)
            process = self.begin(
                before=["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"],
                environment={"NOTIFY_SOCKET": path})
            self.await_lines(1, process)
            inside = ["nsenter", "--net", "--target", str(process.pid)]
            subprocess.run([*inside, "ip", "address", "add", ADDRESS + "/32", "dev", "lo"],
                           check=True, timeout=WAIT)
            self.assertTrue(select.select([process.stdout], [], [], WAIT)[0], self.text())
            ready = process.stdout.readline().decode()
            self.assertTrue(ready.startswith("ready on %s:" % ADDRESS), ready)
            told = []
            while "READY=1" not in told:
                told += supervisor.recv(4096).decode().splitlines()
            # What it waited for is not shown any longer.
            self.assertEqual([line for line in told if line.startswith("STATUS=")][-1], "STATUS=")
            self.assertEqual(
                [line for line in told if line.startswith("EXTEND_TIMEOUT_USEC=")][-1],
                "EXTEND_TIMEOUT_USEC=300000000")
        address = ready.split()[2]
        done = subprocess.run([*inside, BINARY, "query", "alice", "--connect", address],
                              capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(done.returncode, 0, done)
        process.terminate()
        self.assertEqual(process.wait(WAIT), 0)

    def test_wrong_settings_are_rejected_at_once(self):
        process = self.begin("--heartbeat", "0")
        self.assertEqual(process.wait(WAIT), 64)
        self.assertNotIn(LINE, self.text())
