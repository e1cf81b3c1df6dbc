// Recognises what is public in a file that should contain a secret. A file whose format is unknown
// would be used as a secret, byte for byte; if it is a public key that was damaged, converted or
// copied with other text, every client that has that key could sign tokens.
//
// The file is not parsed, since it can be damaged anywhere. It is searched for what only public
// keys contain: words in the text, and identifiers in the bytes that its base64 or hexadecimal
// digits stand for, wherever these begin. Random secrets and passphrases contain neither. What has
// no mark at all, such as the 32 bytes of an Ed25519 key alone, cannot be distinguished from a
// secret.

import Crypto
import FoundationEssentials

/// What a content is that others know, too, and that is therefore no secret.
public enum PublicContent: Hashable, Sendable {
    case publicKey
    case url
    case serverKeyHash

    /// More is not searched: longer contents are rejected as secrets anyway.
    private static let bytesMax = 8_192

    /// What was recognised in a content; nil if it may be a secret.
    public init?(in content: [UInt8]) {
        // Text in UTF-16 has zeros between its letters.
        let bytes = content.prefix(Self.bytesMax)
        let text = bytes.filter { $0 != 0 }.map(Self.lowercased)
        let digits = bytes.compactMap(Self.base64Digit)
        let decoded =
            [Array(bytes)] + Self.readings(of: digits, bits: 6)
            + Self.readings(of: Self.hexDigits(in: bytes), bits: 4)
        if Self.namesKey(text) || decoded.contains(where: Self.containsKey)
            || Self.isPoint(Array(bytes), canBeCompressed: true) || Self.hasPoint(Array(bytes))
        {
            self = .publicKey
        } else if text.contains("sha256:".utf8) {
            self = .serverKeyHash
        } else if text.contains("://".utf8) || text.contains(".well-known/".utf8) {
            self = .url
        } else {
            return nil
        }
    }

    /// Such as `a public key`.
    public var name: String {
        switch self {
        case .publicKey: "a public key"
        case .url: "a URL"
        case .serverKeyHash: "the hash of a server key"
        }
    }
}

// Words.

extension PublicContent {
    /// Whether a text in small letters says that it is a key, as PEM, JWK, OpenSSH and the tools
    /// that print keys do.
    private static func namesKey(_ text: [UInt8]) -> Bool {
        saysPublicKey(text) || hasMember(text) || sshNames.contains { text.contains($0.utf8) }
    }

    private static let sshNames = [
        "ssh-rsa", "ssh-dss", "ssh-ed25519", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-",
    ]

