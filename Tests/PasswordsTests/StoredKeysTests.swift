import Containers
import Testing

@testable import Passwords

@Suite struct `Stored keys tests` {
    private let secret = bytes("a secret of the service")

    private func password(_ text: String) throws -> Password { try Password(bytes(text)) }

    @Test func `match their password and no other`() throws {
        var random = SplitMix64(seed: 3)
        let keys = StoredKeys(of: try password("pencil"), iterations: 16, using: &random)
        #expect(keys.matches(try password("pencil")))
        for other in ["Pencil", "pencil ", "p", "péncil"] {
            #expect(!keys.matches(try password(other)))
        }
        #expect(keys.salt.count == StoredKeys.saltBytes)
    }

    @Test func `match what was typed for their password`() throws {
        var random = SplitMix64(seed: 3)
        let keys = StoredKeys(of: try password("pe\u{301}ncil"), iterations: 2, using: &random)
        #expect(keys.matches(typed: bytes("p\u{E9}ncil")))
        #expect(!keys.matches(typed: bytes("pencil")))
        #expect(!keys.matches(typed: []))
        #expect(!keys.matches(typed: [0xFF]))
        #expect(!keys.matches(typed: Array(repeating: 0x61, count: 5_000)))
    }

    /// Keys that were made before SASLprep was applied.
    @Test(arguments: ["密码１２３", "x²", "שלום123", "\u{FB01}", "I\u{FF38}"])
    func `of the earlier form stay valid`(typed: String) throws {
        let earlier = try Password(earlierFormOf: bytes(typed))
        let keys = StoredKeys(of: earlier, salt: [1], iterations: 2)
        #expect(keys.matches(typed: bytes(typed)))
        #expect(!keys.matches(typed: bytes(typed + "1")))
        #expect(!keys.matches(typed: bytes("密码123")))
    }

    @Test(arguments: [("密码１２３", "密码123"), ("x²", "x2"), ("a\u{A0}b", "a b")])
    func `match both what is typed and what it is prepared to`(
        typed: String, prepared: String
    ) throws {
        let keys = StoredKeys(of: try password(typed), salt: [1], iterations: 2)
        #expect(keys == StoredKeys(of: try password(prepared), salt: [1], iterations: 2))
        #expect(keys.matches(typed: bytes(typed)))
        #expect(keys.matches(typed: bytes(prepared)))
        #expect(!keys.matches(typed: bytes("密码12")))
    }

    @Test func `are not printed, and neither are passwords`() throws {
        var random = SplitMix64(seed: 3)
        let typed = try password("pencil")
        let keys = StoredKeys(of: typed, iterations: 2, using: &random)
        let key = keys.keys(for: .sha1).stored.map(String.init).joined(separator: ", ")
        #expect(!"\(keys)".contains(key))
        #expect(!"\(typed)".contains("112, 101"))
        let message = try PlainMessage(reading: bytes("\0user\0pencil"))
        #expect(!"\(message)".contains("112, 101"))
    }

    @Test func `of equal passwords are different`() throws {
        var random = SplitMix64(seed: 3)
        let first = StoredKeys(of: try password("pencil"), iterations: 2, using: &random)
        let second = StoredKeys(of: try password("pencil"), iterations: 2, using: &random)
        #expect(first.salt != second.salt)
        #expect(first.keys(for: .sha1) != second.keys(for: .sha1))
        #expect(first.keys(for: .sha256) != second.keys(for: .sha256))
    }

    @Test func `return from the store`() throws {
        var random = SplitMix64(seed: 3)
        let keys = StoredKeys(of: try password("pencil"), iterations: 2, using: &random)
        let read = StoredKeys(
            salt: keys.salt, iterations: keys.iterations,
            storedSHA1: keys.keys(for: .sha1).stored, serverSHA1: keys.keys(for: .sha1).server,
            storedSHA256: keys.keys(for: .sha256).stored,
            serverSHA256: keys.keys(for: .sha256).server)
        #expect(read == keys)
    }

    @Test(arguments: [
        (0, 4_096, 20, 32), (65, 4_096, 20, 32), (16, 0, 20, 32), (16, -1, 20, 32),
        (16, 1_000_001, 20, 32), (16, 4_096, 19, 32), (16, 4_096, 20, 20),
    ])
    func `with impossible parts are rejected`(
        salt: Int, iterations: Int, sha1: Int, sha256: Int
    ) {
        func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
        let keys = StoredKeys(
            salt: zeros(salt), iterations: iterations, storedSHA1: zeros(20),
            serverSHA1: zeros(sha1), storedSHA256: zeros(32), serverSHA256: zeros(sha256))
        #expect(keys == nil)
    }

    @Test func `of no account look like others and match nothing`() throws {
        let keys = StoredKeys(decoyFor: bytes("nobody"), secret: secret)
        #expect(keys == StoredKeys(decoyFor: bytes("nobody"), secret: secret))
        #expect(keys.salt.count == StoredKeys.saltBytes)
        #expect(keys.iterations == StoredKeys.iterationsDefault)
        #expect(keys.salt != StoredKeys(decoyFor: bytes("nobodi"), secret: secret).salt)
        #expect(keys.salt != StoredKeys(decoyFor: bytes("nobody"), secret: [1]).salt)
        #expect(!keys.matches(try password("pencil")))
        for hash in ScramHash.allCases {
            #expect(keys.keys(for: hash).stored.count == hash.keyBytes)
            #expect(keys.keys(for: hash).server.count == hash.keyBytes)
            let client = ScramClient(hash: hash, password: try password("pencil"))
            var random = SplitMix64(seed: 3)
            let challenge = ScramChallenge(
                to: try ScramRequest(reading: client.first), hash: hash, keys: keys, using: &random)
            let final = try client.final(to: challenge.message)
            #expect(throws: SASLError.notAuthorized) { try challenge.verify(final.message) }
        }
    }
}
