/// A text that is the same as another only if both have the same bytes.
///
/// A `String` equals every other that is canonically equivalent, such as U+212B and U+00C5. As
/// names of issuers, keys and hosts they are different: the issuer of one is not the issuer
/// of the other.
public struct ExactText: Hashable, Sendable, Decodable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The text.
    public let text: String

    /// The text of these bytes.
    public init(_ text: String) { self.text = text }

    /// A text of the program.
    public init(stringLiteral text: String) { self.text = text }

    /// The text.
    public var description: String { text }

    /// The text of a decoder.
    public init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    /// Whether both have the same bytes.
    public static func == (one: Self, other: Self) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(text.utf8.count)
    }

    /// Whether the bytes begin with those of another text.
    public func hasPrefix(_ other: Self) -> Bool { text.utf8.starts(with: other.text.utf8) }

    /// Whether the bytes end with those of another text.
    public func hasSuffix(_ other: Self) -> Bool {
        text.utf8.reversed().starts(with: other.text.utf8.reversed())
    }

    /// With a to z for A to Z, and every other character as it is.
    public var lowercasedASCII: Self {
        let bytes = text.utf8.map { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        return Self(String(decoding: bytes, as: UTF8.self))
    }
}