    /// Whether the letters alone are the words of a key: `JWT_PUBLIC_KEY=`, `----BEGIN Public Key`.
    private static func saysPublicKey(_ bytes: [UInt8]) -> Bool {
        let letters = bytes.map(lowercased).filter { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
        let words = String(decoding: letters, as: UTF8.self).replacing("republic", with: "")
        return ["publickey", "begincertificate", "endcertificate", "rsaencryption"].contains {
            words.contains($0)
        }
    }

    /// Whether there is a member of a JWK, in any syntax: `"kty":`, `\"kty\":`, `kty: `, `<kty>`.
    private static func hasMember(_ text: [UInt8]) -> Bool {
        let tight = text.filter { $0 > 32 && !#""'\"#.utf8.contains($0) }
        return ["kty", "crv", "x5c", "modulus"].contains { name in
            tight.contains("\(name):".utf8) || tight.contains("\(name)>".utf8)
                // Base64 may end so.
                || tight.dropLast(2).contains("\(name)=".utf8)
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}

// Bytes.

extension PublicContent {
    /// Identifiers in DER (X.690) that keys and certificates contain, with their tag and length, or
    /// without the end of those that are followed by a number: RSA; elliptic curves and the older
    /// NIST curves; X25519, X448, Ed25519 and Ed448. Five bytes at least: no chance finds them.
    private static let identifiers: [[UInt8]] =
        [
            [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01], [0x2A, 0x86, 0x48, 0xCE, 0x3D],
            [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00],
        ] + (0x6E...0x71).map { [0x06, 0x03, 0x2B, 0x65, $0] }

    /// Whether bytes contain a key in DER, JWK, PEM or in the format of OpenSSH.
    private static func containsKey(_ bytes: [UInt8]) -> Bool {
        identifiers.contains { bytes.contains($0) }
            || bytes.contains(#""kty""#.utf8) || saysPublicKey(bytes)
            || sshNames.contains { bytes.contains($0.utf8) }
            || bytes.indices.contains { bytes[$0] == 0x30 && beginsRSAKey(bytes[$0...]) }
    }

    /// Whether an RSAPublicKey (RFC 8017, A.1.1), or the private one, begins here: neither has an
    /// identifier. The first is a sequence of the modulus and an exponent of at most 9 bytes.
    private static func beginsRSAKey(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        guard let whole = takeLength(of: 0x30, &rest) else { return false }
        if rest.starts(with: [0x02, 0x01, 0x00, 0x02, 0x82]) { return true }
        let start = rest.startIndex
        guard let modulus = takeLength(of: 0x02, &rest) else { return false }
        return (3...11).contains(whole - (rest.startIndex - start) - modulus)
    }

    /// The length of an element that has 128 to 65,535 bytes.
    private static func takeLength(of tag: UInt8, _ bytes: inout ArraySlice<UInt8>) -> Int? {
        guard bytes.popFirst() == tag, let form = bytes.popFirst(), form == 0x81 || form == 0x82
        else { return nil }
        var length = 0
        for _ in 0x80..<form {
            guard let byte = bytes.popFirst() else { return nil }
            length = length << 8 | Int(byte)
        }
        return length
    }

    /// Whether the text is a point of an elliptic curve in base64 or in hexadecimal digits, perhaps
    /// after other words.
    private static func hasPoint(_ bytes: [UInt8]) -> Bool {
        let words = bytes.split { base64Digit($0) == nil }
        return words.indices.prefix(8).contains { start in
            let rest = words[start...].joined()
            let hex = hexDigits(in: rest)
            if hex.count == rest.count || hex.count == rest.count - 2, hex.count % 2 == 0,
                let bytes = readings(of: hex, bits: 4).first, isPoint(bytes, canBeCompressed: true)
            {
                return true
            }
            // A compressed one is written in one word.
            return readings(of: rest.compactMap(base64Digit), bits: 6).first.map {
                isPoint($0, canBeCompressed: start == words.count - 1)
            } ?? false
        }
    }

    /// Whether the bytes are a point (SEC 1, 2.3.3) of P-256, P-384 or P-521: 04 and coordinates of
    /// that length; or coordinates alone, or compressed, that are of a point on the curve.
    private static func isPoint(_ bytes: [UInt8], canBeCompressed: Bool) -> Bool {
        switch bytes.count {
        case 65, 97, 133: return bytes[0] == 4
        case 64: return (try? P256.Signing.PublicKey(rawRepresentation: bytes)) != nil
        case 96: return (try? P384.Signing.PublicKey(rawRepresentation: bytes)) != nil
        case 132: return (try? P521.Signing.PublicKey(rawRepresentation: bytes)) != nil
        case 33 where canBeCompressed:
            return (try? P256.Signing.PublicKey(compressedRepresentation: bytes)) != nil
        case 49 where canBeCompressed:
            return (try? P384.Signing.PublicKey(compressedRepresentation: bytes)) != nil
        case 67 where canBeCompressed:
            return (try? P521.Signing.PublicKey(compressedRepresentation: bytes)) != nil
        default: return false
        }
    }

    /// The bytes that digits of some bits each stand for, from every place where a byte may begin:
    /// a label before the digits may consist of digits, too.
    private static func readings(of digits: [UInt8], bits: Int) -> [[UInt8]] {
        precondition(bits == 6 || bits == 4, "neither base64 nor hexadecimal digits")
        return (0..<(bits == 6 ? 4 : 2)).map { start in
            var bytes: [UInt8] = []
            var pending: UInt32 = 0
            var count = 0
            for digit in digits.dropFirst(start) {
                pending = pending << UInt32(bits) | UInt32(digit)
                count += bits
                guard count >= 8 else { continue }
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(count)))
            }
            return bytes
        }
    }

    /// The value of a character in base64 or base64url; nil for any other, padding included.
    private static func base64Digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// The hexadecimal digits of a text, without the zero of each `0x`.
    private static func hexDigits(in text: some Sequence<UInt8>) -> [UInt8] {
        var digits: [UInt8] = []
        var isAfterZero = false
        for byte in text {
            if isAfterZero, lowercased(byte) == UInt8(ascii: "x") { digits.removeLast() }
            isAfterZero = byte == UInt8(ascii: "0")
            if let digit = Character(Unicode.Scalar(byte)).hexDigitValue {
                digits.append(UInt8(digit))
            }
        }
        return digits
    }
}
