import Containers
import EventLoop
import Glibc
import PresenceServer
import Testing

/// Runs `body` with a service that believes whoever connects, on as many loops.
func withXMPPService(
    loops: Int = 1, domains: [String] = ["localhost"],
    _ adjust: @escaping @Sendable (inout Configuration) -> Void = { _ in },
    _ body: (RunningService) throws -> Void
) throws {
    try withService(
        { configuration in
            configuration.loops = loops
            var listening = XMPPListening(domains: domains.map { Array($0.utf8) })
            listening.plain = XMPPListening.Place(host: "127.0.0.1", port: 0)
            listening.allowsPlaintext = true
            configuration.xmpp = listening
            adjust(&configuration)
        }, body)
}

extension RunningService {
    /// An XMPP client that has logged in, and shown itself.
    func showXMPP(
        _ name: String, _ device: String = "d1", domain: String = "localhost"
    ) throws -> StreamClient {
        let client = try StreamClient(self, domain: domain)
        try client.login(name, device)
        try client.appear()
        return client
    }
}

/// A blocking XMPP client, for tests: it sends texts, and waits for texts.
final class StreamClient {
    static let header = header(to: "localhost")

    private static func header(to domain: String) -> String {
        """
        <stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' \
        to='\(domain)' version='1.0'>
        """
    }

    private let domain: String
    private let descriptor: CInt
    private var received = ""
    private static let waitSeconds = 60

    /// Connects to a service.
    init(_ service: RunningService, domain: String = "localhost") throws {
        self.domain = domain
        let place = try #require(service.xmppAddress)
        descriptor = try connectedSocket(place.host, place.port)
        var wait = timeval(tv_sec: Self.waitSeconds, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        try #require(Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) > 0)
    }

    /// What the service has sent, up to and with `text`.
    @discardableResult
    func until(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        while true {
            if let range = received.range(ofFirst: text) {
                defer { received = String(received[range.upperBound...]) }
                return String(received[..<range.upperBound])
            }
            guard fill() else {
                Issue.record("no \(text) in \(received)", sourceLocation: sourceLocation)
                throw StreamClientError()
            }
        }
    }

    /// What the service sends until it closes the connection.
    func untilEnd() -> String {
        while fill() {}
        return received
    }

    /// Sends a ping, and returns what the service has sent before its answer.
    func drain() throws -> String {
        try send("<iq type='get' id='drained'><ping xmlns='urn:xmpp:ping'/></iq>")
        let said = try until("<iq type='result' id='drained'")
        try until("/>")
        return said
    }

    private func fill() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return false }
        received += String(decoding: bytes.prefix(count), as: UTF8.self)
        return true
    }

    // MARK: Logging in

    /// Says who it is.
    func authenticate(_ name: String, _ secret: String = "x") throws {
        try send(Self.header(to: domain))
        try until("</stream:features>")
        let data = String(
            decoding: Base64.encoded(Array("\0\(name)\0\(secret)".utf8)), as: UTF8.self)
        try send(
            "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>\(data)</auth>")
    }

    /// Binds a device; returns the answer.
    @discardableResult
    func login(_ name: String, _ device: String = "d1", secret: String = "x") throws -> String {
        try authenticate(name, secret)
        try until("<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'></success>")
        try send(Self.header(to: domain))
        try until("</stream:features>")
        try send(
            """
            <iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
            <resource>\(device)</resource></bind></iq>
            """)
        return try until("</iq>")
    }

    /// Asks for the roster, and shows itself.
    func appear() throws {
        try send("<iq type='get' id='roster'><query xmlns='jabber:iq:roster'/></iq><presence/>")
        try until("</query></iq>")
    }
}

struct StreamClientError: Error {}

extension String {
    fileprivate func range(ofFirst text: String) -> Range<Index>? {
        guard let first = text.first else { return nil }
        var start = startIndex
        while let place = self[start...].firstIndex(of: first) {
            if self[place...].hasPrefix(text) {
                return place..<index(place, offsetBy: text.count)
            }
            start = index(after: place)
        }
        return nil
    }
}
