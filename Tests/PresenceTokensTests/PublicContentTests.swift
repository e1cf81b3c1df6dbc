import Containers
import Crypto
import Foundation
import Testing

@testable import PresenceTokens

@Suite struct PublicContentTests {
    static let keys = [
        TestKeys.rsaPublic, TestKeys.smallPublic, TestKeys.ecPublic, TestKeys.p384Public,
        TestKeys.edPublic, TestKeys.ecCertificate,
    ]

    static let jwk =
        #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#

    private func expect(
        _ found: PublicContent? = .publicKey, in text: String, _ comment: String = "",
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            PublicContent(in: bytes(text)) == found, "\(comment) \(text)",
            sourceLocation: location)
    }

    private func hex(
        _ bytes: [UInt8], _ separator: String = "", _ format: String = "%02x"
    ) -> String {
        bytes.map { String(format: format, $0) }.joined(separator: separator)
    }

    /// The bytes of a PEM block.
    private func der(_ pem: String) throws -> [UInt8] {
        let lines = pem.split(separator: "\n").filter { !$0.contains("-----") }
        return [UInt8](try #require(Data(base64Encoded: lines.joined())))
    }

    @Test(arguments: keys)
    func `a PEM file with a damaged first or last line`(pem: String) {
        let lines = pem.split(separator: "\n").map(String.init)
        let body = lines.dropFirst().dropLast().joined(separator: "\n")
        expect(in: lines.dropFirst().joined(separator: "\n"))
        expect(in: body)
        expect(in: body.replacing("\n", with: "\r\n"))
        expect(in: lines.dropLast().joined(separator: "\n").replacing("-----", with: "----"))
        for dashes in ["----", "—", "–––––", "", " "] {
            expect(in: pem.replacing("-----", with: dashes))
        }
        for begin in ["begin", "Begin", "BEGIN ", "BEGINN"] {
            expect(in: pem.replacing("BEGIN", with: begin).replacing("END", with: "end"))
        }
        expect(in: lines.map { "> " + $0 }.joined(separator: "\n").replacing("-----", with: ""))
        expect(in: pem.replacing("\n", with: "\\n").replacing("-----", with: ""))
        expect(in: String(pem.replacing("-----", with: "").map { [$0, "\0"] }.joined()))
    }

    @Test(arguments: keys)
    func `a key in DER, whatever it is written in`(pem: String) throws {
        let der = try der(pem)
        #expect(PublicContent(in: der) == .publicKey)
        #expect(PublicContent(in: der.dropLast(3)) == .publicKey)
        let base64 = Data(der).base64EncodedString()
        let texts = [
            base64, Base64URL.encoded(der), String(base64.dropLast(7)), hex(der), hex(der, ":"),
            hex(der, " "), hex(der, ":", "%02X"), hex(der, ", ", "0x%02x"), hex(der, "", "\\x%02x"),
            Data(pem.utf8).base64EncodedString(),
        ]
        for text in texts {
            for label in ["", "JWT_PUBLIC_KEY=", "Public key: ", "KEY=", "pem abc ", "\"", "# "] {
                expect(in: label + text)
                expect(in: label + text + " me@example.com")
            }
        }
    }

    @Test(arguments: [TestKeys.rsaPublic, TestKeys.smallPublic])
    func `an RSA key without its identifier`(pem: String) throws {
        let whole = try der(pem)
        let start = try #require(whole.indices.dropFirst(20).first { whole[$0] == 0x30 })
        let der = Array(whole[start...])
        #expect(PublicContent(in: der) == .publicKey)
        expect(in: Data(der).base64EncodedString())
        expect(in: "k=" + Base64URL.encoded(der))
        expect(in: hex(der, ":"))
    }

    @Test func `a JWK in another syntax`() {
        let set = "{\"keys\":[\(Self.jwk)]}"
        let escaped = Self.jwk.replacing("\"", with: "\\\"")
        for text in [
            "// keys\n" + set, "# keys\n" + set, "//\(set)", "var keys = \(set);", "\"\(escaped)\"",
            "[\(Self.jwk)]", "[\(Self.jwk)", Self.jwk.replacing("\"", with: "'"),
            "keys:\n- kty: OKP\n  crv: Ed25519\n  x: 11qYAYKxCrfVS\n", "kty : OKP", "KTY: EC",
            "kty = \"OKP\"\ncrv = \"Ed25519\"", "<kty>OKP</kty>",
            Data(set.utf8).base64EncodedString(), "JWKS=" + Base64URL.encoded(bytes(set)),
            hex(bytes(set)), "<RSAKeyValue><Modulus>0vx7</Modulus></RSAKeyValue>", "Modulus=C3A1",
        ] {
            expect(in: text)
        }
    }

    @Test func `a point of a curve`() throws {
        let key = P256.Signing.PrivateKey().publicKey
        let points = [
            [UInt8](key.x963Representation), [UInt8](key.rawRepresentation),
            [UInt8](key.compressedRepresentation),
            [UInt8](P384.Signing.PrivateKey().publicKey.x963Representation),
            [UInt8](P384.Signing.PrivateKey().publicKey.rawRepresentation),
            [UInt8](P521.Signing.PrivateKey().publicKey.x963Representation),
        ]
        for point in points {
            #expect(PublicContent(in: point) == .publicKey, "\(point.count)")
            let base64 = Data(point).base64EncodedString()
            for text in [
                base64, base64 + "\n", Base64URL.encoded(point), hex(point), hex(point, ":"),
                "0x" + hex(point), "KEY=" + base64, "export KEY=\"\(base64)\"",
                "Key: " + hex(point),
            ] {
                expect(in: text, "\(point.count)")
            }
        }
        let wrapped = Data(points[0]).base64EncodedString(options: .lineLength64Characters)
        expect(in: wrapped)
    }

    @Test func `keys of OpenSSH`() {
        let blob = "AAAAC3NzaC1lZDI1NTE5AAAAIEfoobarfoobarfoobarfoobarfoobarfoobarfoobarfo"
        for text in [
            "ssh-ed25519 \(blob) me@host", "# mine\nssh-rsa AAAAB3", "\(blob)",
            "from=\"10.*\" ecdsa-sha2-nistp256 AAAAE2", "---- BEGIN SSH2 PUBLIC KEY ----\nAAAA",
        ] {
            expect(in: text)
        }
    }

    @Test func `what is public and no key`() throws {
        for url in [
            "https://login.example.com/.well-known/jwks.json", "HTTPS://example.com\n",
            "jwks_uri=http://example.com/keys", "example.com/.well-known/jwks.json",
        ] {
            expect(.url, in: url)
        }
        let (secret, key) = ServerKey.generate(name: "app")
        expect(.serverKeyHash, in: key.line)
        expect(.serverKeyHash, in: "# keys\n\(key.line)\n")
        expect(nil, in: secret)
    }

    @Test func `random secrets are secrets`() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        var generator = SplitMix64(seed: seed)
        func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
        for _ in 0..<20 {
            // Not 33 bytes and 65: they are a point by one chance in 256.
            for count in [16, 24, 32, 36, 40, 48, 64, 96, 128] {
                let random = bytes(count)
                #expect(PublicContent(in: random) == nil, "\(random)")
                expect(nil, in: hex(random))
                expect(nil, in: Data(random).base64EncodedString() + "\n")
                expect(nil, in: Base64URL.encoded(random))
            }
            // Two UUIDs.
            let groups = [4, 2, 2, 2, 6, 4, 2, 2, 2, 6].map { hex(bytes($0)).uppercased() }
            expect(nil, in: groups.joined(separator: "-"))
        }
    }

    static let passphrases: [String] = [
        TestKeys.secret, "correct horse battery staple and more words",
        "the key to the public house is under the mat", "In the beginning was the end of the key",
        "The republic keyboard of the difficulty: hard", "begin with a key, end with a key, always",
        "04 is the first byte of a point, and this is no point",
        "key=value;another=value and more!",
        "SECRET=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", String(repeating: "0", count: 64),
        String(repeating: "x", count: 4_096),
        "MIIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "pässwörter mit Umlauten sind ebenfalls erlaubt",
        "ssh into the public host, then key it in",
    ]

    @Test(arguments: passphrases)
    func `a passphrase is a secret`(text: String) async throws {
        expect(nil, in: text)
        #expect(try await KeySet(file: bytes(text)).holdsSecret)
    }

    @Test func `a line of a public key is not a server key`() throws {
        for (line, text) in [
            "-----BEGIN PUBLIC KEY-----", Self.jwk, "https://login.example.com/jwks.json",
            "my app sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        ].enumerated() {
            let error = #expect(throws: ServerKeyFileError.self) {
                try ServerKeyFile(bytes(String(repeating: "# comment\n", count: line) + text))
            }
            guard case .notAKey(line + 1, _) = error else {
                Issue.record("\(text): \(String(describing: error))")
                continue
            }
        }
    }
}
