"""TLS: what is agreed on, which certificate is served, and what SIGHUP does."""

import json
import os
import re
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time
import unittest

import tls
from porchlight import BINARY, WAIT, Case, Client, Service

# What carries the frames makes no difference to these tests.
CARRIED = False


class Secured(Case):
    flags = None

    def setUp(self):
        super().setUp()
        self.folder = self.new_folder()
        self.certificate, self.key = tls.make_certificate(self.folder)

    def serve(self, *names, flags=(), **options):
        """A service with a certificate for each name, the first one for the default."""
        pairs = [tls.make_certificate(self.folder, name) for name in names] or \
            [(self.certificate, self.key)]
        return self.keep(Service(
            "--listen-tls", "127.0.0.1:0", "--tls-certificate", ",".join(c for c, _ in pairs),
            "--tls-key", ",".join(k for _, k in pairs), *flags, **options))

    def certificate_for(self, service, name):
        """The certificate that a client of `name` is served."""
        made = tls.context()
        plain = socket.create_connection(("127.0.0.1", service.tls_port), timeout=WAIT)
        with made.wrap_socket(plain, server_hostname=name) as client:
            return client.getpeercert(binary_form=True)

    def served(self, service, name):
        """The common name of that certificate."""
        text = subprocess.run(["openssl", "x509", "-inform", "DER", "-noout", "-subject"],
                              input=self.certificate_for(service, name), capture_output=True,
                              check=True).stdout.decode()
        return re.search(r"CN ?= ?(\S+)", text).group(1)

    def speak(self, connection):
        client = Client.over(connection)
        self.keep(client)
        return client


