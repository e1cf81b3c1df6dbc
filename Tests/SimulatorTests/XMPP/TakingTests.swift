import EventLoop
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

/// How the service learns that an XMPP client has the messages that it was sent.
@Suite struct `What an XMPP client was sent` {
    private let service = SmallService { configuration in
        SmallXMPPClient.allow(in: &configuration)
    }
    private let bob: StreamID
    private let backend: StreamID
    private static let enable = "<enable xmlns='urn:xmpp:sm:3'/>"

    init() {
        bob = service.login("bob")
        backend = service.connectAppServer()
    }

    /// The number of a question with such an id.
    private static func number(of name: String, in said: String) -> String? {
        said.firstRange(of: "id='\(name)").map { start in
            String(said[start.upperBound...].prefix { $0 != "'" })
        }
    }

    private func alice(_ more: String = "") -> SmallXMPPClient {
        let client = SmallXMPPClient(of: service, sending: more + "<presence/>")
        commit()
        return client
    }

    private func write(_ body: String) {
        _ = service.ask("send", ["accounts": ["alice"], "body": .string(body)], on: bob)
        commit()
    }

    /// Has everything that is asked of the store answered.
    private func commit() {
        for _ in 0..<5 {
            service.commit()
            service.connections.withHost { host, now in
                host.report(service.disk.answerReads(isFailing: false), at: now)
            }
            service.commit()
        }
    }

    private var waiting: Int64? {
        service.ask("stats", on: backend)["messagesWaiting"]?.integer
    }

    @Test func `is taken by an answer to the ping behind it`() {
        let alice = alice()
        write("one")
        let said = alice.said()
        let number = Self.number(of: "taken-", in: said)
        #expect(number != nil, "\(said)")
        service.pass(milliseconds: 4_000)
        #expect(waiting == 1)
        alice.send("<iq type='result' id='taken-\(number ?? "")'/>")
        service.commit()
        #expect(waiting == 0)
        // From now on it is known to answer: what its kernel has is not what it has.
        write("two")
        _ = alice.said()
        service.pass(milliseconds: 30_000)
        #expect(waiting == 1)
    }

    @Test func `is taken when the kernel of a client has it that answers nothing`() {
        let alice = alice()
        write("one")
        service.pass(milliseconds: 10_000)
        // It has not read it.
        #expect(waiting == 1)
        #expect(alice.said().contains("<body>one</body>"))
        service.pass(milliseconds: 1_000)
        #expect(waiting == 0)
        // No question is asked from now on.
        write("two")
        let said = alice.said()
        #expect(said.contains("<body>two</body>") && !said.contains("taken-"))
        service.pass(milliseconds: 1_000)
        #expect(waiting == 0)
    }

    @Test func `is not taken before the client has had time to answer`() {
        let alice = alice()
        write("one")
        #expect(alice.said().contains("<body>one</body>"))
        service.pass(milliseconds: 4_900)
        #expect(waiting == 1)
        service.pass(milliseconds: 1_000)
        #expect(waiting == 0)
    }

    @Test func `does not end with a hundred messages`() {
        let alice = alice()
        for number in 0..<100 {
            write("text \(number)")
            _ = alice.said()
            service.pass(milliseconds: 300)
            commit()
        }
        service.pass(milliseconds: 6_000)
        commit()
        #expect(waiting == 0)
    }

    @Test func `is taken when a client that manages its stream acknowledges it`() {
        let alice = alice(Self.enable)
        let before = alice.said()
        // The presence of its own device.
        #expect(before.hasSuffix("to='alice@home.example'/>"), "\(before)")
        write("one")
        let said = alice.said()
        #expect(said.hasSuffix("</message><r xmlns='urn:xmpp:sm:3'/>"), "\(said)")
        alice.send("<a xmlns='urn:xmpp:sm:3' h='1'/>")
        service.commit()
        #expect(waiting == 1)
        alice.send("<a xmlns='urn:xmpp:sm:3' h='2'/>")
        service.commit()
        #expect(waiting == 0)
        alice.send("<r xmlns='urn:xmpp:sm:3'/>")
        service.commit()
        #expect(alice.said() == "<a xmlns='urn:xmpp:sm:3' h='1'/>")
    }

    @Test func `shows that a client lives that answers nothing`() {
        let alice = alice()
        for _ in 0..<25 {
            service.pass(milliseconds: 20_000)
            #expect(!alice.said().contains("</stream:stream>"))
        }
        #expect(service.network.streams[alice.stream]?.isLingering == false)
        // When its kernel acknowledges nothing, it is gone.
        service.pass(milliseconds: 91_000)
        #expect(service.network.streams[alice.stream]?.isLingering != false)
    }

    @Test func `shows nothing of a client that is known to answer`() {
        let alice = alice()
        service.pass(milliseconds: 61_000)
        let said = alice.said()
        let number = Self.number(of: "ping-", in: said)
        alice.send("<iq type='result' id='ping-\(number ?? "")'/>")
        service.pass(milliseconds: 61_000)
        _ = alice.said()
        service.pass(milliseconds: 31_000)
        #expect(alice.said().contains("<connection-timeout "))
    }
}
