internal import CSimdJSON

/// JSON that decides something and that another parser reads, such as the claims of a token.
///
/// Parsers differ in what they make of a member that appears twice: one takes the first, another
/// the last, and so two programs decide differently about one text (RFC 8259, 4; RFC 8725, 3.10).
/// They also differ in byte order marks, UTF-16 and depth. What passes this check has one meaning.
public enum StrictJSON {
    /// Checks that this is one JSON value in UTF-8 without a byte order mark, with at most 32
    /// levels, in which no object has two members of the same name, whichever way it is escaped.
    public static func check(_ text: [UInt8]) throws(StrictJSONError) {
        guard let parser = unsafe csj_parser_create(max(64, text.count)) else {
            throw .invalid
        }
        defer { unsafe csj_parser_destroy(parser) }
        let status = unsafe text.withUnsafeBufferPointer { text in
            unsafe csj_check(parser, text.baseAddress, text.count)
        }
        switch status {
        case CSJ_OK: return
        case CSJ_DUPLICATE_KEY: throw .duplicateMember
        default: throw .invalid
        }
    }
}

/// Why a text is not used.
public enum StrictJSONError: Error, Hashable, Sendable {
    /// Not JSON in UTF-8, or nested too deep.
    case invalid
    /// An object has two members of the same name.
    case duplicateMember
}
