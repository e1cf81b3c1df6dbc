import Crypto
import NIOCore

/// A file that is served as it is, and its entity tag.
struct ServedFile: Sendable {
    let body: ByteBuffer
    /// A hash of the bytes, quoted.
    let tag: String
    /// Whether the body is compressed with gzip.
    let isCompressed: Bool

    init(_ bytes: [UInt8], isCompressed: Bool = false) {
        self.isCompressed = isCompressed
        body = ByteBuffer(bytes: bytes)
        // Half of the hash is enough for a tag.
        let digits = SHA256.hash(data: bytes).prefix(16).map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }
        tag = "\"\(digits.joined())\""
    }

    /// Whether an `If-None-Match` field names this file (RFC 9110, 13.1.2: the comparison is
    /// weak, so a proxy that compressed the file may have weakened the tag).
    func isNamed(by field: String?) -> Bool {
        guard let field else { return false }
        return field.split(separator: ",").contains { element in
            var name = element.drop { $0 == " " || $0 == "\t" }
            while name.last == " " || name.last == "\t" { name.removeLast() }
            if name.hasPrefix("W/") { name.removeFirst(2) }
            return name == "*" || name == tag
        }
    }
}
