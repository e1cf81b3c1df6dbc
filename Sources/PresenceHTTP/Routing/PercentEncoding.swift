import HTTPValues

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
                guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plus == .space: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// The parameters of a query, decoded, in their order.
struct QueryParameters: Sendable {
    private var values: [(name: String, value: String)] = []

    /// More than any operation has: 500 accounts, and some others.
    private static let countMax = 1_000

    init(_ query: Substring?) throws(HTTPError) {
        guard let query else { return }
        guard query.utf8.count(where: { $0 == UInt8(ascii: "&") }) < Self.countMax else {
            throw .tooManyParameters(max: Self.countMax)
        }
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
