// Writing XML: appending bytes, with one table of what must be escaped.
//
// Texts may come from native clients, whose strings can have any character. What XML does not have
// (control characters, U+FFFE and U+FFFF) becomes U+FFFD, so that no value can break a stream.

/// How a byte is written.
private enum Escape {
    /// Characters that are written as they are.
    static let none: UInt8 = 0
    /// `&`, `<`, `>`, quotes, and CR, which a reader would change.
    static let always: UInt8 = 1
    /// Tab and LF, which a reader changes in the value of an attribute.
    static let inAttributes: UInt8 = 2
    /// Control characters.
    static let replaced: UInt8 = 3
    /// The first byte of U+F000 to U+FFFF.
    static let possibleNoncharacter: UInt8 = 4

    static let table: [UInt8] = (0...255).map { (byte: UInt8) in
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "'"),
            UInt8(ascii: "\""), UInt8(ascii: "\r"):
            always
        case UInt8(ascii: "\t"), UInt8(ascii: "\n"): inAttributes
        case 0..<0x20: replaced
        case 0xEF: possibleNoncharacter
        default: none
        }
    }

    /// Whether a byte is `none`, for most that are: without a look into the table.
    @inline(__always)
    static func isPlain(_ byte: UInt8) -> Bool {
        let place = byte &- 0x20
        return place < 32 ? specialPunctuation >> UInt32(place) & 1 == 0 : place < 0xEF - 0x20
    }

    /// Those of 0x20 to 0x3F that are not `none`, as a bit each: `"`, `&`, `'`, `<`, `>`.
    private static var specialPunctuation: UInt32 {
        1 << 0x02 | 1 << 0x06 | 1 << 0x07 | 1 << 0x1C | 1 << 0x1E
    }

    static func reference(_ byte: UInt8) -> StaticString {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "'"): "&apos;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "\t"): "&#9;"
        case UInt8(ascii: "\n"): "&#10;"
        default: "&#13;"
        }
    }

    static let replacement: StaticString = "\u{FFFD}"
}

extension [UInt8] {
    /// Appends markup as it is.
    public mutating func append(literal: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(
                start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends text of an element. It must be UTF-8.
    public mutating func appendXML(text: some Collection<UInt8>) {
        appendEscaped(text, isAttribute: false)
    }

    /// Appends the value of an attribute, without its quotes. It must be UTF-8.
    public mutating func appendXML(attributeValue value: some Collection<UInt8>) {
        appendEscaped(value, isAttribute: true)
    }

    /// Appends an attribute, with the space before it.
    public mutating func appendXML(
        attribute name: StaticString, _ value: some Collection<UInt8>
    ) {
        append(UInt8(ascii: " "))
        append(literal: name)
        append(literal: "='")
        appendXML(attributeValue: value)
        append(UInt8(ascii: "'"))
    }

    /// Appends an element that has only text.
    public mutating func appendXML(element name: StaticString, text: some Collection<UInt8>) {
        append(UInt8(ascii: "<"))
        append(literal: name)
        append(UInt8(ascii: ">"))
        appendXML(text: text)
        append(literal: "</")
        append(literal: name)
        append(UInt8(ascii: ">"))
    }

    /// Arrays and their slices are read in place: the callers' modules cannot specialize this.
    private mutating func appendEscaped(_ bytes: some Collection<UInt8>, isAttribute: Bool) {
        let isDone: Void? = bytes.withContiguousStorageIfAvailable {
            unsafe appendEscaped(bytes: $0, isAttribute)
        }
        if isDone == nil { appendEscaped(bytes: bytes, isAttribute) }
    }

    private mutating func appendEscaped<Bytes: Collection<UInt8>>(
        bytes: Bytes, _ isAttribute: Bool
    ) {
        let table = Escape.table
        var start = bytes.startIndex
        var place = start
        while place != bytes.endIndex {
            let byte = bytes[place]
            let next = bytes.index(after: place)
            if Escape.isPlain(byte) {
                place = next
                continue
            }
            let kind = table[Int(byte)]
            guard kind != Escape.none, isAttribute || kind != Escape.inAttributes else {
                place = next
                continue
            }
            if kind == Escape.possibleNoncharacter {
                guard let end = Self.noncharacterEnd(in: bytes, after: next) else {
                    place = next
                    continue
                }
                append(contentsOf: bytes[start..<place])
                append(literal: Escape.replacement)
                place = end
            } else {
                append(contentsOf: bytes[start..<place])
                append(
                    literal: kind == Escape.replaced
                        ? Escape.replacement : Escape.reference(byte))
                place = next
            }
            start = place
        }
        append(contentsOf: bytes[start..<bytes.endIndex])
    }

    /// The place behind U+FFFE or U+FFFF, whose first byte was read.
    private static func noncharacterEnd<Bytes: Collection<UInt8>>(
        in bytes: Bytes, after second: Bytes.Index
    ) -> Bytes.Index? {
        guard second != bytes.endIndex, bytes[second] == 0xBF else { return nil }
        let third = bytes.index(after: second)
        guard third != bytes.endIndex, bytes[third] >= 0xBE else { return nil }
        return bytes.index(after: third)
    }
}
