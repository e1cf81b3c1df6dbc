import HTTPValues
import NIOCore

/// The host by which a client addresses the API: the value of `Host`, without the port (RFC 9110,
/// 7.2; RFC 3986, 3.2.2).
struct HostName: Hashable, Sendable {
    /// The kinds of hosts.
    enum Kind: Hashable, Sendable {
        /// What a client sends for a URL without one.
        case none
        /// An IPv4 or IPv6 address.
        case address
        case localhost
        case name
    }

    let kind: Kind

    /// Nil: the bytes are no `host` or `host:port`.
    init?(_ bytes: [UInt8]) {
        let isLiteral = bytes.first == UInt8(ascii: "[")
        let end =
            isLiteral
            ? bytes.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 }
            : bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        guard let end, Self.isPort(bytes[end...]) else { return nil }
        let host = bytes[..<end]
        if isLiteral {
            guard Self.isAddress(host.dropFirst().dropLast(), .inet6) else { return nil }
            kind = .address
        } else if host.isEmpty {
            guard bytes.isEmpty else { return nil }
            kind = .none
        } else if Self.isAddress(host, .inet) {
            kind = .address
        } else {
            guard Self.isName(host) else { return nil }
            kind = host.lowercasedASCII.elementsEqual("localhost".utf8) ? .localhost : .name
        }
    }

    /// Whether it is localhost or a numeric address, or is not stated at all.
    ///
    /// A web page can make its reader's browser send requests to the page's own host name and let
    /// that name resolve to 127.0.0.1 (DNS rebinding). Without keys, that page could read
    /// everything.
    var isLocal: Bool { kind != .name }

    /// Nothing, or a colon and a port.
    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first else { return true }
        let digits = bytes.dropFirst()
        return first == UInt8(ascii: ":") && digits.count <= 5 && digits.allSatisfy { $0.isDigit }
            && (digits.isEmpty || UInt16(String(decoding: digits, as: UTF8.self)) != nil)
    }

    private static func isAddress(
        _ bytes: ArraySlice<UInt8>, _ family: NIOBSDSocket.ProtocolFamily
    ) -> Bool {
        guard bytes.allSatisfy({ $0.hexValue != nil || $0 == 0x2E || $0 == 0x3A }) else {
            return false
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return (try? SocketAddress(ipAddress: text, port: 0))?.protocol == family
    }

    /// Letters, digits and marks of names, and `%` with two digits.
    private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard rest.popFirst()?.hexValue != nil, rest.popFirst()?.hexValue != nil else {
                    return false
                }
            default: guard byte.isLetterOrDigit || marks.contains(byte) else { return false }
            }
        }
        return true
    }

    private static let marks = Array("-._~!$&'()*+,;=".utf8)
}
