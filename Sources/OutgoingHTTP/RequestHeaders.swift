import HTTPValues

/// The headers of a request as libcurl takes them.
enum RequestHeaders {
    /// What libcurl would add by itself. `Expect` would make it wait for a receiver to agree.
    private static let defaults = ["Accept", "Content-Type", "Expect"]

    /// One line for each header, and those that keep libcurl from adding others.
    ///
    /// - Throws: which header could be read as something else than one header.
    static func lines(_ headers: [(String, String)]) throws(OutgoingError) -> [String] {
        var lines: [String] = []
        var rest = Set(defaults.map { $0.lowercased() })
        for (name, value) in headers {
            guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenByte),
                value.utf8.allSatisfy(isOfValue)
            else { throw .cannotSend("the header \(name.filter(\.isLetter)) is invalid") }
            // Without a value, libcurl takes a colon for "do not send this".
            lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
            rest.remove(name.lowercased())
        }
        return lines + defaults.filter { rest.contains($0.lowercased()) }.map { "\($0):" }
    }

    /// RFC 9110, 5.5.
    private static func isOfValue(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\t") || byte >= 0x20 && byte != 0x7F
    }
}
