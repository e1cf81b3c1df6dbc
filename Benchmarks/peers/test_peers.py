"""python3 Benchmarks/peers/test_peers.py: what measures is itself measured."""

import contextlib
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import clocks
import install
import measure as measuring
import messages
import table
from measure import end, figures, measure, running, start
from servers import HERE, Ejabberd, Failure, Floor, Ours, Server, find_program

WORKLOAD = {
    "accounts": 20, "group": 10, "window": 900, "payload": 100, "single": 0.05,
    "saturated": 0.05, "patience": 1,
}


def setUpModule():
    # Memory is not what is tested.
    measuring.REST_SECONDS = 0
    measuring.ENDING_SECONDS = 1


class FaultyFloor(Floor):
    """A server that does one thing wrong, once."""

    fault = ""

    def command(self, folder, port, workload):
        return super().command(folder, port, workload) + ["--fault", self.fault]


class Load(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools = {"load": install.build_load(), "porchlight": install.built_porchlight()}

    def faulty(self, fault):
        server = FaultyFloor(self.tools)
        server.fault = fault
        return server

    def test_takes_what_is_right(self):
        result = measure(self.faulty(""), WORKLOAD)
        self.assertEqual(result["single"]["deliveries"], result["single"]["events"] * 9)
        self.assertEqual(result["saturated"]["deliveries"], result["saturated"]["events"] * 9)

    def test_finds_a_lost_delivery(self):
        with self.assertRaises(Failure):
            measure(self.faulty("lose"), WORKLOAD)

    def test_finds_a_doubled_delivery(self):
        with self.assertRaises(Failure):
            measure(self.faulty("double"), WORKLOAD)


class FakeXMPP(Server):
    """A server of presences that does one thing wrong, once."""

    title, fault = "fake XMPP", ""

    def command(self, folder, port, workload):
        return [sys.executable, "-B", os.path.join(HERE, "fake_xmpp.py"), str(port), self.fault]


class XMPPLoad(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools = {"load": install.build_load()}

    def measured(self, protocol, fault):
        server = FakeXMPP(self.tools)
        server.protocol, server.fault = protocol, fault
        return measure(server, dict(WORKLOAD, accounts=10))

    def test_takes_what_is_right(self):
        result = self.measured("xmpp", "")
        self.assertEqual(result["saturated"]["deliveries"], result["saturated"]["events"] * 9)

    def test_finds_lost_and_doubled_deliveries(self):
        for protocol in ("ours-xmpp", "xmpp", "ejabberd"):
            for fault in ("lose", "double"):
                with self.subTest(protocol=protocol, fault=fault), self.assertRaises(Failure):
                    self.measured(protocol, fault)

    def test_only_ejabberd_may_repeat_an_initial_presence(self):
        self.measured("ejabberd", "repeat")
        for protocol in ("ours-xmpp", "xmpp"):
            with self.subTest(protocol=protocol), self.assertRaises(Failure):
                self.measured(protocol, "repeat")


class MessageLoad(unittest.TestCase):
    workload = {"accounts": 4, "each": 3, "cycles": 2, "payload": 40, "patience": 1}

    @classmethod
    def setUpClass(cls):
        cls.tools = {"load": install.build_load()}

    def measured(self, fault):
        server = FakeXMPP(self.tools)
        server.protocol, server.fault = "xmpp", fault
        return messages.measure(server, self.workload)

    def test_takes_what_is_right(self):
        result = self.measured("")
        self.assertAlmostEqual(result["message"], result["stored"] + result["delivered"])

    def test_finds_what_is_wrong(self):
        for fault in ("lose", "double", "swap", "early", "keep"):
            with self.subTest(fault=fault), self.assertRaises(Failure):
                self.measured(fault)

    def test_divides_by_the_messages_of_all_cycles_but_the_first(self):
        samples = [("connected", 1.0)]
        for begin, stored, delivered in ((1.0, 3.0, 4.0), (4.5, 4.506, 4.509)):
            samples += [("cycle-begins", begin), ("stored", stored), ("delivered", delivered)]
        found = messages.figures(samples, self.workload)
        self.assertAlmostEqual(found["stored"], 500)
        self.assertAlmostEqual(found["delivered"], 250)
        self.assertAlmostEqual(found["message"], 750)

    def test_compares_within_a_round(self):
        def round_of(microseconds):
            return {"stored": 1.0, "delivered": 1.0, "message": microseconds}

        text = messages.markdown({
            messages.OursWithMessages.title: [round_of(2.0), round_of(6.0)],
            "other": [round_of(4.0), round_of(12.0)]})
        self.assertTrue(text.endswith("| 2.00 |"), text)


class Processes(unittest.TestCase):
    def test_a_server_ends_with_what_it_has_started(self):
        process = start(["sh", "-c", "sleep 600 & echo $!; exec sleep 600"], 0)
        child = int(process.stdout.readline())
        end(process)
        self.assertEqual(running_of([child]), [])


@unittest.skipUnless(find_program("ejabberdctl"), "ejabberd is not installed")
class EjabberdAlone(unittest.TestCase):
    def test_it_listens_on_one_loopback_port_and_starts_no_epmd(self):
        with running(Ejabberd({}), {"accounts": 4, "group": 2}) as (process, port):
            family = clocks.family(process.pid)
            self.assertEqual(listening(family), {("127.0.0.1", port)})
            self.assertNotIn("epmd", [status(pid)[0] for pid in family])
        self.assertEqual(running_of(family), [])


def status(pid):
    """The name of a process and its state, `Z` if nobody has taken note of its end."""
    with open(f"/proc/{pid}/stat") as file:
        name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
    return name, rest.split()[0]


def running_of(processes):
    return [pid for pid in processes if os.path.exists(f"/proc/{pid}") and status(pid)[1] != "Z"]


def listening(processes):
    """The addresses that processes listen on, TCP over IPv4 and IPv6."""
    sockets = set()
    for pid in processes:
        for file in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                sockets.add(os.readlink(file.path))
    found = set()
    for table_of in ("tcp", "tcp6"):
        with open(f"/proc/{processes[0]}/net/{table_of}") as file:
            for fields in (line.split() for line in file):
                if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                    address, port = fields[1].split(":")
                    host = bytes.fromhex(address)[::-1]
                    found.add((".".join(map(str, host)), int(port, 16)))
    return found


class FakeSample:
    def __init__(self, cpu, memory):
        self.cpu, self.memory, self.load_cpu = cpu, memory, 0.0


class Table(unittest.TestCase):
    phases = {
        "connected": (FakeSample(1.0, 1_000_000),),
        "subscribed": (FakeSample(1.18, 1_900_000),),
        "rested": (FakeSample(1.18, 1_200_000),),
        "single-begins": (FakeSample(2.0, 0),),
        "single": (FakeSample(2.5, 0), 100_000, 11_000, 1.0),
        "saturated-begins": (FakeSample(3.0, 0),),
        "saturated": (FakeSample(3.5, 0), 1_000_000, 110_000, 1.0),
    }

    def test_divides_by_what_was_done(self):
        found = figures(self.phases, FakeSample(0.0, 1_000_000), WORKLOAD)
        self.assertAlmostEqual(found["single"]["delivery_us"], 5.0)
        self.assertAlmostEqual(found["saturated"]["delivery_us"], 0.5)
        self.assertAlmostEqual(found["subscription_us"], 1000.0)
        self.assertAlmostEqual(found["connection_bytes"], 10_000)

    def test_compares_within_a_round(self):
        def round_of(microseconds):
            return {"single": {"delivery_us": microseconds}}

        # A machine that is three times slower in the second round changes no ratio.
        results = {Ours.title: [round_of(2.0), round_of(6.0)],
                   "other": [round_of(4.0), round_of(12.0)]}
        self.assertEqual(table.ratios(results, "other", Ours.title, "single"), 2.0)


if __name__ == "__main__":
    # The load reports the faults that these tests make, on the standard error that it inherits:
    # that looks like a failure, so it is shown only if there is one.
    with tempfile.TemporaryFile() as said:
        before = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            program = unittest.main(exit=False, verbosity=0)
        finally:
            os.dup2(before, 2)
        failed = not program.result.wasSuccessful()
        print("peers:", "FAILED" if failed else f"ok, {program.result.testsRun} tests")
        if failed:
            for _, trace in program.result.failures + program.result.errors:
                print(trace)
            said.seek(0)
            print(said.read().decode("utf-8", "replace"))
    sys.exit(failed)
