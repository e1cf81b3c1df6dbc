// The bytes of which HTTP is made (RFC 9110, 5.6).

extension UInt8 {
    /// Whether a token may contain it (RFC 9110, 5.6.2).
    public var isTokenByte: Bool { isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// Whether it is an ASCII letter or a decimal digit.
    public var isLetterOrDigit: Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= lowercasedASCII || isDigit
    }

    /// Whether it is a space or a tab.
    public var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether it is a decimal digit.
    public var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    /// Its value as a hexadecimal digit; nil if it is none.
    public var hexValue: UInt8? {
        switch lowercasedASCII {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): lowercasedASCII - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// The small letter for A to Z, and every other byte as it is.
    public var lowercasedASCII: UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self
    }
}

extension Sequence<UInt8> {
    /// The bytes with the letters A to Z in lower case, and no others changed: what Unicode takes
    /// for the same letter is another one here.
    public var lowercasedASCII: [UInt8] { map(\.lowercasedASCII) }
}

extension BidirectionalCollection<UInt8> where SubSequence == ArraySlice<UInt8> {
    /// The bytes without the spaces and tabs at both ends.
    public var withoutBlanks: ArraySlice<UInt8> {
        var bytes = drop { $0.isBlank }
        while bytes.last?.isBlank == true { bytes.removeLast() }
        return bytes
    }
}
