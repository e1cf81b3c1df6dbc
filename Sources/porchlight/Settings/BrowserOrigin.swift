import Foundation

/// The origin of a web page, as a browser sends it (RFC 6454, 6.2; URL Standard, 4.5): in small
/// letters, without the port that is the scheme's, and an address in its shortest form.
struct BrowserOrigin {
    /// What is sent.
    let bytes: [UInt8]

    /// An origin as an operator may write it. Nil if no browser sends one that is meant by it: with
    /// a path, a wildcard, letters that are sent as `xn--…`, a number that is no address, or
    /// a label that is empty or too long.
    init?(_ text: some Sequence<UInt8>) {
        let text = String(decoding: text.map(Self.lowercased), as: UTF8.self)
        let pattern = /([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?/
        guard let match = text.wholeMatch(of: pattern), let host = Self.host(match.2),
            // No page has the scheme of a socket: it is that of the page that connects.
            match.1 != "ws", match.1 != "wss"
        else { return nil }
        var origin = "\(match.1)://\(host)"
        if let digits = match.3 {
            guard let port = UInt16(digits) else { return nil }
            if port != Self.usualPorts[String(match.1)] { origin += ":\(port)" }
        }
        bytes = Array(origin.utf8)
    }

    /// The ports that browsers leave out.
    private static let usualPorts: [String: UInt16] = [
        "http": 80, "https": 443, "ftp": 21,
    ]

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }

    private static func host(_ host: Substring) -> String? {
        if host.hasPrefix("[") { return address(host.dropFirst().dropLast()).map { "[\($0)]" } }
        var labels = host.split(separator: ".", omittingEmptySubsequences: false)
        // A dot at the end is sent as it is written.
        if labels.last?.isEmpty == true { labels.removeLast() }
        guard let last = labels.last, labels.allSatisfy({ 1...63 ~= $0.utf8.count }),
            host.utf8.count <= 254
        else { return nil }
        // A browser reads a host whose last label is a number as an address, in any of old forms.
        guard last.allSatisfy(\.isNumber) || last.hasPrefix("0x") else { return String(host) }
        let isPlain = labels.allSatisfy { UInt8($0).map(String.init) == String($0) }
        return labels.count == 4 && isPlain && host.last != "." ? String(host) : nil
    }

    /// An IPv6 address in its shortest form: the longest run of zeros, or the first, is `::`.
    private static func address(_ text: Substring) -> String? {
        var address = in6_addr()
        guard unsafe inet_pton(AF_INET6, String(text), &address) == 1 else { return nil }
        let pieces = unsafe withUnsafeBytes(of: &address) { bytes in
            stride(from: 0, to: 16, by: 2).map { place in
                unsafe UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
            }
        }
        var longest = 0..<0
        var start = 0
        while start < pieces.count {
            let end = pieces[start...].firstIndex { $0 != 0 } ?? pieces.count
            if end - start > max(1, longest.count) { longest = start..<end }
            start = max(end, start + 1)
        }
        func hex(_ part: ArraySlice<UInt16>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !longest.isEmpty else { return hex(pieces[...]) }
        return hex(pieces[..<longest.lowerBound]) + "::" + hex(pieces[longest.upperBound...])
    }
}
