import PresenceTokens
import Testing

@Suite struct KeyRingTests {
    func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    func key(_ name: String, _ text: String) throws -> ServerKey {
        try #require(ServerKey(name: name, key: bytes(text)))
    }

    @Test func `a key is known by its name, and nothing near it is`() throws {
        let first = "the-first-secret-key-of-all"
        let ring = KeyRing([try key("a", first), try key("b", "another-key-to-rotate-to")])
        #expect(ring.key(bytes(first))?.name == "a")
        #expect(ring.key(bytes("another-key-to-rotate-to"))?.name == "b")
        for wrong in [String(first.dropLast()), first + "x", first.uppercased(), "", "short"] {
            #expect(ring.key(bytes(wrong))?.name == nil)
        }
        #expect(ring.key(Array(repeating: 65, count: 1 << 20)) == nil)
        #expect(KeyRing().key(bytes(first)) == nil)
    }

    @Test func `the keys can be replaced while they are in use`() throws {
        let ring = KeyRing([try key("old", "a-key-that-has-leaked-somewhere")])
        ring.replace(with: [try key("new", "a-key-that-nobody-else-knows-yet")])
        #expect(ring.key(bytes("a-key-that-has-leaked-somewhere"))?.name == nil)
        #expect(ring.key(bytes("a-key-that-nobody-else-knows-yet"))?.name == "new")
        #expect(ring.count == 1)
    }

    @Test func `a key has a minimum and a maximum length`() {
        #expect(ServerKey(name: "k", key: Array(repeating: 65, count: 15)) == nil)
        #expect(ServerKey(name: "k", key: Array(repeating: 65, count: 16)) != nil)
        #expect(ServerKey(name: "k", key: Array(repeating: 65, count: 512)) != nil)
        #expect(ServerKey(name: "k", key: Array(repeating: 65, count: 513)) == nil)
    }

    @Test func `a generated key is valid by its line`() throws {
        let made = ServerKey.generate(name: "billing")
        let file = try ServerKeyFile(bytes(made.key.line + "\n"))
        #expect(file.keys == [made.key])
        #expect(file.plainLines.isEmpty)
        #expect(KeyRing(file.keys).key(bytes(made.secret))?.name == "billing")
        #expect(made.secret.utf8.count == 47)
        #expect(!made.key.line.contains(made.secret))
        #expect(ServerKey.generate(name: "billing").secret != made.secret)
    }

    @Test func `a key may be for reading only`() throws {
        let made = ServerKey.generate(name: "console", isReadOnly: true)
        #expect(made.key.line.hasPrefix("console read sha256:"))
        let plain = "a-key-that-may-do-all-there-is"
        let file = try ServerKeyFile(bytes("\(made.key.line)\nread \(plain)\n\(plain)\n"))
        #expect(file.keys.map(\.isReadOnly) == [true, false, false])
        #expect(file.keys.first == made.key && file.plainLines == [2, 3])
        let ring = KeyRing(file.keys)
        #expect(ring.key(bytes(made.secret))?.isReadOnly == true)
        #expect(ring.key(bytes(plain))?.isReadOnly == false)
        // `read` is a name like others, and a key is in one line.
        let line = "read" + made.key.line.dropFirst("console read".count)
        #expect(try ServerKeyFile(bytes(line)).keys.map(\.isReadOnly) == [false])
        #expect(throws: ServerKeyFileError.duplicateKey(line: 2, other: "console")) {
            try ServerKeyFile(bytes("\(made.key.line)\n\(line)"))
        }
    }

    @Test func `the hash of a line is SHA-256 of the key`() throws {
        // FIPS 180-2, appendix B.2.
        let key = try key("n", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        #expect(
            key.line
                == "n sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }

    @Test func `a file has comments, hashes and keys as they are`() throws {
        let hash = String(repeating: "0F", count: 32)
        let file = try ServerKeyFile(
            bytes("# since March\n\n \t# x\nbilling\tsha256:\(hash)\r\n a key with blanks in it\n"))
        #expect(file.keys.map(\.name) == ["billing", "key-5"])
        #expect(file.plainLines == [5])
        #expect(KeyRing(file.keys).key(bytes(" a key with blanks in it"))?.name == "key-5")
        #expect(file.keys[0].line == "billing sha256:\(hash.lowercased())")
    }

    @Test(
        arguments: [
            ("", .empty), ("# nothing\n", .empty),
            ("short\n", .invalidLength(line: 1, count: 5)),
            ("#\n" + String(repeating: "x", count: 513), .invalidLength(line: 2, count: 513)),
            ("a/b sha256:00", .invalidName(line: 1)), ("a sha256:00", .invalidHash(line: 1)),
            ("a sha256:" + String(repeating: "0g", count: 32), .invalidHash(line: 1)),
            ("a read sha256:00", .invalidHash(line: 1)),
            ("a/b read sha256:00", .invalidName(line: 1)),
            (
                "a write sha256:" + String(repeating: "00", count: 32),
                .notAKey(line: 1, .serverKeyHash)
            ),
            (
                "a READ sha256:" + String(repeating: "00", count: 32),
                .notAKey(line: 1, .serverKeyHash)
            ),
            ("same-key-same-key\nsame-key-same-key", .duplicateKey(line: 2, other: "key-1")),
        ] as [(String, ServerKeyFileError)])
    func `an invalid file is rejected with its line`(text: String, error: ServerKeyFileError) {
        #expect(throws: error) { try ServerKeyFile(bytes(text)) }
    }

    @Test func `a name is unique, and the number of keys is limited`() {
        let one = "n sha256:" + String(repeating: "1", count: 64)
        let other = "n sha256:" + String(repeating: "2", count: 64)
        #expect(throws: ServerKeyFileError.duplicateName(line: 2, name: "n")) {
            try ServerKeyFile(bytes(one + "\n" + other))
        }
        let many = (0...100).map { "key number \($0), as it stands" }
        #expect(throws: ServerKeyFileError.tooMany) {
            try ServerKeyFile(bytes(many.joined(separator: "\n")))
        }
    }
}
