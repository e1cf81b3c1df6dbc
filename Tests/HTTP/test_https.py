"""The HTTP API over TLS: the same API, the certificates of the clients' port, and their reload."""

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time

import porchlight
import tls
from api import KEY, Case, Service


class Secured(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="porchlight-https-")
        cls.certificate, cls.key = tls.make_certificate(cls.folder)
        cls.service = Service(
            "--http-tls", "127.0.0.1:0", "--tls-certificate", cls.certificate,
            "--tls-key", cls.key)

    def connect(self, made=None):
        """A connection that has checked the certificate."""
        made = made or tls.context((), trusted=self.certificate)
        return http.client.HTTPSConnection(
            "127.0.0.1", self.service.https_port, timeout=60, context=made)

    def socket(self, protocols=("http/1.1",), timeout=60, kernel_bytes=None):
        plain = socket.socket()
        self.addCleanup(plain.close)
        plain.settimeout(timeout)
        if kernel_bytes:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, kernel_bytes)
        plain.connect(("127.0.0.1", self.service.https_port))
        return tls.TLSSocket(plain, made=tls.context(protocols))

    def served(self):
        """The certificate that is served now."""
        plain = socket.create_connection(("127.0.0.1", self.service.https_port), timeout=60)
        with tls.context(()).wrap_socket(plain) as client:
            return client.getpeercert(binary_form=True)

    def reload(self):
        before = len(self.service.log_text())
        self.service.signal(signal.SIGHUP)
        return self.until(lambda: re.search(
            r"(?s).*(read again|nothing was changed).*\n", self.service.log_text()[before:])).group()


class API(Secured):
    def test_requests_are_answered_on_one_connection(self):
        connection = self.connect()
        for number in range(3):
            answer = self.ask("POST", "/v1/states", {"type": 1, "accounts": ["a"]}, over=connection)
            self.assertEqual((answer.status, answer.json["states"][0]["publisher"]), (200, "a"))
        connection.close()

    def test_a_key_is_needed_as_without_tls(self):
        answer = self.ask("GET", "/v1/stats", key=False, over=self.connect())
        self.assertEqual((answer.status, answer.reason), (401, "not_logged_in"))

    def test_both_ports_serve_the_same_service(self):
        done = self.ask(
            "PUT", "/v1/accounts/b/statuses/1", {"value": 10001}, over=self.connect())
        self.assertEqual(done.status, 200, done)
        self.assertEqual(
            self.ask("GET", "/v1/accounts/b/state", over=self.connect()).json["value"],
            self.good("GET", "/v1/accounts/b/state")["value"])

    def test_long_bodies(self):
        accounts = ["%099d" % number for number in range(500)]
        answer = self.ask("POST", "/v1/states", {"type": 1, "accounts": accounts}, over=self.connect())
        self.assertEqual([state["publisher"] for state in answer.json["states"]], accounts)

    def test_pipelined_requests_byte_by_byte(self):
        client = self.socket()
        request = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
        for byte in request * 2:
            client.sendall(bytes([byte]))
        client.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        got = b""
        while some := client.recv(65536):
            got += some
        self.assertEqual(got.count(b"HTTP/1.1 200 OK"), 3, got)

    def test_after_a_half_close_the_request_is_answered(self):
        client = self.socket()
        client.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        client.shutdown(socket.SHUT_WR)
        got = b""
        while some := client.recv(65536):
            got += some
        self.assertIn(b"HTTP/1.1 200 OK", got)

    def test_after_a_half_close_a_large_response_is_complete(self):
        names = ["large-%d" % number for number in range(60)]
        for name in names:
            self.good("PUT", "/v1/accounts/%s/statuses/7000" % name,
                      {"value": 10000, "ext": "\u0001" * 4000})
        body = json.dumps({"type": 7000, "accounts": names})
        client = self.socket(timeout=60, kernel_bytes=4096)
        client.sendall(("POST /v1/states HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                        "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                        % (KEY, len(body), body)).encode())
        client.shutdown(socket.SHUT_WR)
        got = bytearray()
        while some := client.recv(65536):
            got += some
        head, _, body = bytes(got).partition(b"\r\n\r\n")
        self.assertEqual(len(body), int(re.search(rb"Content-Length: (\d+)", head)[1]))
        self.assertTrue(client.ended)

    def test_the_feed_streams(self):
        client = self.socket()
        client.sendall(b"GET /v1/feed HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n"
                       % KEY.encode())
        got = b""
        while b"\r\n\r\n" not in got:
            got += client.recv(65536)
        publisher = self.service.login("feeder")
        publisher.publish(10001)
        while b"feeder" not in got:
            some = client.recv(65536)
            self.assertTrue(some, got)
            got += some
        publisher.close()

    def test_a_native_frame_is_answered_in_a_frame(self):
        client = self.socket()
        client.sendall(porchlight.frame(porchlight.request("login", {"client": "server"}, 1)))
        got = b""
        while some := client.recv(65536):
            got += some
        self.assertIn(b"This is the HTTP port.", got)

    def test_metrics(self):
        self.ask("GET", "/livez", over=self.connect())
        text = self.ask("GET", "/metrics", over=self.connect()).body.decode()
        self.assertGreater(int(re.search(
            r"^porchlight_http_tls_handshakes_total (\d+)", text, re.M).group(1)), 1)
        expires = int(re.search(
            r"^porchlight_http_tls_certificate_expires_timestamp_seconds (\d+)", text, re.M)
            .group(1))
        self.assertAlmostEqual(expires, time.time() + 30 * 86_400, delta=3_600)


