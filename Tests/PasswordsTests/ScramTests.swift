import Containers
import Testing

@testable import Passwords

@Suite struct `SCRAM tests` {
    struct Vector: Sendable, CustomTestStringConvertible {
        let hash: ScramHash
        let salt: String
        let nonce: String
        let first: String
        let challenge: String
        let final: String
        let answer: String

        var testDescription: String { "\(hash)" }
    }

    /// RFC 5802, 5, and RFC 7677, 3.
    static let vectors = [
        Vector(
            hash: .sha1, salt: "QSXCR+Q6sek8bf92", nonce: "3rfcNHYJY1ZVvWVs7j",
            first: "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
            challenge:
                "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
            final: "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,"
                + "p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
            answer: "v=rmF9pqV8S7suAoZWja4dJRkFsKQ="),
        Vector(
            hash: .sha256, salt: "W22ZaJ0SNY7soEsUEjb6gQ==",
            nonce: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
            first: "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
            challenge: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
                + "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
            final: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
                + "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
            answer: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="),
    ]

    private let pencil: StoredKeys
    private let password: Password

    init() throws {
        password = try Password(bytes("pencil"))
        pencil = StoredKeys(of: password, salt: bytes("0123456789abcdef"), iterations: 4)
    }

    private func challenge(_ client: ScramClient, keys: StoredKeys) throws -> ScramChallenge {
        var random = SplitMix64(seed: 1)
        return ScramChallenge(
            to: try ScramRequest(reading: client.first), hash: client.hash, keys: keys,
            using: &random)
    }

    @Test(arguments: vectors) func `the examples of the RFCs`(vector: Vector) throws {
        let keys = StoredKeys(of: password, salt: try base64(vector.salt), iterations: 4_096)
        let request = try ScramRequest(reading: bytes(vector.first))
        #expect(request.name == bytes("user"))
        #expect(request.authorization == [])
        let challenge = ScramChallenge(
            to: request, hash: vector.hash, keys: keys, nonce: bytes(vector.nonce))
        #expect(challenge.message == bytes(vector.challenge))
        #expect(try challenge.verify(bytes(vector.final)) == bytes(vector.answer))
    }

    @Test(arguments: ScramHash.allCases) func `a client logs in`(hash: ScramHash) throws {
        for header in ["n,,", "y,,", "n,a=user@example.org,"] {
            for extensions in ["", ",x=1", ",x=1,y=a=b"] {
                let client = ScramClient(hash: hash, password: password, header: header)
                let challenge = try challenge(client, keys: pencil)
                let final = try client.final(to: challenge.message, extensions: extensions)
                #expect(try challenge.verify(final.message) == final.answer)
            }
        }
    }

    @Test(arguments: [",m=ext", ",m=ext,x=1", ",x=1,m=ext"])
    func `a client that needs an extension does not log in`(extensions: String) throws {
        let client = ScramClient(hash: .sha256, password: password)
        let challenge = try challenge(client, keys: pencil)
        let final = try client.final(to: challenge.message, extensions: extensions)
        #expect(throws: SASLError.malformed) { try challenge.verify(final.message) }
    }

    @Test func `each exchange has its nonce`() throws {
        let client = ScramClient(hash: .sha256, password: password)
        var random = SplitMix64(seed: 7)
        let request = try ScramRequest(reading: client.first)
        let first = ScramChallenge(to: request, hash: .sha256, keys: pencil, using: &random)
        let second = ScramChallenge(to: request, hash: .sha256, keys: pencil, using: &random)
        #expect(first.message != second.message)
        let final = try client.final(to: first.message)
        #expect(try first.verify(final.message) == final.answer)
        #expect(throws: SASLError.notAuthorized) { try second.verify(final.message) }
    }

    @Test(arguments: ScramHash.allCases)
    func `another password does not log in`(hash: ScramHash) throws {
        let client = ScramClient(hash: hash, password: try Password(bytes("Pencil")))
        let challenge = try challenge(client, keys: pencil)
        let final = try client.final(to: challenge.message)
        #expect(throws: SASLError.notAuthorized) { try challenge.verify(final.message) }
    }

    @Test(arguments: ScramHash.allCases)
    func `a header that was changed does not log in`(hash: ScramHash) throws {
        let client = ScramClient(hash: hash, password: password)
        var changed = client
        changed.header = "y,,"
        let challenge = try challenge(changed, keys: pencil)
        let final = try client.final(to: challenge.message)
        #expect(throws: SASLError.notAuthorized) { try challenge.verify(final.message) }
    }

    @Test(arguments: [
        ("n,,n=user,r=x", "user", ""), ("n,,n=a=2Cb=3Dc,r=x", "a,b=c", ""),
        ("y,a=b=2Ca,n=é,r=~!", "é", "b,a"), ("n,,n=user,r=x,e=1,f=2", "user", ""),
    ])
    func `first messages`(text: String, name: String, authorization: String) throws {
        let request = try ScramRequest(reading: bytes(text))
        #expect(request.name == bytes(name))
        #expect(request.authorization == bytes(authorization))
    }

    @Test(arguments: [
        ("", SASLError.malformed), ("n", .malformed), ("n,,", .malformed),
        ("n,,n=user", .malformed), ("n,,r=x,n=user", .malformed), ("n,,n=,r=x", .malformed),
        ("n,,n=user,r=", .malformed), ("n,,n=user,r=x,", .malformed), ("n,,n=a=b,r=x", .malformed),
        ("n,,n=a=2c,r=x", .malformed), ("n,,n=a=2,r=x", .malformed), ("n,,n=a=,r=x", .malformed),
        ("n,,n=user,r=x y", .malformed), ("n,,n=user,r=é", .malformed),
        ("n,user,n=user,r=x", .malformed), ("n,a=,n=user,r=x", .malformed),
        ("n,a=a=b,n=user,r=x", .malformed), ("x,,n=user,r=x", .malformed),
        ("N,,n=user,r=x", .malformed), ("nn,,n=user,r=x", .malformed),
        ("n,,n=us\0er,r=x", .malformed), ("n,,n=user,r=x,1=2", .malformed),
        ("n,,n=user,r=x,e", .malformed), ("p=tls-unique,,n=user,r=x", .unsupported),
        ("p=,,n=user,r=x", .unsupported), ("n,,m=ext,n=user,r=x", .unsupported),
    ])
    func `first messages that are not accepted`(text: String, expected: SASLError) {
        #expect(throws: expected) { try ScramRequest(reading: bytes(text)) }
    }

    @Test func `limits of the first message`() throws {
        func first(name: Int = 1, authorization: Int = 1, nonce: Int = 1) -> [UInt8] {
            func some(_ count: Int) -> String { String(repeating: "a", count: count) }
            return bytes("n,a=\(some(authorization)),n=\(some(name)),r=\(some(nonce))")
        }
        _ = try ScramRequest(reading: first(name: 1_023, authorization: 3_071, nonce: 256))
        for message in [first(name: 1_024), first(authorization: 3_072), first(nonce: 257)] {
            #expect(throws: SASLError.malformed) { try ScramRequest(reading: message) }
        }
        let long = bytes("n,,n=user,r=x,e=" + String(repeating: "a", count: 8_200))
        #expect(throws: SASLError.malformed) { try ScramRequest(reading: long) }
        #expect(throws: SASLError.malformed) {
            try ScramRequest(reading: bytes("n,,n=") + [0xC0, 0x80] + bytes(",r=x"))
        }
    }