class Handshakes(Secured):
    def test_a_client_speaks_over_tls_and_another_without(self):
        s = self.serve()
        watcher = self.speak(tls.connect(s.tls_port)).login("w")
        watcher.subscribe("p")
        publisher = self.keep(s.connect()).login("p")
        publisher.publish(10001)
        self.assertEqual(watcher.event()["publisher"], "p")

    def test_the_certificate_is_chosen_by_name(self):
        s = self.serve("a.example", "b.example", "c.example")
        for name in ("a.example", "b.example", "c.example", "B.Example"):
            self.assertEqual(self.served(s, name), name.lower())
        self.assertEqual(self.served(s, "d.example"), "a.example")
        self.assertEqual(self.served(s, None), "a.example")

    def test_application_protocols(self):
        s = self.serve()
        for offered, chosen in ((["porchlight"], "porchlight"), (["http/1.1"], "http/1.1"),
                                (["h2", "http/1.1"], "http/1.1"), ([], None)):
            with self.subTest(offered=offered):
                client = tls.connect(s.tls_port, made=tls.context(offered))
                self.assertEqual(client.tls.selected_alpn_protocol(), chosen)
                client.close()
        with self.assertRaisesRegex(ssl.SSLError, "no application protocol"):
            tls.connect(s.tls_port, made=tls.context(["h2"]))

    def test_old_versions_are_rejected(self):
        s = self.serve()
        for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            made = tls.context()
            made.set_ciphers("ALL:@SECLEVEL=0")
            made.minimum_version = made.maximum_version = version
            with self.assertRaises(ssl.SSLError):
                tls.connect(s.tls_port, made=made)
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            made = tls.context()
            made.minimum_version = made.maximum_version = version
            self.speak(tls.connect(s.tls_port, made=made)).login("v%d" % version)

    def test_what_is_not_tls_is_closed(self):
        s = self.serve()

        def answer(sent):
            plain = socket.create_connection(("127.0.0.1", s.tls_port), timeout=WAIT)
            self.keep(plain)
            plain.sendall(sent)
            return b"".join(iter(lambda: plain.recv(1000), b""))
        head, _, body = answer(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").partition(b"\r\n\r\n")
        self.assertTrue(head.startswith(b"HTTP/1.1 400 Bad Request\r\n"), head)
        self.assertEqual(body, b"This port speaks TLS: connect with it, as wss does.\n")
        for sent in (b"\0\0\0\2{}", b"{}", b"<stream>"):
            got = answer(sent)
            self.assertEqual(got[:4], struct.pack(">I", len(got) - 4))
            self.assertEqual(json.loads(got[4:]), {
                "jsonrpc": "2.0", "method": "close", "params": {
                    "code": 4400, "reason": "protocol_violation",
                    "message": "This port speaks TLS: begin with its handshake, or use the port "
                               "without it."}})

    def test_a_handshake_that_stops_ends_with_the_time_for_the_login(self):
        s = self.serve()
        plain = socket.create_connection(("127.0.0.1", s.tls_port), timeout=2 * WAIT)
        self.keep(plain)
        plain.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        began = time.monotonic()
        self.assertEqual(plain.recv(100), b"")
        self.assertGreater(time.monotonic() - began, 8)

    def test_after_a_half_close_requests_are_answered(self):
        s = self.serve()
        client = self.speak(tls.connect(s.tls_port)).login("a")
        ids = [client.post("ping") for _ in range(3)]
        client.half_close()
        for id in ids:
            self.assertIn("result", client.answer(id))
        client.eof()

    def test_sessions_are_resumed(self):
        s = self.serve()
        made = tls.context()
        made.maximum_version = ssl.TLSVersion.TLSv1_2
        first = made.wrap_socket(socket.create_connection(("127.0.0.1", s.tls_port)),
                                 server_hostname="one.example")
        session = first.session
        first.close()
        again = made.wrap_socket(socket.create_connection(("127.0.0.1", s.tls_port)),
                                 server_hostname="one.example", session=session)
        self.assertTrue(again.session_reused)
        again.close()


    def test_a_session_is_resumed_under_its_name_only(self):
        s = self.serve("a.example", "b.example")
        made = tls.context()
        made.maximum_version = ssl.TLSVersion.TLSv1_2

        def connect(name, session=None):
            plain = socket.create_connection(("127.0.0.1", s.tls_port), timeout=WAIT)
            with made.wrap_socket(plain, server_hostname=name, session=session) as client:
                return client.session, client.session_reused
        names = ("a.example", "b.example", "other.example", None)
        for first in names:
            session, _ = connect(first)
            for second in names:
                self.assertEqual(connect(second, session)[1], first == second, (first, second))


class Reloads(Secured):
    def test_a_session_ends_with_its_certificate(self):
        s = self.serve("a.example")
        made = tls.context()
        made.maximum_version = ssl.TLSVersion.TLSv1_2

        def connect(session=None):
            plain = socket.create_connection(("127.0.0.1", s.tls_port), timeout=WAIT)
            with made.wrap_socket(plain, server_hostname="a.example", session=session) as client:
                return client.session, client.session_reused
        session, _ = connect()
        self.reload(s)
        self.assertTrue(connect(session)[1], "nothing has changed")
        self.renew("n.example")
        self.reload(s)
        self.await_served(s, "n.example")
        self.assertFalse(connect(session)[1])

    def renew(self, name, old="a.example"):
        """Replaces the files of a certificate by those of one for `name`."""
        for new, end in zip(tls.make_certificate(self.folder, name), (".crt", ".key")):
            os.replace(new, os.path.join(self.folder, old + end))

    def await_served(self, s, name):
        """With several loops, they get the new certificates one after the other."""
        end = time.monotonic() + WAIT
        while self.served(s, "x.example") != name:
            self.assertLess(time.monotonic(), end, "not served: " + name)

    def reload(self, s):
        before = len(s.log_text())
        s.signal(signal.SIGHUP)
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            said = s.log_text()[before:]
            if "read again" in said or "nothing was changed" in said:
                return said
            time.sleep(0.01)
        self.fail("no word of SIGHUP")

    def test_new_connections_get_the_new_certificate_and_old_ones_stay(self):
        s = self.serve("a.example")
        client = self.speak(tls.connect(s.tls_port)).login("a")
        for number in range(3):
            name = "n%d.example" % number
            self.renew(name)
            self.reload(s)
            self.await_served(s, name)
            self.assertIn("time", client.ok("ping"))

    def test_a_broken_file_keeps_the_old_certificate_and_says_so(self):
        s = self.serve("a.example")
        path = os.path.join(self.folder, "a.example.crt")
        with open(path, "w") as file:
            file.write("text")
        said = self.reload(s)
        self.assertIn("nothing was changed", said)
        self.assertIn("%s given with --tls-certificate has no certificate in PEM form" % path, said)
        self.assertEqual(self.served(s, None), "a.example")

    def test_a_key_of_another_certificate_is_rejected_at_startup(self):
        other = tls.make_certificate(self.folder, "b.example")[1]
        os.chmod(self.key, 0o644)
        for key, words in ((other, "does not belong"), (self.key, "can be read by all users")):
            done = subprocess.run(
                [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", self.folder + "/d",
                 "--listen-tls", "127.0.0.1:0", "--tls-certificate", self.certificate,
                 "--tls-key", key], capture_output=True, timeout=WAIT)
            self.assertEqual(done.returncode, 64)
            self.assertIn("%s given with --tls-key" % key, done.stderr.decode())
            self.assertIn(words, done.stderr.decode())

    def test_config_checks_the_files(self):
        def config(*flags):
            return subprocess.run(
                [BINARY, "config", "--listen-tls", "127.0.0.1:0", *flags], capture_output=True,
                text=True, timeout=WAIT)
        soon, its_key = tls.make_certificate(self.folder, "soon.example", days=10)
        done = config("--tls-certificate", soon, "--tls-key", its_key)
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stderr, r"\AWarning: the certificate in %s expires in (9|10) days\n\Z"
                         % re.escape(soon))
        done = config("--tls-certificate", soon, "--tls-key", self.key)
        self.assertEqual(done.returncode, 64, done)
        self.assertIn("does not belong to the certificate", done.stderr)
        done = config("--tls-certificate", "/dev/zero", "--tls-key", self.key)
        self.assertEqual(done.returncode, 64, done)
        self.assertIn("/dev/zero given with --tls-certificate cannot be read: it has more than "
                      "4 MiB", done.stderr)


