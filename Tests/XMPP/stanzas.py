"""What a client is sent, as lines that can be compared: a stanza in one way of writing it, without
what differs from run to run or is a server's own choice. The rest of a stanza is kept as it is.
"""

import re
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape, quoteattr

CLIENT = "jabber:client"
STREAM = "http://etherx.jabber.org/streams"
STANZAS = "urn:ietf:params:xml:ns:xmpp-stanzas"
STREAMS = "urn:ietf:params:xml:ns:xmpp-streams"
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
ANY = "…"

# Of features and of disco#info, a server may offer more: only these are compared.
OFFERED = {
    "urn:ietf:params:xml:ns:xmpp-sasl", "urn:ietf:params:xml:ns:xmpp-bind",
    "urn:ietf:params:xml:ns:xmpp-session", "urn:xmpp:features:pre-approval"}
DISCOVERED = {
    "http://jabber.org/protocol/disco#info", "http://jabber.org/protocol/disco#items",
    "urn:xmpp:ping", "jabber:iq:last", "jabber:iq:version", "urn:xmpp:time"}
# Elements whose text is a server's own, by namespace: versions, clocks, reasons in words.
OWN_TEXT = {"jabber:iq:version", "urn:xmpp:time", "jabber:iq:last"}
OWN_ATTRIBUTES = {"stamp", "seconds"}


def split(name):
    """The namespace and the local name."""
    return name[1:].split("}") if name.startswith("{") else ("", name)


def is_compared(element):
    """Whether a child is compared; texts of errors and further offers are not."""
    space, name = split(element.tag)
    if name == "text" and space in (STANZAS, STREAMS):
        return False
    if name == "mechanism":
        return element.text == "PLAIN"
    if name == "feature":
        return element.get("var") in DISCOVERED
    # Bind is required in any case (RFC 6120, 7.3.1); what a server runs on is its own affair.
    return name not in ("required", "os")


def is_offered(element):
    return split(element.tag)[0] in OFFERED


def is_push(element):
    """Whether the id is the server's: all else that has one repeats the id of a request."""
    return split(element.tag)[1] == "iq" and element.get("type") == "set" \
        and not element.get("from", "").partition("/")[2]


def is_said(element, name):
    """Whether an attribute is compared."""
    if name == LANGUAGE:
        return False
    # Of a roster, where a server supports versions of it (RFC 6121, 2.6).
    if name == "ver" and split(element.tag)[0] == "jabber:iq:roster":
        return False
    if split(element.tag)[0] != CLIENT:
        return True
    # The account itself may be left out (RFC 6120, 8.1.2.1): as what answers, and as whom the
    # stanza is to.
    to, sender = (element.get(each, "").split("/")[0] for each in ("to", "from"))
    if name == "from":
        return not to or element.get("from") != to
    return name != "to" or sender not in ("", to)


def attributes(element):
    for name, value in sorted(element.attrib.items()):
        if not is_said(element, name):
            continue
        own = split(name)[1] in OWN_ATTRIBUTES or name == "id" and is_push(element)
        yield " %s=%s" % (split(name)[1], quoteattr(ANY if own else value).replace('"', "'"))


def children(element):
    """The children that are compared; those whose order says nothing, sorted."""
    space, name = split(element.tag)
    found = [child for child in element if is_compared(child)]
    if name == "presence" and not element.get("type"):
        # Since when a state is as it is: a server may say it (XEP-0203).
        found = [child for child in found if split(child.tag)[0] != "urn:xmpp:delay"]
    if (space, name) == (STREAM, "features"):
        found = sorted(filter(is_offered, found), key=lambda child: child.tag)
    if space == "http://jabber.org/protocol/disco#info":
        found = [child for child in found if split(child.tag)[1] != "identity"
                 or child.get("category") in ("server", "account")]
        for child in found:
            child.attrib.pop("name", None)
        found.sort(key=lambda child: sorted(child.attrib.items()))
    if name == "item":
        found.sort(key=lambda child: child.text or "")
    return found


def written(element, around=CLIENT):
    """An element as text; `around` is the namespace of what is around it."""
    space, name = split(element.tag)
    prefix = "stream:" if space == STREAM else ""
    opening = prefix + name + "".join(attributes(element))
    if space != around and not prefix:
        opening += " xmlns='%s'" % space
    inner = escape(element.text or "").strip()
    if space in OWN_TEXT and inner:
        inner = ANY
    inner += "".join(written(child, around if prefix else space) for child in children(element))
    return "<%s>%s</%s%s>" % (opening, inner, prefix, name) if inner else "<%s/>" % opening


class Reader:
    """Takes the bytes of a stream, which may be opened again, and gives its stanzas as text."""

    def __init__(self):
        self.restart()

    def restart(self):
        self.parser = ElementTree.XMLPullParser(["start", "end"])
        self.depth = 0

    def feed(self, data):
        """The stanzas that are complete now, and the end of the stream as `</stream:stream>`."""
        self.parser.feed(re.sub(rb"^<\?xml[^>]*\?>", b"", data) if self.depth == 0 else data)
        found = []
        for kind, element in self.parser.read_events():
            self.depth += 1 if kind == "start" else -1
            if kind == "end" and self.depth == 1:
                found.append(element)
            elif kind == "end" and self.depth == 0:
                found.append(None)
        return found
