"""Twisted Words: python3 twisted_words.py PORT ACCOUNT SECONDS"""

import sys

from twisted.internet import reactor
from twisted.words.protocols.jabber import client, jid, xmlstream
from twisted.words.xish import domish

port, account, seconds = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
factory = client.XMPPClientFactory(jid.JID("%s@localhost/lib" % account), "x")
factory.maxRetries = 0


def connected(stream):
    """Without TLS, which it asks for otherwise."""
    for step in stream.initializers:
        if isinstance(step, xmlstream.TLSInitiatingInitializer):
            step.required = False


def logged_in(stream):
    print("ready", flush=True)
    stream.addObserver("/message", lambda message: print("got", message.body, flush=True))
    stream.send(domish.Element(("jabber:client", "presence")))


def end():
    print("still there", flush=True)
    reactor.stop()


factory.addBootstrap(xmlstream.STREAM_CONNECTED_EVENT, connected)
factory.addBootstrap(xmlstream.STREAM_AUTHD_EVENT, logged_in)
factory.addBootstrap(xmlstream.INIT_FAILED_EVENT, lambda why: print("failed", why, flush=True))
factory.addBootstrap(
    xmlstream.STREAM_END_EVENT, lambda why: reactor.running and reactor.callLater(0, reactor.crash))
reactor.connectTCP("127.0.0.1", port, factory)
reactor.callLater(seconds, end)
reactor.run()
