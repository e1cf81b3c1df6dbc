/// Base64url: base64 with `-` and `_`, without padding (RFC 4648 §5, RFC 7515 §2).
public enum Base64URL {
    /// The text for these bytes.
    public static func encoded(_ bytes: [UInt8]) -> String {
        let digits = Base64.encoded(bytes).prefix { $0 != UInt8(ascii: "=") }
        return String(decoding: digits.map(urlDigit), as: UTF8.self)
    }

    /// The bytes; nil for other characters, padding, or an impossible length.
    ///
    /// Bits of the last digit that no byte has are ignored, as other decoders do: what this reads
    /// is written by others.
    public static func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var digits: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): digits.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): digits.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"): return nil
            default: digits.append(byte)
            }
        }
        return digits.count % 4 == 1 ? nil : Base64.bytes(of: digits[...])?.bytes
    }

    private static func urlDigit(_ digit: UInt8) -> UInt8 {
        switch digit {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: digit
        }
    }
}
