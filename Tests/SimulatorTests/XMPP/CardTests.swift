import EventLoop
import PresenceCore
import PresenceXMPP
import Testing

@testable import PresenceServer

/// Cards on a disk that fails, and on one that is slow.
@Suite struct `Cards on a disk` {
    private let service = SmallService { configuration in
        SmallXMPPClient.allow(in: &configuration)
        configuration.engine.rememberSeconds = 60
        configuration.engine.evenClockSeconds = 0
        configuration.engine.publishPace = Pace(perSecond: 1, burst: 3)
    }
    private let alice: SmallXMPPClient
    private static let card = "<vCard xmlns='vcard-temp'><FN>A</FN></vCard>"
    private static let get = "<iq type='get' id='g'><vCard xmlns='vcard-temp'/></iq>"

    init() {
        alice = SmallXMPPClient(of: service, sending: "<presence/>")
        _ = alice.said()
    }

    private func settle(isFailing: Bool) {
        service.connections.turnEnded()
        service.connections.withHost { host, now in
            host.report(service.disk.settle(isFailing: isFailing), at: now)
            host.report(service.disk.answerReads(isFailing: isFailing), at: now)
        }
        service.connections.turnEnded()
    }

    @Test func `are answered when they are stored, or rejected`() {
        alice.send("<iq type='set' id='s'>\(Self.card)</iq>")
        service.connections.turnEnded()
        #expect(alice.said().isEmpty, "not before it is on disk")
        settle(isFailing: true)
        #expect(alice.said().contains("<error type='wait'><internal-server-error "))
        alice.send(Self.get)
        settle(isFailing: false)
        #expect(alice.said().contains("<item-not-found "))
        alice.send("<iq type='set' id='s'>\(Self.card)</iq>")
        settle(isFailing: false)
        #expect(alice.said() == "<iq type='result' id='s' to='alice@home.example/\(resource)'/>")
        alice.send(Self.get)
        settle(isFailing: true)
        #expect(alice.said().contains("<error type='wait'><internal-server-error "))
        alice.send(Self.get)
        settle(isFailing: false)
        #expect(alice.said().hasSuffix(">\(Self.card)</iq>"))
    }

    private var resource: String {
        let client = service.connections.clients.protocols[Int(alice.stream.slot)].client
        return String(decoding: client?.sender?.device ?? [], as: UTF8.self)
    }

    @Test func `are read and set at a bounded pace`() {
        for _ in 0..<Cards.readPace.burst {
            alice.send(Self.get)
            settle(isFailing: false)
            #expect(alice.said().contains("<item-not-found "))
        }
        alice.send(Self.get)
        settle(isFailing: false)
        #expect(alice.said().contains("<error type='wait'><policy-violation "))
        // The presence at the login has drawn from the pace of sets.
        let set = "<iq type='set' id='s'>\(Self.card)</iq>"
        for _ in 0..<2 {
            alice.send(set)
            settle(isFailing: false)
            #expect(alice.said().contains("<iq type='result' id='s'"))
        }
        alice.send(set)
        settle(isFailing: false)
        #expect(alice.said().contains("<error type='wait'><policy-violation "))
        service.pass(milliseconds: 1_000)
        alice.send(set + Self.get)
        settle(isFailing: false)
        settle(isFailing: false)
        #expect(alice.said().hasSuffix(">\(Self.card)</iq>"))
    }

    @Test func `of a client that is gone are stored all the same`() {
        alice.send("<iq type='set' id='s'>\(Self.card)</iq>\(Self.get)")
        service.connections.turnEnded()
        service.connections.streamEnded(
            alice.stream, .failed(UVError(code: -104, operation: "read")))
        settle(isFailing: false)
        #expect(service.disk.durable.cards.count == 1)
        service.connections.withHost { host, _ in #expect(host.cards.count == 1) }
    }

    @Test func `are removed with the account that is forgotten`() {
        alice.send("<iq type='set' id='s'>\(Self.card)</iq>")
        settle(isFailing: false)
        alice.send("</stream:stream>")
        for _ in 0..<3 { settle(isFailing: false) }
        #expect(service.disk.durable.cards.count == 1)
        for _ in 0..<5 {
            service.pass(milliseconds: 60_000)
            settle(isFailing: false)
        }
        #expect(service.disk.durable.cards.isEmpty)
        service.connections.withHost { host, _ in #expect(host.cards.byteCount == 0) }
    }
}
