/// Base64 with padding (RFC 4648, 4).
public enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The one encoding of these bytes.
    public static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0...group.count { text.append(alphabet[bits >> (18 - 6 * place) & 63]) }
            text += repeatElement(padding, count: 3 - group.count)
        }
        return text
    }

    /// The bytes whose one encoding is `text`; nil if there are none.
    ///
    /// White space, missing padding, and bits of the last digit that no byte has are not accepted:
    /// two texts are never the same bytes.
    @inlinable
    public static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        decoded(Array(text))
    }

    /// Of an array: not generic, so that each step is not looked up at run time.
    public static func decoded(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let digits = text.prefix { $0 != padding }
        let paddings = text.count - digits.count
        guard paddings <= 2, text.dropFirst(digits.count).allSatisfy({ $0 == padding }),
            let (bytes, rest) = bytes(of: digits)
        else { return nil }
        return rest == 0 ? bytes : nil
    }

    /// The bytes of digits, and the bits of the last one that no byte has; nil if one is no digit.
    static func bytes(of digits: ArraySlice<UInt8>) -> (bytes: [UInt8], rest: UInt32)? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
            bits &= 1 << bitCount - 1
        }
        return (bytes, bits)
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
