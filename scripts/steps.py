"""Runs the steps of scripts/test: in rounds, and within a round in lanes beside each other.

The output of each step is kept in .build/test-logs. A step that passes shows its time and its
counts; one that fails shows the end of its output and the failures in it, and the others run:
only what needs a build does not run after that has failed. No step is run twice.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time

LOGS = os.path.join(".build", "test-logs")
# The longest silence, in seconds.
SILENCE_MAX = float(os.environ.get("STEP_SILENCE_MAX", "20"))
# What a log says of the progress of its step, the newest of which is shown.
PROGRESS = re.compile(r"^(?:\d+ of \d+ commands.*|\[\d+/\d+\].{0,60})", re.MULTILINE)
TEST_DONE = re.compile(r"^\S+ (?:Test|Suite) .* (?:passed|failed) after", re.MULTILINE)
TEST_STARTED = re.compile(r"^\S+ (?:Test (?!run started)|Suite ).* started\.?$", re.MULTILINE)
# The line of a log that has its counts.
COUNTS = re.compile(r"^(?:\S+ Test run with .*|\d+ passed, \d+ failed.*|. pass \d+|\d+ failed)$",
                    re.MULTILINE)
SKIPPED = re.compile(r"^ *skipped:? (.*?)(?: \([0-9.]+ s\))?$", re.MULTILINE)
FAILURE = re.compile(r"^✘|recorded an issue|: error: |^error: |Fatal error|BROKEN: |FAILED|^not ok")


class Step:
    """A command, by its words or as text for a shell, and what it is called."""

    # Whether it makes what other steps run, and whether it runs that.
    is_build, needs_build = False, True

    def __init__(self, name, *words, **environment):
        self.name, self.words, self.environment = name, words, environment
        self.log = os.path.join(LOGS, re.sub(r"\W+", "-", name) + ".log")
        self.process = None
        self.began = None
        # Held while the process starts: one that is starting is ended, too.
        self.starting = threading.Lock()
        self.is_ended = False

    def run(self):
        """Runs to the end; returns the exit code."""
        self.began = time.monotonic()
        with open(self.log, "wb") as log, self.starting:
            if self.is_ended:
                return 130
            # In a group of its own, so that all of it can be ended.
            self.process = subprocess.Popen(
                self.words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=dict(os.environ, **self.environment), start_new_session=True)
        return self.process.wait()

    def end(self):
        with self.starting:
            self.is_ended = True
            if self.process and self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGTERM)

    def seconds(self):
        return time.monotonic() - self.began

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def progress(self):
        text = self.text()
        started = len(TEST_STARTED.findall(text))
        if started:
            return ", %d of %d tests and suites that have started are done" % (
                len(TEST_DONE.findall(text)), started)
        found = PROGRESS.findall(text)
        return ", " + found[-1] if found else ""


def words_of(seconds):
    whole = round(seconds)
    return "%d s" % whole if whole < 120 else "%d min %d s" % divmod(whole, 60)


def failures(text):
    """The failures in a log, each with the lines (↳) that say what was expected and where."""
    found, is_below = [], False
    for line in text.splitlines():
        is_failure = bool(FAILURE.search(line))
        if is_failure or is_below and line.lstrip().startswith("↳"):
            found.append(line)
        is_below = is_failure or is_below and line.lstrip().startswith("↳")
    return found


class Run:
    """One run of all rounds. `rounds` is a list of rounds, a round a list of lanes, a lane a list
    of steps."""

    def __init__(self, rounds, later):
        self.rounds, self.later = rounds, later
        self.total = sum(len(lane) for lanes in rounds for lane in lanes)
        self.lock = threading.Lock()
        self.spoken = time.monotonic()
        self.running, self.passed, self.failed, self.left_out = [], [], [], []
        self.is_built, self.is_ending = True, False
        self.began = time.monotonic()

    def say(self, text):
        print(text, flush=True)
        self.spoken = time.monotonic()

    def lane(self, steps):
        for step in steps:
            with self.lock:
                if self.is_ending:
                    return
                if step.needs_build and not self.is_built:
                    self.left_out.append(step)
                    continue
                self.running.append(step)
                step.began = time.monotonic()
            try:
                code = step.run()
            except OSError as error:
                with open(step.log, "a", encoding="utf-8") as log:
                    log.write("error: %s\n" % error)
                code = 127
            with self.lock:
                self.running.remove(step)
                (self.failed if code else self.passed).append(step)
                self.is_built = self.is_built and not (code and step.is_build)
                self.report(step, code)

    def report(self, step, code):
        number = len(self.passed) + len(self.failed)
        self.say("== %d of %d: %s: %s in %s" % (
            number, self.total, step.name, "FAILED" if code else "passed",
            words_of(step.seconds())))
        text = step.text()
        if code:
            self.say("   the last lines of %s:" % step.log)
            self.say("\n".join(text.splitlines()[-30:]))
            # The failures come last: where only the end of an output is kept, they must be in it.
            self.say("   the failures in it:")
            self.say("\n".join(failures(text)[:60]))
            return
        for counts in COUNTS.findall(text):
            self.say("   " + counts)

    def accompany(self, threads):
        """Says something whenever nothing has been said for a while."""
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(0.2)
            with self.lock:
                if time.monotonic() - self.spoken >= SILENCE_MAX:
                    for step in self.running:
                        self.say("   … %s: %s%s" % (
                            step.name, words_of(step.seconds()), step.progress()))

    def all(self):
        """Runs everything; returns the exit code."""
        os.makedirs(LOGS, exist_ok=True)
        for name in os.listdir(LOGS):
            os.unlink(os.path.join(LOGS, name))
        for lanes in self.rounds:
            threads = [threading.Thread(target=self.lane, args=(lane,), daemon=True)
                       for lane in lanes]
            try:
                for thread in threads:
                    thread.start()
                self.accompany(threads)
            except KeyboardInterrupt:
                self.is_ending = True
                for step in list(self.running):
                    step.end()
                return 130
        return self.verdict()

    def verdict(self):
        took = words_of(time.monotonic() - self.began)
        self.say("")
        if self.failed:
            for step in self.failed:
                self.say("failed: %s: %s" % (step.name, step.log))
                for line in failures(step.text())[:10]:
                    self.say("   " + line)
            if self.left_out:
                self.say("not run without a build: %s" % ", ".join(
                    step.name for step in self.left_out))
            self.say("failed after %s: %s" % (took, ", ".join(step.name for step in self.failed)))
        # A lane that ended by an exception, which Python has printed.
        elif len(self.passed) < self.total:
            self.say("failed after %s: %d steps did not end" % (
                took, self.total - len(self.passed)))
        else:
            self.say("all passed in %s" % took)
            for step in self.passed:
                for reason in sorted(set(SKIPPED.findall(step.text()))):
                    self.say("   skipped in %s: %s" % (step.name, reason))
            if self.later:
                self.say(self.later)
        # The steps, for programs that look for this form.
        self.say("%d passed, %d failed" % (len(self.passed), len(self.failed)))
        return 0 if len(self.passed) == self.total else 1


def run(rounds, later=None):
    """Runs them; `later` is what a run that passes says it has left out. Returns the exit code."""
    # What a terminal cannot show must not end a lane.
    sys.stdout.reconfigure(errors="replace")
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    return Run(rounds, later).all()
