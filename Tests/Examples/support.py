"""The processes of the examples, and requests to them."""

import contextlib
import http.client
import os
import re
import select
import shutil
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(here))
sys.path.append(os.path.join(here, "..", "Conformance"))

WAIT = 60.0  # seconds for one thing to happen


def node():
    """The first Node on the PATH that is new enough, as in clients/js/test/run; or None."""
    for folder in os.environ["PATH"].split(os.pathsep):
        path = shutil.which("node", path=folder)
        if path:
            said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=WAIT)
            found = re.match(r"v(\d+)", said.stdout)
            if found and int(found.group(1)) >= 20:
                return path
    return None


class Program:
    """A process that prints `ready on …` when it serves."""

    def __init__(self, *words, **environment):
        self.words, self.environment = [str(word) for word in words], environment
        self.process, self.port = None, 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.words, env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        line, end = b"", time.monotonic() + WAIT
        while not line.endswith(b"\n"):
            left = max(0, end - time.monotonic())
            readable, _, _ = select.select([self.process.stdout], [], [], left)
            got = self.process.stdout.read(1) if readable else b""
            if not got:
                self.process.kill()
                raise AssertionError("%s does not start: %r %r" % (
                    self.words, line, self.process.stderr.read()[-2000:]))
            line += got
        self.port = int(re.search(rb"ready on \S*?:(\d+)\s", line).group(1))

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    close = kill

    def said(self):
        """What is on its standard error after it was killed: call it instead of `kill`."""
        self.process.kill()
        text = self.process.stderr.read().decode()
        self.kill()
        return text

    def ask(self, method, path, body=None, headers=()):
        """The status, the headers and the body of a response."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)) \
                as connection:
            connection.request(method, path, body=body, headers=dict(headers))
            response = connection.getresponse()
            return response.status, response.headers, response.read()
