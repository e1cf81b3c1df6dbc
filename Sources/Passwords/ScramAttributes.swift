/// The attributes `a=value` of a message of SCRAM, between commas (RFC 5802, 5.1 and 7).
struct ScramAttributes {
    private var rest: ArraySlice<UInt8>
    /// Whether something, if only an empty attribute, is left.
    private(set) var isAtEnd = false

    init(_ text: ArraySlice<UInt8>) {
        rest = text
    }

    /// The value of the next attribute, which must have this name and a value that is not empty.
    mutating func value(of name: Unicode.Scalar) throws(SASLError) -> ArraySlice<UInt8> {
        let (found, value) = try next()
        guard found == UInt8(ascii: name) else { throw .malformed }
        return value
    }

    /// The next attribute.
    mutating func next() throws(SASLError) -> (name: UInt8, value: ArraySlice<UInt8>) {
        guard !isAtEnd else { throw .malformed }
        let comma = rest.firstIndex(of: UInt8(ascii: ","))
        let attribute = rest[..<(comma ?? rest.endIndex)]
        if let comma {
            rest = rest[(comma + 1)...]
        } else {
            rest = []
            isAtEnd = true
        }
        guard attribute.count > 2, let name = attribute.first, Self.isLetter(name),
            attribute[attribute.startIndex + 1] == UInt8(ascii: "=")
        else { throw .malformed }
        return (name, attribute[(attribute.startIndex + 2)...])
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// A name as it was meant: `=2C` is a comma, `=3D` an equals sign, and no other `=` is allowed.
    static func name(_ text: ArraySlice<UInt8>) throws(SASLError) -> [UInt8] {
        var name: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                name.append(byte)
                continue
            }
            switch Array(rest.prefix(2)) {
            case Array("2C".utf8): name.append(UInt8(ascii: ","))
            case Array("3D".utf8): name.append(UInt8(ascii: "="))
            default: throw .malformed
            }
            rest.removeFirst(2)
        }
        return name
    }

    /// Whether a text may be a nonce: printable ASCII. It has no comma.
    static func isNonce(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
