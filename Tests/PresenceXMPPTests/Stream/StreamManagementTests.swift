import Testing

@testable import PresenceXMPP

@Suite struct `Stream management` {
    /// A stream that has bound its device.
    private func bound() -> StreamPeer {
        var peer = StreamPeer()
        peer.receive(Client.header + Client.login + Client.header + Client.bind)
        return peer
    }

    private static let enable = "<enable xmlns='urn:xmpp:sm:3'/>"
    private static let request = "<r xmlns='urn:xmpp:sm:3'/>"

    private static func answer(_ count: String) -> String {
        "<a xmlns='urn:xmpp:sm:3' h='\(count)'/>"
    }

    @Test func `is offered beside the bind`() {
        var peer = StreamPeer()
        let features = peer.receive(Client.header + Client.login + Client.header)
        #expect(features.contains("<sm xmlns='urn:xmpp:sm:3'/></stream:features>"))
    }

    @Test func `counts the stanzas of the client once it is enabled`() {
        var peer = bound()
        peer.receive("<presence/>")
        #expect(peer.receive(Self.request).isEmpty)
        #expect(peer.receive(Self.enable) == "<enabled xmlns='urn:xmpp:sm:3'/>")
        #expect(peer.receive(Self.request) == Self.answer("0"))
        // Rejected ones are handled, too.
        peer.receive("<presence/><message/>" + Client.session + "<iq/>")
        peer.receive(" " + Self.answer("0"))
        #expect(peer.receive(Self.request) == Self.answer("4"))
    }

    @Test func `is enabled once, by a client that is bound`() {
        let failed =
            "<failed xmlns='urn:xmpp:sm:3'>"
            + "<unexpected-request xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>"
        var early = StreamPeer()
        early.receive(Client.header + Client.login + Client.header)
        #expect(early.receive(Self.enable) == failed)
        #expect(early.receive(Client.bind).contains("<jid>"))
        #expect(early.receive(Self.enable).hasPrefix("<enabled "))
        #expect(early.receive(Self.enable) == failed)
    }

    @Test func `resumes no stream`() {
        var peer = StreamPeer()
        peer.receive(Client.header + Client.login + Client.header)
        let said = peer.receive("<resume xmlns='urn:xmpp:sm:3' previd='x' h='1'/>")
        #expect(said.hasPrefix("<failed xmlns='urn:xmpp:sm:3'><item-not-found "))
        #expect(peer.receive(Client.bind).contains("<jid>"))
    }

    @Test func `counts what the client is sent, and nothing else`() {
        var peer = bound()
        let stanzas = bytes(
            "<presence/><iq type='result'/><r xmlns='urn:xmpp:sm:3'/><message>a</message>")
        peer.stream.noteSent(stanzas.span)
        peer.receive(Self.enable)
        peer.stream.noteSent(stanzas.span)
        #expect(peer.stream.management?.sent == 3)
        peer.receive(Self.answer("2"))
        #expect(peer.log.last == "acknowledged")
        #expect(peer.stream.management?.isAcknowledged(2) == true)
        #expect(peer.stream.management?.isAcknowledged(3) == false)
    }

    @Test func `ends a stream whose client acknowledges more than it was sent`() {
        var peer = bound()
        peer.receive(Self.enable)
        peer.stream.noteSent(bytes("<presence/>").span)
        let said = peer.receive(Self.answer("2"))
        #expect(
            said.contains(
                "<handled-count-too-high xmlns='urn:xmpp:sm:3' h='2' send-count='1'/>"
                    + "</stream:error></stream:stream>"))
        #expect(said.hasPrefix("<stream:error><undefined-condition "))
    }

    @Test(arguments: ["", "-1", "4294967296", "1x", "99999999999999999999"])
    func `ends a stream whose client acknowledges no number`(count: String) {
        var peer = bound()
        peer.receive(Self.enable)
        #expect(peer.receive(Self.answer(count)).hasPrefix("<stream:error><bad-format "))
    }

    @Test func `has counters that wrap`() {
        var management = StreamManagement(handled: .max, sent: .max - 1)
        management.noteHandled()
        #expect(management.handled == 0)
        management.noteSent(3)
        #expect(management.sent == 1)
        #expect(!management.isAcknowledged(0) && !management.isAcknowledged(1))
        #expect(!management.isAcknowledged(.max))
        let outcomes = [2, .max - 2, 0].map { management.acknowledge($0) }
        #expect(outcomes == [false, false, true])
        #expect(management.isAcknowledged(.max) && management.isAcknowledged(0))
        #expect(!management.isAcknowledged(1))
    }
}
