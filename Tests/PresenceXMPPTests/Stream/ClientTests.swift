import Containers
import Passwords
import Testing

@testable import PresenceXMPP

/// What clients send, byte for byte but for the domain: recorded from slixmpp 1.17.0, aioxmpp
/// 0.13.3, profanity 0.13.1 with libstrophe 0.12.2, and go-sendxmpp 0.5.6. That of XMPPFramework is
/// from its source.
@Suite struct `Client tests` {
    private func sasl(_ name: String, _ attributes: String, _ content: String) -> String {
        "<\(name) xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"\(attributes)>\(content)</\(name)>"
    }

    /// Begins a stream without encryption, and repeats it with it.
    private func encrypt(
        _ peer: inout StreamPeer, _ header: String, then second: String, _ startTLS: String
    ) {
        #expect(peer.receive(header).contains("<starttls"))
        #expect(peer.receive(startTLS) == "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        peer.stream.encrypted()
        #expect(peer.receive(second).contains("<mechanism>SCRAM-SHA-256</mechanism>"))
    }

    /// No XML declaration, namespaces after `to`, `y` in SCRAM.
    @Test func `slixmpp`() throws {
        var peer = StreamPeer(isEncrypted: false)
        let header =
            "<stream:stream to='example.org' xmlns:stream='http://etherx.jabber.org/streams' "
            + "xmlns='jabber:client' xml:lang='en' version='1.0'>"
        encrypt(
            &peer, header, then: header, "<starttls xmlns=\"urn:ietf:params:xml:ns:xmpp-tls\" />")
        try scram(&peer, header: "y,,", bare: "n=alice,r=01289877887804604243", element: sasl)
        peer.receive(header)
        peer.receive(
            "<iq id=\"5ed22bcda623418b86ead083040090f2\" type=\"set\"><bind "
                + "xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"><resource>phone</resource>"
                + "</bind></iq>"
        )
        #expect(peer.stream.device == bytes("phone"))
        peer.receive(
            "<presence id=\"254c65618e9a42dd9fee5ee2e8adbe46\" xml:lang=\"en\" />"
                + "<iq id=\"c45af00f05a0426ca2655967bff5867f\" type=\"get\">"
                + "<query xmlns=\"jabber:iq:roster\" /></iq>")
        peer.receive(
            "<message to=\"bob@example.org\" id=\"5466\" xml:lang=\"en\"><body>hi &amp; "
                + "&lt;you&gt;</body></message>")
        #expect(
            peer.log.suffix(3) == [
                "presence <presence id='254c65618e9a42dd9fee5ee2e8adbe46' xml:lang='en'/>",
                "iq <iq id='c45af00f05a0426ca2655967bff5867f' type='get'>"
                    + "<query xmlns='jabber:iq:roster'/></iq>",
                "message <message to='bob@example.org' id='5466' xml:lang='en'>"
                    + "<body>hi &amp; &lt;you&gt;</body></message>",
            ])
        peer.receive("</stream:stream>")
        #expect(peer.isEnded)
    }

    @Test func `slixmpp tries TLS without asking`() {
        var peer = StreamPeer(isEncrypted: false)
        peer.receive([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC])
        #expect(peer.log.first == "error not-well-formed")
    }

    @Test func `aioxmpp`() throws {
        var peer = StreamPeer(isEncrypted: false)
        let header =
            "<?xml version=\"1.0\"?><stream:stream xmlns=\"jabber:client\" "
            + "xmlns:stream=\"http://etherx.jabber.org/streams\" to=\"example.org\" "
            + "version=\"1.0\">"
        encrypt(
            &peer, header, then: header, "<starttls xmlns=\"urn:ietf:params:xml:ns:xmpp-tls\"/>")
        try scram(&peer, header: "n,,", bare: "n=alice,r=7Lw/ueKNqWJ1suoYIoqc", element: sasl)
        peer.receive(header)
        peer.receive(
            "<iq id=\":emy9tGDDO9N4dhWZ8c-c\" type=\"set\">"
                + "<bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"><resource>orchard</resource>"
                + "</bind></iq>")
        #expect(peer.stream.device == bytes("orchard"))
        peer.receive("<presence id=\":mZdSK6yUKNl7ypg0zX3Z\"/>")
        #expect(peer.log.last == "presence <presence id=':mZdSK6yUKNl7ypg0zX3Z'/>")
        #expect(peer.receive("</stream:stream>") == "</stream:stream>")
    }

    /// It gives up after a wrong password with an error of its own.
    @Test func `aioxmpp reports an error`() {
        var peer = StreamPeer()
        peer.receive(Client.header + Client.plain("alice", "wrong"))
        let said = peer.receive(
            "<stream:error><text xmlns=\"urn:ietf:params:xml:ns:xmpp-streams\">user intervention: "
                + "authentication failed: authentication aborted by user</text>"
                + "<undefined-condition xmlns=\"urn:ietf:params:xml:ns:xmpp-streams\"/>"
                + "</stream:error></stream:stream>")
        #expect(said == "</stream:stream>")
        #expect(peer.log.last == "</stream:stream>")
    }

    /// Its name in the header, but only with encryption; and six queries in one segment.
    @Test func `profanity with libstrophe`() throws {
        var peer = StreamPeer(isEncrypted: false)
        let header =
            "<?xml version=\"1.0\"?><stream:stream to=\"example.org\" xml:lang=\"en\" "
            + "version=\"1.0\" xmlns=\"jabber:client\" "
            + "xmlns:stream=\"http://etherx.jabber.org/streams\""
        let named = header + " from=\"alice@example.org\">"
        encrypt(
            &peer, header + ">", then: named,
            "<starttls xmlns=\"urn:ietf:params:xml:ns:xmpp-tls\"/>")
        #expect(peer.output.contains(" to='alice@example.org'>"))
        try scram(
            &peer, header: "n,,", bare: "n=alice,r=0454308395FF440F13031FC334C8639",
            element: { name, attributes, content in
                "<\(name)\(attributes) xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">"
                    + "\(content)</\(name)>"
            })
        peer.receive(named)
        peer.receive(
            "<iq id=\"_xmpp_bind1\" type=\"set\"><bind "
                + "xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"><resource>prof</resource></bind></iq>"
        )
        #expect(peer.stream.device == bytes("prof"))
        peer.receive(
            "<presence id=\"U3zh\"><c hash=\"sha-1\" xmlns=\"http://jabber.org/protocol/caps\" "
                + "ver=\"aHGBcRlWCk0moSumGUB9gYUpEU4=\" "
                + "node=\"http://profanity-im.github.io\"/></presence>")
        let before = peer.log.count
        peer.receive(
            "<iq id=\"roster\" type=\"get\"><query xmlns=\"jabber:iq:roster\"/></iq>"
                + "<iq id=\"bookmark_init_request\" type=\"get\"><query "
                + "xmlns=\"jabber:iq:private\"><storage xmlns=\"storage:bookmarks\"/></query></iq>"
                + "<iq id=\"0dD9\" type=\"get\"><blocklist xmlns=\"urn:xmpp:blocking\"/></iq>"
                + "<iq id=\"VFwW\" to=\"example.org\" type=\"get\"><query "
                + "xmlns=\"http://jabber.org/protocol/disco#info\"/></iq>"
                + "<iq id=\"discoitemsreq_onconnect\" to=\"example.org\" type=\"get\"><query "
                + "xmlns=\"http://jabber.org/protocol/disco#items\"/></iq>"
                + "<iq id=\"4Qd2\" type=\"set\"><enable xmlns=\"urn:xmpp:carbons:2\"/></iq>")
        // Private storage, block list and carbons are not supported, and it bears that.
        let heard = peer.log.dropFirst(before).map { $0.prefix { $0 != " " } }
        #expect(heard.filter { $0 == "iq" }.count == 4)
        #expect(heard.filter { $0 == "rejected" }.count == 2)
        #expect(!peer.isEnded)
    }

    /// PLAIN, and the end of a line after everything that it writes.
    @Test func `go-sendxmpp`() {
        var peer = StreamPeer(isEncrypted: false)
        let header =
            "<?xml version='1.0'?>\n<stream:stream to='example.org' xmlns='jabber:client' "
            + "xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>\n"
        encrypt(
            &peer, header, then: header, "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>\n")
        peer.receive(
            "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>"
                + base64("\u{0}alice\u{0}pencil") + "</auth>\n")
        #expect(peer.receive(header).contains("<bind "))
        peer.receive(
            "<iq type='set' id='5d18ea21f1f9c4b8'><bind "
                + "xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>go-sendxmpp.2ea512bb"
                + "</resource></bind></iq>\n")
        peer.receive(
            "<presence xml:lang='en'><show></show><status></status></presence>"
                + "<message to='bob@example.org' type='chat' id='4eb701a753af9910' xml:lang='en'>"
                + "<body>hello</body></message>")
        #expect(
            peer.log.suffix(2) == [
                "presence <presence xml:lang='en'><show/><status/></presence>",
                "message <message to='bob@example.org' type='chat' id='4eb701a753af9910' "
                    + "xml:lang='en'><body>hello</body></message>",
            ])
    }

    /// libstrophe repeats the feature in its request, and uses the session if it must.
    @Test func `children of bind and prefixes`() throws {
        var peer = StreamPeer()
        peer.receive(Client.header)
        try scram(&peer, header: "n,,", bare: "n=alice,r=QXBwbGU=,x=1") {
            "<ns0:\($0) xmlns:ns0=\"urn:ietf:params:xml:ns:xmpp-sasl\"\($1)>\($2)</ns0:\($0)>"
        }
        peer.receive(Client.header)
        peer.receive(
            "<iq id=\"_xmpp_bind1\" type=\"set\"><ns0:bind "
                + "xmlns:ns0=\"urn:ietf:params:xml:ns:xmpp-bind\"><required/><ns0:resource>prof"
                + "</ns0:resource></ns0:bind></iq>")
        #expect(peer.stream.device == bytes("prof"))
        #expect(
            peer.receive(
                "<iq id=\"_xmpp_session1\" type=\"set\"><session "
                    + "xmlns=\"urn:ietf:params:xml:ns:xmpp-session\"/></iq>")
                == "<iq type='result' id='_xmpp_session1'/>")
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
        _ peer: inout StreamPeer, header: String, bare: String,
        element: (String, String, String) -> String
    ) throws {
        let said = peer.receive(
            element("auth", " mechanism=\"SCRAM-SHA-256\"", base64(header + bare)))
        let data = said.split(separator: ">").dropFirst().first?.split(separator: "<").first
        let challenge = Base64.decoded(try #require(data).utf8)
        let final = try ScramProof(hash: .sha256, password: "pencil").message(
            bare: bare, header: header, challenge: text(try #require(challenge)))
        #expect(peer.receive(element("response", "", base64(final))).hasPrefix("<success"))
        #expect(peer.stream.phase == .authenticated)
    }
}
