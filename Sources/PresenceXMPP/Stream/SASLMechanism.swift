public import Passwords

/// A mechanism of SASL that is offered, the strongest first.
public enum SASLMechanism: String, CaseIterable, Hashable, Sendable {
    case scramSHA256 = "SCRAM-SHA-256"
    case scramSHA1 = "SCRAM-SHA-1"
    case plain = "PLAIN"

    /// The hash function; nil: not SCRAM.
    public var scramHash: ScramHash? {
        switch self {
        case .scramSHA256: .sha256
        case .scramSHA1: .sha1
        case .plain: nil
        }
    }
}

/// Why an authentication has failed (RFC 6120, 6.5), by the name of its element.
public enum SASLFailure: String, CaseIterable, Hashable, Sendable {
    case aborted
    case credentialsExpired = "credentials-expired"
    case encryptionRequired = "encryption-required"
    case incorrectEncoding = "incorrect-encoding"
    case invalidAuthzid = "invalid-authzid"
    case invalidMechanism = "invalid-mechanism"
    case malformedRequest = "malformed-request"
    case notAuthorized = "not-authorized"
    case temporaryAuthFailure = "temporary-auth-failure"

    init(_ error: SASLError) {
        switch error {
        case .malformed, .unsupported: self = .malformedRequest
        case .notAuthorized: self = .notAuthorized
        }
    }
}
