import Containers
import Testing

@testable import PresenceXMPP

/// However the bytes are cut up, the stream hears and says the same.
@Suite struct `Chunking tests` {
    /// Whole histories, without the bytes that arrive before encryption and are dropped.
    static let histories: [String] = [
        Client.header + Client.login + Client.header + Client.bind + Client.session
            + Client.presence + "<message to='bob@example.org'><body>a &amp; b</body></message>"
            + "<iq type='get' id='1'><ping xmlns='urn:xmpp:ping'/></iq>" + Client.end + "rest",
        Client.header + Client.plain("alice", "wrong") + "\n"
            + Client.auth("SCRAM-SHA-256", base64("n,,n=alice,r=x")) + Client.response("") + " "
            + Client.login + Client.header + Client.bind + "<a xmlns='b'/>",
        Client.header + "<iq type='set'><query xmlns='jabber:iq:register'><username>zoe</username>"
            + "<password>é€😀</password></query></iq>" + Client.plain("zoe", "pencil")
            + Client.header + Client.bind + Client.bind + "<!-- no -->" + Client.presence,
        Client.header + Client.auth("PLAIN", "") + Client.response(base64("\0alice\0pencil"))
            + " \t " + Client.header + "<iq type='set' id='x'><bind "
            + "xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>" + "<presence></message>",
        "<stream:stream xmlns='jabber:client' to='nowhere'>", "<?xml version='1.0'?>\n<a>",
        Client.header + "<presence a='&lt;' a='2'/>",
    ]

    private func log(_ history: [UInt8], cutAt cuts: [Int]) -> [String] {
        var peer = StreamPeer { $0.allowsRegistration = true }
        var start = 0
        for end in cuts + [history.count] {
            peer.receive(history[start..<end])
            start = end
        }
        return peer.log
    }

    @Test(arguments: histories) func `byte by byte`(history: String) {
        let bytes = bytes(history)
        let whole = log(bytes, cutAt: [])
        #expect(!whole.isEmpty)
        #expect(log(bytes, cutAt: Array(1..<bytes.count)) == whole)
    }

    @Test(arguments: histories) func `in two pieces`(history: String) {
        let bytes = bytes(history)
        let whole = log(bytes, cutAt: [])
        for place in 1..<bytes.count { #expect(log(bytes, cutAt: [place]) == whole) }
    }

    @Test func `in random pieces`() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let history = bytes(Self.histories.randomElement(using: &random) ?? "")
            let cuts = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                Int.random(in: 0...history.count, using: &random)
            }.sorted()
            #expect(log(history, cutAt: cuts) == log(history, cutAt: []), "\(cuts)")
        }
    }

    @Test(arguments: histories) func `with a pause after each stanza`(history: String) {
        let bytes = bytes(history)
        var peer = StreamPeer { $0.allowsRegistration = true }
        peer.pauses = true
        peer.receive(bytes)
        #expect(peer.log == log(bytes, cutAt: []))
    }

    /// An answer that takes its time changes nothing but the time.
    @Test(arguments: histories) func `with answers that are late`(history: String) {
        let all = bytes(history)
        var peer = StreamPeer { $0.allowsRegistration = true }
        peer.receive(all)
        var late = StreamPeer { $0.allowsRegistration = true }
        late.answers = false
        late.receive(all)
        while late.stream.awaitsAnswer { late.answerNow() }
        #expect(late.log == peer.log)
        #expect(late.output == peer.output)
    }
}
