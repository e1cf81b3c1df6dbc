/// Where a push address leads. Two addresses with the same endpoint reach the same app or browser,
/// so only one device has it: the one that was given it last.
enum PushEndpoint {
    /// The first URL with `https:` in an address, up to what ends a text of JSON, which is the
    /// endpoint of a subscription to Web Push however its members are written; without one, all of
    /// the address. Nil: it is empty. O(bytes).
    static func of(_ address: [UInt8]) -> [UInt8]? {
        guard !address.isEmpty else { return nil }
        let scheme = Array("https:".utf8)
        guard
            let start = address.indices.first(where: { address[$0...].starts(with: scheme) })
        else { return address }
        let rest = address[start...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "\"") || $0 <= UInt8(ascii: " ") }
        // PHP writes a slash in JSON behind a backslash, which no URL has.
        return rest[..<(end ?? rest.endIndex)].filter { $0 != UInt8(ascii: "\\") }
    }
}
