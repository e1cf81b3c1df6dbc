/// Base64 with padding (RFC 4648, 4), as far as the handshake of WebSocket needs it.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0...group.count { text.append(alphabet[bits >> (18 - 6 * place) & 63]) }
            text += repeatElement(padding, count: 3 - group.count)
        }
        return text
    }

    /// Whether a text is the one encoding of some 16 bytes.
    static func is16Bytes(_ text: [UInt8]) -> Bool {
        guard text.count == 24, text[22...].allSatisfy({ $0 == padding }) else { return false }
        let digits = text[..<22].map { alphabet.firstIndex(of: $0) }
        // The last digit has two bits of the 16th byte.
        guard !digits.contains(nil), let last = digits.last ?? nil else { return false }
        return last % 16 == 0
    }
}
