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
        // Compatibility characters are the ordinary ones: NFKC.
        ("\u{FB01}\u{FF21}", "fiA"), ("密码１２３", "密码123"), ("ＡＢ１２", "AB12"),
        ("ｶﾞ", "ガ"), ("x²", "x2"), ("\u{1E9B}\u{323}", "\u{1E69}"),
        ("\u{FDFA}", "صلى الله عليه وسلم"),
        // RFC 4013, section 3.
        ("I\u{AD}X", "IX"), ("user", "user"), ("USER", "USER"), ("\u{AA}", "a"), ("\u{2168}", "IX"),
        // Joiners and selectors vanish.
        ("👨\u{200D}👧", "👨👧"), ("❤\u{FE0F}", "❤"), ("a\u{FEFF}", "a"), ("a\u{200B}b", "a b"),
        ("\u{5D0}1\u{5D0}", "\u{5D0}1\u{5D0}"),
        ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("straße", "straße"), ("密码", "密码"),
        ("😀", "😀"),
    ])
    func `are normalised`(typed: String, prepared: String) throws {
        #expect(try Password(bytes(typed)).bytes == bytes(prepared))
    }

    @Test(arguments: [
        0, 0x7, 0x9, 0xA, 0x7F, 0x85, 0x378, 0x6DD, 0x1100, 0x115F, 0x180E, 0x2028, 0x202E, 0x2FF0,
        0xE000, 0xFDD0, 0xFFF9, 0xFFFD, 0xFFFE, 0xE0041, 0x10FFFD, 0x10FFFF,
    ])
    func `with some characters are rejected`(value: UInt32) throws {
        let scalar = Character(try #require(Unicode.Scalar(value)))
        for typed in ["\(scalar)", "a\(scalar)b"] {
            #expect(throws: PasswordError.forbiddenCharacter) { try Password(bytes(typed)) }
        }
    }

    @Test(arguments: ["\u{627}1", "1\u{627}", "\u{627}a\u{627}", "a\u{5D0}", "שלום123"])
    func `with letters of both directions are rejected`(typed: String) {
        #expect(throws: PasswordError.mixedDirections) { try Password(bytes(typed)) }
    }

    @Test(arguments: [
        ("pencil", nil), ("密码", nil), ("\u{E9}", nil), ("密码１", Password.Remark.isChanged),
        ("e\u{301}", .isChanged), ("a\u{A0}b", .isChanged), ("I\u{AD}X", .isChanged),
        ("😀", .hasNewCharacters), ("😀１", .isChanged),
    ])
    func `have a remark if some clients prove another`(
        typed: String, remark: Password.Remark?
    ) throws {
        #expect(try Password(bytes(typed)).remark == remark)
    }

    /// Compared with a reader of the tables in RFC 3454 and of Unicode 3.2 in another language, by
    /// a hash over all its characters: each one alone, behind a letter from left to right, and
    /// between two from right to left.
    @Test func `are prepared as by others`() throws {
        // Corrected since Unicode 3.2.
        let corrected: Set<UInt32> = [0x2F868, 0x2F874, 0x2F91F, 0x2F95F, 0x2F9BF]
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        var count = 0
        for value in UInt32(0)...0x10FFFF where !corrected.contains(value) {
            guard let scalar = Unicode.Scalar(value), isInUnicode32(scalar) else { continue }
            count += 1
            for text in ["\(scalar)", "a\(scalar)", "\u{5D0}\(scalar)\u{5D0}"] {
                do throws(PasswordError) {
                    for byte in String(try SASLprep.prepared(text)).utf8 { add(byte) }
                    add(0xFF)
                } catch { add(error == .mixedDirections ? 0xFD : 0xFE) }
            }
        }
        #expect(count == 232_750)
        #expect(hash == 0x8FED_1FAA_70CB_0A6D)
    }

    private func isInUnicode32(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.properties.isNoncharacterCodePoint else { return true }
        guard let age = scalar.properties.age else { return false }
        return (age.major, age.minor) <= (3, 2)
    }

    @Test func `are bounded`() throws {
        #expect(throws: PasswordError.empty) { try Password([]) }
        #expect(throws: PasswordError.empty) { try Password(bytes("\u{AD}\u{200D}")) }
        func some(_ count: Int) -> [UInt8] { Array(repeating: 0x61, count: count) }
        #expect(try Password(some(1_024)).bytes.count == 1_024)
        #expect(throws: PasswordError.tooLong) { try Password(some(1_025)) }
        // NFKC makes two characters of each of these: six bytes of three.
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
