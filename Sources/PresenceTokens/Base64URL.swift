import FoundationEssentials

/// Base64url: base64 with `-` and `_`, without padding (RFC 4648 §5, RFC 7515 §2).
enum Base64URL {
    /// The text for these bytes.
    static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString(options: [.base64URLAlphabet, .omitPaddingCharacter])
    }

    /// The bytes; nil for other characters, padding, or an impossible length.
    ///
    /// Foundation encodes base64url, but decodes base64 only.
    static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var padded: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): padded.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): padded.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: padded.append(byte)
            }
        }
        guard padded.count % 4 != 1 else { return nil }
        while padded.count % 4 != 0 { padded.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(padded)).map { [UInt8]($0) }
    }
}
