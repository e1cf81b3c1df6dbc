import Containers
import Passwords
import Testing

@testable import PresenceXMPP

/// What clients send, in their own spelling: quotes, prefixes, order, what they leave out.
@Suite struct `Client tests` {
    /// No XML declaration, namespaces after `to`, `y` in SCRAM, its own namespace in each iq.
    @Test func `slixmpp`() throws {
        var peer = StreamPeer(isEncrypted: false)
        let header =
            "<stream:stream to='example.org' xmlns:stream='http://etherx.jabber.org/streams' "
            + "xmlns='jabber:client' xml:lang='en' version='1.0'>"
        #expect(peer.receive(header).contains("<starttls"))
        #expect(
            peer.receive("<starttls xmlns=\"urn:ietf:params:xml:ns:xmpp-tls\" />")
                .hasPrefix("<proceed"))
        peer.stream.encrypted()
        peer.receive(header)
        try scram(&peer, .sha256, header: "y,,", bare: "n=alice,r=6d442b5d9e51a740f369e3dcecf3178e")
        {
            "<\($0) xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"\($1)>\($2)</\($0)>"
        }
        peer.receive(header)
        peer.receive(
            "<iq xmlns=\"jabber:client\" id=\"9f3b0d0a\" type=\"set\">"
                + "<bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\" /></iq>")
        #expect(peer.stream.phase == .bound)
        let presence = "<presence xmlns=\"jabber:client\" xml:lang=\"en\" />"
        let roster =
            "<iq xmlns=\"jabber:client\" id=\"8c\" type=\"get\">"
            + "<query xmlns=\"jabber:iq:roster\" ver=\"\" /></iq>"
        peer.receive(presence + roster)
        #expect(
            peer.log.suffix(2) == [
                "presence <presence xml:lang='en'/>",
                "iq <iq id='8c' type='get'><query xmlns='jabber:iq:roster' ver=''/></iq>",
            ])
        peer.receive("</stream:stream>")
        #expect(peer.isEnded)
    }

    /// An XML declaration with a line end, and a prefix for every namespace but the stream's.
    @Test func `aioxmpp`() throws {
        var peer = StreamPeer(isEncrypted: true)
        let header =
            "<?xml version=\"1.0\"?>\n<stream:stream xmlns=\"jabber:client\" "
            + "xmlns:stream=\"http://etherx.jabber.org/streams\" version=\"1.0\" "
            + "to=\"example.org\">"
        peer.receive(header)
        try scram(&peer, .sha256, header: "n,,", bare: "n=alice,r=QXBwbGU=,x=1") {
            "<ns0:\($0) xmlns:ns0=\"urn:ietf:params:xml:ns:xmpp-sasl\"\($1)>\($2)</ns0:\($0)>"
        }
        peer.receive(header)
        peer.receive(
            "<iq id=\"x1\" type=\"set\"><ns0:bind "
                + "xmlns:ns0=\"urn:ietf:params:xml:ns:xmpp-bind\"><ns0:resource>orchard"
                + "</ns0:resource></ns0:bind></iq>")
        #expect(peer.stream.device == bytes("orchard"))
        peer.receive(
            "<presence id=\"x2\"/><iq id=\"x3\" type=\"get\" to=\"example.org\">"
                + "<ns0:ping xmlns:ns0=\"urn:xmpp:ping\"/></iq>")
        #expect(
            peer.log.suffix(2) == [
                "presence <presence id='x2'/>",
                "iq <iq id='x3' type='get' to='example.org'><ping xmlns='urn:xmpp:ping'/></iq>",
            ])
    }

    /// The feature repeated in the request, and seven stanzas in one segment.
    @Test func `profanity with libstrophe`() throws {
        var peer = StreamPeer(isEncrypted: true)
        let header =
            "<?xml version=\"1.0\"?><stream:stream to=\"example.org\" "
            + "from=\"alice@example.org\" xml:lang=\"en\" version=\"1.0\" "
            + "xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">"
        #expect(peer.receive(header).contains(" to='alice@example.org'>"))
        try scram(&peer, .sha256, header: "n,,", bare: "n=alice,r=Hn3m7LJDsHzZDJ8iOdAFoXXz") {
            "<\($0) xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"\($1)>\($2)</\($0)>"
        }
        peer.receive(header)
        peer.receive(
            "<iq id=\"_xmpp_bind1\" type=\"set\"><bind "
                + "xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"><required/><resource>prof"
                + "</resource></bind></iq>")
        #expect(
            peer.receive(
                "<iq id=\"_xmpp_session1\" type=\"set\"><session "
                    + "xmlns=\"urn:ietf:params:xml:ns:xmpp-session\"/></iq>")
                == "<iq type='result' id='_xmpp_session1'/>")
        let before = peer.log.count
        peer.receive(
            "<iq id=\"a1\" type=\"get\"><query xmlns=\"jabber:iq:roster\"/></iq>"
                + "<iq id=\"a2\" type=\"get\"><query xmlns=\"jabber:iq:private\"><storage "
                + "xmlns=\"storage:bookmarks\"/></query></iq><iq id=\"a3\" type=\"get\">"
                + "<blocklist xmlns=\"urn:xmpp:blocking\"/></iq><iq id=\"a4\" "
                + "to=\"example.org\" type=\"get\"><query "
                + "xmlns=\"http://jabber.org/protocol/disco#info\"/></iq><iq id=\"a5\" "
                + "to=\"example.org\" type=\"get\"><query "
                + "xmlns=\"http://jabber.org/protocol/disco#items\"/></iq><iq id=\"a6\" "
                + "type=\"set\"><enable xmlns=\"urn:xmpp:carbons:2\"/></iq><presence "
                + "id=\"a7\"><c hash=\"sha-1\" node=\"http://profanity-im.github.io\" "
                + "ver=\"x\" xmlns=\"http://jabber.org/protocol/caps\"/></presence>")
        #expect(peer.log.count == before + 7)
        #expect(peer.log.dropFirst(before).allSatisfy { $0.hasPrefix("iq") || $0.hasPrefix("p") })
    }

    /// The trace of a client of an IP address, in clear, with PLAIN; and its registration, which
    /// has no id.
    @Test func `XMPPFramework`() {
        var peer = StreamPeer(isEncrypted: false) {
            $0.allowsPlaintext = true
            $0.allowsRegistration = true
            $0.offersTLS = false
            $0.mechanisms = [.plain]
        }
        let header =
            "<?xml version='1.0'?><stream:stream xmlns='jabber:client' "
            + "xmlns:stream='http://etherx.jabber.org/streams' version='1.0' to='192.168.1.1'>"
        let features = peer.receive(header)
        #expect(features.contains("<mechanism>PLAIN</mechanism></mechanisms><register "))
        #expect(features.contains(" from='192.168.1.1'"))
        #expect(
            peer.receive(
                "<iq type=\"set\"><query xmlns=\"jabber:iq:register\"><username>2048</username>"
                    + "<password>pencil</password></query></iq>") == "<iq type='result'/>")
        #expect(
            peer.receive(
                "<auth xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\" mechanism=\"PLAIN\">"
                    + base64("\u{0}2048\u{0}pencil") + "</auth>"
            ).hasPrefix("<success"))
        // A new stream, without what makes a document.
        #expect(peer.receive(header).contains("<session "))
        #expect(
            peer.receive(
                "<iq type=\"set\" id=\"7D2F\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\">"
                    + "<resource>iOS_V1.0</resource></bind></iq>")
                == "<iq type='result' id='7D2F'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                + "<jid>2048@192.168.1.1/iOS_V1.0</jid></bind></iq>")
        #expect(
            peer.receive(
                "<iq type=\"set\" id=\"7D30\">"
                    + "<session xmlns=\"urn:ietf:params:xml:ns:xmpp-session\"/></iq>")
                == "<iq type='result' id='7D30'/>")
        peer.receive("<presence></presence>")
        #expect(peer.log.last == "presence <presence/>")
        peer.receive(" ")
        #expect(peer.keepAlives == 1)
        #expect(peer.receive("</stream:stream>") == "</stream:stream>")
    }

    /// An exchange of SCRAM in the client's spelling: name, attributes and content of an element.
    private func scram(
        _ peer: inout StreamPeer, _ hash: ScramHash, header: String, bare: String,
        element: (String, String, String) -> String
    ) throws {
        let mechanism = hash == .sha1 ? "SCRAM-SHA-1" : "SCRAM-SHA-256"
        let said = peer.receive(
            element("auth", " mechanism=\"\(mechanism)\"", base64(header + bare)))
        let data = said.split(separator: ">").dropFirst().first?.split(separator: "<").first
        let challenge = Base64.decoded(try #require(data).utf8)
        let final = try ScramProof(hash: hash, password: "pencil").message(
            bare: bare, header: header, challenge: text(try #require(challenge)))
        #expect(peer.receive(element("response", "", base64(final))).hasPrefix("<success"))
        #expect(peer.stream.phase == .authenticated)
    }
}
