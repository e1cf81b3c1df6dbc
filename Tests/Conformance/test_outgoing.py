"""Requests of the service to other servers, and the proxy that its environment names."""

import http.server
import os
import queue
import socket
import threading

from porchlight import WAIT, Case, Service

# What carries the frames makes no difference to these tests.
CARRIED = False


class Proxy(Case):
    flags = None

    def setUp(self):
        super().setUp()
        self.requests = requests = queue.Queue()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                requests.put((self.requestline, self.headers["Host"]))
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.here = "127.0.0.1:%d" % self.site.server_address[1]
        threading.Thread(target=self.site.serve_forever, daemon=True).start()
        self.addCleanup(self.site.server_close)
        self.addCleanup(self.site.shutdown)

    def post(self, url, **environment):
        """The first request of a webhook, as the server here has received it."""
        folder = self.new_folder()
        secret = os.path.join(folder, "secret")
        with open(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write("a secret of some length\n")
        environment = {"no_proxy": "", "NO_PROXY": "", **environment}
        service = Service("--webhook", url, "--webhook-secret", secret, environment=environment)
        self.addCleanup(service.close)
        return self.requests.get(timeout=WAIT)

    def test_another_host_is_requested_through_it(self):
        url = "http://receiver.invalid/in?a=%2B"
        self.assertEqual(self.post(url, http_proxy="http://" + self.here),
                         ("POST %s HTTP/1.1" % url, "receiver.invalid"))

    def test_this_machine_is_requested_directly(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            proxy = "http://127.0.0.1:%d" % closed.getsockname()[1]
            for host in (self.here, self.here.replace("127.0.0.1", "localhost")):
                with self.subTest(host=host):
                    self.assertEqual(
                        self.post("http://%s/in" % host, http_proxy=proxy, all_proxy=proxy),
                        ("POST /in HTTP/1.1", host))
