// Another protocol on a connection that should carry frames. Its first four bytes are read as the
// length of a frame, and are far above any limit: no frame is mistaken for one. A request that
// begins with `G` is read by `UpgradeReader`.

/// What a client sends that does not know the native protocol, or not its framing.
public enum ForeignProtocol: Hashable, CaseIterable, Sendable {
    /// JSON without a length before it.
    case json
    /// The length in the byte order of most processors.
    case littleEndian
    case xmpp
    case mqtt
    /// A header with the address of a proxy's client, of either version.
    case proxyHeader

    /// What was seen, and what would be right. It needs no escapes.
    public var sentence: StaticString {
        switch self {
        case .json:
            """
            This is JSON without a frame: send a 4-byte length, big-endian, before each object. \
            Line ends do not separate them.
            """
        case .littleEndian:
            "The length of the frame is little-endian: send a 4-byte length, big-endian."
        case .xmpp:
            """
            This port does not speak XMPP: connect to the address of the setting xmpp-listen. \
            Here, frames have a 4-byte length, big-endian.
            """
        case .mqtt:
            """
            This port does not speak MQTT, nor does another of this service: use the native \
            protocol or a WebSocket.
            """
        case .proxyHeader:
            """
            This listener does not expect a PROXY header: turn off proxy-protocol for it in your \
            proxies.
            """
        }
    }

    /// Beginnings of methods: RFC 9110, RFC 5789.
    private static let methods = Set(
        ["PUT ", "POST", "HEAD", "DELE", "OPTI", "PATC", "TRAC", "CONN"].map(length))
    /// HTTP/2 begins with it.
    private static let preface = length("PRI ")
    /// Beginnings of both versions of the PROXY protocol.
    private static let proxyHeaders = ["PROX", "\r\n\r\n"].map(length)
    /// Lengths that are taken for little-endian ones are not longer: their last byte is 0, which
    /// that of the beginnings of other protocols is not.
    private static let littleEndianMax = 0xFF_FFFF

    private static func length(_ text: String) -> Int {
        text.utf8.reduce(0) { $0 << 8 | Int($1) }
    }

    /// What is wrong with a beginning that was read as a length above the limit.
    static func violation(bytesClaimed: Int, bodyBytesMax: Int) -> InputViolation {
        if bytesClaimed == preface { return .request(.httpVersion) }
        if methods.contains(bytesClaimed) { return .request(.method) }
        if proxyHeaders.contains(bytesClaimed) { return .foreign(.proxyHeader) }
        let first = bytesClaimed >> 24
        let swapped = Int(UInt32(truncatingIfNeeded: bytesClaimed).byteSwapped)
        // With a first byte of 0 it may as well be a long frame.
        if first != 0, swapped <= min(bodyBytesMax, littleEndianMax) {
            return .foreign(.littleEndian)
        }
        switch first {
        case 0x7B: return .foreign(.json)
        case 0x3C: return .foreign(.xmpp)
        // CONNECT, the first packet of every client.
        case 0x10: return .foreign(.mqtt)
        default: return .frame
        }
    }
}
