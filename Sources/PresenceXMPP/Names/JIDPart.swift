// Names as parts of JIDs, and back, one to one.
//
// Clients prepare the parts of a JID, some by RFC 7622 and some by RFC 6122, which knows Unicode
// 3.2: they compose and decompose, may lower letters, and reject characters. One that rejects the
// `from` of a stanza may drop its connection (slixmpp does). So only what none of them changes or
// rejects stands for itself. Every other byte of the name is `\` and two hexadecimal digits, which
// includes the ten escapes of XEP-0106.

/// A part of a JID that has the name of an account or of a device.
enum JIDPart {
    case localpart
    case resource

    /// The bytes of an escaped part, which may not be a name; nil: an escape that is none.
    static func unescaped(_ part: some Collection<UInt8>) -> [UInt8]? {
        var name: [UInt8] = []
        var rest = ArraySlice(part)
        while let byte = rest.popFirst() {
            guard byte == escape else {
                name.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit),
                let low = rest.popFirst().flatMap(digit)
            else { return nil }
            name.append(high << 4 | low)
        }
        return name
    }

    /// Appends a name as this part, without the escapes of XML.
    func append(_ name: some Collection<UInt8>, to bytes: inout [UInt8]) {
        var rest = ArraySlice(name)
        let isRightToLeft = isRightToLeft(rest)
        while let character = Character(at: rest) {
            if isPlain(character, isRightToLeft: isRightToLeft) {
                bytes += rest.prefix(character.byteCount)
            } else {
                for byte in rest.prefix(character.byteCount) { Self.appendEscape(byte, to: &bytes) }
            }
            rest.removeFirst(character.byteCount)
        }
    }

    /// Whether a name is the same as this part: all bytes are of ASCII and stand for themselves.
    func isSame(as name: some Collection<UInt8>) -> Bool {
        name.withContiguousStorageIfAvailable { bytes in
            unsafe bytes.allSatisfy { isPlain($0) }
        } ?? false
    }

    /// Whether a byte of ASCII stands for itself.
    func isPlain(_ byte: UInt8) -> Bool {
        switch (self, byte) {
        case (_, UInt8(ascii: "a")...UInt8(ascii: "z")), (_, UInt8(ascii: "0")...UInt8(ascii: "9")),
            (_, UInt8(ascii: "!")), (_, UInt8(ascii: "#")), (_, UInt8(ascii: "$")),
            (_, UInt8(ascii: "%")), (_, UInt8(ascii: "*")), (_, UInt8(ascii: "+")),
            (_, UInt8(ascii: ",")), (_, UInt8(ascii: "=")), (_, UInt8(ascii: ".")),
            (_, UInt8(ascii: "_")), (_, UInt8(ascii: "-")):
            true
        case (.resource, 0x20..<0x7F): byte != Self.escape
        default: false
        }
    }

    // MARK: - Characters

    /// The first character of a name, or a byte that is none.
    private enum Character {
        case byte(UInt8)
        case scalar(Unicode.Scalar, byteCount: Int)

        init?(at bytes: ArraySlice<UInt8>) {
            guard let first = bytes.first else { return nil }
            let count =
                switch first {
                case 0xC2...0xDF: 2
                case 0xE0...0xEF: 3
                case 0xF0...0xF4: 4
                default: 1
                }
            guard count > 1, let text = String(validating: bytes.prefix(count), as: UTF8.self),
                let scalar = text.unicodeScalars.first
            else {
                self = .byte(first)
                return
            }
            self = .scalar(scalar, byteCount: count)
        }

        var byteCount: Int {
            switch self {
            case .byte: 1
            case .scalar(_, let count): count
            }
        }
    }

    private func isPlain(_ character: Character, isRightToLeft: Bool) -> Bool {
        switch character {
        case .byte(let byte): isPlain(byte)
        case .scalar(let scalar, _):
            isPlain(scalar) && (isRightToLeft || !scalar.isWrittenRightToLeft)
        }
    }

    /// Whether a name has letters that are written from right to left and stand for themselves, and
    /// nothing else. Beside others they are rejected, depending on their order (RFC 3454, 6; RFC
    /// 5893), so they are escaped there.
    private func isRightToLeft(_ name: ArraySlice<UInt8>) -> Bool {
        var rest = name
        while let character = Character(at: rest) {
            guard case .scalar(let scalar, let count) = character, scalar.isWrittenRightToLeft,
                isPlain(scalar)
            else { return false }
            rest.removeFirst(count)
        }
        return !name.isEmpty
    }

    /// Whether a character beyond ASCII stands for itself.
    func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        guard scalar.value >= 0x80, let age = properties.age,
            (age.major, age.minor) <= (3, 2), !Self.isException(scalar)
        else { return false }
        switch properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .decimalNumber:
            return scalar.isSmallAndStable
        // Only of those letters that stand for themselves is it known that they are composed.
        case .uppercaseLetter: return self == .resource && scalar.isCapitalOfStable
        // Such as the apostrophe of "Anna’s laptop".
        case .dashPunctuation, .initialPunctuation, .finalPunctuation, .otherPunctuation,
            .currencySymbol:
            return self == .resource && scalar.isSmallAndStable && !scalar.isWrittenRightToLeft
        default: return false
        }
    }

    /// What one of the RFCs rejects although it has nothing to compose and is no capital letter.
    private static func isException(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Jamo, which compose with what is before them.
        case 0x1100...0x11FF: true
        // Only between certain letters, or not beside certain digits (RFC 5892, appendix A). Digits
        // must not begin a name of letters from right to left, and by RFC 3454 not end it.
        case 0xB7, 0x5F3, 0x5F4, 0x660...0x669, 0x6F0...0x6F9, 0x30FB: true
        // Not in RFC 5892: a mark that lengthens Arabic words, marks of repetition.
        case 0x640, 0x3031...0x3035, 0x303B: true
        // Not in RFC 3454: a Mongolian hyphen.
        case 0x1806: true
        default: false
        }
    }

    // MARK: - Escapes

    private static let escape = UInt8(ascii: "\\")
    private static let digits: StaticString = "0123456789abcdef"

    private static func appendEscape(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(escape)
        digits.withUTF8Buffer { digits in
            unsafe bytes.append(digits[Int(byte >> 4)])
            unsafe bytes.append(digits[Int(byte & 15)])
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is no capital letter, and composed and without a form that means the same.
    fileprivate var isSmallAndStable: Bool {
        // Cherokee is lowered by one of the RFCs and raised by the other.
        !properties.changesWhenNFKCCaseFolded && !properties.changesWhenLowercased
    }

    /// Whether it is the one capital letter of a letter that is `isSmallAndStable`.
    fileprivate var isCapitalOfStable: Bool {
        let small = properties.lowercaseMapping.unicodeScalars
        guard let first = small.first, small.count == 1, first.isSmallAndStable else {
            return false
        }
        return first.properties.uppercaseMapping.unicodeScalars.elementsEqual([self])
    }

    /// Whether it is of Hebrew, Arabic, Syriac or Thaana, whose other blocks have no character that
    /// stands for itself.
    fileprivate var isWrittenRightToLeft: Bool { (0x590...0x7FF).contains(value) }
}
