"""A push service on loopback over https, and browsers that decrypt what it has been sent."""

import base64
import http.server
import json
import os
import queue
import socket
import ssl
import threading

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02

import tls


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unbase64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Request:
    """A push as it has arrived."""

    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body
        self.answer = queue.Queue()

    def respond(self, status, **headers):
        """Answers it."""
        self.answer.put((status, headers))

    def claims(self):
        """The claims of its token, which must be signed by the key that it names."""
        authorization = self.headers["Authorization"].replace(", ", ",")
        assert Vapid02.verify(authorization), authorization
        token = dict(part.split("=", 1) for part in authorization.split(" ")[1].split(","))
        return json.loads(unbase64url(token["t"].split(".")[1])), token["k"]


class PushService:
    """Answers 201, or as `answers` says for a path; None: a test answers itself."""

    def __init__(self, authority, folder):
        certificate, key = tls.sign(
            authority, folder, "push",
            alternatives="DNS:localhost,DNS:push.localhost,IP:127.0.0.1")
        self.requests = queue.Queue()
        self.answers = {}
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = Request(self.path, self.headers, body)
                planned = service.answers.get(self.path, ())
                answer = planned.pop(0) if planned else (201, {})
                service.requests.put(request)
                status, headers = request.answer.get() if answer is None else answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), str(value))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # the service has gone

        self.server = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(
            self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self, seconds):
        """The next push; None if there is none in that time."""
        try:
            return self.requests.get(timeout=seconds)
        except queue.Empty:
            return None

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Browser:
    """A subscription, and the keys that only its browser has."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.secret = os.urandom(16)
        self.point = self.key.public_key().public_bytes(
            Encoding.X962, PublicFormat.UncompressedPoint)

    def subscription(self, **changed):
        """As a browser writes it."""
        keys = {"p256dh": base64url(self.point), "auth": base64url(self.secret)}
        return json.dumps(
            {"endpoint": self.endpoint, "expirationTime": None, "keys": keys, **changed},
            separators=(",", ":"))

    def decrypt(self, request):
        return json.loads(http_ece.decrypt(
            request.body, private_key=self.key, auth_secret=self.secret, version="aes128gcm"))


class Trap:
    """A port that no push may connect to; it counts connections."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def is_untouched(self):
        self.socket.setblocking(False)
        try:
            self.socket.accept()
        except BlockingIOError:
            return True
        return False

    def close(self):
        self.socket.close()
