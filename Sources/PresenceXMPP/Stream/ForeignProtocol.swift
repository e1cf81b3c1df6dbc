/// What a client speaks that has begun with what is no XML.
enum ForeignProtocol: Hashable, Sendable {
    case http
    /// A header with the address of a proxy's client, of either version.
    case proxyHeader

    private static let proxyHeaders = ["PROXY ", "\0\r\nQUIT\n"].map { Array($0.utf8) }

    /// What the first bytes of a stream that was rejected show; nil: nothing. Of the second version
    /// of the PROXY protocol, what precedes them is white space.
    init?(_ bytes: RawSpan) {
        let beginning = (0..<min(bytes.byteCount, 8)).map { index in
            unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        }
        if Self.proxyHeaders.contains(where: { beginning.starts(with: $0) }) {
            self = .proxyHeader
            return
        }
        // XML has no letters before its first tag, and methods of HTTP have only these.
        guard let first = beginning.first, UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first else {
            return nil
        }
        self = .http
    }

    /// What was seen, and what would be right.
    var sentence: String {
        switch self {
        case .http:
            "This port speaks XMPP (the setting xmpp-listen), not HTTP. XMPP over WebSocket is at "
                + "/xmpp of the setting listen, the HTTP API at the setting http."
        case .proxyHeader:
            "This listener does not expect a PROXY header: turn off proxy-protocol for it in your "
                + "proxies."
        }
    }
}
