// Accounts as local parts of JIDs. Every account has exactly one, and back.
//
// Clients prepare a local part by RFC 7622: they may lower letters, compose and decompose, and
// refuse characters. So only what no preparation changes stands for itself: some of ASCII, and
// letters and digits without a compatible or folded form. Every other byte of the name is `\` and
// two hexadecimal digits, which includes the ten escapes of XEP-0106: `Bob` is `\42ob`. What comes
// in is decided scalar by scalar and strictly: a local part that is not exactly that of its account
// is malformed, so that no two of them mean the same account.

/// The local part of an account's JID.
public enum Localpart {
    /// The account that a local part names; nil: malformed. Capital letters of ASCII count as
    /// small ones.
    public static func account(of localpart: some Collection<UInt8>) -> [UInt8]? {
        let prepared = localpart.map(lowered)
        var account: [UInt8] = []
        var rest = prepared[...]
        while let byte = rest.popFirst() {
            guard byte == escape else {
                account.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit),
                let low = rest.popFirst().flatMap(digit)
            else { return nil }
            account.append(high << 4 | low)
        }
        // Escapes of what needs none, and characters that need them, are found here.
        guard AccountName.isAccount(account), self.localpart(of: account) == prepared else {
            return nil
        }
        return account
    }

    /// The local part of an account.
    public static func localpart(of account: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLocalpart(of: account)
        return bytes
    }

    fileprivate static let escape = UInt8(ascii: "\\")
    fileprivate static let digits: StaticString = "0123456789abcdef"

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Whether a byte of ASCII stands for itself.
    fileprivate static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: "="),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Whether a character beyond ASCII stands for itself.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Letters that compose with the letter before them: jamo, and two vowels of Kirat Rai.
        case 0x1100...0x11FF, 0xA960...0xA97F, 0xD7B0...0xD7FF, 0x16D63, 0x16D67: return false
        default: break
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber:
            // Cherokee is lowered by one and raised by the other.
            let properties = scalar.properties
            return !properties.changesWhenNFKCCaseFolded && !properties.changesWhenLowercased
        default: return false
        }
    }

    /// The bytes of the character at the beginning of `bytes`; nil: not UTF-8.
    fileprivate static func scalar(
        at bytes: ArraySlice<UInt8>
    ) -> (scalar: Unicode.Scalar, count: Int)? {
        let count =
            switch bytes.first ?? 0 {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 0
            }
        guard count > 0, let text = String(validating: bytes.prefix(count), as: UTF8.self),
            let scalar = text.unicodeScalars.first
        else { return nil }
        return (scalar, count)
    }
}

extension [UInt8] {
    /// Appends the local part of an account. It has no characters that XML would escape.
    public mutating func appendLocalpart(of account: some Collection<UInt8>) {
        var rest = ArraySlice(account)
        while let byte = rest.first {
            if Localpart.isPlain(byte) {
                append(byte)
                rest.removeFirst()
                continue
            }
            let scalar = byte < 0x80 ? nil : Localpart.scalar(at: rest)
            let count = scalar?.count ?? 1
            if let scalar, Localpart.isPlain(scalar.scalar) {
                append(contentsOf: rest.prefix(count))
            } else {
                for byte in rest.prefix(count) { appendEscape(byte) }
            }
            rest.removeFirst(count)
        }
    }

    private mutating func appendEscape(_ byte: UInt8) {
        append(Localpart.escape)
        Localpart.digits.withUTF8Buffer { digits in
            unsafe append(digits[Int(byte >> 4)])
            unsafe append(digits[Int(byte & 15)])
        }
    }
}
