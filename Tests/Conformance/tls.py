"""TLS for the harness: certificates of this run, and a socket that can be half closed.

Over the carriers tls and wss, every service also listens for TLS, and every client uses that.
Python's own `SSLSocket` cannot send close_notify and go on reading.
"""

import functools
import os
import socket
import ssl
import subprocess
import tempfile

OVER_TLS = os.environ.get("CONFORMANCE_CARRIER") in ("tls", "wss")


def make_certificate(folder, name="one.example", days=30):
    """A self-signed certificate for `name` and 127.0.0.1: the paths of it and its key."""
    certificate, key = (os.path.join(folder, name + end) for end in (".crt", ".key"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", key, "-out", certificate, "-days", str(days), "-subj", "/CN=" + name,
         "-addext", "subjectAltName=DNS:%s,IP:127.0.0.1" % name],
        check=True, capture_output=True)
    os.chmod(key, 0o600)
    return certificate, key


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def make_authority(folder):
    """The certificate of an authority and its key: two paths."""
    certificate, key = (os.path.join(folder, "ca" + end) for end in (".crt", ".key"))
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", key, "-out", certificate, "-days", "30", "-subj", "/CN=test authority",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    return certificate, key


# For `openssl ca`, which takes times: `openssl x509` does not in each version, nor negative days.
AUTHORITY = """[ca]
default_ca = one
[one]
database = %(folder)s/index.txt
new_certs_dir = %(folder)s
rand_serial = yes
default_md = sha256
unique_subject = no
policy = names
[names]
commonName = supplied
"""


# From and until when a certificate is valid.
EXPIRED = ("200101000000Z", "200131000000Z")
NOT_YET_VALID = ("480101000000Z", "480131000000Z")


def sign(authority, folder, name, dates=None, alternatives="DNS:localhost,IP:127.0.0.1"):
    """A certificate for `name` that the authority has signed, and its key: two paths.

    It is valid from now for 30 days, or in `dates`.
    """
    certificate, key, request, extensions = (
        os.path.join(folder, name + end) for end in (".crt", ".key", ".csr", ".ext"))
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            key, "-out", request, "-subj", "/CN=" + name)
    with open(extensions, "w") as file:
        # All that strict clients ask for, such as Python from 3.13 on.
        file.write("subjectAltName=%s\nbasicConstraints=critical,CA:FALSE\n"
                   "keyUsage=critical,digitalSignature\nsubjectKeyIdentifier=hash\n"
                   "authorityKeyIdentifier=keyid\n" % alternatives)
    settings = os.path.join(folder, "ca.cnf")
    with open(settings, "w") as file:
        file.write(AUTHORITY % {"folder": folder})
    open(os.path.join(folder, "index.txt"), "a").close()
    times = ["-startdate", dates[0], "-enddate", dates[1]] if dates else ["-days", "30"]
    openssl("ca", "-batch", "-notext", "-config", settings, "-in", request, "-cert", authority[0],
            "-keyfile", authority[1], *times, "-extfile", extensions, "-out", certificate)
    os.chmod(key, 0o600)
    return certificate, key


@functools.cache
def certificate_of_run():
    folder = tempfile.mkdtemp(prefix="porchlight-conf-tls-")
    return make_certificate(folder)


def flags_of_run():
    """What a service needs to listen for TLS, too."""
    if not OVER_TLS:
        return []
    certificate, key = certificate_of_run()
    return ["--listen-tls", "127.0.0.1:0", "--tls-certificate", certificate, "--tls-key", key]


def context(protocols=("porchlight",), trusted=None):
    """What a client offers; without `trusted`, any certificate is accepted."""
    # Not `create_default_context`: it reads the system's authorities, which takes 50 ms.
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if trusted is None:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    else:
        made.load_verify_locations(trusted)
    if protocols:
        made.set_alpn_protocols(list(protocols))
    return made


@functools.cache
def context_of_run():
    """The context of all clients that need no other; nobody changes it."""
    return context()


class TLSSocket:
    """A connected socket with TLS over it, as far as the harness needs it."""

    def __init__(self, plain, made=None, name="one.example"):
        self.plain = plain
        # Whether the peer has sent close_notify.
        self.ended = False
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = (made or context_of_run()).wrap_bio(
            self.incoming, self.outgoing, server_hostname=name)
        self._run(self.tls.do_handshake)

    def _flush(self):
        data = self.outgoing.read()
        if data:
            self.plain.sendall(data)

    def _run(self, call, *arguments):
        """Calls until it needs nothing more from the peer; None at the end of the stream."""
        while True:
            try:
                result = call(*arguments)
                self._flush()
                return result
            except ssl.SSLWantReadError:
                self._flush()
                data = self.plain.recv(65536)
                if not data:
                    return None
                self.incoming.write(data)
            except ssl.SSLError:
                self._flush()
                raise

    def sendall(self, data):
        if data:
            self._run(self.tls.write, data)

    def recv(self, count):
        try:
            got = self._run(self.tls.read, count)
        except ssl.SSLZeroReturnError:
            got = b""
        except ssl.SSLEOFError:
            got = None
        self.ended = got == b""
        return got or b""

    def shutdown(self, _):
        """Sends close_notify, and goes on reading."""
        try:
            self.tls.unwrap()
        except ssl.SSLError:
            pass
        self._flush()

    def __getattr__(self, name):
        return getattr(self.plain, name)


def connect(port, **options):
    """A TLS connection to 127.0.0.1."""
    plain = socket.create_connection(("127.0.0.1", port), timeout=60)
    return TLSSocket(plain, **options)
