/// Names in the negotiation of a stream.
enum StreamName {
    private static let letters = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)

    /// Random text: five bits a character.
    static func random(_ count: Int, using random: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }
    }
}
