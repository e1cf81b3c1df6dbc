"""A service that XMPP clients can reach: without TLS, by STARTTLS, and over TLS."""

import logging
import re
import shutil
import tempfile

import porchlight
import tls

DOMAIN = "localhost"

# On a loaded machine asyncio tells of each callback that took 100 ms, slixmpp of each login that a
# test wants to fail, and aioxmpp of each ping that it answers with an error.
logging.getLogger("asyncio").setLevel(logging.CRITICAL)
logging.getLogger("slixmpp").setLevel(logging.CRITICAL)
logging.getLogger("aioxmpp").setLevel(logging.CRITICAL)


class XMPPService(porchlight.Service):
    """One with both listeners, and a certificate for the domain unless `plain`."""

    def __init__(self, *flags, plain=False, ports=(0, 0), environment=None):
        self.folder = tempfile.mkdtemp(prefix="porchlight-xmpp-")
        flags = ["--xmpp-listen", "127.0.0.1:%d" % ports[0], "--xmpp-domain", DOMAIN, *flags]
        if plain:
            flags += ["--xmpp-plaintext"]
        else:
            authority = tls.make_authority(self.folder)
            certificate, key = tls.sign(authority, self.folder, DOMAIN)
            self.authority = authority[0]
            flags += ["--xmpp-tls-listen", "127.0.0.1:%d" % ports[1],
                      "--tls-certificate", certificate, "--tls-key", key]
        super().__init__(*flags, environment=environment)

    def start(self, *flags):
        super().start(*flags)
        self.xmpp_port = int(re.search(r"xmpp on \S*:(\d+)", self.ready).group(1))
        found = re.search(r"xmpps on \S*:(\d+)", self.ready)
        self.xmpps_port = int(found.group(1)) if found else None
        return self

    def close(self):
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Served:
    """Mixed into a class of test cases, in front: the class has a service of its own."""

    flags = ()
    is_plain = False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.service = XMPPService(*cls.flags, plain=cls.is_plain)
        cls.addClassCleanup(cls.service.close)
