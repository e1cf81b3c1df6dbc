"""Tokens that are none: honest logins go on meanwhile."""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import socket
import struct
import threading
import time

from support import Client, Closed, Rejected, Service, case, require, say

SECRET = b"a secret of more than thirty-two bytes, for tests"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(account, secret=SECRET):
    signed = "%s.%s" % (base64url(b'{"alg":"HS256"}'), base64url(json.dumps(
        {"sub": account, "exp": int(time.time()) + 600}).encode()))
    return signed + "." + base64url(hmac.new(secret, signed.encode(), hashlib.sha256).digest())


class Caller(Client):
    """A client that comes from another address of the loopback interface."""

    def __init__(self, port, source):
        self.socket = socket.socket()
        self.socket.bind((source, 0))
        self.socket.settimeout(10)
        self.socket.connect(("127.0.0.1", port))
        self.buffer, self.number = bytearray(), 0
        self.events, self.expired, self.closing = [], [], None


def flood(port, texts, until, counts):
    """A login with a bad token for each connection, from 127.0.0.9."""
    number = 0
    while time.monotonic() < until:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "login", "params": {
            "token": texts[number % len(texts)], "device": "d"}}).encode()
        number += 1
        with contextlib.suppress(OSError), socket.socket() as connection:
            connection.bind(("127.0.0.9", 0))
            connection.settimeout(5)
            connection.connect(("127.0.0.1", port))
            connection.sendall(struct.pack(">I", len(body)) + body)
            connection.recv(4096)
    counts.append(number)


def login(port, source, account):
    """Logs in, and again when told to; how often it was told to come back, and after how long."""
    told = []
    while len(told) < 5:
        client = Caller(port, source)
        try:
            client.ok("login", {"token": token(account), "device": "d", "sync": "none"})
            return told
        except Rejected as rejection:
            require(rejection.reason == "overloaded", "%s", rejection)
            told.append(0)
        except Closed:
            require(client.closing and client.closing["code"] == 4504, "%s", client.closing)
            told.append(client.closing["retryAfter"])
        finally:
            client.close()
    raise AssertionError("%s was sent away five times" % account)


@case("a flood of invalid tokens does not keep valid logins out", quick=True)
def bad_tokens():
    with Service("--auth", "jwt", start=False) as service:
        path = os.path.join(service.temporary, "secret")
        with open(path, "wb") as file:
            file.write(SECRET)
        service.flags += ["--jwt-key", path]
        service.start()
        texts = ["garbage", "a.b.c", token("x", b"another secret that is long enough, too"),
                 token("y")[:-2], "x" * 4000]
        until, counts = time.monotonic() + 4, []
        floods = [threading.Thread(target=flood, args=(service.port, texts, until, counts))
                  for _ in range(8)]
        for thread in floods:
            thread.start()
        count = {"127.0.0.1": 0, "127.0.0.9": 0}
        while time.monotonic() < until - 0.2:
            for source in count:
                told = login(service.port, source, "honest%d" % sum(count.values()))
                if source == "127.0.0.1":
                    require(not told, "an honest login was told to come back: %s", told)
                count[source] += 1
        for thread in floods:
            thread.join()
        require(min(count.values()) > 20, "%s honest logins", count)
        say("%d bad tokens, honest logins by address: %s", sum(counts), count)
