import EventLoop
import PresenceCore
import PresenceXMPP
import Testing

@testable import PresenceServer

/// Cards on a disk that fails, and on one that is slow.
@Suite struct `Cards on a disk` {
    private let service = SmallService { configuration in
        var listening = XMPPListening(domains: [Array("home.example".utf8)])
        listening.allowsPlaintext = true
        configuration.xmpp = listening
        configuration.engine.rememberSeconds = 60
        configuration.engine.evenClockSeconds = 0
        configuration.engine.publishPace = Pace(perSecond: 1, burst: 3)
    }
    private let phone: StreamID
    private static let card = "<vCard xmlns='vcard-temp'><FN>A</FN></vCard>"
    private static let get = "<iq type='get' id='g'><vCard xmlns='vcard-temp'/></iq>"

    init() {
        phone = service.network.open(roomBytes: 1 << 20)
        service.connections.accept(phone, on: .xmpp)
        let header = """
            <stream:stream xmlns='jabber:client' \
            xmlns:stream='http://etherx.jabber.org/streams' to='home.example' version='1.0'>
            """
        send(
            """
            \(header)<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>\
            AGFsaWNlAHg=</auth>\(header)<iq type='set' id='1'>\
            <bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq><presence/>
            """)
        for _ in 0..<5 { service.commit() }
        _ = said()
    }

    private func send(_ text: String) {
        service.connections.receive(Array(text.utf8).span.bytes, from: phone)
    }

    private func said() -> String {
        let (bytes, isDrained) = service.network.read(phone, bytesMax: .max)
        if isDrained { service.connections.streamDrained(phone) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func settle(isFailing: Bool) {
        service.connections.turnEnded()
        service.connections.withHost { host, now in
            host.report(service.disk.settle(isFailing: isFailing), at: now)
            host.report(service.disk.answerReads(isFailing: isFailing), at: now)
        }
        service.connections.turnEnded()
    }

    @Test func `are answered when they are stored, or refused`() {
        send("<iq type='set' id='s'>\(Self.card)</iq>")
        service.connections.turnEnded()
        #expect(said().isEmpty, "not before it is on disk")
        settle(isFailing: true)
        #expect(said().contains("<error type='wait'><internal-server-error "))
        send(Self.get)
        settle(isFailing: false)
        #expect(said().contains("<item-not-found "))
        send("<iq type='set' id='s'>\(Self.card)</iq>")
        settle(isFailing: false)
        #expect(said() == "<iq type='result' id='s' to='alice@home.example/\(resource)'/>")
        send(Self.get)
        settle(isFailing: true)
        #expect(said().contains("<error type='wait'><internal-server-error "))
        send(Self.get)
        settle(isFailing: false)
        #expect(said().hasSuffix(">\(Self.card)</iq>"))
    }

    private var resource: String {
        let client = service.connections.clients.protocols[Int(phone.slot)].client
        return String(decoding: client?.sender?.device ?? [], as: UTF8.self)
    }

    @Test func `are read and set at a bounded pace`() {
        for _ in 0..<Cards.readPace.burst {
            send(Self.get)
            settle(isFailing: false)
            #expect(said().contains("<item-not-found "))
        }
        send(Self.get)
        settle(isFailing: false)
        #expect(said().contains("<error type='wait'><policy-violation "))
        // The presence at the login has drawn from the pace of sets.
        let set = "<iq type='set' id='s'>\(Self.card)</iq>"
        for _ in 0..<2 {
            send(set)
            settle(isFailing: false)
            #expect(said().contains("<iq type='result' id='s'"))
        }
        send(set)
        settle(isFailing: false)
        #expect(said().contains("<error type='wait'><policy-violation "))
        service.pass(milliseconds: 1_000)
        send(set + Self.get)
        settle(isFailing: false)
        settle(isFailing: false)
        #expect(said().hasSuffix(">\(Self.card)</iq>"))
    }

    @Test func `of a client that is gone are stored all the same`() {
        send("<iq type='set' id='s'>\(Self.card)</iq>\(Self.get)")
        service.connections.turnEnded()
        service.connections.streamEnded(
            phone, .failed(UVError(code: -104, operation: "read")))
        settle(isFailing: false)
        #expect(service.disk.durable.cards.count == 1)
        service.connections.withHost { host, _ in #expect(host.cards.count == 1) }
    }

    @Test func `are removed with the account that is forgotten`() {
        send("<iq type='set' id='s'>\(Self.card)</iq>")
        settle(isFailing: false)
        send("</stream:stream>")
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
