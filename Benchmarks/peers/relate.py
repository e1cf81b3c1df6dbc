"""Groups whose members all see each other by approved subscriptions, in a database of ours."""

import contextlib
import json
import re
import selectors
import socket
import struct
import subprocess

# Each waits for the disk with every request; what waits at a time is one commit.
CONNECTIONS = 500


class Fault(Exception):
    """A request that was rejected."""


class AppServer:
    """A session that sends requests one after the other."""

    def __init__(self, port, requests):
        self.requests = iter(requests)
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.received = b""
        self.send({"id": 0, "method": "login", "params": {"client": "server"}})

    def send(self, request):
        body = json.dumps({"jsonrpc": "2.0", **request}).encode()
        self.socket.sendall(struct.pack(">I", len(body)) + body)

    def receive(self):
        """Takes what has come, and sends the next request. Returns false if there is none."""
        data = self.socket.recv(1 << 16)
        if not data:
            raise Fault("the service has closed the connection of an app server")
        self.received += data
        while len(self.received) >= 4:
            end = 4 + struct.unpack(">I", self.received[:4])[0]
            if len(self.received) < end:
                break
            body, self.received = self.received[4:end], self.received[end:]
            if b'"error"' in body:
                raise Fault(body.decode())
            if b'"id"' in body[:25]:
                request = next(self.requests, None)
                if request is None:
                    return False
                self.send(request)
        return True


def requests(members, group, accounts):
    """What makes all of `members` seen by, and see, the others of their group.

    An account approves all others before they ask, so each request is accepted at once.
    """
    for action in ("accept", "request"):
        for account in members:
            first = account - account % group
            for other in range(first, min(first + group, accounts)):
                if other != account:
                    yield {"id": 1, "method": "relate", "params": {
                        "account": f"u{account:07}", "contact": f"u{other:07}",
                        "action": action}}


def make_groups(porchlight, data, accounts, group):
    """Makes the database `data` by a service that ends with this."""
    process = subprocess.Popen(
        [porchlight, "serve", "--listen", "127.0.0.1:0", "--data", data, "--rate-limits", "off",
         "--durability", "relaxed", "--heartbeat", "300"], stdout=subprocess.PIPE)
    try:
        found = re.match(rb"ready on \S+?:(\d+)", process.stdout.readline())
        if not found:
            raise Fault("the service does not start")
        relate_all(int(found[1]), accounts, group)
    finally:
        process.terminate()
        process.wait(timeout=60)
        process.stdout.close()


def relate_all(port, accounts, group):
    with contextlib.ExitStack() as sockets, selectors.DefaultSelector() as selector:
        count = min(CONNECTIONS, accounts)
        for number in range(count):
            server = AppServer(port, requests(range(number, accounts, count), group, accounts))
            sockets.enter_context(contextlib.closing(server.socket))
            selector.register(server.socket, selectors.EVENT_READ, server)
        while selector.get_map():
            for key, _ in selector.select(timeout=60):
                if not key.data.receive():
                    selector.unregister(key.fileobj)