class Dates(Secured):
    """Certificates that are not valid are served, and replace no valid one."""

    reload = Reloads.reload

    def setUp(self):
        super().setUp()
        self.authority = tls.make_authority(self.folder)

    def sign(self, name, dates=None):
        return tls.sign(self.authority, self.folder, name, dates)

    def flags_of(self, pair, *more):
        return ["--listen-tls", "127.0.0.1:0", "--tls-certificate", pair[0], "--tls-key", pair[1],
                *more]

    def replace(self, old, new):
        """Puts the files of one certificate where those of another are."""
        for to, made in zip(old, new):
            os.replace(made, to)

    def is_valid(self, s):
        text = self.keep(s.server()).ok("metrics")["text"]
        return int(re.search(r"^porchlight_tls_certificate_valid (\d)$", text, re.M).group(1))

    def test_one_that_is_not_valid_is_served_on_all_ports(self):
        for name, dates, words in (
                ("old.example", tls.EXPIRED, "expired at 2020-01-31T00:00:00Z"),
                ("new.example", tls.NOT_YET_VALID, "is not valid before 2048-01-01T00:00:00Z")):
            with self.subTest(name=name):
                pair = self.sign(name, dates)
                line = "the certificate in %s %s" % (pair[0], words)
                flags = self.flags_of(
                    pair, "--http-tls", "127.0.0.1:0", "--xmpp-listen", "127.0.0.1:0",
                    "--xmpp-tls-listen", "127.0.0.1:0", "--xmpp-domain", "127.0.0.1")
                s = self.keep(Service(*flags))
                self.assertEqual(s.log_text().count(line + "\n"), 1, s.log_text())
                self.assertRegex(s.log_text(), "warning porchlight: " + re.escape(line))
                self.assertEqual(self.is_valid(s), 0)
                self.assertEqual(self.served(s, name), name)
                for port in ("https", "xmpps"):
                    number = int(re.search(port + r" on \S*:(\d+)", s.ready).group(1))
                    protocol = "http/1.1" if port == "https" else "xmpp-client"
                    tls.connect(number, made=tls.context([protocol])).close()
                self.assertEqual(s.terminate(), 0)
                done = subprocess.run([BINARY, "config", *flags], capture_output=True, text=True,
                                      timeout=WAIT)
                self.assertEqual((done.returncode, done.stderr), (0, "Warning: %s\n" % line))

    def test_a_valid_one_is_kept(self):
        used = self.sign("a.example")
        s = self.keep(Service(*self.flags_of(used)))
        self.assertEqual(self.is_valid(s), 1)
        for name, dates, words in (("old.example", tls.EXPIRED, "expired at 2020-01-31"),
                                   ("new.example", tls.NOT_YET_VALID, "is not valid before 2048")):
            self.replace(used, self.sign(name, dates))
            said = self.reload(s)
            self.assertIn("nothing was changed: the certificate in %s %s" % (used[0], words), said)
            self.assertIn("; the valid one stays in use", said)
            self.assertEqual(self.served(s, None), "a.example")
            self.assertEqual(self.is_valid(s), 1)
        self.replace(used, self.sign("b.example"))
        self.assertIn("read again", self.reload(s))
        Reloads.await_served(self, s, "b.example")

    def test_one_that_is_not_valid_is_replaced(self):
        used = self.sign("old.example", tls.EXPIRED)
        s = self.keep(Service(*self.flags_of(used)))
        self.replace(used, self.sign("new.example", tls.NOT_YET_VALID))
        said = self.reload(s)
        self.assertIn("the certificate in %s is not valid before 2048" % used[0], said)
        self.assertIn("certificate replaced", said)
        Reloads.await_served(self, s, "new.example")
        self.assertEqual(self.is_valid(s), 0)
        self.replace(used, self.sign("a.example"))
        self.assertIn("read again", self.reload(s))
        Reloads.await_served(self, s, "a.example")
        self.assertEqual(self.is_valid(s), 1)

    def test_a_key_of_another_certificate_is_rejected(self):
        old, other = self.sign("old.example", tls.EXPIRED), self.sign("b.example")
        done = subprocess.run(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", self.folder + "/d",
             *self.flags_of((old[0], other[1]))], capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(done.returncode, 64, done)
        self.assertIn("does not belong to the certificate", done.stderr)


