/// Names in the negotiation of a stream.
enum StreamName {
    /// The most bytes of a resource, which is the name of a device.
    static let resourceBytesMax = 64

    /// A client's resource, if it may have it.
    static func resource(_ wished: [UInt8]) -> [UInt8]? {
        guard (1...resourceBytesMax).contains(wished.count),
            wished.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        return wished
    }

    /// A client's local part of a JID, as it is compared: with small ASCII letters. Nil: it is none
    /// (RFC 7622, 3.3).
    static func account(_ local: [UInt8]) -> [UInt8]? {
        guard (1...1_023).contains(local.count), String(validating: local, as: UTF8.self) != nil
        else { return nil }
        let forbidden = Array("\"&'/:<>@".utf8)
        guard local.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !forbidden.contains($0) }) else {
            return nil
        }
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return local.map { capitals.contains($0) ? $0 | 0x20 : $0 }
    }

    private static let letters = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)

    /// Random text: five bits a character.
    static func random(_ count: Int, using random: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }
    }
}
