// A request for a WebSocket (RFC 6455, 4.2.1), read strictly (RFC 9112): what servers, proxies and
// caches read differently is rejected and not interpreted. Unknown fields are ignored.

internal import Containers
import HTTPValues

/// A valid request for a WebSocket.
public struct UpgradeRequest: Hashable, Sendable {
    /// What a WebSocket is asked for.
    public enum Target: CaseIterable, Sendable {
        /// The native protocol. The subprotocol need not be offered.
        case porchlight
        /// XMPP (RFC 7395), whose subprotocol must be offered.
        case xmpp

        /// Its path.
        public var path: String {
            switch self {
            case .porchlight: "/v1/socket"
            case .xmpp: "/xmpp"
            }
        }

        /// All its paths. Many clients of XMPP are set to the one that Prosody has, and some have
        /// a slash behind it.
        private var paths: [String] {
            switch self {
            case .porchlight: [path]
            case .xmpp: [path, path + "/", "/xmpp-websocket", "/xmpp-websocket/"]
            }
        }

        /// The subprotocol that is confirmed.
        public var subprotocol: String {
            switch self {
            case .porchlight: "porchlight.v1"
            case .xmpp: "xmpp"
            }
        }

        /// That of a request line; nil: there is no such path.
        init?(of requestLine: ArraySlice<UInt8>) {
            let path = UpgradeRequest.path(of: requestLine)
            let target = Self.allCases.first { target in
                target.paths.contains { path.elementsEqual($0.utf8) }
            }
            guard let target else { return nil }
            self = target
        }
    }

    /// What it asks for.
    public let target: Target
    /// The base64 of the hash that proves to the client that it was understood.
    public let acceptKey: [UInt8]
    /// Whether the client offers the subprotocol of the target, which is then confirmed.
    public let offersSubprotocol: Bool
    /// The origin of the page, as browsers send it; nil: none, so not a browser's page.
    public let origin: [UInt8]?

    /// Reads a complete head, with its empty line, all of whose lines end in CR LF.
    init(_ head: ArraySlice<UInt8>) throws(UpgradeError) {
        var lines = Lines(rest: head)
        guard let requestLine = lines.next() else { throw .malformed }
        try Self.check(requestLine: requestLine)
        var fields = UpgradeFields()
        var count = 0
        while let line = lines.next(), !line.isEmpty {
            count += 1
            guard count <= UpgradeReader.fieldsMax else { throw .tooLarge }
            try fields.take(line)
        }
        guard let target = Target(of: requestLine) else { throw .path }
        guard fields.hostCount == 1 else { throw .host }
        guard fields.asksForWebSocket, fields.asksForUpgrade else { throw .notAnUpgrade }
        guard fields.version == Array("13".utf8) else { throw .version }
        guard let key = fields.key, Base64.decoded(key)?.count == 16 else { throw .key }
        acceptKey = Self.acceptKey(for: key)
        self.target = target
        offersSubprotocol = fields.offered.contains(target)
        switch target {
        case .porchlight:
            guard offersSubprotocol || !fields.offersSubprotocols else { throw .subprotocol }
        case .xmpp:
            guard offersSubprotocol else { throw .subprotocolOfXMPP }
        }
        origin = fields.origin
    }

    /// The answer to a key: RFC 6455, 4.2.2.
    static func acceptKey(for key: [UInt8]) -> [UInt8] {
        Base64.encoded(SHA1.hash(key + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)))
    }

    /// `GET TARGET HTTP/1.1`. The method has been checked.
    private static func check(requestLine: ArraySlice<UInt8>) throws(UpgradeError) {
        let parts = requestLine.split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, origin(of: parts[1]) != nil,
            parts[1].allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .malformed }
        let version = Array(parts[2])
        guard version != Array("HTTP/1.1".utf8) else { return }
        let isVersion =
            version.count == 8 && version.starts(with: "HTTP/".utf8)
            && version[5].isDigit && version[6] == UInt8(ascii: ".") && version[7].isDigit
        throw isVersion ? .httpVersion : .malformed
    }

    /// The path of the target; empty if it has none.
    fileprivate static func path(of requestLine: ArraySlice<UInt8>) -> [UInt8] {
        let target = requestLine.dropFirst("GET ".utf8.count).prefix { $0 != UInt8(ascii: " ") }
        guard let origin = origin(of: target) else { return [] }
        return Array(target[origin.endIndex...].prefix { $0 != UInt8(ascii: "?") })
    }

    /// The scheme and host before the path of a target (RFC 9112, 3.2.2): what clients send to
    /// proxies, and may send to every server. Mostly empty; nil if the target has another form.
    private static func origin(of target: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard target.first != UInt8(ascii: "/") else { return target.prefix(0) }
        let scheme = ["http://", "https://"].first { scheme in
            target.prefix(scheme.utf8.count).lowercasedASCII.elementsEqual(scheme.utf8)
        }
        guard let scheme else { return nil }
        let host = target.dropFirst(scheme.utf8.count).prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
        }
        guard !host.isEmpty, !host.contains(UInt8(ascii: "@")) else { return nil }
        return target[..<host.endIndex]
    }
}

/// The lines of a head, without their ends.
private struct Lines {
    var rest: ArraySlice<UInt8>

    mutating func next() -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = rest[rest.startIndex..<end].dropLast()
        rest = rest[(end + 1)...]
        return line
    }
}

extension [UInt8] {
    /// Appends the HTTP answer to a request that is accepted; frames follow it.
    public mutating func appendAnswer(_ request: UpgradeRequest) {
        append("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n")
        append("Sec-WebSocket-Accept: ")
        append(contentsOf: request.acceptKey)
        if request.offersSubprotocol {
            append("\r\nSec-WebSocket-Protocol: ")
            append(contentsOf: request.target.subprotocol.utf8)
        }
        append("\r\n\r\n")
    }
}
