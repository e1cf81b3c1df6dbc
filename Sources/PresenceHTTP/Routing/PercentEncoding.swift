/// What `+` means, besides `%20` for a space.
enum PlusSign: Sendable {
    /// In a path it is a plus.
    case literal
    /// In a query it is a space, as in HTML forms; a plus is `%2B`.
    case space
}

// Not Foundation's `removingPercentEncoding`: that drops a leading byte order mark, so that two
// paths would name one account, and it replaces some invalid UTF-8 instead of returning nil.
enum PercentEncoding {
    /// The decoded text; nil if the encoding is invalid or the result is not UTF-8.
    static func decode(_ text: Substring, plus: PlusSign) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = digit(rest.popFirst()), let low = digit(rest.popFirst()) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plus == .space: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        guard let byte else { return nil }
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): return byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): return byte - UInt8(ascii: "A") + 10
        default: return nil
        }
    }
}

/// The parameters of a query, decoded, in their order.
///
/// Not HummingbirdCore's `URI.queryParameters`: that does not decode names and `+`, and it returns
/// a value with an invalid encoding unchanged.
struct QueryParameters: Sendable {
    private var values: [(name: String, value: String)] = []

    init(_ query: String?) throws(HTTPError) {
        guard let query else { return }
        for part in query.split(separator: "&") {
            let pieces = part.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(pieces[0], plus: .space),
                let value = PercentEncoding.decode(
                    pieces.count > 1 ? pieces[1] : "", plus: .space)
            else { throw .invalidEncoding(in: "query") }
            values.append((name, value))
        }
    }

    /// All values of this name.
    func all(_ name: String) -> [String] {
        values.filter { $0.name == name }.map(\.value)
    }

    /// The value of this name, if there is one.
    func one(_ name: String) throws(HTTPError) -> String? {
        let found = all(name)
        guard found.count < 2 else { throw .duplicate(name) }
        return found.first
    }
}
