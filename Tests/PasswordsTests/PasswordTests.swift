import Testing

@testable import Passwords

@Suite struct `Password tests` {
    @Test(arguments: [
        ("pencil", "pencil"), (" a  b ", " a  b "), ("Bob", "Bob"), ("~!\"\\", "~!\"\\"),
        // Composed and decomposed, and a letter that is another one.
        ("e\u{301}", "\u{E9}"), ("\u{E9}", "\u{E9}"), ("\u{212B}", "\u{C5}"),
        // Marks in another order.
        ("q\u{307}\u{323}", "q\u{323}\u{307}"),
        // Every space is the ordinary one.
        ("a\u{A0}b\u{3000}c\u{1680}", "a b c "),
        // Compatibility characters stay: NFC, not NFKC.
        ("\u{FB01}\u{FF21}", "\u{FB01}\u{FF21}"),
        ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("straße", "straße"), ("密码", "密码"),
        ("😀", "😀"),
    ])
    func `are normalised`(typed: String, prepared: String) throws {
        #expect(try Password(bytes(typed)).bytes == bytes(prepared))
    }

    @Test(arguments: [
        0, 0x9, 0xA, 0x7F, 0x85, 0xAD, 0x378, 0x1100, 0x200D, 0x2028, 0x202E, 0xE000, 0xFDD0,
        0xFE0F, 0xFEFF, 0xFFFE, 0x10FFFD, 0x10FFFF,
    ])
    func `with some characters are refused`(value: UInt32) throws {
        let scalar = Character(try #require(Unicode.Scalar(value)))
        for typed in ["\(scalar)", "a\(scalar)b"] {
            #expect(throws: PasswordError.forbiddenCharacter) { try Password(bytes(typed)) }
        }
    }

    @Test func `are bounded`() throws {
        #expect(throws: PasswordError.empty) { try Password([]) }
        func some(_ count: Int) -> [UInt8] { Array(repeating: 0x61, count: count) }
        #expect(try Password(some(1_024)).bytes.count == 1_024)
        #expect(throws: PasswordError.tooLong) { try Password(some(1_025)) }
        // NFC makes two characters of each of these: six bytes of three.
        let grows = bytes(String(repeating: "\u{0958}", count: 300))
        #expect(throws: PasswordError.tooLong) { try Password(grows) }
        #expect(throws: PasswordError.notUTF8) { try Password([0x61, 0xFF]) }
        #expect(throws: PasswordError.notUTF8) { try Password([0xC0, 0x80]) }
    }

    @Test(arguments: [
        ("\0user\0pencil", "", "user", "pencil"), ("a@b\0é\0 x ", "a@b", "é", " x "),
    ])
    func `arrive by PLAIN`(
        text: String, authorization: String, name: String, secret: String
    ) throws {
        let message = try PlainMessage(reading: bytes(text))
        #expect(message.authorization == bytes(authorization))
        #expect(message.name == bytes(name))
        #expect(message.secret == bytes(secret))
    }

    @Test(arguments: [
        "", "\0", "\0\0", "user\0pencil", "\0user\0", "\0\0pencil", "\0user\0pen\0cil",
        "\0user\0pencil\0", "\0user",
    ])
    func `do not arrive by a malformed PLAIN`(text: String) {
        #expect(throws: SASLError.malformed) { try PlainMessage(reading: bytes(text)) }
    }

    @Test func `limits of PLAIN`() throws {
        func message(authorization: Int = 0, name: Int = 1, secret: Int = 1) -> [UInt8] {
            func some(_ count: Int) -> String { String(repeating: "a", count: count) }
            return bytes("\(some(authorization))\0\(some(name))\0\(some(secret))")
        }
        _ = try PlainMessage(reading: message(authorization: 3_071, name: 1_023, secret: 8_192))
        for long in [message(authorization: 3_072), message(name: 1_024), message(secret: 8_193)] {
            #expect(throws: SASLError.malformed) { try PlainMessage(reading: long) }
        }
        #expect(throws: SASLError.malformed) {
            try PlainMessage(reading: [0, 0xFF, 0, 0x61])
        }
    }
}
