"""Flows: what clients do, and what each is sent. A flow is a text of these lines:

    # a comment
    (anna/desk logs in)                 connects, authenticates and binds the resource
    (anna/desk logs in again)           the same, beside the connection that was there: (old)
    (anna/desk connects)                only the connection
    anna/desk → <presence/>             what is sent, as it is; @PLAIN@ is for SASL PLAIN
    anna/desk ← <presence …/>           what was received then, as stanzas.py writes it
    (anna/desk's connection is lost)
    (ben/phone waits)                   until it is sent something

Each line that is not received is a step. A step is over when every client has been sent what it
caused: the client whose step it is sends an iq to each, which comes behind everything else.
"""

import base64
import contextlib
import itertools
import re
import time

import stanzas
from stream import HEADER, Stream

PEOPLE = re.compile(r"\b(anna|ben|cara)@localhost")
SENT = re.compile(r"(\S+) → (.*)")
RECEIVED = re.compile(r"(\S+(?: \(old\))?) ← (.*)")
DONE = re.compile(r"\((\S+?)(?:'s)? (logs in|logs in again|connects|connection is lost|waits)\)")
RESOURCE = re.compile(r"<presence from='([^'/]*)/[^']*'")
SYNC = "sync-"
WAIT = 30


class Client:
    """A raw connection; what it is sent is kept until the step is over."""

    def __init__(self, port, label, name):
        self.label = label
        self.jid = "%s@localhost/%s" % (name, label.split("/")[1])
        self.name = name
        self.stream = Stream(port, WAIT)
        self.reader = stanzas.Reader()
        self.received = []
        self.synced = None
        self.is_bound = self.has_ended = False

    def login(self):
        self.stream.login(self.name, self.label.split("/")[1])
        self.reader.feed(HEADER.encode())
        self.is_bound = True
        self.take(self.stream.rest.encode())

    def plain(self):
        return base64.b64encode(("\0%s\0x" % self.name).encode()).decode()

    def send(self, text):
        if text.startswith("<stream:stream"):
            self.reader.restart()
        self.stream.send(text)

    def take(self, data):
        for element in self.reader.feed(data):
            if element is None:
                self.received.append("</stream:stream>")
                continue
            identity = element.get("id") or ""
            if identity.startswith(SYNC):
                self.synced = identity
                continue
            to = element.get("to", self.jid)
            assert to in (self.jid, self.jid.split("/")[0]), "%s was sent %s's" % (self.jid, to)
            self.received.append(stanzas.written(element))
            if element.tag.endswith("}iq") and stanzas.is_push(element):
                self.stream.send("<iq type='result' id='%s'/>" % identity)
            if "<jid>" in self.received[-1]:
                self.is_bound = True

    def read_until(self, condition):
        """Reads until the condition holds or the stream ends."""
        end = time.monotonic() + WAIT
        while not condition() and not self.has_ended:
            self.stream.socket.settimeout(max(0.01, end - time.monotonic()))
            try:
                data = self.stream.socket.recv(65536)
            except TimeoutError:
                raise AssertionError("%s was sent only %s" % (self.jid, self.received)) from None
            except ConnectionResetError:
                data = b""
            if data:
                self.take(data)
            else:
                self.has_ended = True
                self.received.append("(closed)")


class Player:
    """Plays one flow to one server."""

    def __init__(self, port, flow):
        self.port, self.flow = port, flow
        self.clients = {}
        self.last_sync = 0

    def own(self, text):
        """With accounts that no other flow has."""
        return PEOPLE.sub(lambda found: self.flow + "-" + found[0], text)

    def play(self, steps):
        """For each step: the line, and what was received, as lines."""
        try:
            for step in steps:
                self.carry_out(step)
                yield step, list(self.received())
        finally:
            for client in self.clients.values():
                client.stream.close()

    def carry_out(self, step):
        if found := SENT.fullmatch(step):
            self.send(self.clients[found[1]], found[2])
            return
        label, what = DONE.fullmatch(step).groups()
        if what == "connection is lost":
            self.clients.pop(label).stream.close()
        elif what == "waits":
            client = self.clients[label]
            client.read_until(lambda: client.received)
        elif what == "connects":
            self.connect(label)
        else:
            self.login(label, what.endswith("again"))

    def send(self, client, text):
        client.send(self.own(text).replace("@PLAIN@", client.plain()))
        if client.is_bound and not text.startswith("</stream"):
            self.settle(client)
        else:
            client.read_until(lambda: client.received)
        if any(is_end(each) for each in client.received):
            client.read_until(lambda: client.has_ended)
        if client.has_ended:
            client.is_bound = False
            # Another client's iq comes behind what the others are sent of this end.
            for other in self.clients.values():
                if other.is_bound:
                    self.settle(other)
                    break

    def connect(self, label):
        self.clients[label] = Client(self.port, label, self.flow + "-" + label.split("/")[0])
        return self.clients[label]

    def login(self, label, again):
        old = self.clients.pop(label) if again else None
        client = self.connect(label)
        client.login()
        if old:
            self.clients[label + " (old)"] = old
            old.read_until(lambda: old.has_ended)
        self.settle(client)

    def settle(self, sender):
        """Reads until each client has what the sender caused."""
        self.last_sync += 1
        identity = SYNC + str(self.last_sync)
        others = [client for client in self.clients.values()
                  if client.is_bound and not client.has_ended]
        # The server may have ended the stream by what it was sent.
        with contextlib.suppress(OSError):
            for client in sorted(others, key=lambda client: client is sender):
                sender.stream.send("<iq type='result' id='%s' to='%s'/>" % (identity, client.jid))
        sender.read_until(lambda: sender.synced == identity)
        for client in others:
            if not sender.has_ended or client is sender:
                client.read_until(lambda: client.synced == identity)

    def received(self):
        for label, client in sorted(self.clients.items()):
            for text in in_order(client.received):
                yield "%s ← %s" % (label, text.replace(self.flow + "-", ""))
            client.received = []


def in_order(texts):
    """With presences that follow each other sorted, if they are of resources of one account.

    Servers send the states of several resources in an order of their own.
    """
    found = []
    for account, run in itertools.groupby(texts, account_of_resource):
        found += sorted(run, key=lambda text: RESOURCE.match(text)[0]) if account else run
    return found


def account_of_resource(stanza):
    found = RESOURCE.match(stanza)
    return found and found[1]


def is_end(text):
    return text.startswith("</stream") or text.startswith("<stream:error")


def steps_of(text):
    """The steps of a flow."""
    return [line for line in text.splitlines()
            if line and not line.startswith("#") and not RECEIVED.fullmatch(line)]
