/// Names in the negotiation of a stream.
enum StreamName {
    private static let letters = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)

    /// Random text: five bits a character.
    static func random(_ count: Int, using random: inout some RandomNumberGenerator) -> [UInt8] {
        var bits: UInt64 = 0
        return (0..<count).map { number in
            // 64 random bits are enough for twelve characters.
            if number % 12 == 0 { bits = random.next() }
            defer { bits >>= 5 }
            return letters[Int(bits & 31)]
        }
    }
}
