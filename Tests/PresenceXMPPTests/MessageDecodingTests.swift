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
        let relayed = XMPPRequest.relayMessage(account: bytes("bob"), device: bytes("x"))
        let relayedToAll = XMPPRequest.relayMessage(account: bytes("bob"), device: nil)
        for content in [
            "<composing xmlns='http://jabber.org/protocol/chatstates'/>",
            "<body>Hi</body><no-store xmlns='urn:xmpp:hints'/>",
        ] {
            let rest = "type='chat'>\(content)</message>"
            #expect(try request("<message to='bob@example.org/x' " + rest) == relayed)
            #expect(try request("<message to='bob@example.org' " + rest) == relayedToAll)
            #expect(
                try request("<message " + rest)
                    == .relayMessage(account: bytes("alice"), device: nil))
            #expect(try request("<message to='example.org' " + rest) == .ignore)
        }
        let rest = "type='error'/>"
        #expect(try request("<message to='bob@example.org/x' " + rest) == relayed)
        #expect(try request("<message to='bob@example.org' " + rest) == .ignore)
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
