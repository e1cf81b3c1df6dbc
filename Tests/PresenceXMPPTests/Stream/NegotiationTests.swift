import Containers
import Testing

@testable import PresenceXMPP

@Suite struct `Negotiation tests` {
    private static let open = """
        <?xml version='1.0'?><stream:stream xmlns='jabber:client' \
        xmlns:stream='http://etherx.jabber.org/streams' version='1.0' xml:lang='en'
        """

    /// What was said without the id of the stream, which is random.
    private func withoutID(_ said: String) -> String {
        said.replacing(/\ id='[a-z2-9]{24}'/, with: " id='*'")
    }

    @Test func `a whole login with TLS`() {
        var peer = StreamPeer(isEncrypted: false)
        #expect(
            withoutID(peer.receive(Client.header)) == Self.open + """
                 id='*' from='example.org'><stream:features><starttls \
                xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls></stream:features>
                """)
        #expect(
            peer.receive(Client.startTLS) == "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        peer.stream.encrypted()
        #expect(
            withoutID(peer.receive(Client.header)) == Self.open + """
                 id='*' from='example.org'><stream:features>\
                <mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\
                <mechanism>SCRAM-SHA-256</mechanism><mechanism>SCRAM-SHA-1</mechanism>\
                <mechanism>PLAIN</mechanism></mechanisms></stream:features>
                """)
        #expect(
            peer.receive(Client.login)
                == "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'></success>")
        #expect(
            withoutID(peer.receive(Client.header)) == Self.open + """
                 id='*' from='example.org'><stream:features>\
                <bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>\
                <session xmlns='urn:ietf:params:xml:ns:xmpp-session'><optional/></session>\
                <sub xmlns='urn:xmpp:features:pre-approval'/>\
                <sm xmlns='urn:xmpp:sm:3'/></stream:features>
                """)
        #expect(
            peer.receive(Client.bind) == """
                <iq type='result' id='b1'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
                <jid>alice@example.org/phone</jid></bind></iq>
                """)
        #expect(peer.receive(Client.session) == "<iq type='result' id='s1'/>")
        #expect(peer.receive(Client.presence) == "")
        #expect(peer.log.last == "presence <presence/>")
        #expect(peer.receive(Client.end) == "</stream:stream>")
        #expect(peer.isEnded)
        #expect(peer.stream.phase == .ended)
    }

    @Test func `ids of streams are not repeated`() {
        var peer = StreamPeer()
        var other = StreamPeer()
        other.random = SplitMix64(seed: 2)
        #expect(peer.receive(Client.header) != other.receive(Client.header))
    }

    @Test(arguments: [
        ("to='example.org' ", "example.org"), ("to='EXAMPLE.org' ", "example.org"),
        ("", "example.org"),
        ("to='192.168.1.1' ", "192.168.1.1"), ("to='[::1]' ", "[::1]"),
        ("from='alice@example.org' ", "example.org' to='alice@example.org"),
    ])
    func `headers that are accepted`(attributes: String, domain: String) {
        for version in ["1.0", "1.1", "2.0", "01.00", "12.34"] {
            var peer = StreamPeer()
            let said = peer.receive(
                "<stream:stream xmlns='jabber:client' xmlns:stream="
                    + "'http://etherx.jabber.org/streams' \(attributes)version='\(version)'>")
            #expect(said.contains(" from='\(domain)'>"))
            #expect(said.hasSuffix("</stream:features>"))
        }
    }

    @Test(arguments: [
        (
            "stream:stream", "jabber:client", "http://etherx.jabber.org/streams",
            "to='example.com' version='1.0'", "host-unknown"
        ),
        (
            "stream:stream", "jabber:client", "http://etherx.jabber.org/streams",
            "to='' version='1.0'", "host-unknown"
        ),
        (
            "stream:stream", "jabber:client", "http://etherx.jabber.org/streams",
            "to='example.org'", "unsupported-version"
        ),
        (
            "stream:stream", "jabber:client", "http://etherx.jabber.org/streams",
            "version='0.9'", "unsupported-version"
        ),
        (
            "stream:stream", "jabber:client", "http://etherx.jabber.org/streams",
            "version='1'", "unsupported-version"
        ),
        (
            "stream:stream", "jabber:client", "http://etherx.jabber.org/streams",
            "version='1.0.0'", "unsupported-version"
        ),
        (
            "stream:stream", "jabber:client", "http://etherx.jabber.org/streams",
            "version='-1.0'", "unsupported-version"
        ),
        (
            "stream:stream", "jabber:server", "http://etherx.jabber.org/streams",
            "version='1.0'", "invalid-namespace"
        ),
        (
            "stream:stream", "jabber:client", "http://example.org/streams",
            "version='1.0'", "invalid-namespace"
        ),
        (
            "stream:flood", "jabber:client", "http://etherx.jabber.org/streams",
            "version='1.0'", "bad-format"
        ),
    ])
    func `headers that are rejected`(
        name: String, content: String, namespace: String, attributes: String, condition: String
    ) {
        var peer = StreamPeer()
        let said = peer.receive(
            "<\(name) xmlns='\(content)' xmlns:stream='\(namespace)' \(attributes)>")
        #expect(peer.log.first == "error \(condition)")
        // A header, the error, and the end.
        #expect(said.hasPrefix(Self.open))
        #expect(said.contains("<stream:error><\(condition) xmlns="))
        #expect(said.hasSuffix("</stream:error></stream:stream>"))
        #expect(peer.isEnded)
    }

    @Test(arguments: [
        ("get / HTTP/1.1\r\n\r\n", "not-well-formed"), ("<!DOCTYPE a>", "restricted-xml"),
        ("<!-- a -->", "restricted-xml"), ("<?a b?>", "restricted-xml"), ("<a<", "not-well-formed"),
        ("\u{FEFF}a", "not-well-formed"), ("\0<", "unsupported-encoding"),
        ("<stream:stream/>", "bad-format"),
    ])
    func `bytes that are no header`(sent: String, condition: String) {
        var peer = StreamPeer()
        let said = peer.receive(sent)
        #expect(said.hasPrefix(Self.open))
        #expect(said.contains("<stream:error><\(condition) xmlns="))
        #expect(peer.receive("anything else") == "")
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "POST /v1/states HTTP/1.1\r\n", "G"])
    func `HTTP is answered in HTTP`(sent: String) {
        var peer = StreamPeer()
        let words =
            "This port speaks XMPP (the setting xmpp-listen), not HTTP. XMPP over WebSocket is at "
            + "/xmpp of the setting listen, the HTTP API at the setting http."
        #expect(
            peer.receive(sent)
                == "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
                + "Content-Length: 148\r\nConnection: close\r\n\r\n\(words)\n")
        #expect(words.utf8.count + 1 == 148)
        #expect(peer.log.first == "error not-well-formed")
        #expect(peer.isEnded)
    }

    /// What is read at once may begin anywhere in a header.
    @Test func `a part of a header is not taken for another protocol`() {
        let sent = Array("<stream:stream to='EXAMPLE.ORG' GET <".utf8)
        for end in 1..<sent.count - 1 {
            var peer = StreamPeer()
            let said =
                peer.receive(String(decoding: sent[..<end], as: UTF8.self))
                + peer.receive(String(decoding: sent[end...], as: UTF8.self))
            #expect(said.contains("<stream:error><not-well-formed xmlns="), "split at \(end)")
            #expect(!said.contains("HTTP/1.1"), "split at \(end)")
        }
    }

    @Test func `HTTP after STARTTLS is answered in XMPP`() {
        var peer = StreamPeer(isEncrypted: false)
        peer.receive(Client.header)
        peer.receive("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        peer.stream.encrypted()
        let said = peer.receive("GET / HTTP/1.1\r\n\r\n")
        #expect(said.contains("<stream:error><not-well-formed xmlns="))
        #expect(!said.contains("HTTP/1.1"))
    }

    @Test(arguments: ["PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n", "\r\n\r\n\0\r\nQUIT\n!"])
    func `a PROXY header is not expected`(sent: String) {
        var peer = StreamPeer()
        let said = peer.receive(sent)
        #expect(said.hasPrefix(Self.open))
        #expect(
            said.contains(
                ">This listener does not expect a PROXY header: turn off proxy-protocol for it in "
                    + "your proxies.</text></stream:error>"))
        #expect(peer.isEnded)
    }

    @Test func `the second header names the same domain`() {
        var peer = StreamPeer()
        peer.receive(Client.header + Client.login)
        let other = Client.header.replacing("example.org", with: "192.168.1.1")
        #expect(peer.receive(other).contains("host-unknown"))
    }

    @Test func `an error before the second header is of the domain of the first`() {
        var peer = StreamPeer()
        let header = Client.header.replacing("example.org", with: "192.168.1.1")
        peer.receive(header + Client.login)
        let said = peer.receive("<a")
        #expect(said.isEmpty)
        peer.stream.close(StreamError(.connectionTimeout), of: peer.service, using: &peer.random)
        #expect(text(peer.stream.output).contains(" from='192.168.1.1'>"))
    }

    @Test func `a resource is honoured or made`() {
        func bound(_ resource: String) -> String {
            var peer = StreamPeer()
            peer.receive(Client.header + Client.login + Client.header)
            peer.receive(
                "<iq type='set' id='b1'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                    + "<required/>\(resource)</bind></iq>")
            return text(peer.stream.device)
        }
        func element(_ resource: String) -> String { "<resource>\(resource)</resource>" }
        #expect(bound(element("prof")) == "prof")
        #expect(bound(element("a b/é@")) == "a b/é@")
        #expect(bound(element(String(repeating: "a", count: 64))).count == 64)
        for wished in [
            "", element(""), element(String(repeating: "a", count: 65)), element("a&#9;b"),
            "<resource xmlns='other'>prof</resource>",
        ] {
            #expect(bound(wished).wholeMatch(of: /[a-z2-9]{8}/) != nil, "\(wished)")
        }
    }

    @Test func `a resource that is rejected may be bound again`() {
        var peer = StreamPeer()
        peer.receive(Client.header + Client.login + Client.header)
        peer.answers = false
        peer.receive(Client.bind)
        let end = peer.stream.reject(bind: StanzaError(.wait, .resourceConstraint))
        #expect(end == nil)
        #expect(
            text(peer.stream.takeOutput()) == """
                <iq type='error' id='b1'><error type='wait'><resource-constraint \
                xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
                """)
        #expect(peer.stream.phase == .authenticated)
        peer.answers = true
        peer.receive(Client.bind)
        #expect(peer.stream.phase == .bound)
    }

    /// XMPPFramework binds again at once, without end.
    @Test func `the third rejection of a bind closes the stream`() {
        var peer = StreamPeer()
        // Failures before the login do not count.
        peer.receive(Client.header + Client.plain("alice", "wrong") + Client.plain("alice", "no"))
        peer.receive(Client.login + Client.header)
        peer.answers = false
        for isLast in [false, false, true] {
            peer.receive(Client.bind)
            let end = peer.stream.reject(bind: StanzaError(.wait, .resourceConstraint))
            let said = text(peer.stream.takeOutput())
            #expect(said.contains("<resource-constraint "))
            #expect(end?.condition == (isLast ? .policyViolation : nil))
            #expect(said.hasSuffix("</stream:error></stream:stream>") == isLast)
            #expect(peer.stream.phase == (isLast ? .ended : .authenticated))
        }
    }

    @Test func `limits of bytes depend on the login`() {
        func message(_ count: Int) -> String {
            "<message><a>\(String(repeating: "a", count: count - 26))</a></message>"
        }
        var peer = StreamPeer()
        #expect(peer.receive(Client.header + message(12_001)).contains("policy-violation"))
        peer = StreamPeer()
        #expect(peer.receive(Client.header + message(12_000)).contains("not-authorized"))
        peer = StreamPeer()
        peer.receive(Client.header + Client.login + Client.header + Client.bind)
        #expect(peer.receive(message(262_144)).contains("<policy-violation "))
        #expect(!peer.isEnded)
        #expect(peer.receive(message(262_145)).contains("policy-violation"))
        #expect(peer.isEnded)
    }

    @Test func `the language is that of the header`() {
        func language(_ tag: String) -> String {
            var peer = StreamPeer()
            peer.receive(Client.header.replacing(" to=", with: " xml:lang='\(tag)' to="))
            return text(peer.stream.language)
        }
        #expect(language("en") == "en")
        #expect(language("zh-Hant-TW") == "zh-Hant-TW")
        for other in ["", "a b", "é", "&lt;", String(repeating: "a", count: 36)] {
            #expect(language(other) == "")
        }
    }

    @Test func `names are those of accounts`() {
        var peer = StreamPeer()
        peer.accounts = ["Bob Ö"]
        peer.receive(Client.header + Client.plain("\\42ob\\20\\c3\\96", "pencil"))
        #expect(peer.stream.account == bytes("Bob Ö"))
        peer.receive(Client.header)
        #expect(
            peer.receive(Client.bind).contains("<jid>\\42ob\\20\\c3\\96@example.org/phone</jid>"))
    }

    @Test func `closing says why`() {
        var peer = StreamPeer()
        peer.receive(Client.header)
        peer.stream.close(StreamError(.systemShutdown), of: peer.service, using: &peer.random)
        #expect(
            text(peer.stream.takeOutput()) == """
                <stream:error><system-shutdown xmlns='urn:ietf:params:xml:ns:xmpp-streams'/>\
                </stream:error></stream:stream>
                """)
        peer.stream.close(StreamError(.reset), of: peer.service, using: &peer.random)
        #expect(peer.receive(Client.login) == "")
    }

    @Test func `an answer after the end is ignored`() {
        for question in [Client.login, Client.auth("SCRAM-SHA-1", base64("n,,n=alice,r=x"))] {
            var peer = StreamPeer()
            peer.answers = false
            peer.receive(Client.header + question)
            peer.stream.close(StreamError(.reset), of: peer.service, using: &peer.random)
            peer.takeOutput()
            peer.stream.authenticated()
            peer.stream.challenge(with: StreamPeer.keys, using: &peer.random)
            peer.stream.bound()
            peer.stream.registered()
            #expect(peer.stream.reject(bind: .notAllowed) == nil)
            peer.stream.reject(registration: .notAllowed)
            #expect("\(peer.stream.reject(.notAuthorized))" == "needMore")
            #expect(peer.stream.takeOutput() == [])
            #expect(peer.stream.phase == .ended)
        }
    }

    @Test func `a stream is small`() {
        #expect(MemoryLayout<XMPPStream>.size <= 200)
    }
}
