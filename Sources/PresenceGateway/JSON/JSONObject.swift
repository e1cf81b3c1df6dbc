public import NIOCore

/// A JSON object. Its members are found by name; its values are unchanged.
///
/// Duplicate members are kept; the service rejects them.
public struct JSONObject: Sendable {
    /// Levels of nesting, including the object itself. The service allows 32, including two of its
    /// envelope.
    public static let depthMax = 30
    /// Members of one object: the service's limit.
    public static let membersMax = 64

    /// A member.
    public struct Member: Sendable {
        /// Its name, unescaped.
        public let name: String
        /// Its value, one JSON value without surrounding spaces.
        public let value: ByteBuffer
    }

    /// The members in their order.
    public let members: [Member]

    /// Splits an object into members. O(bytes); the values share the memory of `text`.
    public init(_ text: ByteBuffer) throws(JSONError) {
        members = try Self.members(of: text)
    }

    /// The value of the first member of this name.
    public subscript(name: String) -> ByteBuffer? {
        members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    private static func members(of text: ByteBuffer) throws(JSONError) -> [Member] {
        let bytes = text.readableBytesUInt8Span
        do { _ = try UTF8Span(validating: bytes) } catch { throw .invalidUTF8 }
        var members: [Member] = []
        var at = 0
        JSONScanner.skipSpace(bytes, &at)
        guard at < bytes.count else { throw .invalid }
        guard bytes[at] == UInt8(ascii: "{") else {
            try JSONScanner.skipValue(bytes, &at)
            try end(bytes, &at)
            throw .noObject
        }
        at += 1
        JSONScanner.skipSpace(bytes, &at)
        if try !JSONScanner.skipIf(UInt8(ascii: "}"), bytes, &at) {
            while true {
                guard members.count < membersMax else { throw .tooManyMembers }
                members.append(try member(of: text, bytes, &at))
                JSONScanner.skipSpace(bytes, &at)
                if try JSONScanner.skipIf(UInt8(ascii: "}"), bytes, &at) { break }
                try JSONScanner.skip(",", bytes, &at)
                JSONScanner.skipSpace(bytes, &at)
            }
        }
        try end(bytes, &at)
        return members
    }

    private static func member(
        of text: ByteBuffer, _ bytes: Span<UInt8>, _ at: inout Int
    ) throws(JSONError) -> Member {
        let start = at
        let hasEscapes = try JSONScanner.skipString(bytes, &at)
        let raw = slice(of: text, start + 1..<at - 1)
        let name = hasEscapes ? try JSONText.unescaped(raw) : String(buffer: raw)
        try JSONScanner.skipColon(bytes, &at)
        let valueStart = at
        try JSONScanner.skipValue(bytes, &at, depth: 2)
        return Member(name: name, value: slice(of: text, valueStart..<at))
    }

    private static func slice(of text: ByteBuffer, _ range: Range<Int>) -> ByteBuffer {
        text.getSlice(at: text.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
    }

    private static func end(_ bytes: Span<UInt8>, _ at: inout Int) throws(JSONError) {
        JSONScanner.skipSpace(bytes, &at)
        guard at == bytes.count else { throw .invalid }
    }
}
