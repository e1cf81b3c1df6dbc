import EventLoop
import PresenceXMPP

@testable import PresenceServer

/// An XMPP client of a small service, alice, of which a test writes and reads the bytes.
struct SmallXMPPClient {
    let service: SmallService
    let stream: StreamID

    /// Has a service accept such clients.
    static func allow(in configuration: inout Configuration) {
        var listening = XMPPListening(domains: [Array("home.example".utf8)])
        listening.allowsPlaintext = true
        configuration.xmpp = listening
    }

    /// One that has bound a device, and then has sent `more`.
    init(of service: SmallService, sending more: String = "") {
        self.service = service
        stream = service.network.open(roomBytes: 1 << 20)
        service.connections.accept(stream, on: .xmpp)
        let header = """
            <stream:stream xmlns='jabber:client' \
            xmlns:stream='http://etherx.jabber.org/streams' to='home.example' version='1.0'>
            """
        send(
            """
            \(header)<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>\
            AGFsaWNlAHg=</auth>\(header)<iq type='set' id='1'>\
            <bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>\(more)
            """)
        for _ in 0..<5 { service.commit() }
    }

    func send(_ text: String) {
        service.connections.receive(Array(text.utf8).span.bytes, from: stream)
    }

    /// What it has been sent since the last time.
    func said() -> String {
        let (bytes, isDrained) = service.network.read(stream, bytesMax: .max)
        if isDrained { service.connections.streamDrained(stream) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
