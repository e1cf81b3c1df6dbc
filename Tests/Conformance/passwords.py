"""What tests of accounts with passwords have in common."""

import os
import tempfile

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
