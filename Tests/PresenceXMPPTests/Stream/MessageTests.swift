import Containers
import Testing
import XML

@testable import PresenceXMPP

@Suite struct `Streams in messages of a WebSocket` {
    private static let open =
        "<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' to='example.org' version='1.0'/>"
    private static let close = "<close xmlns='urn:ietf:params:xml:ns:xmpp-framing'/>"
    private static let ping =
        "<iq xmlns='jabber:client' type='get' id='p'><ping xmlns='urn:xmpp:ping'/></iq>"
    private static let bind = Client.bind.replacing("<iq ", with: "<iq xmlns='jabber:client' ")

    /// A stream that is open.
    private func opened(
        isEncrypted: Bool = true, _ change: (inout StreamSettings) -> Void = { _ in }
    ) -> StreamPeer {
        var peer = StreamPeer(isEncrypted: isEncrypted, framing: .messages, change)
        peer.read(Self.open)
        return peer
    }

    private func withoutID(_ said: [String]) -> [String] {
        said.map { $0.replacing(/\ id='[a-z2-9]{24}'/, with: " id='*'") }
    }

    @Test func `a whole login`() {
        var peer = StreamPeer(framing: .messages)
        let answer = """
            <open xmlns='urn:ietf:params:xml:ns:xmpp-framing' version='1.0' xml:lang='en' id='*' \
            from='example.org'/>
            """
        let features = "<stream:features xmlns:stream='http://etherx.jabber.org/streams'>"
        let first = withoutID(peer.read(Self.open))
        #expect(first.count == 2 && first[0] == answer)
        #expect(first[1].hasPrefix(features + "<mechanisms "))
        #expect(
            peer.read(Client.login) == [
                "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'></success>"
            ])
        let second = withoutID(peer.read(Self.open))
        #expect(second.count == 2 && second[0] == answer)
        #expect(second[1].hasPrefix(features + "<bind "))
        #expect(
            peer.read(Self.bind) == [
                "<iq xmlns='jabber:client' type='result' id='b1'>"
                    + "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                    + "<jid>alice@example.org/phone</jid></bind></iq>"
            ])
        peer.read("<presence xmlns='jabber:client'><show>away</show></presence>")
        #expect(peer.log.last == "presence <presence><show>away</show></presence>")
        #expect(peer.read(Self.close) == [Self.close])
        #expect(peer.isEnded && peer.read(Self.ping).isEmpty)
    }

    @Test func `STARTTLS is never offered`() {
        #expect(!opened(isEncrypted: false) { $0.allowsPlaintext = true }.output.contains("tls"))
        var peer = opened(isEncrypted: false) { $0.allowsPlaintext = true }
        #expect(
            peer.read(Client.startTLS) == [
                "<failure xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>", Self.close,
            ])
    }

    @Test func `no password is asked for in clear`() {
        let peer = opened(isEncrypted: false)
        #expect(peer.log.contains("error policy-violation") && peer.isEnded)
        #expect(!peer.output.contains("mechanism"))
    }

    private static let long = "<a b='" + String(repeating: "c", count: 20_000) + "'/>"
    private static let part = String(ping.dropLast(3))
    private static let errors: [(condition: String, message: String)] = [
        ("not-well-formed", ping + ping), ("not-well-formed", part),
        ("not-well-formed", ping + "x"), ("not-well-formed", "<a></b>"), ("bad-format", ""),
        ("bad-format", " "), ("bad-format", "a"), ("bad-format", " " + ping),
        ("bad-format", "</s>"), ("bad-format", open), ("bad-format", Client.header),
        ("restricted-xml", "<!-- -->" + ping), ("restricted-xml", "<?xml version='1.0'?>" + ping),
        ("restricted-xml", "<a>&b;</a>"), ("invalid-namespace", "<presence/>"),
        ("unsupported-stanza-type", "<presence xmlns='jabber:server'/>"),
        ("unsupported-stanza-type", "<a xmlns='urn:ietf:params:xml:ns:xmpp-framing'/>"),
        ("policy-violation", long),
        ("not-authorized", ping),
    ]

    @Test(arguments: errors)
    func `an error ends the stream`(condition: String, message: String) {
        // The declaration of a header may be in front of it.
        var peer = opened()
        let said = peer.read(message.replacing("<?xml version='1.0'?><s", with: "<s"))
        #expect(peer.log.contains("error \(condition)"), "\(said)")
        #expect(
            said.first?.hasPrefix(
                "<stream:error xmlns:stream='http://etherx.jabber.org/streams'><\(condition) ")
                == true)
        #expect(said.last == Self.close && said.count == 2 && peer.isEnded)
    }

    @Test func `a message before the stream is opened`() {
        for message in [Self.ping, Client.login, "<presence/>"] {
            var peer = StreamPeer(framing: .messages)
            let said = peer.read(message)
            #expect(said.count == 3 && said[0].hasPrefix("<open ") && said[2] == Self.close)
            #expect(!peer.log.contains { $0.hasPrefix("password") })
        }
        var peer = opened()
        peer.read(Client.login)
        #expect(peer.read(Self.bind).contains { $0.contains("<bad-format ") })
    }

    @Test func `white space behind an element is ignored`() {
        var peer = opened()
        #expect(peer.read(Client.login + " \r\n").first?.hasPrefix("<success") == true)
    }

    @Test func `elements are taken apart and declare their namespaces`() {
        let peer = StreamPeer(framing: .messages)
        let written =
            "<presence to='a&gt;'/><iq/><message><body>&lt;</body></message><iqx xmlns='b'/>"
            + "<stream:error><a xmlns='c'/></stream:error>"
        #expect(
            peer.messages(bytes(written)) == [
                "<presence xmlns='jabber:client' to='a&gt;'/>", "<iq xmlns='jabber:client'/>",
                "<message xmlns='jabber:client'><body>&lt;</body></message>", "<iqx xmlns='b'/>",
                "<stream:error xmlns:stream='http://etherx.jabber.org/streams'><a xmlns='c'/>"
                    + "</stream:error>",
            ])
        #expect(peer.messages([]).isEmpty)
    }
}