class Handshakes(Secured):
    def test_application_protocols(self):
        for offered, chosen in ((["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"),
                                ([], None)):
            self.assertEqual(self.socket(offered).tls.selected_alpn_protocol(), chosen)
        for offered in (["h2"], ["porchlight"]):
            with self.assertRaisesRegex(ssl.SSLError, "no application protocol"):
                self.socket(offered)

    def test_old_versions_are_rejected(self):
        for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            made = tls.context(())
            made.set_ciphers("ALL:@SECLEVEL=0")
            made.minimum_version = made.maximum_version = version
            with self.assertRaises(ssl.SSLError):
                self.ask("GET", "/livez", over=self.connect(made))
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            made = tls.context(())
            made.minimum_version = made.maximum_version = version
            self.assertEqual(self.ask("GET", "/livez", over=self.connect(made)).status, 200)

    def test_http_without_tls_is_told_so(self):
        with socket.create_connection(("127.0.0.1", self.service.https_port), 10) as client:
            client.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
            got = client.makefile("rb").read()
        self.assertTrue(got.startswith(b"HTTP/1.1 400 "), got)
        self.assertTrue(got.endswith(b"\r\n\r\nThis port speaks TLS: use https.\n"), got)

    def test_other_bytes_are_not_answered(self):
        with socket.create_connection(("127.0.0.1", self.service.https_port), 10) as client:
            client.sendall(b"\x00\x00\x00\x02{}")
            self.assertEqual(client.makefile("rb").read(), b"")

    def test_a_handshake_that_stops_ends_in_time(self):
        with socket.create_connection(("127.0.0.1", self.service.https_port), 20) as client:
            client.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
            began = time.monotonic()
            self.assertEqual(client.recv(100), b"")
            self.assertGreater(time.monotonic() - began, 8)

    def test_sessions_are_resumed(self):
        made = tls.context(())
        made.maximum_version = ssl.TLSVersion.TLSv1_2
        address = ("127.0.0.1", self.service.https_port)
        first = made.wrap_socket(socket.create_connection(address), server_hostname="x")
        again = made.wrap_socket(
            socket.create_connection(address), server_hostname="x", session=first.session)
        self.assertTrue(again.session_reused)
        for client in (first, again):
            client.close()


class Reloads(Secured):
    def setUp(self):
        self.certificate, self.key = tls.make_certificate(self.folder)
        self.reload()

    def test_new_connections_get_the_new_certificate_and_old_ones_stay(self):
        old = self.connect()
        old.connect()
        before = self.served()
        tls.make_certificate(self.folder)
        said = self.reload()
        self.assertIn("certificate replaced: " + self.certificate, said)
        self.assertIn("settings, keys and certificates read again, 1 changed", said)
        self.assertNotEqual(self.served(), before)
        self.assertEqual(self.ask("GET", "/livez", over=old).status, 200)

    def test_a_broken_file_keeps_the_old_certificate_and_says_so(self):
        before = self.served()
        with open(self.certificate, "w") as file:
            file.write("text")
        said = self.reload()
        self.assertIn("nothing was changed", said)
        self.assertIn("%s given with --tls-certificate has no certificate in PEM form"
                      % self.certificate, said)
        self.assertEqual(self.served(), before)

    def test_a_pipe_does_not_block_reloads(self):
        before = self.served()
        for path, flag in ((self.key, "--tls-key"), (self.certificate, "--tls-certificate"),
                           (self.service.data + ".keys", "--server-key")):
            with self.subTest(path=path):
                os.rename(path, path + ".kept")
                os.mkfifo(path, 0o600)
                said = self.reload()
                self.assertIn("The file %s given with %s cannot be read: it is a pipe, which can be "
                              "read at startup only." % (path, flag), said)
                self.assertEqual(self.served(), before)
                os.rename(path + ".kept", path)
                self.assertIn("read again", self.reload())


class Startup(Secured):
    def serve(self, *flags):
        return subprocess.run(
            [porchlight.BINARY, "serve", "--listen", "127.0.0.1:0", "--data",
             self.service.data + "-none", *flags],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def files(self):
        return ["--tls-certificate", self.certificate, "--tls-key", self.key]

    def test_without_the_port_for_plain_http(self):
        service = Service("--http-tls", "127.0.0.1:0", *self.files(), http=None)
        self.addCleanup(service.close)
        self.assertRegex(service.ready, r"^ready on \S+, https on 127.0.0.1:\d+$")

    def test_a_port_that_is_in_use_is_named(self):
        address = "127.0.0.1:%d" % self.service.https_port
        done = self.serve("--http", "127.0.0.1:0", "--http-tls", address, *self.files())
        self.assertEqual((done.returncode, done.stdout), (75, ""), done)
        self.assertIn("Cannot listen on %s (bind: address already in use (EADDRINUSE)); choose "
                      "another address or port with --http-tls. The address is from: flag --http-tls.\n"
                      % address, done.stderr)

    def test_another_machine_needs_a_key(self):
        done = self.serve("--http-tls", "0.0.0.0:0", *self.files())
        self.assertEqual(done.returncode, 64, done)
        self.assertIn("http-tls 0.0.0.0:0", done.stderr)
        self.assertIn("set server-key, or listen on 127.0.0.1", done.stderr)

    def test_a_certificate_is_needed(self):
        done = self.serve("--http-tls", "127.0.0.1:0")
        self.assertEqual(done.returncode, 64, done)
        self.assertIn("TLS needs a certificate and its key: set tls-certificate and tls-key", done.stderr)
