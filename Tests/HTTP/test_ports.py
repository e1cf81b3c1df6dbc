"""The wrong one of the two ports, by a client of the native protocol."""

import json
import socket
import struct
import subprocess

import porchlight
from api import Case


class Ports(Case):
    def test_a_frame_on_the_http_port_is_answered_in_a_frame(self):
        with socket.create_connection(("127.0.0.1", self.service.http_port), 10) as client:
            body = b'{"jsonrpc":"2.0","id":1,"method":"login","params":{"client":"server"}}'
            client.sendall(struct.pack(">I", len(body)) + body)
            stream = client.makefile("rb")
            notice = json.loads(stream.read(struct.unpack(">I", stream.read(4))[0]))
            self.assertEqual(notice["method"], "close")
            self.assertEqual(notice["params"]["code"], 4400)
            self.assertIn("This is the HTTP port.", notice["params"]["message"])
            self.assertEqual(stream.read(), b"")

    def test_a_verb_on_the_http_port_says_so(self):
        for verb in (["watch", "bob"], ["query", "bob"], ["publish", "10001", "--account", "bob"]):
            with self.subTest(verb=verb):
                done = subprocess.run(
                    [porchlight.BINARY, *verb, "--connect",
                     "127.0.0.1:%d" % self.service.http_port],
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (1, ""), done)
                self.assertEqual(done.stderr, "Error: This is the HTTP port. Connect to the native "
                                              "port, which is 7400 by default. (4400)\n")

    def test_an_http_port_that_is_in_use_is_named(self):
        done = subprocess.run(
            [porchlight.BINARY, "serve", "--listen", "127.0.0.1:0", "--data",
             self.service.data + "-none", "--http", "127.0.0.1:%d" % self.service.http_port],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (75, ""), done)
        self.assertIn("Cannot listen on 127.0.0.1:%d" % self.service.http_port, done.stderr)
        self.assertIn("(bind: address already in use (EADDRINUSE))", done.stderr)
        self.assertNotIn("errno", done.stderr)
