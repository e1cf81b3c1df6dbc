import Crypto
import CryptoExtras

/// The hash function of a SCRAM mechanism (RFC 5802, RFC 7677).
public enum ScramHash: CaseIterable, Hashable, Sendable {
    case sha1, sha256

    /// The bytes of a key.
    public var keyBytes: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        }
    }

    /// The keyed hash of a message.
    func code(of message: [UInt8], key: some Sequence<UInt8>) -> [UInt8] {
        let key = SymmetricKey(data: Array(key))
        return switch self {
        case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: key))
        case .sha256: Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
        }
    }

    func hash(of message: [UInt8]) -> [UInt8] {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: message))
        case .sha256: Array(SHA256.hash(data: message))
        }
    }

    /// Whether a message has this hash. swift-crypto compares digests in constant time.
    func hash(of message: [UInt8], is expected: [UInt8]) -> Bool {
        switch self {
        case .sha1: Insecure.SHA1.hash(data: message) == expected
        case .sha256: SHA256.hash(data: message) == expected
        }
    }

    /// RFC 5802's `Hi`, which is PBKDF2: the work that makes guessing expensive.
    func saltedPassword(_ password: Password, salt: [UInt8], iterations: Int) -> [UInt8] {
        precondition(!salt.isEmpty && iterations > 0, "PBKDF2 without salt or iterations")
        let function: KDF.Insecure.PBKDF2.HashFunction =
            switch self {
            case .sha1: .insecureSHA1
            case .sha256: .sha256
            }
        // RFC 7677 asks for 4,096 iterations at least. Clients repeat them at each login, on
        // phones too, so that the number that the checked function wants, 210,000, is no option.
        let key = try? KDF.Insecure.PBKDF2.deriveKey(
            from: password.bytes, salt: salt, using: function, outputByteCount: keyBytes,
            unsafeUncheckedRounds: iterations)
        guard let key else { preconditionFailure("PBKDF2 fails only without memory") }
        return unsafe key.withUnsafeBytes { unsafe Array($0) }
    }
}