class SeveralLoops(Secured):
    """A new connection goes to the loop with the fewest, so connections that are held go round."""

    def setUp(self):
        super().setUp()
        self.s = self.serve("a.example", flags=["--loops", "3", "--rate-limits", "off"])

    renew, await_served, reload = Reloads.renew, Reloads.await_served, Reloads.reload

    def value(self, server, name):
        found = re.search(r"^%s (\S+)$" % re.escape(name), server.ok("metrics")["text"], re.M)
        return float(found.group(1))

    def test_clients_of_all_loops_meet_over_tls_and_without(self):
        watchers = [self.speak(tls.connect(self.s.tls_port)).login("w%d" % n) for n in range(3)]
        watchers += [self.keep(self.s.login("w%d" % n)) for n in range(3, 6)]
        for watcher in watchers:
            watcher.subscribe("p")
        publisher = self.speak(tls.connect(self.s.tls_port)).login("p")
        publisher.publish(10001)
        for watcher in watchers:
            self.assertEqual(watcher.event()["publisher"], "p")
        server = self.keep(self.s.server())
        count = 8 if tls.OVER_TLS else 4
        full = self.value(server, 'porchlight_tls_handshakes_total{kind="full"}')
        self.assertEqual(full, count)
        self.assertEqual(self.value(server, "porchlight_tls_handshake_seconds_count"), count)
        expires = self.value(server, "porchlight_tls_certificate_expires_timestamp_seconds")
        self.assertLess(expires, time.time() + 31 * 86400)
        for loop in range(3):
            self.assertGreaterEqual(
                self.value(server, 'porchlight_loop_connections{loop="%d"}' % loop), 2)

    def test_a_ticket_of_one_loop_resumes_on_every_other(self):
        ticket = os.path.join(self.folder, "ticket")
        for version in ("-tls1_3", "-tls1_2"):
            held, resumed = [], []
            for number in range(6):
                said = subprocess.run(
                    ["openssl", "s_client", "-connect", "127.0.0.1:%d" % self.s.tls_port, version,
                     "-alpn", "porchlight", "-sess_in" if number else "-sess_out", ticket,
                     "-ign_eof"],
                    # Too long a frame: the service ends the connection, and it read until then.
                    input=b"\xff\xff\xff\xff", capture_output=True, timeout=WAIT).stdout
                resumed.append(b"Reused, TLSv1." in said)
                # The next one finds another loop.
                held.append(self.keep(self.s.connect()))
            self.assertEqual(resumed, [False] + 5 * [True], version)

    def test_a_reload_under_load_reaches_every_loop(self):
        names = ["n%d.example" % number for number in range(4)]
        stopped = threading.Event()
        counts, faults = [0] * 6, []

        def load(number):
            try:
                while not stopped.is_set():
                    client = Client.over(tls.connect(self.s.tls_port)).login("l%d" % number)
                    client.ok("ping")
                    client.close()
                    counts[number] += 1
            except Exception as fault:
                faults.append(fault)

        threads = [threading.Thread(target=load, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        old = [self.speak(tls.connect(self.s.tls_port)).login("o%d" % n) for n in range(3)]
        for name in names:
            before = list(counts)
            self.renew(name)
            self.reload(self.s)
            # Of ten in a row, some are on each loop.
            end = time.monotonic() + WAIT
            while not all(name.encode() in self.certificate_for(self.s, name)
                          for _ in range(10)):
                self.assertLess(time.monotonic(), end, "not served: " + name)
            while any(new == was for new, was in zip(counts, before)):
                self.assertLess(time.monotonic(), end, "the load stands still: %r" % faults)
                time.sleep(0.01)
            for client in old:
                client.ok("ping")
        stopped.set()
        for thread in threads:
            thread.join()
        self.assertEqual(faults, [])

    def test_sessions_of_all_loops_are_ended_in_order(self):
        clients = [self.speak(tls.connect(self.s.tls_port)).login("a%d" % n) for n in range(6)]
        self.s.signal(signal.SIGTERM)
        for client in clients:
            self.assertEqual(client.note("close")["params"]["code"], 4503)
            client.eof()
            self.assertTrue(client.socket.ended, "no close_notify")
        self.assertEqual(self.s.wait(), 0)
