internal import Containers
@_spi(_Unicode) import Swift

/// The profile of stringprep for passwords (RFC 4013), which RFC 5802 asks for: clients of SCRAM
/// derive their proof from the prepared form.
///
/// Characters that Unicode 3.2 does not have are accepted and stay as they are, as in queries (RFC
/// 3454, section 7): otherwise there were no emoji.
enum SASLprep {
    /// The prepared form of a text; it may be empty.
    static func prepared(_ text: String) throws(PasswordError) -> String.UnicodeScalarView {
        var mapped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isOtherSpace(scalar) {
                mapped.append(" ")
            } else if !isMappedToNothing(scalar) {
                append(scalar, to: &mapped)
            }
        }
        // NFKC is NFC of the compatibility decomposition.
        var prepared = String.UnicodeScalarView()
        for scalar in String(mapped)._nfc { prepared.append(scalar) }
        guard !prepared.contains(where: isProhibited) else { throw .forbiddenCharacter }
        guard isBidirectional(prepared) else { throw .mixedDirections }
        return prepared
    }

    /// Whether a text has characters that Unicode 3.2 does not have. Some clients reject these.
    static func hasNewCharacters(_ text: String.UnicodeScalarView) -> Bool {
        text.contains { scalar in
            guard let age = scalar.properties.age else { return false }
            return age.major > 3 || age.major == 3 && age.minor > 2
        }
    }

    // MARK: Mapping

    /// Table C.1.2: every space becomes the ordinary one.
    private static func isOtherSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xA0, 0x1680, 0x2000...0x200B, 0x202F, 0x205F, 0x3000: true
        default: false
        }
    }

    /// Table B.1.
    private static func isMappedToNothing(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xAD, 0x34F, 0x1806, 0x180B...0x180D, 0x200B...0x200D, 0x2060, 0xFE00...0xFE0F, 0xFEFF:
            true
        default: false
        }
    }

    private static func append(
        _ scalar: Unicode.Scalar, to text: inout String.UnicodeScalarView
    ) {
        guard let decomposition = decomposition(of: scalar.value) else {
            return text.append(scalar)
        }
        for value in decomposition {
            if let part = Unicode.Scalar(value) { text.append(part) }
        }
    }

    /// The compatibility decomposition of a code point; nil: it has none.
    private static func decomposition(of value: UInt32) -> [UInt32]? {
        let place = decompositions.partitionPoint { $0.last < value }
        guard place < decompositions.count, decompositions[place].first <= value else { return nil }
        let entry = decompositions[place]
        return entry.isRising ? [entry.values[0] + value - entry.first] : entry.values
    }

    /// One entry of the table: code points in a row.
    private struct Decomposition {
        let first: UInt32
        let last: UInt32
        /// Whether each one's is the successor of the one's before; otherwise they have the same.
        let isRising: Bool
        let values: [UInt32]
    }

    private static let decompositions: [Decomposition] =
        words(of: SASLprepTables.decompositions).compactMap { word in
            let sides = word.split(separator: ">")
            let rising = sides[0].split(separator: "+")
            let parts = rising.count == 2 ? rising : sides[0].split(separator: "=")
            let values = sides[1].split(separator: ",").compactMap { UInt32($0, radix: 16) }
            let count = parts.count == 2 ? UInt32(parts[1], radix: 16) : 1
            guard let first = UInt32(parts[0], radix: 16), let count else { return nil }
            return Decomposition(
                first: first, last: first + count - 1, isRising: rising.count == 2, values: values)
        }

    // MARK: Checks

    /// Tables C.2 to C.9.
    private static func isProhibited(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Control characters.
        case 0...0x1F, 0x7F...0x9F, 0x6DD, 0x70F, 0x180E, 0x200C...0x200D, 0x2028...0x2029,
            0x2060...0x2063, 0xFEFF, 0x1D173...0x1D17A:
            true
        // Private use.
        case 0xE000...0xF8FF, 0xF0000...0xFFFFF, 0x100000...0x10FFFF: true
        // Inappropriate for plain text, for a canonical form, deprecated, and tags.
        case 0xFFF9...0xFFFD, 0x2FF0...0x2FFB, 0x340...0x341, 0x200E...0x200F, 0x202A...0x202E,
            0x206A...0x206F, 0xE0001, 0xE0020...0xE007F:
            true
        default: scalar.properties.isNoncharacterCodePoint
        }
    }

    /// RFC 3454, section 6: a text that has characters from right to left has none from left to
    /// right, and begins and ends with one.
    private static func isBidirectional(_ text: String.UnicodeScalarView) -> Bool {
        guard text.contains(where: { contains(rightToLeft, $0) }) else { return true }
        guard let first = text.first, let last = text.last else { return true }
        return contains(rightToLeft, first) && contains(rightToLeft, last)
            && !text.contains { contains(leftToRight, $0) }
    }

    private static let rightToLeft = ranges(of: SASLprepTables.rightToLeft)
    private static let leftToRight = ranges(of: SASLprepTables.leftToRight)

    private static func contains(
        _ ranges: [ClosedRange<UInt32>], _ scalar: Unicode.Scalar
    ) -> Bool {
        let place = ranges.partitionPoint { $0.upperBound < scalar.value }
        return place < ranges.count && ranges[place].lowerBound <= scalar.value
    }

    // MARK: Tables

    private static func words(of table: StaticString) -> [Substring] {
        table.description.split { $0 == " " || $0 == "\n" }
    }

    private static func ranges(of table: StaticString) -> [ClosedRange<UInt32>] {
        words(of: table).compactMap { word in
            let ends = word.split(separator: "-").compactMap { UInt32($0, radix: 16) }
            return ends.count == 2 ? ends[0]...ends[1] : nil
        }
    }
}
