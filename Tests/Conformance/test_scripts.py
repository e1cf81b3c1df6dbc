"""The scripts as a newcomer meets them, with stand-ins for the programs that change a machine."""

import contextlib
import os
import re
import select
import shutil
import signal
import ssl
import stat
import subprocess
import sys
import tempfile
import unittest

# What carries the frames makes no difference to these tests.
CARRIED = False

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SWIFT = "echo 'Swift version %s (swift-%s-RELEASE)'"


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="porchlight-conf-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.bin = os.path.join(self.folder, "bin")
        self.log = os.path.join(self.folder, "log")
        os.mkdir(self.bin)
        # Only these programs are there, and what a script of this test puts beside them.
        for name in ("bash", "env", "cat", "sed", "grep", "head", "sort", "dirname", "python3",
                     "cmp", "tail", "awk", "stat", "git", "make", "sh", "install", "test", "ls",
                     "chmod", "rm", "mkdir", "tee", "sleep", "seq", "tr", "cut"):
            found = shutil.which(name)
            if found:
                os.symlink(found, os.path.join(self.bin, name))

    def put(self, name, body):
        """A program that notes its arguments, and does this."""
        path = os.path.join(self.bin, name)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "w") as file:
            file.write("#!/bin/bash\necho \"%s $*\" >>'%s'\n%s\n" % (name, self.log, body))
        os.chmod(path, stat.S_IRWXU)

    def run_script(self, *words, root=ROOT, **variables):
        done = subprocess.run(
            [os.path.join(root, words[0]), *words[1:]], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, cwd=root,
            env={"PATH": self.bin, "HOME": self.folder, "LANG": "C.UTF-8", **variables})
        return done.returncode, done.stdout, done.stderr

    def calls(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            return file.read().splitlines()

    def debian(self, installed, root=True):
        self.put("swift", SWIFT % ("6.3.1", "6.3.1"))
        self.put("dpkg-query", "echo 'install ok installed'" if installed else "exit 1")
        self.put("apt-get", "[[ $* == *--simulate* ]] && printf 'Inst a\\nInst b\\n'; exit 0")
        self.put("systemctl", "exit 0")
        self.put("id", "echo %d" % (0 if root else 1000))


class Setup(Scripts):
    def test_nothing_is_installed_where_everything_is_there(self):
        self.debian(installed=True)
        code, said, _ = self.run_script("scripts/setup")
        self.assertEqual((code, said), (0, "Swift 6.3.1\n"))
        self.assertFalse([call for call in self.calls() if call.startswith("apt-get")])

    def test_packages_are_named_counted_and_come_alone(self):
        self.debian(installed=False)
        code, said, fault = self.run_script("scripts/setup")
        self.assertEqual(code, 0, fault)
        self.assertIn("installing from Debian: libuv1-dev libsqlite3-dev", said)
        self.assertIn("(2 packages with their dependencies, without recommended ones)", said)
        for call in self.calls():
            if call.startswith("apt-get install"):
                self.assertIn("--no-install-recommends", call)

    def test_what_is_skipped_without_node_is_said(self):
        self.debian(installed=True)
        # Debian 13 has Node 20: it is installed there.
        with open("/etc/os-release", encoding="utf-8") as file:
            has_package = "trixie" in file.read()
        for version, is_said in (("v18.20.4", not has_package), ("v20.1.0", False)):
            self.put("node", "echo " + version)
            code, said, fault = self.run_script("scripts/setup", "javascript")
            self.assertEqual(code, 0, fault)
            self.assertEqual("skipped without Node 20: " in said, is_said, said)
            self.assertEqual("https://nodejs.org/" in said, is_said, said)

    def test_without_root_and_sudo_the_command_is_printed(self):
        self.debian(installed=False, root=False)
        code, _, fault = self.run_script("scripts/setup")
        self.assertEqual(code, 1)
        self.assertIn("    apt-get install --no-install-recommends libuv1-dev", fault)

    def test_the_version_of_swift_is_checked(self):
        for version, code, words in (("6.2.4", 1, "is Swift 6.2.4"), ("5.10", 1, "is Swift 5.10"),
                                     ("6.3", 0, "Swift 6.3\n"), ("6.3.9", 0, "Swift 6.3.9\n"),
                                     ("6.10.1", 0, "Swift 6.10.1 (tested with 6.3)")):
            with self.subTest(version=version):
                self.debian(installed=True)
                self.put("swift", SWIFT % (version, version))
                found, said, fault = self.run_script("scripts/setup")
                self.assertEqual(found, code, said + fault)
                self.assertIn(words, said + fault)

    def test_without_swift_it_says_where_to_get_it(self):
        self.debian(installed=True)
        os.unlink(os.path.join(self.bin, "swift"))
        code, _, fault = self.run_script("scripts/setup")
        self.assertEqual(code, 1)
        self.assertIn("https://www.swift.org/install/linux/", fault)

    def test_a_swift_that_does_not_start_is_shown(self):
        self.debian(installed=False)
        self.put("swift", "echo 'swift: error while loading shared libraries' >&2; exit 127")
        code, said, fault = self.run_script("scripts/setup")
        self.assertEqual((code, said), (1, ""))
        self.assertIn("swift: error while loading shared libraries\nSwift 6.3 is needed, and ", fault)
        self.assertIn("https://www.swift.org/install/linux/", fault)

    def test_on_other_systems_the_packages_are_listed(self):
        self.put("swift", SWIFT % ("6.3.1", "6.3.1"))
        code, said, fault = self.run_script("scripts/setup")
        self.assertEqual(code, 1)
        self.assertIn("this system has no apt-get", fault)
        self.assertIn("libsimdjson-dev", fault)
        self.assertNotIn("installing", said)


class Words(Scripts):
    def test_every_script_has_a_help(self):
        for name in ("setup", "test", "sanitize", "fuzz", "outdated", "loops", "tsan"):
            with self.subTest(name=name):
                code, said, fault = self.run_script("scripts/" + name, "--help")
                self.assertEqual((code, fault), (0, ""))
                self.assertTrue(said.startswith("scripts/" + name), said)
        for name in ("scripts/run-tls", "scripts/run-xmpp", "scripts/test-certificate",
                     "scripts/saslprep-tables", "Tests/WebSocket/run", "Tests/XMPP/run"):
            for option in ("-h", "--help"):
                with self.subTest(name=name):
                    code, said, fault = self.run_script(name, option)
                    self.assertEqual((code, fault), (0, ""))
                    self.assertTrue(said.startswith(name), said)
                    self.assertNotIn("set -e", said)
                    self.assertLessEqual(max(map(len, said.splitlines())), 105)

    def test_the_help_of_faults_has_a_usage_and_every_case(self):
        for words in (("--help",), ("-h",), ("quick", "--help")):
            code, said, fault = self.run_script("scripts/faults", *words)
            self.assertEqual((code, fault), (0, ""))
            self.assertTrue(said.startswith("usage: scripts/faults [all | quick"), said)
            self.assertRegex(said, r"(?m)^  disk-full \(quick\)\n      the disk is full: ")
            self.assertLessEqual(max(map(len, said.splitlines())), 100)
        code, said, fault = self.run_script("scripts/faults", "nope")
        self.assertEqual((code, said), (64, ""))
        self.assertIn("no such case: nope", fault)

    def test_the_help_of_the_metrics_test_has_a_usage(self):
        code, said, fault = self.run_script("Tests/Metrics/run", "--help")
        self.assertEqual((code, fault), (0, ""))
        self.assertTrue(said.startswith("usage: Tests/Metrics/run "), said)
        code, said, fault = self.run_script("Tests/Metrics/run", "/nope")
        self.assertEqual((code, said), (1, ""))
        self.assertEqual(fault, "metrics: /nope is not a program; run `swift build`\n")

    def test_wrong_words_are_rejected_before_anything_is_done(self):
        for words in (("setup", "tests"), ("test", "nope"), ("test", "check", "x"),
                      ("sanitize",), ("sanitize", "nope"), ("fuzz", "nope"), ("fuzz",),
                      ("fuzz", "frames", "nope"), ("outdated", "nope"),
                      ("saslprep-tables", "nope"), ("test-certificate",)):
            with self.subTest(words=words):
                code, said, fault = self.run_script("scripts/" + words[0], *words[1:])
                self.assertEqual((code, said), (64, ""), fault)
                self.assertTrue(fault)

    def test_strict_clients_accept_the_test_certificate(self):
        folder = tempfile.mkdtemp(prefix="porchlight-certificate-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        authority, certificate = (os.path.join(folder, name) for name in ("ca.crt", "server.crt"))
        # What an earlier version has made, which strict clients reject, is replaced.
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", os.path.join(folder, "ca.key"), "-out", authority, "-days", "365",
             "-subj", "/CN=before"], check=True, capture_output=True)
        made = []
        for _ in range(2):
            done = subprocess.run([os.path.join(ROOT, "scripts", "test-certificate"), folder],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            with open(authority) as file:
                made.append(file.read())
            checked = subprocess.run(
                ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", authority,
                 certificate], capture_output=True, text=True, timeout=60)
            self.assertEqual(checked.returncode, 0, checked.stderr)
            context = ssl.create_default_context(cafile=authority)
            context.verify_flags |= ssl.VERIFY_X509_STRICT
            server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            server.load_cert_chain(certificate, os.path.join(folder, "server.key"))
            ends = [ssl.MemoryBIO() for _ in range(2)]
            client = context.wrap_bio(*ends, server_hostname="localhost")
            other = server.wrap_bio(*reversed(ends), server_side=True)
            for _ in range(4):
                for end in (client, other):
                    with contextlib.suppress(ssl.SSLWantReadError):
                        end.do_handshake()
            self.assertTrue(client.getpeercert())
        self.assertEqual(made[0], made[1], "the authority stays")

    def test_the_image_is_built_with_every_file_that_is_embedded(self):
        with open(os.path.join(ROOT, "packaging", "Dockerfile"), encoding="utf-8") as file:
            copied = re.findall(r"^COPY (\S+) \1$", file.read(), re.M)
        sources = os.path.join(ROOT, "Sources", "CEmbeddedFiles")
        embedded = []
        for name in os.listdir(sources):
            if name.endswith(".c"):
                with open(os.path.join(sources, name), encoding="utf-8") as file:
                    embedded += re.findall(r'^#embed "\.\./\.\./(.*)"$', file.read(), re.M)
        self.assertIn("docs/openapi.json", embedded)
        self.assertIn("clients/demo/index.html", embedded)
        for path in embedded:
            self.assertTrue(any(path == one or path.startswith(one + "/") for one in copied), path)

    def test_the_image_is_sent_no_build(self):
        with open(os.path.join(ROOT, ".dockerignore"), encoding="utf-8") as file:
            left_out = {line for line in file.read().splitlines() if not line.startswith("#")}
        self.assertEqual(left_out, {".build", ".git"})

    def test_make_alone_prints_the_targets(self):
        done = subprocess.run(["make", "-C", ROOT, "--no-print-directory"], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        for target in ("run", "build", "test", "check", "simulate", "static", "install",
                       "outdated", "clean"):
            self.assertRegex(done.stdout, r"(?m)^make %s " % target)


class Steps(Scripts):
    """scripts/steps.py, with other steps."""

    # What a shell does in the steps of these tests.
    LASTS = "exec 9>held; echo begun >&9; exec sleep 60"
    BREAKS = "set -e; echo before; false; echo after"
    FAILS = ("printf '%s\\n' '↳ Target' '✘ first' '↳ 1 == 2' '↳ A.swift:7' '✔ second' '↳ none'; "
             "seq 100; false")
    COUNTS = "printf '%s of 90000 commands\\n' 10000 20000; read -r line <pipe"
    SKIPS = "echo '    skipped: needs root (0.0 s)'; echo '3 passed, 0 failed, 1 skipped'"

    def write(self, *rounds, later=None):
        """A script with rounds of lanes of steps (name, shell); without a shell's text, the step
        is a program that is missing."""
        script = os.path.join(self.folder, "steps")
        with open(script, "w") as file:
            file.write("#!/usr/bin/env python3\nimport sys\n"
                       "sys.dont_write_bytecode = True\n"
                       "sys.path.insert(0, %r)\n"
                       "from steps import Step, run\n"
                       "def made(name, text):\n"
                       "    step = Step(name, *(['bash', '-c', text] if text else ['./none']))\n"
                       "    step.is_build, step.needs_build = name == 'build', name == 'needy'\n"
                       "    return step\n"
                       "rounds = [[[made(*step) for step in lane] for lane in lanes]\n"
                       "          for lanes in %r]\n"
                       "sys.exit(run(rounds, later=%r))\n" % (
                           os.path.join(ROOT, "scripts"), rounds, later))
        os.chmod(script, stat.S_IRWXU)
        return script

    def steps(self, *rounds, **options):
        self.write(*rounds, **options)
        return self.run_script("steps", root=self.folder)

    def test_an_interrupt_ends_the_step_too(self):
        # The step alone holds the other end. That is closed when it ends; its process id lives on
        # until someone asks for its exit code.
        held = os.path.join(self.folder, "held")
        os.mkfifo(held)
        step = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, step)
        script = subprocess.Popen(
            [self.write([[("one", self.LASTS)]])], cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
            # A shell that runs these tests in the background has it ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        self.assertEqual(self.next_of(step, "the step does not begin"), b"begun\n")
        os.killpg(script.pid, signal.SIGINT)
        self.assertEqual(script.wait(60), 130)
        self.assertEqual(self.next_of(step, "the step does not end"), b"")

    def next_of(self, pipe, fault):
        """What a pipe says next: nothing once its other end is closed."""
        waiting = select.poll()
        waiting.register(pipe, select.POLLIN)
        self.assertTrue(waiting.poll(20_000), fault)
        return os.read(pipe, 100)

    def test_a_silent_step_shows_its_count(self):
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        # For reading, too: opening it does not wait for the step.
        end = os.open(pipe, os.O_RDWR)
        self.addCleanup(os.close, end)
        script = subprocess.Popen(
            [self.write([[("one", self.COUNTS)]])], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True, env=dict(os.environ, STEP_SILENCE_MAX="0"))
        with script:
            said = ""
            for said in script.stdout:
                if "commands" in said:
                    break
            # The step has been silent until now.
            os.write(end, b"enough\n")
            self.assertRegex(said, r"^   … one: \d+ s, 20000 of 90000 commands\n$")
            self.assertIn("1 passed, 0 failed", script.stdout.read())
        self.assertEqual(script.returncode, 0)

    def test_a_good_end(self):
        code, said, fault = self.steps(
            [[("one", "echo first")]], [[("a b", self.SKIPS)]], later="not run: the rest")
        self.assertEqual(code, 0, said + fault)
        self.assertRegex(said, r"\A== 1 of 2: one: passed in \d+ s\n"
                               r"== 2 of 2: a b: passed in \d+ s\n"
                               r"   3 passed, 0 failed, 1 skipped\n\n"
                               r"all passed in \d+ s\n"
                               r"   skipped in a b: needs root\n"
                               r"not run: the rest\n"
                               r"2 passed, 0 failed\n\Z")

    def test_lanes_run_beside_each_other(self):
        # Each waits for the other, in both orders of starting.
        for name in ("left", "right"):
            os.mkfifo(os.path.join(self.folder, name))
        code, said, fault = self.steps(
            [[("one", "echo >left; read -r line <right")],
             [("two", "read -r line <left; echo >right")]])
        self.assertEqual(code, 0, said + fault)
        self.assertTrue(said.endswith("2 passed, 0 failed\n"), said)

    def test_a_bad_end(self):
        code, said, fault = self.steps(
            [[("one", "echo first"), ("b", self.BREAKS), ("c", "echo third")]],
            [[("d", "echo fourth")]])
        self.assertEqual(code, 1, said + fault)
        self.assertIn("\nbefore\n", said)
        self.assertNotIn("after\n", said)
        # The others run, also those of later rounds.
        self.assertRegex(said, r"== 3 of 4: c: passed in \d+ s\n== 4 of 4: d: passed in \d+ s\n")
        self.assertRegex(said, r"\n\nfailed: b: .build/test-logs/b.log\n"
                               r"failed after \d+ s: b\n3 passed, 1 failed\n$")

    def test_what_needs_a_build_does_not_run_without_it(self):
        code, said, fault = self.steps(
            [[("build", "echo 'A.swift:7: error: no'; false"), ("a", "true")]],
            [[("needy", "echo ran >ran"), ("b", "true")]])
        self.assertEqual(code, 1, said + fault)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "ran")))
        self.assertRegex(said, r"failed: build: .build/test-logs/build.log\n"
                               r"   A.swift:7: error: no\nnot run without a build: needy\n"
                               r"failed after \d+ s: build\n2 passed, 1 failed\n$")

    def test_the_swift_tests_that_have_started_are_counted(self):
        sys.path.insert(0, os.path.join(ROOT, "scripts"))
        self.addCleanup(sys.path.remove, os.path.join(ROOT, "scripts"))
        import steps
        step = steps.Step("x")
        step.text = lambda: ("[0/1] Planning build\n◇ Test run started.\n"
                             "◇ Suite `A b` started.\n◇ Test `c d` started.\n")
        self.assertIn(", 0 of 2 tests", step.progress())
        step.text = lambda: ("◇ Suite `A b` started.\n◇ Test `c d` started.\n"
                             "✔ Test `c d` passed after 0.1 seconds.\n")
        self.assertIn(", 1 of 2 tests", step.progress())

    def test_a_step_that_cannot_start_has_failed(self):
        code, said, fault = self.steps([[("one", "echo first"), ("b", None), ("c", "echo third")]])
        self.assertEqual(code, 1, said + fault)
        self.assertRegex(said, r"== 2 of 3: b: FAILED[^$]*No such file[^$]*\n"
                               r"failed: b: .*\n.*\nfailed after \d+ s: b\n"
                               r"2 passed, 1 failed\n$")

    def test_a_terminal_without_its_letters_ends_no_lane(self):
        self.write([[("one", "echo '✘ first'; false"), ("b", "echo second")]])
        code, said, fault = self.run_script(
            "steps", root=self.folder, PYTHONIOENCODING="latin-1")
        self.assertEqual((code, fault), (1, ""), said)
        self.assertIn("1 passed, 1 failed\n", said)

    def test_a_failure_has_the_lines_below_it(self):
        code, said, fault = self.steps([[("a", self.FAILS)]])
        self.assertEqual(code, 1, said + fault)
        self.assertRegex(said, r"\n100\n   the failures in it:\n✘ first\n↳ 1 == 2\n"
                               r"↳ A.swift:7\n\nfailed: a")


class Outdated(Scripts):
    def test_without_a_network_it_says_so(self):
        self.put("git", "echo 'fatal: Could not resolve host' >&2; exit 128")
        code, said, fault = self.run_script("scripts/outdated")
        self.assertEqual((code, fault), (1, ""))
        self.assertIn("unknown: fatal: Could not resolve host", said)
        self.assertNotIn("Traceback", said)

    def test_newer_releases_are_named(self):
        self.put("git", "printf 'x\\trefs/tags/v1.0.0\\nx\\trefs/tags/999.0.1\\n"
                        "x\\trefs/tags/999.10.0\\nx\\trefs/tags/1000.0.0-beta.1\\n'")
        code, said, _ = self.run_script("scripts/outdated")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"(?m)^swift-nio +\S+ +\S+ +999\.10\.0 +newer")
        self.assertRegex(said, r"(?m)^\d+ packages: \d+ with newer releases, \d+ here in another "
                               r"version, 0 unknown$")
