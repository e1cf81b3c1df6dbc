import PresenceCore
import Testing
import XML

@testable import PresenceXMPP

/// The message that a stanza is sent as; nil: it is none.
private func message(_ text: String) throws -> WrittenMessage? {
    guard case .send(let message) = try request(text) else { return nil }
    return message
}

private func parts(
    _ kind: StanzaParts<[UInt8]>.Kind, addressed: String = "", _ extra: String = ""
) -> StanzaParts<[UInt8]> {
    StanzaParts(
        kind: kind, language: bytes("en"), addressed: bytes(addressed), extra: bytes(extra))
}

@Suite struct `Messages of XMPP clients` {
    @Test func `keep what they have`() throws {
        let sent = try #require(
            try message(
                "<message to='bob@example.org/x' id='m1' type='chat'><subject>S</subject>"
                    + "<body>今天</body><delay xmlns='urn:xmpp:delay' stamp='1'/>"
                    + "<stanza-id xmlns='urn:xmpp:sid:0' by='bob@example.org' id='1'/>"
                    + "<request xmlns='urn:xmpp:receipts'/></message>"))
        #expect(
            sent
                == WrittenMessage(
                    account: bytes("bob"), body: bytes("今天"), ref: bytes("m1"),
                    parts: parts(
                        .chat, addressed: "x",
                        "<subject>S</subject><request xmlns='urn:xmpp:receipts'/>")))
    }

    @Test func `are for the own account without an address`() throws {
        let sent = try #require(try message("<message><body>Hi</body></message>"))
        #expect(
            sent
                == WrittenMessage(
                    account: bytes("alice"), body: bytes("Hi"), ref: nil, parts: parts(.normal)))
    }

    @Test func `that are not to be stored go to a device, or to all`() throws {
        for (content, isWritten) in [
            ("<composing xmlns='http://jabber.org/protocol/chatstates'/>", false),
            ("<body>Hi</body><no-store xmlns='urn:xmpp:hints'/>", true),
        ] {
            func relayed(_ account: String, _ device: String? = nil) -> XMPPRequest {
                .relayMessage(
                    RelayedMessage(
                        account: bytes(account), device: device.map { bytes($0) },
                        isForAnyDevice: true, isWritten: isWritten))
            }
            let rest = "type='chat'>\(content)</message>"
            #expect(
                try request("<message to='bob@example.org/x' " + rest) == relayed("bob", "x"))
            #expect(try request("<message to='bob@example.org' " + rest) == relayed("bob"))
            #expect(try request("<message " + rest) == relayed("alice"))
            #expect(try request("<message to='example.org' " + rest) == .ignore)
        }
        for type in ["headline", "error"] {
            #expect(
                try request("<message to='bob@example.org/x' type='\(type)'/>")
                    == .relayMessage(
                        RelayedMessage(
                            account: bytes("bob"), device: bytes("x"), isForAnyDevice: false,
                            isWritten: false, isCopied: false)))
        }
        #expect(try request("<message to='bob@example.org' type='error'/>") == .ignore)
    }

    @Test func `keep an id of any length`() throws {
        let id = String(repeating: "i", count: 5_000)
        let sent = try message(
            "<message to='bob@example.org' id='\(id)'><body>Hi</body></message>")
        #expect(sent?.ref == bytes(id))
        let text = String(repeating: "x", count: Limits().messageBytesMax - 4_935)
        #expect(
            try rejection(
                "<message to='bob@example.org' id='\(id)'><body>\(text)</body></message>")
                == .tooLong(""))
    }

    @Test(arguments: [
        "<x xmlns='u' a='\(String(repeating: "a", count: 5_000))'/>",
        "<x xmlns='u'\((0..<40).map { " b\($0)='1'" }.joined())/>",
        String(repeating: "<x xmlns='u'>", count: 100) + String(repeating: "</x>", count: 100),
        "<x xmlns='u'>\(String(repeating: "<b/>", count: 2_000))</x>",
        "<x xmlns='not a URI'/>",
    ])
    func `arrive without a part that others may reject`(part: String) throws {
        let rest = "<body>Hi</body><thread>1</thread></message>"
        let sent = try message("<message to='bob@example.org'>\(part)" + rest)
        #expect(sent?.body == bytes("Hi"))
        #expect(sent?.parts.extra == bytes("<thread>1</thread>"))
        let relayed = try request(
            "<message to='bob@example.org'>\(part)<no-store xmlns='urn:xmpp:hints'/>" + rest)
        guard case .relayMessage? = relayed else {
            Issue.record("\(String(describing: relayed))")
            return
        }
    }

    @Test func `are rejected if nothing of them is left`() throws {
        let part = "<x xmlns='u' a='\(String(repeating: "a", count: 5_000))'/>"
        #expect(try rejection("<message to='bob@example.org'>\(part)</message>") == .tooLong(""))
    }

    @Test(arguments: [
        "<body/>", "<body xml:lang='de'>Hallo &lt;</body>", "<body xml:lang='de'/>",
        "<body>Hello</body><body xml:lang='fr'>Bonjour</body>",
        "<body xml:lang='de'>Hallo</body><body xml:lang='fr'>Bonjour</body><thread>1</thread>",
        "<body/><body xml:lang='fr'/>", "<body>a</body><subject xml:lang='fr'>s</subject>",
    ])
    func `have the bodies that they were sent with`(bodies: String) throws {
        let sent = try #require(
            try message("<message to='bob@example.org' type='chat'>\(bodies)</message>"))
        let came = delivered(
            DeliveredMessage(
                id: MessageID(number: 20), from: bytes("zs"), time: Wall(milliseconds: 0),
                body: sent.body, stanza: sent.parts))
        #expect(came.contains("xml:lang='en'>\(bodies)<stanza-id "), "\(came)")
    }

    @Test func `have a limit`() throws {
        func size(_ count: Int) -> String {
            let text = String(repeating: "x", count: count)
            return "<message to='bob@example.org'><body>\(text)</body></message>"
        }
        let max = Limits().messageBytesMax
        #expect(try message(size(max))?.body.count == max)
        #expect(try rejection(size(max + 1)) == .tooLong(""))
    }

    // MARK: As they are delivered

    private func delivered(_ message: DeliveredMessage, isDelayed: Bool = false) -> String {
        var template = StanzaTemplate()
        template.append(message, id: bytes("0M"), isDelayed: isDelayed)
        var text: [UInt8] = []
        template.append(to: bytes("bob@a.example"), at: bytes("a.example"), into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    @Test func `are delivered as they were sent`() {
        let stanza = parts(.chat, addressed: "x", "<thread>1</thread>")
        let message = DeliveredMessage(
            id: MessageID(number: 20), from: bytes("zs"), fromDevice: bytes("phone"),
            time: Wall(milliseconds: 1_763_700_000_000), body: bytes("a<b"), ref: bytes("m1"),
            stanza: stanza)
        #expect(
            delivered(message, isDelayed: true)
                == "<message from='zs@a.example/phone' to='bob@a.example/x' id='m1' type='chat' "
                + "xml:lang='en'><body>a&lt;b</body><thread>1</thread>"
                + "<delay xmlns='urn:xmpp:delay' from='a.example' stamp='2025-11-21T04:40:00Z'/>"
                + "<stanza-id xmlns='urn:xmpp:sid:0' by='bob@a.example' id='0M'/></message>")
    }

    @Test func `come from native clients and the service`() {
        var message = DeliveredMessage(
            id: MessageID(number: 20), from: bytes("zs"), time: Wall(milliseconds: 0),
            body: bytes("a"), ext: bytes("{}"))
        let rest =
            "' to='bob@a.example' id='0M' type='chat'><body>a</body>"
            + "<ext xmlns='urn:porchlight:message:0'>{}</ext>"
            + "<stanza-id xmlns='urn:xmpp:sid:0' by='bob@a.example' id='0M'/></message>"
        #expect(delivered(message) == "<message from='zs@a.example" + rest)
        message.from = []
        #expect(delivered(message) == "<message from='a.example" + rest)
    }
}
