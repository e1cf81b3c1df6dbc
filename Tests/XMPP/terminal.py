"""A program for terminals, in a pseudo-terminal and with a home folder of its own."""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import tempfile
import termios
import time

import debian

WAIT = 30


def found(name, *packages):
    """The path of a program, installed or of Debian's packages, and the environment it needs."""
    program, environment = shutil.which(name), dict(os.environ)
    if not program:
        folder, _ = debian.unpacked(name, *packages)
        program = "%s/usr/bin/%s" % (folder, name)
        environment["LD_LIBRARY_PATH"] = debian.libraries(folder)
    return program, environment


class Terminal:
    """One program, from its start to its end."""

    def __init__(self, program, environment, files=()):
        """`files` are written before the start: paths in the home folder, and their texts."""
        self.name = os.path.basename(program)
        self.home = tempfile.mkdtemp(prefix="porchlight-%s-" % self.name)
        for path, text in files:
            self.write(path, text)
        environment = dict(
            environment, HOME=self.home, XDG_CONFIG_HOME=self.home + "/config",
            XDG_DATA_HOME=self.home + "/data", TERM="xterm", LANG="C.UTF-8")
        self.terminal, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 150, 0, 0))
        self.process = subprocess.Popen(
            [program], stdin=inner, stdout=inner, stderr=inner, env=environment, cwd=self.home,
            start_new_session=True)
        os.close(inner)
        self.shown = ""

    def write(self, path, text):
        path = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(text)

    def type(self, line):
        self.shown = ""
        os.write(self.terminal, line.encode() + b"\r")

    def until(self, text):
        """Waits until the text is shown."""
        end = time.monotonic() + WAIT
        while text not in self.shown:
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise SystemExit("FAILED: %s does not show %r but %r"
                                 % (self.name, text, self.shown))
            received = os.read(self.terminal, 65536).decode("utf-8", "replace")
            # What moves the cursor separates words.
            received = re.sub(r"\x1b[\[(][0-9;?]*[A-Za-z]", " ", received)
            self.shown = re.sub(r"\s+", " ", self.shown + received)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT)
        os.close(self.terminal)
        shutil.rmtree(self.home, ignore_errors=True)


def shows(native, show, text=None):
    """Waits until a native client is told that the only device, an XMPP client, shows this."""
    # It may send the same presence with other capabilities first.
    native.events_until(lambda event: [
        (device["client"], device.get("show"), device.get("text"))
        for device in event["online"]] == [("xmpp", show, text)])


def converse(program, native, account, write):
    """The user of the program writes to a native client, which answers; both take what they have.

    `write` is what is typed in front of a text.
    """
    program.type(write + " 今天的天气真好。")
    message, = native.note("messages")["params"]["messages"]
    assert (message["from"], message["body"]) == (account, "今天的天气真好。"), message
    assert native.ok("take", {"id": message["id"]}) == {"waiting": 0}
    # In mcabber, an empty line opens the conversation.
    program.type("")
    native.ok("send", {"accounts": [account], "body": "是的，a < b & 'c'"})
    program.until("是的，a < b & 'c'")


def untaken(service, count):
    """Waits until this number of messages waits."""
    server = service.server()
    end = time.monotonic() + WAIT
    while (found := server.ok("stats")["messagesWaiting"]) != count:
        assert time.monotonic() < end, "%d messages wait" % found
    server.close()
