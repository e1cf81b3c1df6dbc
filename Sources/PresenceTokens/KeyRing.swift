// Keys of app servers. A key is 32 bytes of chance, so its plain hash tells nothing about it: the
// slow, salted hashes that passwords need defend against guessing, and here there is nothing to
// guess. What a thief of the file gets are hashes.

import Crypto
import FoundationEssentials
import Synchronization

/// A key with which app servers log in: its name, and the hash that is all we keep of it.
public struct ServerKey: Hashable, Sendable {
    /// Bytes of a key: enough to be beyond guessing, little enough to fit a frame.
    public static let byteCountRange = 16...512
    /// Bytes of a name.
    public static let nameByteCountRange = 1...64

    /// What logs call it.
    public let name: String
    let digest: [UInt8]

    init(name: String, digest: [UInt8]) {
        precondition(digest.count == SHA256.byteCount, "a hash of another kind")
        self.name = name
        self.digest = digest
    }

    /// A key of this name, or nil where the key is too short to be one or too long.
    public init?(name: String, key: [UInt8]) {
        guard Self.byteCountRange.contains(key.count) else { return nil }
        self.init(name: name, digest: Self.hash(key))
    }

    /// A key that nobody has had before, and what is to be kept of it.
    public static func generate(name: String) -> (secret: String, key: ServerKey) {
        // The system's generator is the kernel's, made for keys.
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        // The prefix is for those who look for keys where none should be.
        let secret = "plk_" + Base64URL.encode(bytes)
        return (secret, ServerKey(name: name, digest: hash(Array(secret.utf8))))
    }

    /// The line that stands for it in a file of keys.
    public var line: String {
        let digits = digest.map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }
        return "\(name) sha256:\(digits.joined())"
    }

    /// Whether a name may stand in a file of keys: letters, digits, `.`, `_` and `-`.
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

    static func hash(_ key: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: key)) }

    /// Whether two hashes are equal, in a time that does not tell where they differ.
    static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        precondition(a.count == b.count)
        var difference: UInt8 = 0
        for place in a.indices { difference |= a[place] ^ b[place] }
        return difference == 0
    }
}

/// The keys that hold now: shared by everybody who checks one, and replaceable while they do.
public final class KeyRing: Sendable {
    private let keys: Mutex<[ServerKey]>

    /// A ring of these keys; an empty one lets nobody in.
    public init(_ keys: [ServerKey] = []) {
        self.keys = Mutex(keys)
    }

    /// Has other keys hold from now on. Any thread.
    ///
    /// A session that has logged in with a key that is not there any more goes on until its
    /// connection ends.
    public func replace(with keys: [ServerKey]) {
        self.keys.withLock { $0 = keys }
    }

    /// What the key is called; nil where it is none of ours. Any thread; about a microsecond.
    ///
    /// The hash of every key is compared to its end, so that the time does not tell which one
    /// was near.
    public func name(of candidate: [UInt8]) -> String? {
        guard ServerKey.byteCountRange.contains(candidate.count) else { return nil }
        let digest = ServerKey.hash(candidate)
        return keys.withLock { keys in
            var found: String?
            for key in keys where ServerKey.areEqual(key.digest, digest) { found = key.name }
            return found
        }
    }

    /// How many keys hold.
    public var count: Int { keys.withLock { $0.count } }
}
