"""Two clients that walk through the subscription states of RFC 6121, and what each is told.

For each of the nine states of anna about ben and each of the four words that anna may send, a pair
of new accounts reaches the state, anna sends the word, and both read their rosters. That is one
`Transition`. As a line of text: the state, the word, both items afterwards, and what each was sent:

    Ni   subscribed    from      to        | push from | subscribed, push to, available
"""

import xml.etree.ElementTree as ElementTree

from stream import Stream

CLIENT = "{jabber:client}"
ROSTER = "{jabber:iq:roster}"
OPEN = "<stream xmlns='jabber:client'>"

WORDS = ("subscribe", "unsubscribe", "subscribed", "unsubscribed")
# The states of appendix A of RFC 6121 (N none, T to, F from, B both; o and i: pending out and in),
# and the words of anna (a) and ben (b) that lead there.
PATHS = {
    "N": "",
    "No": "a:subscribe",
    "Ni": "b:subscribe",
    "Noi": "a:subscribe b:subscribe",
    "T": "a:subscribe b:subscribed",
    "Ti": "a:subscribe b:subscribed b:subscribe",
    "F": "b:subscribe a:subscribed",
    "Fo": "b:subscribe a:subscribed a:subscribe",
    "B": "a:subscribe b:subscribed b:subscribe a:subscribed",
}


class Person:
    """A client that is interested in its roster and shows itself; notes what it is sent."""

    def __init__(self, port, name, wait=60):
        self.name = name
        self.bare = name + "@localhost"
        self.stream = Stream(port, wait)
        self.stream.login(name, "d1")
        self.parser = ElementTree.XMLPullParser(["start", "end"])
        self.parser.feed(OPEN + self.stream.rest)
        self.depth = 0
        self.told = []
        self.last_id = 0
        self.roster()
        self.stream.send("<presence/>")
        self.roster()

    def stanza(self):
        """The next stanza."""
        while True:
            for kind, element in self.parser.read_events():
                self.depth += 1 if kind == "start" else -1
                if kind == "end" and self.depth == 1:
                    return element
            received = self.stream.socket.recv(65536)
            if not received:
                raise EOFError(self.name)
            self.parser.feed(received)

    def say(self, word, contact):
        self.stream.send("<presence to='%s' type='%s'/>" % (contact.bare, word))

    def roster(self):
        """The items, by JID. What was sent before the result is noted in `told`."""
        self.last_id += 1
        own = "r%d" % self.last_id
        self.stream.send("<iq type='get' id='%s'><query xmlns='jabber:iq:roster'/></iq>" % own)
        while (stanza := self.stanza()).get("id") != own:
            self.note(stanza)
        return {item.get("jid"): described(item) for item in stanza.iter(ROSTER + "item")}

    def note(self, stanza):
        if stanza.tag == CLIENT + "presence":
            if not stanza.get("from", "").startswith(self.bare):
                self.told.append(stanza.get("type", "available"))
        elif stanza.get("type") == "set":
            self.told += ["push " + described(item) for item in stanza.iter(ROSTER + "item")]
            self.stream.send("<iq type='result' id='%s'/>" % stanza.get("id"))

    def take(self):
        """What it was told since the last call."""
        told, self.told = self.told, []
        return told

    def close(self):
        self.stream.close()


def described(item):
    return item.get("subscription", "none") + ("+ask" if item.get("ask") else "") \
        + ("+pre" if item.get("approved") in ("true", "1") else "")


class Transition:
    """A word in a state: both items afterwards, and what each side was told."""

    def __init__(self, state, word, items, told):
        self.state, self.word, self.items, self.told = state, word, items, told

    def __str__(self):
        told = (", ".join(words) or "-" for words in self.told)
        items = "%-13s %-8s" % self.items
        return "%-4s %-12s  %s | %s | %s" % (self.state, self.word, items, *told)


def pair(port, stem):
    return Person(port, stem + "-anna"), Person(port, stem + "-ben")


def reach(state, anna, ben):
    """Brings two new accounts to a state; returns both items."""
    items = ("-", "-")
    for step in PATHS[state].split():
        one, other = (anna, ben) if step[0] == "a" else (ben, anna)
        one.say(step[2:], other)
        # The sender's result comes when its word has been carried out.
        items = settled(one, other)
        items = items if one is anna else items[::-1]
    return items


def settled(anna, ben):
    """Both items, when each has been sent what came of the words."""
    return anna.roster().get(ben.bare, "-"), ben.roster().get(anna.bare, "-")


def walk(port, state, word):
    """One transition with two new accounts."""
    anna, ben = pair(port, "%s-%s" % (state.lower(), word))
    try:
        reach(state, anna, ben)
        for person in (anna, ben):
            person.take()
        anna.say(word, ben)
        items = settled(anna, ben)
        return Transition(state, word, items, (anna.take(), ben.take()))
    finally:
        anna.close()
        ben.close()


def names():
    """Of all accounts that `walk` makes."""
    return ["%s-%s-%s" % (state.lower(), word, who)
            for state in PATHS for word in WORDS for who in ("anna", "ben")]
