// Normalisation by the standard library, which has NFC but offers it as SPI only. The alternatives
// are Foundation, which pure modules do not import, and Unicode tables of our own. NFKC, which
// SASLprep (RFC 4013) asks for, is not there at all; RFC 8265, which replaces SASLprep, asks for
// NFC.
@_spi(_Unicode) import Swift

/// Why a password is not accepted.
public enum PasswordError: Error, Hashable, Sendable {
    /// It has no bytes.
    case empty
    /// It has more than `Password.bytesMax` bytes.
    case tooLong
    /// It is not UTF-8.
    case notUTF8
    /// It has a character that no password may have.
    case forbiddenCharacter
}

/// A password in the form in which keys are derived from it: the profile OpaqueString of RFC 8265.
///
/// Printable ASCII stays as it is. Of other texts, each kind of space becomes U+0020, and the rest
/// is normalised to NFC, so that the way in which a keyboard composes `é` does not matter. Case is
/// kept. Not accepted are:
/// * no bytes, more than 1,024 bytes before or after normalisation, bytes that are not UTF-8;
/// * control characters, unassigned and private-use characters, noncharacters;
/// * characters that are not visible (default ignorable: joiners, directional marks, variation
///   selectors, the soft hyphen), and conjoining Hangul that is not composed.
///
/// Two differences from what clients may do are known. A client that applies SASLprep turns
/// compatibility characters, such as `ﬁ` or full-width letters, into ordinary ones, and proves
/// another password with SCRAM; with PLAIN the password arrives as it was typed. The rules of
/// RFC 8264 for joiners in some scripts are not implemented: joiners are not accepted.
public struct Password: Sendable {
    /// The most bytes, before and after normalisation.
    public static let bytesMax = 1_024

    /// The normalised UTF-8; never empty.
    let bytes: [UInt8]

    /// Checks and normalises what a user has typed.
    public init(_ typed: some Collection<UInt8>) throws(PasswordError) {
        guard !typed.isEmpty else { throw .empty }
        guard typed.count <= Self.bytesMax else { throw .tooLong }
        if typed.allSatisfy({ (0x20...0x7E).contains($0) }) {
            bytes = Array(typed)
            return
        }
        guard let text = String(validating: typed, as: UTF8.self) else { throw .notUTF8 }
        let spaced = String(String.UnicodeScalarView(text.unicodeScalars.map(Self.spaced)))
        var prepared = String.UnicodeScalarView()
        for scalar in spaced._nfc {
            guard Self.accepts(scalar) else { throw .forbiddenCharacter }
            prepared.append(scalar)
        }
        bytes = Array(String(prepared).utf8)
        guard bytes.count <= Self.bytesMax else { throw .tooLong }
    }

    private static func spaced(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        scalar.properties.generalCategory == .spaceSeparator ? " " : scalar
    }

    private static func accepts(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
            return false
        default: break
        }
        switch scalar.value {
        // Hangul that NFC composes is not seen here; what is left over has no modern syllable.
        case 0x1100...0x11FF, 0xA960...0xA97F, 0xD7B0...0xD7FF: return false
        default:
            return !properties.isDefaultIgnorableCodePoint && !properties.isNoncharacterCodePoint
        }
    }
}

extension Password: CustomStringConvertible {
    /// Never the password.
    public var description: String { "Password" }
}
