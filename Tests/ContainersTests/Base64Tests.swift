import Containers
import Testing

@Suite struct `Base64 tests` {
    /// RFC 4648, 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `encodes and decodes`(text: String, encoded: String) {
        #expect(Base64.encoded(Array(text.utf8)) == Array(encoded.utf8))
        #expect(Base64.decoded(encoded.utf8) == Array(text.utf8))
    }

    @Test func `every byte in every place returns`() {
        for byte in UInt8.min ... .max {
            for count in 1...4 {
                for place in 0..<count {
                    var bytes = [UInt8](repeating: 0x5A, count: count)
                    bytes[place] = byte
                    #expect(Base64.decoded(Base64.encoded(bytes)) == bytes)
                }
            }
        }
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "Zg== ", "Zm9v=", "Zm9v====", "====", "=Zg=", "Z===", "Zh==",
        "Zm9=", "Zm-v", "Zm_v", "Zm9v\n", "Zm9vZg==Zm9v", "Zmäv",
    ])
    func `accepts one encoding only`(text: String) {
        #expect(Base64.decoded(text.utf8) == nil)
    }
}

@Suite struct `Base64url tests` {
    /// RFC 4648, 10, without the padding.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
        ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
    ])
    func `encodes and decodes`(text: String, encoded: String) {
        #expect(Base64URL.encoded(Array(text.utf8)) == encoded)
        #expect(Base64URL.decoded(encoded.utf8) == Array(text.utf8))
    }

    @Test func `every byte in every place returns`() {
        for byte in UInt8.min ... .max {
            for count in 1...4 {
                for place in 0..<count {
                    var bytes = [UInt8](repeating: 0x5A, count: count)
                    bytes[place] = byte
                    let text = Base64URL.encoded(bytes)
                    #expect(Base64URL.decoded(text.utf8) == bytes)
                    #expect(!text.contains { "+/=".contains($0) })
                }
            }
        }
    }

    @Test func `ignores bits that no byte has`() {
        #expect(Base64URL.decoded("Zh".utf8) == Array("f".utf8))
        #expect(Base64URL.decoded("Zm9".utf8) == Array("fo".utf8))
    }

    @Test(arguments: ["Z", "Zg==", "Zm8=", "Zm9vY", "Zm+v", "Zm/v", "Zm9v\n", " Zm9v", "Zmäv"])
    func `accepts no other text`(text: String) {
        #expect(Base64URL.decoded(text.utf8) == nil)
    }
}