    @Test(arguments: [
        "", "c=biws", "c=biws,r=NONCE", "r=NONCE,c=biws,p=PROOF", "c=biw,r=NONCE,p=PROOF",
        "c=biws,r=NONCE,p=", "c=biws,r=NONCE,p=AAAA", "c=biws,r=NONCE,p=PROOF,x=1",
        "c=biws,r=NONCE,p=PROOF,", "c=biws,r=NONCE,x,p=PROOF", "c=biws,r=NONCE,p=*",
        "c=biws,,r=NONCE,p=PROOF", "c=biws,r=NONCE\0,p=PROOF",
    ])
    func `last messages that are malformed`(text: String) throws {
        let (challenge, nonce, proof) = try exchange()
        let message = text.replacing("NONCE", with: nonce).replacing("PROOF", with: proof)
        #expect(throws: SASLError.malformed) { try challenge.verify(bytes(message)) }
    }

    @Test(arguments: [
        "c=biws,r=NONCE,p=OTHER", "c=biws,r=NONCEx,p=PROOF", "c=biws,r=x,p=PROOF",
        "c=eSws,r=NONCE,p=PROOF", "c=biwsbiws,r=NONCE,p=PROOF", "c=biws,r=NONCE,x=1,p=PROOF",
    ])
    func `last messages that prove nothing`(text: String) throws {
        let (challenge, nonce, proof) = try exchange()
        let message = text.replacing("NONCE", with: nonce).replacing("PROOF", with: proof)
            .replacing("OTHER", with: "AAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        #expect(throws: SASLError.notAuthorized) { try challenge.verify(bytes(message)) }
    }

    /// A challenge with the nonce and the proof of the right answer to it.
    private func exchange() throws -> (ScramChallenge, nonce: String, proof: String) {
        let client = ScramClient(hash: .sha1, password: password)
        let challenge = try challenge(client, keys: pencil)
        let final = try client.final(to: challenge.message)
        _ = try challenge.verify(final.message)
        let parts = String(decoding: final.message, as: UTF8.self).split(separator: ",")
        return (challenge, String(parts[1].dropFirst(2)), String(parts[2].dropFirst(2)))
    }
}
