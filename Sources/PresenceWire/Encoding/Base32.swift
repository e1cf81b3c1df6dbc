internal import PresenceCore

/// Crockford's base32 of 64 bits: 13 characters, high bits first, so that texts sort like
/// their numbers. https://www.crockford.com/base32.html
enum Base32 {
    static let characters = 13
    static let alphabet: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

    /// The number that a text encodes; nil if the text is invalid: another length, letters that
    /// are never written (including lower case), or more than 64 bits.
    static func value(of text: [UInt8], at range: ByteRange) -> UInt64? {
        guard range.count == characters else { return nil }
        var value: UInt64 = 0
        for byte in text[Int(range.start)..<Int(range.start + range.count)] {
            guard let digit = digit(of: byte), value >> 59 == 0 else { return nil }
            value = value << 5 | UInt64(digit)
        }
        return value
    }

    /// The character for five bits.
    static func digit(_ value: Int) -> UInt8 {
        alphabet.withUTF8Buffer { unsafe $0[value] }
    }

    private static func digit(of byte: UInt8) -> Int? {
        alphabet.withUTF8Buffer { unsafe $0.firstIndex(of: byte) }
    }
}
