"""What tests of accounts with passwords have in common."""

import os
import tempfile

from porchlight import Case

KEY = "key-of-the-app-server"


def key_file():
    """A file with the key of an app server. The caller removes it."""
    handle, path = tempfile.mkstemp()
    os.write(handle, KEY.encode() + b"\n")
    os.close(handle)
    os.chmod(path, 0o600)
    return path


def app_server(service):
    """An app server, logged in with its key."""
    client = service.connect()
    client.ok("login", {"key": KEY})
    return client


class PasswordCase(Case):
    """Tests with services of their own, which have passwords."""

    flags = None

    def setUp(self):
        super().setUp()
        self.key = key_file()
        self.addCleanup(os.unlink, self.key)

    def with_passwords(self, *flags, **options):
        """One with --auth password, and its app server."""
        service = self.fresh("--auth", "password", "--server-key", self.key, *flags, **options)
        return service, self.keep(app_server(service))

    def log_in(self, service, account, password, device="d1"):
        return self.keep(service.connect()).call(
            "login", {"account": account, "password": password, "device": device})

    def allowed(self, service, account, password):
        got = self.log_in(service, account, password)
        self.assertEqual(got.get("result", {}).get("account"), account, got)

    def denied(self, service, account, password):
        self.rejected(self.log_in(service, account, password), 401, "invalid_password",
                      field="password")
