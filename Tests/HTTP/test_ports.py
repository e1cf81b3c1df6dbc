"""The wrong one of the two ports, by a client of the native protocol."""

import subprocess

import porchlight
from api import Case


class Ports(Case):
    def test_a_verb_on_the_http_port_asks_whether_it_is_one(self):
        for verb in (["watch", "bob"], ["query", "bob"], ["publish", "10001", "--account", "bob"]):
            with self.subTest(verb=verb):
                done = subprocess.run(
                    [porchlight.BINARY, *verb, "--connect",
                     "127.0.0.1:%d" % self.service.http_port],
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
                self.assertEqual((done.returncode, done.stdout), (1, ""), done)
                self.assertIn("Is that its HTTP port?", done.stderr)

    def test_an_http_port_that_is_in_use_is_named(self):
        done = subprocess.run(
            [porchlight.BINARY, "serve", "--listen", "127.0.0.1:0", "--data",
             self.service.data + "-none", "--http", "127.0.0.1:%d" % self.service.http_port],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertIn("Cannot listen on 127.0.0.1:%d" % self.service.http_port, done.stderr)
        self.assertIn("(bind: address already in use (EADDRINUSE))", done.stderr)
        self.assertNotIn("errno", done.stderr)
