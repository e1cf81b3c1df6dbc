/// What a SCRAM server keeps of a password for one hash function (RFC 5802, 3).
///
/// They verify a password and do not reveal it. A thief of them can pose as the service, and can
/// try passwords at the price of PBKDF2 each.
public struct ScramKeys: Hashable, Sendable {
    /// The hash of the key with which a client proves that it knows the password.
    public let stored: [UInt8]
    /// The key with which the service proves that it has known it.
    public let server: [UInt8]
}

/// What is kept of a password: SCRAM keys, never the password.
///
/// PBKDF2 is the expensive part: deriving costs it for both hash functions, `matches` for one. Do
/// neither on a thread that serves connections.
public struct StoredKeys: Hashable, Sendable {
    /// The iterations of new keys: what RFC 7677 asks for.
    public static let iterationsDefault = 4_096
    /// The bytes of new salts.
    public static let saltBytes = 16

    /// Bounds for keys that are read from somewhere: no input makes a login arbitrarily expensive.
    static let iterationsRange = 1...1_000_000
    static let saltBytesRange = 1...64

    /// Makes equal passwords of two accounts have different keys.
    public let salt: [UInt8]
    /// The rounds of PBKDF2.
    public let iterations: Int
    private let sha1: ScramKeys
    private let sha256: ScramKeys

    /// The keys for one hash function.
    public func keys(for hash: ScramHash) -> ScramKeys {
        switch hash {
        case .sha1: sha1
        case .sha256: sha256
        }
    }

    /// Keys that were stored before; nil if a length or the number of iterations cannot be right.
    public init?(
        salt: [UInt8], iterations: Int, storedSHA1: [UInt8], serverSHA1: [UInt8],
        storedSHA256: [UInt8], serverSHA256: [UInt8]
    ) {
        guard Self.saltBytesRange.contains(salt.count), Self.iterationsRange.contains(iterations),
            [storedSHA1, serverSHA1].allSatisfy({ $0.count == ScramHash.sha1.keyBytes }),
            [storedSHA256, serverSHA256].allSatisfy({ $0.count == ScramHash.sha256.keyBytes })
        else { return nil }
        self.salt = salt
        self.iterations = iterations
        sha1 = ScramKeys(stored: storedSHA1, server: serverSHA1)
        sha256 = ScramKeys(stored: storedSHA256, server: serverSHA256)
    }

    /// The keys of a new password, with a random salt. Expensive.
    public init(
        of password: Password, iterations: Int = iterationsDefault,
        using random: inout some RandomNumberGenerator
    ) {
        let salt = (0..<Self.saltBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        self.init(of: password, salt: salt, iterations: iterations)
    }

    /// The keys of a password. Expensive.
    init(of password: Password, salt: [UInt8], iterations: Int) {
        precondition(Self.saltBytesRange.contains(salt.count), "a salt of \(salt.count) bytes")
        precondition(Self.iterationsRange.contains(iterations), "\(iterations) iterations")
        self.salt = salt
        self.iterations = iterations
        sha1 = ScramKeys(of: password, salt: salt, iterations: iterations, hash: .sha1)
        sha256 = ScramKeys(of: password, salt: salt, iterations: iterations, hash: .sha256)
    }

    /// Keys for an account that has none: no password matches them.
    ///
    /// The same name has the same keys, so that a client that asks twice, or for many names, cannot
    /// tell them from keys of an account. The secret must never leave the service, and be the same
    /// after a restart. Cheap, but a login with these keys costs what one with real keys costs.
    public init(decoyFor name: [UInt8], secret: [UInt8]) {
        func code(_ purpose: String, _ hash: ScramHash) -> [UInt8] {
            let key = ScramHash.sha256.code(of: Array("decoy \(purpose)".utf8), key: secret)
            return hash.code(of: name, key: key)
        }
        salt = Array(code("salt", .sha256).prefix(Self.saltBytes))
        iterations = Self.iterationsDefault
        // A client proves a key whose hash is `stored`. No key with this hash is known.
        sha1 = ScramKeys(stored: code("stored", .sha1), server: code("server", .sha1))
        sha256 = ScramKeys(stored: code("stored", .sha256), server: code("server", .sha256))
    }

    /// Whether this was typed for the password of these keys, which may be of the earlier form.
    /// Expensive, twice if the forms differ; the time does not depend on the result. What cannot be
    /// a password is none, at once: that depends on it alone.
    public func matches(typed: [UInt8]) -> Bool {
        Password.forms(of: typed).map(matches).contains(true)
    }

    /// Whether this is the password of these keys. Expensive; the time does not depend on the
    /// result.
    public func matches(_ password: Password) -> Bool {
        let hash = ScramHash.sha256
        let salted = hash.saltedPassword(password, salt: salt, iterations: iterations)
        return hash.hash(of: ScramKeys.clientKey(salted, hash), is: sha256.stored)
    }
}

extension ScramKeys: CustomStringConvertible {
    /// Never the keys.
    public var description: String { "ScramKeys" }
}

extension ScramKeys {
    fileprivate init(of password: Password, salt: [UInt8], iterations: Int, hash: ScramHash) {
        let salted = hash.saltedPassword(password, salt: salt, iterations: iterations)
        stored = hash.hash(of: Self.clientKey(salted, hash))
        server = hash.code(of: Array("Server Key".utf8), key: salted)
    }

    fileprivate static func clientKey(_ saltedPassword: [UInt8], _ hash: ScramHash) -> [UInt8] {
        hash.code(of: Array("Client Key".utf8), key: saltedPassword)
    }
}
