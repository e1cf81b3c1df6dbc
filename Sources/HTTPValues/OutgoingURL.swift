/// An http or https URL that is requested byte for byte as it is written.
///
/// What is signed and configured elsewhere must be what arrives. Programs on the way rewrite what
/// they find invalid: one `[` in a query, and it is percent-encoded once more. So only URLs of
/// RFC 3986 are taken whose path is UTF-8 once it is decoded, which a test compares with what
/// arrives. Others are rejected, with what would be right.
public struct OutgoingURL: Hashable, Sendable {
    /// The most bytes of a URL.
    public static let byteCountMax = 2_048

    /// As it was written.
    public let text: String
    /// Whether the requests are encrypted.
    public let isEncrypted: Bool
    /// The host, in small letters; an IPv6 address without its brackets.
    public let host: String
    /// The port, also if it is not written.
    public let port: UInt16

    /// Whether the host is this machine, by its name or address.
    public var isOnThisMachine: Bool {
        // Compared as strings: the host is ASCII.
        ["localhost", "127.0.0.1", "::1"].contains(host)
    }

    /// Parses a URL.
    ///
    /// - Throws: why it is invalid; nothing of it, since it may contain a secret.
    public init(_ text: String) throws(OutgoingURLError) {
        let bytes = Array(text.utf8)
        let schemes = [(false, "http://"), (true, "https://")]
        let begin = bytes.prefix(8).lowercasedASCII
        guard let scheme = schemes.first(where: { begin.starts(with: $0.1.utf8) }) else {
            throw .scheme
        }
        guard bytes.count <= Self.byteCountMax else { throw .tooLong }
        guard bytes.allSatisfy({ 0x21...0x7E ~= $0 }) else { throw .characters }
        let rest = bytes.dropFirst(scheme.1.utf8.count)
        guard !rest.contains(UInt8(ascii: "#")) else { throw .fragment }
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        let authority = try Self.parts(ofAuthority: rest[..<(end ?? rest.endIndex)])
        host = authority.host
        port = authority.port ?? (scheme.0 ? 443 : 80)
        try Self.check(target: rest[(end ?? rest.endIndex)...])
        self.text = text
        isEncrypted = scheme.0
    }

    private static func parts(
        ofAuthority authority: ArraySlice<UInt8>
    ) throws(OutgoingURLError) -> (host: String, port: UInt16?) {
        guard !authority.contains(UInt8(ascii: "@")) else { throw .credentials }
        let isBracketed = authority.first == UInt8(ascii: "[")
        let mark = isBracketed ? UInt8(ascii: "]") : UInt8(ascii: ":")
        let found = authority.firstIndex(of: mark)
        if isBracketed, found == nil { throw .bracket }
        let end = found ?? authority.endIndex
        let host = authority[..<end].dropFirst(isBracketed ? 1 : 0)
        let afterHost = authority[end...].dropFirst(isBracketed ? 1 : 0)
        guard !host.isEmpty else { throw .noHost }
        guard host.allSatisfy(isBracketed ? isOfAddress : isOfHost) else { throw .host }
        let name = String(decoding: host.lowercasedASCII, as: UTF8.self)
        guard !afterHost.isEmpty else { return (name, nil) }
        guard afterHost.first == UInt8(ascii: ":"), let port = port(afterHost.dropFirst()) else {
            throw .port
        }
        return (name, port)
    }

    private static func check(target: ArraySlice<UInt8>) throws(OutgoingURLError) {
        let end = target.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        // Some versions of libcurl leave out the `?`.
        guard target.endIndex - end != 1 else { throw .emptyQuery }
        let path = try decoded(target[..<end])
        guard String(validating: path, as: UTF8.self) != nil, !path.contains(0) else {
            throw .path
        }
        _ = try decoded(target[end...].dropFirst())
    }

    /// The bytes that a part of a path or query stands for.
    private static func decoded(_ part: ArraySlice<UInt8>) throws(OutgoingURLError) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = part
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst()?.hexValue,
                    let low = rest.popFirst()?.hexValue
                else { throw .percent }
                decoded.append(high << 4 | low)
            } else {
                guard isOfTarget(byte) else {
                    throw .mustBeEncoded(Character(Unicode.Scalar(byte)))
                }
                decoded.append(byte)
            }
        }
        return decoded
    }
}

// MARK: Characters (RFC 3986, 3.2.2 to 3.4)

extension OutgoingURL {
    /// Nil: not 1 to 65535.
    private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard digits.allSatisfy(\.isDigit) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-._".utf8.contains(byte)
    }

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        byte.hexValue != nil || ":.".utf8.contains(byte)
    }

    private static func isOfTarget(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-._~!$&'()*+,;=:@/?".utf8.contains(byte)
    }
}

/// Why a URL is invalid.
public enum OutgoingURLError: Error, Hashable, CustomStringConvertible {
    case scheme
    case tooLong
    case characters
    case fragment
    case credentials
    case bracket
    case noHost
    case host
    case port
    case path
    case emptyQuery
    case percent
    case mustBeEncoded(Character)

    /// The second half of a sentence that begins with which URL it is.
    public var description: String {
        switch self {
        case .scheme: "it must begin with http:// or https://"
        case .tooLong: "it has more than \(OutgoingURL.byteCountMax) bytes"
        case .characters:
            "it must not contain spaces, control characters or non-ASCII characters"
        case .fragment: "it must not have a fragment"
        case .credentials: "it must not contain a user or a password"
        case .bracket: "its IPv6 address has no closing bracket"
        case .noHost: "it has no host"
        case .host: "its host must be letters, digits, `-`, `.` and `_`, or an IPv6 address in []"
        case .port: "its port must be 1 to 65535"
        case .path:
            "its path must be UTF-8 once it is decoded: write é as %C3%A9, and not as %E9"
        case .emptyQuery: "its query is empty: leave out the `?`"
        case .percent: "each `%` must be followed by two hexadecimal digits: write `%` as %25"
        case .mustBeEncoded(let character):
            "`\(character)` must be percent-encoded in it: write "
                + "%\(String(character.asciiValue ?? 0, radix: 16, uppercase: true))"
        }
    }
}
