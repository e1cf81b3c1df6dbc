"""Everything at once, over several loops: native clients, TLS, HTTP, reloads; and an end in order.

MIX_SECONDS is how long it takes: three by default, more under a sanitizer.
"""

import os
import shutil
import signal
import tempfile
import threading
import time
import unittest

import api
import porchlight
import tls

SECONDS = float(os.environ.get("MIX_SECONDS", "3"))


class Service(api.Service):
    """A service with a port for TLS, too."""

    def take_ready(self, line):
        native, secured, http = line.removeprefix("ready on ").split(", ")
        ports = [int(word.rsplit(":", 1)[1]) for word in (native, secured, http)]
        self.port, self.tls_port, self.http_port = ports


class Mix(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="porchlight-mix-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.certificate, self.key = tls.make_certificate(self.folder)
        self.service = Service(
            "--loops", "8", "--rate-limits", "off", "--listen-tls", "127.0.0.1:0",
            "--tls-certificate", self.certificate, "--tls-key", self.key)
        self.addCleanup(self.service.close)
        self.stopped = threading.Event()
        self.counts, self.faults = {}, []

    def work(self, name, once):
        """Calls until the mix is over."""
        def run():
            try:
                while not self.stopped.is_set():
                    once()
                    self.counts[name] = self.counts.get(name, 0) + 1
            except Exception as fault:
                self.faults.append("%s: %r" % (name, fault))
        return threading.Thread(target=run)

    def client(self, number):
        """A client that comes, subscribes, publishes and goes, with TLS if its number is odd."""
        port = self.service.tls_port if number % 2 else self.service.port
        if number % 2:
            client = porchlight.Client.over(tls.connect(port))
        else:
            client = porchlight.Client(port)
        try:
            client.login("a%d" % number)
            client.subscribe(*["a%d" % other for other in range(8)])
            for value in range(10):
                client.publish(10000 + value)
            client.ok("ping")
        finally:
            client.close()

    def ask(self):
        accounts = ["a%d" % number for number in range(8)]
        for method, path, body in (("POST", "/v1/states", {"type": 1, "accounts": accounts}),
                                   ("GET", "/metrics", None), ("GET", "/v1/stats", None)):
            answer = self.service.ask(method, path, body)
            if answer.status != 200:
                raise AssertionError("%s %s: %r" % (method, path, answer))

    def reload(self):
        for new, old in zip(tls.make_certificate(self.folder, "next.example"),
                            (self.certificate, self.key)):
            os.replace(new, old)
        self.service.signal(signal.SIGHUP)
        self.stopped.wait(0.1)

    def test_everything_at_once(self):
        threads = [self.work("client", lambda number=number: self.client(number))
                   for number in range(8)]
        threads += [self.work("http", self.ask), self.work("http", self.ask),
                    self.work("reload", self.reload)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and not self.faults:
            time.sleep(0.05)
        self.stopped.set()
        for thread in threads:
            thread.join()
        self.assertEqual(self.faults, [])
        self.assertEqual(sorted(self.counts), ["client", "http", "reload"], self.counts)
        held = [porchlight.Client.over(tls.connect(self.service.tls_port)).login("h%d" % number)
                for number in range(8)]
        self.service.signal(signal.SIGTERM)
        for client in held:
            self.assertEqual(client.note("close")["params"]["code"], 4503)
            client.close()
        self.assertEqual(self.service.wait(30), 0, self.service.log_text()[-2000:])
