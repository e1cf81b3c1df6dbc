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
