// The formats of a file of token keys, recognised by its content:
//
//     begins with `{`            a JWK (RFC 7517), or a set of them: `{"keys": […]}`
//     has a line `-----BEGIN …`  PEM: public keys or certificates, one after the other; a line
//                                `kid: NAME` above a block gives its key a name
//     anything else              a secret for HS256: the content without the final line ends
//
// A public key must never be used as a secret, or every holder of it could sign. So a file in which
// anything of a public key is found (`PublicContent`) is rejected, and so is broken JSON or PEM.

import Containers
import FoundationEssentials
import PresenceWire

/// The content of a file of keys, split but not yet interpreted.
enum KeyText {
    case jwk([UInt8])
    case pem([PEMBlock])
    case secret([UInt8])

    /// Bytes of a secret: at least those of the hash (RFC 7518 §3.2).
    static let secretByteCountRange = 32...4_096

    init(_ content: [UInt8]) throws(TokenKeyError) {
        var bytes = content[...]
        while let last = bytes.last, last == 10 || last == 13 { bytes.removeLast() }
        let isBlank: (UInt8) -> Bool = { $0 == 32 || (9...13).contains($0) }
        guard let first = bytes.first(where: { !isBlank($0) }) else { throw .empty }
        let text = String(decoding: bytes, as: UTF8.self)
        if first == UInt8(ascii: "[") {
            // A list of JWKs is public, too, and is no secret.
            guard (try? StrictJSON.check(Array(bytes))) == nil else { throw .brokenJSON }
        }
        if first == UInt8(ascii: "{") {
            self = .jwk(Array(bytes))
        } else if text.contains("-----BEGIN ") {
            self = .pem(try PEMBlock.blocks(in: text))
        } else {
            if let found = PublicContent(in: content) { throw .notASecret(found) }
            guard Self.secretByteCountRange.contains(bytes.count) else {
                throw .secretLength(bytes.count)
            }
            self = .secret(Array(bytes))
        }
    }
}

/// A block of a PEM file (RFC 7468).
struct PEMBlock {
    /// The word after BEGIN.
    let label: ExactText
    /// The block, with its first and last line.
    let text: String
    /// The name of the key, from a line above the block.
    let kid: ExactText?

    static func blocks(in text: String) throws(TokenKeyError) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var kid: ExactText?
        var open: (label: ExactText, lines: [String])?
        for line in text.split(whereSeparator: \.isNewline) {
            let words = ExactText(line.trimmed())
            if let current = open {
                open?.lines.append(words.text)
                guard words.hasPrefix("-----END ") else { continue }
                guard words == ExactText("-----END \(current.label)-----") else { throw .brokenPEM }
                blocks.append(
                    PEMBlock(
                        label: current.label,
                        text: current.lines.joined(separator: "\n")
                            + "\n\(words)\n", kid: kid))
                (open, kid) = (nil, nil)
            } else if words.hasPrefix("-----BEGIN "), words.hasSuffix("-----") {
                open = (ExactText(String(words.text.dropFirst(11).dropLast(5))), [words.text])
            } else if words.hasPrefix("kid:") {
                kid = ExactText(words.text.dropFirst(4).trimmed())
            }
        }
        guard open == nil, !blocks.isEmpty else { throw .brokenPEM }
        return blocks
    }
}

extension StringProtocol {
    /// Without spaces and tabs at both ends.
    fileprivate func trimmed() -> String {
        let text = drop { $0 == " " || $0 == "\t" }
        return String(text.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

/// Why a file of token keys is rejected. Never contains any of the file's content.
public enum TokenKeyError: Error, Equatable, CustomStringConvertible {
    case empty
    case brokenPEM
    case brokenJSON
    case duplicateMember
    case notASecret(PublicContent)
    case secretLength(Int)
    case privateKey
    case publicKey
    case unsupported(String)
    case severalKeys
    case tooMany

    /// The rest of a sentence that begins with the name of the file.
    public var description: String {
        switch self {
        case .empty: "is empty."
        case .brokenPEM: "contains a PEM block without a matching END line."
        case .brokenJSON: "begins with `{` or `[` and is neither a JWK nor a JWK set."
        case .duplicateMember: "contains a JSON object with two members of the same name."
        case .notASecret(let found): "contains \(found.name), \(Self.advice(found))."
        case .secretLength(let count):
            "would be an HS256 secret of \(count) bytes; it must have 32 to 4096."
        case .privateKey:
            "contains a private key; only the public key is needed to verify tokens."
        case .publicKey: "contains a public key; the private key is needed to sign tokens."
        case .unsupported(let what): "contains \(what)."
        case .severalKeys: "contains more than one key; exactly one is needed to sign tokens."
        case .tooMany: "contains more than \(KeySet.keyCountMax) keys."
        }
    }

    private static func advice(_ found: PublicContent) -> String {
        switch found {
        case .publicKey:
            "which must not be used as a secret; give it as PEM with its BEGIN and END lines, or "
                + "as a JWK or JWK set that begins with `{`"
        case .url: "which must not be used as a secret; give the URL itself instead of a file"
        case .serverKeyHash:
            "which must not be used as a secret; the file of server keys is for --server-key"
        }
    }
}
