"""The service with its HTTP API, and a client of it that knows nothing but docs/HTTP.md."""

import contextlib
import http.client
import json
import os
import re
import select
import socket
import subprocess
import sys
import tempfile
import time
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(here, "..", "Conformance"))

import porchlight  # noqa: E402

KEY = "a-key-of-an-app-server"


class Answer:
    """A response."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def reason(self):
        return self.json["reason"]

    def __repr__(self):
        return "%s %s" % (self.status, self.body[:300])


class Service(porchlight.Service):
    """A service with both of its ports, and with one for HTTP over TLS if it is told to."""

    def __init__(self, *flags, keys=(KEY,), http="127.0.0.1:0", **more):
        self.keys = list(keys)
        self.http_port = None
        self.https_port = None
        self.http = http
        super().__init__(*flags, **more)

    def command(self, *flags):
        command = super().command(*flags) + (["--http", self.http] if self.http else [])
        if self.keys:
            path = self.data + ".keys"
            with open(path, "w") as file:
                os.chmod(path, 0o600)
                file.write("\n".join(self.keys) + "\n")
            command += ["--server-key", path]
        return command

    def start(self, *flags):
        self.log = open(self.data + ".log", "ab")
        self.process = subprocess.Popen(
            self.command(*flags), stdout=subprocess.PIPE, stderr=self.log,
            stdin=subprocess.DEVNULL, env=porchlight.ENVIRONMENT)
        if self.files:
            porchlight.resource.prlimit(
                self.process.pid, porchlight.resource.RLIMIT_NOFILE, (self.files, self.files))
        end = time.monotonic() + 20
        seen = b""
        fd = self.process.stdout.fileno()
        while b"\n" not in seen:
            if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
                self.kill()
                raise porchlight.Timeout("no `ready on` line; said %r" % seen)
            got = os.read(fd, 4096)
            if not got:
                raise porchlight.Closed("exit %r, said %r, log %r" % (
                    self.process.wait(), seen, self.log_text()[-500:]))
            seen += got
        self.ready = seen.decode().strip()
        self.take_ready(self.ready)
        return self

    def take_ready(self, line):
        found = re.fullmatch(r"ready on \S+:(\d+)(?:, tls on \S+:(\d+))?"
                             r"(?:, http on \S+:(\d+))?(?:, https on \S+:(\d+))?", line)
        if not found:
            raise AssertionError(line)
        self.port, self.tls_port, self.http_port, self.https_port = (
            int(port) if port else None for port in found.groups())

    def close(self):
        super().close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.data + ".keys")

    def open_http(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None, key=True, over=None):
        """One request, over a connection of its own unless there is one."""
        connection = over or self.open_http()
        fields = dict(headers or {})
        if key and self.keys and "Authorization" not in fields:
            fields["Authorization"] = "Bearer " + (self.keys[0] if key is True else key)
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            fields.setdefault("Content-Type", "application/json")
        if isinstance(body, str):
            body = body.encode()
        connection.request(method, path, body, fields)
        response = connection.getresponse()
        answer = Answer(response.status, response.headers, response.read())
        if over is None:
            connection.close()
        return answer

    def raw(self, data, timeout=60):
        """What is sent in response to these bytes, until the end of the stream or a timeout."""
        with socket.create_connection(("127.0.0.1", self.http_port), timeout=timeout) as stream:
            stream.sendall(data)
            got = b""
            with contextlib.suppress(TimeoutError, ConnectionResetError):
                while True:
                    some = stream.recv(65536)
                    if not some:
                        break
                    got += some
            return got


class Case(unittest.TestCase):
    """Tests that share a service."""

    flags = ()
    options = {}

    @classmethod
    def setUpClass(cls):
        cls.service = Service(*cls.flags, **cls.options)

    @classmethod
    def tearDownClass(cls):
        cls.service.close()

    def ask(self, *positional, **named):
        return self.service.ask(*positional, **named)

    def good(self, *positional, **named):
        """The JSON of an answer that is 200."""
        answer = self.ask(*positional, **named)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.headers["Content-Type"], "application/json")
        return answer.json

    def problem(self, status, reason, *positional, **named):
        """A rejection, of a form that every one has."""
        answer = self.ask(*positional, **named)
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        body = answer.json
        self.assertEqual(body["status"], status)
        self.assertEqual(body["reason"], reason)
        self.assertEqual(body["type"], "urn:porchlight:problem:" + reason)
        self.assertTrue(body["title"] and body["detail"])
        answer.members = {k: v for k, v in body.items()
                          if k not in ("type", "title", "status", "detail", "reason")}
        return answer

    def until(self, condition, seconds=60):
        """Asks until it is so."""
        end = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                self.fail("not within %s s" % seconds)
