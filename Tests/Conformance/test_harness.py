"""The harness itself: a test passes only if all that it started went well."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

# What carries the frames makes no difference to these tests.
CARRIED = False

here = os.path.dirname(os.path.abspath(__file__))


class Threads(unittest.TestCase):
    def outcome(self, body):
        """Runs a suite of one test in a process of its own."""
        with tempfile.TemporaryDirectory(prefix="porchlight-conf-") as folder:
            with open(os.path.join(folder, "test_sample.py"), "w") as file:
                file.write("import threading, unittest\n"
                           "class Sample(unittest.TestCase):\n"
                           "    def test_sample(self):\n" + textwrap.indent(body, " " * 8))
            done = subprocess.run(
                [sys.executable, "-B", os.path.join(here, "run"), "--tests", folder],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout

    def test_that_ends_by_an_exception_fails_its_test(self):
        code, said = self.outcome("t = threading.Thread(target=lambda: 1 / 0)\n"
                                  "t.start()\nt.join()\n")
        self.assertEqual(code, 1, said)
        self.assertIn("FAILED test_sample.Sample.test_sample", said)
        self.assertIn("ZeroDivisionError", said)
        self.assertTrue(said.endswith("0 passed, 1 failed\n"), said)

    def test_of_a_thread_does_too(self):
        code, said = self.outcome("t = threading.Timer(0, lambda: 1 / 0)\n"
                                  "u = threading.Thread(target=lambda: (t.start(), t.join()))\n"
                                  "u.start()\nu.join()\n")
        self.assertEqual(code, 1, said)
        self.assertTrue(said.endswith("0 passed, 1 failed\n"), said)

    def test_that_ends_well_changes_nothing(self):
        code, said = self.outcome("t = threading.Thread(target=lambda: 1)\nt.start()\nt.join()\n")
        self.assertEqual(code, 0, said)
        self.assertTrue(said.endswith("1 passed, 0 failed\n"), said)

    def test_that_is_skipped_is_told(self):
        _, said = self.outcome("self.skipTest('no moon')\n")
        self.assertIn("skipped 1: no moon", said)
