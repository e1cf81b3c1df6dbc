import Containers
import Crypto
import FoundationEssentials

/// The key by which push services know this service (RFC 8292): of P-256.
public struct VAPIDKey: Sendable {
    let key: P256.Signing.PrivateKey

    /// A new key.
    public init() { key = P256.Signing.PrivateKey() }

    /// Reads a file: a private key in PEM, or its 32 bytes in base64url, as other tools write it.
    ///
    /// - Throws: what is wrong, and nothing of the content.
    public init(file: [UInt8]) throws(VAPIDKeyError) {
        let text = String(decoding: file, as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else { throw .empty }
        if let block = Self.block(in: text) {
            guard let key = try? P256.Signing.PrivateKey(pemRepresentation: block) else {
                throw .unsupported
            }
            self.key = key
            return
        }
        guard !text.contains("-----BEGIN ") else { throw .noPrivateKey }
        guard words.count == 1, let bytes = Base64URL.decoded(words[0].utf8) else {
            throw .unsupported
        }
        if bytes.count == 65 || bytes.count == 33 { throw .noPrivateKey }
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes) else {
            throw .unsupported
        }
        self.key = key
    }

    /// The block of a private key; OpenSSL can write the parameters of the curve before it.
    private static func block(in text: String) -> String? {
        let lines = text.split(whereSeparator: \.isNewline)
        let isMark = { (line: Substring, mark: String) in
            line.hasPrefix("-----\(mark) ") && line.contains("PRIVATE KEY-----")
        }
        guard let start = lines.firstIndex(where: { isMark($0, "BEGIN") }),
            let end = lines[start...].firstIndex(where: { isMark($0, "END") })
        else { return nil }
        return lines[start...end].joined(separator: "\n")
    }

    /// The file of this key.
    public var file: String { key.pemRepresentation + "\n" }

    /// The public key as browsers take it: a point, in base64url.
    public var publicText: String {
        Base64URL.encoded([UInt8](key.publicKey.x963Representation))
    }
}

/// Why a file has no key for Web Push.
public enum VAPIDKeyError: Error, Hashable, CustomStringConvertible {
    case empty
    case noPrivateKey
    case unsupported

    /// The rest of a sentence that begins with the name of the file.
    public var description: String {
        switch self {
        case .empty: "is empty; make a key with `porchlight key --web-push FILE`."
        case .noPrivateKey: "contains no private key; give the private one."
        case .unsupported:
            "contains no private key of P-256, in PEM or its 32 bytes in base64url; make one with "
                + "`porchlight key --web-push FILE`."
        }
    }
}
