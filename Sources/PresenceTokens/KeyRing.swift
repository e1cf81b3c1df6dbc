// Keys of app servers. A key is 32 random bytes, so a plain hash of it reveals nothing: the slow,
// salted hashes that passwords need protect against guessing, and such a key cannot be guessed. The
// file contains hashes only.

import Containers
import Crypto
import FoundationEssentials
import Synchronization

/// A key with which app servers log in: its name, and its hash. The key itself is not kept.
public struct ServerKey: Hashable, Sendable {
    /// Bytes of a key: enough that it cannot be guessed, few enough to fit into a frame.
    public static let byteCountRange = 16...512
    /// Bytes of a name.
    public static let nameByteCountRange = 1...64

    /// Its name in the log.
    public let name: String
    /// Whether it permits reads only.
    public let isReadOnly: Bool
    let digest: [UInt8]

    init(name: String, digest: [UInt8], isReadOnly: Bool) {
        precondition(digest.count == SHA256.byteCount, "a hash of another kind")
        precondition(Self.isName(name), "a name that its file cannot contain")
        self.name = name
        self.digest = digest
        self.isReadOnly = isReadOnly
    }

    /// A key of this name; nil if the key is too short or too long.
    public init?(name: String, key: [UInt8], isReadOnly: Bool = false) {
        guard Self.byteCountRange.contains(key.count) else { return nil }
        self.init(name: name, digest: Self.hash(key), isReadOnly: isReadOnly)
    }

    /// A new random key, and what is stored of it.
    public static func generate(
        name: String, isReadOnly: Bool = false
    ) -> (secret: String, key: ServerKey) {
        // The system's generator is the kernel's and is cryptographically secure.
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        // The prefix lets secret scanners find keys.
        let secret = "plk_" + Base64URL.encoded(bytes)
        let digest = hash(Array(secret.utf8))
        return (secret, ServerKey(name: name, digest: digest, isReadOnly: isReadOnly))
    }

    /// Its line in a file of keys.
    public var line: String {
        let digits = digest.map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }
        return "\(name)\(isReadOnly ? " read" : "") sha256:\(digits.joined())"
    }

    /// Whether the text is a valid name: letters, digits, `.`, `_` and `-`.
    public static func isName(_ text: String) -> Bool {
        nameByteCountRange.contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    private static func hash(_ key: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: key)) }
}

/// The current keys. They can be replaced while other threads check candidates.
public final class KeyRing: Sendable {
    private let keys: Mutex<[ServerKey]>

    /// A ring of these keys; an empty one accepts no key.
    public init(_ keys: [ServerKey] = []) {
        self.keys = Mutex(Self.checked(keys))
    }

    /// Keys that differ in their names and hashes, as `ServerKeyFile` reads them: the log and the
    /// rights of a session are those of one key.
    private static func checked(_ keys: [ServerKey]) -> [ServerKey] {
        precondition(Set(keys.map(\.name)).count == keys.count, "a name of two keys")
        precondition(Set(keys.map(\.digest)).count == keys.count, "a key with two names")
        return keys
    }

    /// Replaces the keys. Any thread.
    ///
    /// A session that logged in with a key that is removed continues until its connection ends.
    public func replace(with keys: [ServerKey]) {
        let checked = Self.checked(keys)
        self.keys.withLock { $0 = checked }
    }

    /// The key that this is; nil if it is unknown. Any thread; about a microsecond.
    ///
    /// The candidate is compared with every hash, and swift-crypto compares digests in constant
    /// time, so that the time reveals nothing.
    public func key(_ candidate: [UInt8]) -> ServerKey? {
        guard ServerKey.byteCountRange.contains(candidate.count) else { return nil }
        let digest = SHA256.hash(data: candidate)
        return keys.withLock { keys in
            var found: ServerKey?
            for key in keys where digest == key.digest { found = key }
            return found
        }
    }

    /// The number of keys.
    public var count: Int { keys.withLock { $0.count } }
}
