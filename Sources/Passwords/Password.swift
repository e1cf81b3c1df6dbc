// Normalisation by the standard library, which has NFC but offers it as SPI only. The alternatives
// are Foundation, which pure modules do not import, and Unicode tables of our own. NFKC, which
// SASLprep asks for, is not there at all: what it has beyond NFC is a table (`SASLprepTables`).
@_spi(_Unicode) import Swift

/// Why a password is not accepted.
public enum PasswordError: Error, CaseIterable, Hashable, Sendable {
    /// It has no bytes, or none that are kept.
    case empty
    /// It has more than `Password.bytesMax` bytes.
    case tooLong
    /// It is not UTF-8.
    case notUTF8
    /// It has a character that no password may have.
    case forbiddenCharacter
    /// It mixes letters that are written from right to left with others.
    case mixedDirections
}

/// A password in the form in which keys are derived from it: that of SASLprep (RFC 4013), in which
/// clients of SCRAM prove it (RFC 5802).
///
/// Printable ASCII stays as it is. Of other texts, each kind of space becomes U+0020, some
/// invisible characters vanish, and the rest is normalised to NFKC: `１２` and `12` are one
/// password, and the way in which a keyboard composes `é` does not matter. Case is kept. Not
/// accepted are:
/// * no bytes, more than 1,024 bytes before or after preparation, bytes that are not UTF-8;
/// * control characters, unassigned and private-use characters, noncharacters;
/// * characters that are not visible (default ignorable: directional marks, fillers), unless
///   SASLprep removes them, and conjoining Hangul that is not composed;
/// * letters that are written from right to left together with others, or not at both ends.
///
/// Keys that were made before are of another form, `earlierForm`: NFC (RFC 8265).
public struct Password: Sendable {
    /// The most bytes, before and after preparation.
    public static let bytesMax = 1_024

    /// The prepared UTF-8; never empty.
    let bytes: [UInt8]
    /// What its user should know.
    public let remark: Remark?

    /// What may keep some clients from logging in by SCRAM. PLAIN is not concerned.
    public enum Remark: CaseIterable, Hashable, Sendable {
        /// SASLprep changes it: a client must apply that.
        case isChanged
        /// It has characters that are newer than Unicode 3.2: a client must not reject them.
        case hasNewCharacters
    }

    /// Checks and prepares what a user has typed.
    public init(_ typed: some Collection<UInt8>) throws(PasswordError) {
        guard let text = try Self.text(typed) else {
            bytes = Array(typed)
            remark = nil
            return
        }
        let prepared = try SASLprep.prepared(text)
        bytes = try Self.checked(prepared)
        if !bytes.elementsEqual(typed) {
            remark = .isChanged
        } else {
            remark = SASLprep.hasNewCharacters(prepared) ? .hasNewCharacters : nil
        }
    }

    /// The form in which keys were derived before they were of SASLprep: NFC.
    init(earlierFormOf typed: some Collection<UInt8>) throws(PasswordError) {
        remark = nil
        guard let text = try Self.text(typed) else {
            bytes = Array(typed)
            return
        }
        let spaced = String(String.UnicodeScalarView(text.unicodeScalars.map(Self.spaced)))
        var form = String.UnicodeScalarView()
        for scalar in spaced._nfc { form.append(scalar) }
        bytes = try Self.checked(form)
    }

    /// The forms of which stored keys may be: at most two.
    static func forms(of typed: [UInt8]) -> [Password] {
        let forms = [try? Password(typed), try? Password(earlierFormOf: typed)].compactMap(\.self)
        return forms.count == 2 && forms[0].bytes == forms[1].bytes ? [forms[0]] : forms
    }

    /// What was typed as text; nil: it is printable ASCII, and stays as it is.
    private static func text(_ typed: some Collection<UInt8>) throws(PasswordError) -> String? {
        guard !typed.isEmpty else { throw .empty }
        guard typed.count <= bytesMax else { throw .tooLong }
        guard !typed.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        guard let text = String(validating: typed, as: UTF8.self) else { throw .notUTF8 }
        return text
    }

    private static func checked(
        _ form: String.UnicodeScalarView
    ) throws(PasswordError) -> [UInt8] {
        guard form.allSatisfy(accepts) else { throw .forbiddenCharacter }
        let bytes = Array(String(form).utf8)
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= bytesMax else { throw .tooLong }
        return bytes
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

extension PasswordError {
    /// What is wrong, and what would be right: for users.
    public var sentence: String {
        switch self {
        case .empty: "The password is empty."
        case .tooLong: "The password has more than \(Password.bytesMax) bytes."
        case .notUTF8: "The password is not UTF-8."
        case .forbiddenCharacter:
            "The password has control characters, or characters that cannot be seen."
        case .mixedDirections:
            "A password with letters that are written from right to left begins and ends with one "
                + "and has no letters of other scripts (RFC 4013)."
        }
    }
}

extension Password.Remark {
    /// What its user should know.
    public var sentence: String {
        switch self {
        case .isChanged:
            "The password has characters that SASLprep (RFC 4013) replaces. A client that does not "
                + "apply it cannot log in by SCRAM."
        case .hasNewCharacters:
            "The password has characters that are newer than Unicode 3.2. Some clients cannot log "
                + "in with them by SCRAM."
        }
    }
}
