import EventLoop
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `A stanza that arrives slowly` {
    private let service = SmallService { configuration in
        var listening = XMPPListening(domains: [Array("home.example".utf8)])
        listening.allowsPlaintext = true
        configuration.xmpp = listening
    }
    private let phone: StreamID
    private static let beginning = "<iq type='set' id='v'><vCard xmlns='vcard-temp'><PHOTO>"
    private static let end = "</PHOTO></vCard></iq>"

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
            <bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>
            """)
        for _ in 0..<4 { service.commit() }
        #expect(said().hasSuffix("</bind></iq>"))
    }

    private func send(_ text: String) {
        service.connections.receive(Array(text.utf8).span.bytes, from: phone)
    }

    private func send(_ count: Int) { send(String(repeating: "A", count: count)) }

    private func said() -> String {
        let (bytes, isDrained) = service.network.read(phone, bytesMax: .max)
        if isDrained { service.connections.streamDrained(phone) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `is read while it goes on arriving`() {
        // Each stanza has its own time.
        for _ in 0..<3 {
            send(Self.beginning)
            for _ in 0..<11 {
                service.pass(milliseconds: 9_900)
                send(256)
            }
            #expect(!said().contains("stream:error"))
            send(Self.end)
            service.commit()
            #expect(said().contains("<iq type='result' id='v'"))
        }
    }

    @Test(arguments: [0, 255])
    func `ends the stream when too little arrives`(count: Int) {
        send(Self.beginning)
        service.pass(milliseconds: 5_000)
        send(600)
        service.pass(milliseconds: 5_001)
        send(count)
        service.pass(milliseconds: 9_900)
        #expect(!said().contains("stream:error"))
        service.pass(milliseconds: 200)
        let error = said()
        #expect(error.contains("<policy-violation "))
        #expect(error.contains("Send at least 256 bytes of it in 10 s, and all of it in 120 s."))
        #expect(error.hasSuffix("</stream:stream>"))
    }

    @Test func `ends the stream at last, however much arrives`() {
        send(Self.beginning)
        for _ in 0..<13 {
            service.pass(milliseconds: 9_000)
            send(500)
        }
        service.pass(milliseconds: 2_900)
        #expect(!said().contains("stream:error"))
        service.pass(milliseconds: 200)
        #expect(said().contains("<policy-violation "))
    }
}
