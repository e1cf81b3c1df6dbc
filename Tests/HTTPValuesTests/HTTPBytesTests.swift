import HTTPValues
import Testing

@Suite struct `Bytes of HTTP` {
    @Test func `are of the kinds that RFC 9110 says`() {
        let digits = "0123456789"
        let letters = "abcdefghijklmnopqrstuvwxyz"
        let both = letters + letters.uppercased() + digits
        let token = "!#$%&'*+-.^_`|~" + both
        for byte in UInt8.min...UInt8.max {
            #expect(byte.isDigit == digits.utf8.contains(byte), "\(byte)")
            #expect(byte.isLetterOrDigit == both.utf8.contains(byte), "\(byte)")
            #expect(byte.isTokenByte == token.utf8.contains(byte), "\(byte)")
            #expect(byte.isBlank == " \t".utf8.contains(byte), "\(byte)")
            let character = Character(Unicode.Scalar(byte))
            #expect(byte.hexValue.map(Int.init) == character.hexDigitValue, "\(byte)")
            let lower = letters.uppercased().utf8.contains(byte) ? byte + 32 : byte
            #expect(byte.lowercasedASCII == lower, "\(byte)")
        }
    }

    @Test(arguments: [
        ("", ""), (" \t ", ""), ("a", "a"), ("\ta b ", "a b"), (" \u{0B}a\r\n", "\u{0B}a\r\n"),
        ("\u{A0} a", "\u{A0} a"),
    ])
    func `lose blanks at both ends, and no others`(text: String, expected: String) {
        #expect(Array(text.utf8).withoutBlanks.elementsEqual(expected.utf8))
        #expect(Array((text + "x").utf8).dropLast().withoutBlanks.elementsEqual(expected.utf8))
    }

    @Test func `have small letters for large ones`() {
        #expect("ÄBC-z\u{212A}".utf8.lowercasedASCII == Array("Äbc-z\u{212A}".utf8))
    }
}
