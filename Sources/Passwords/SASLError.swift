/// Why a message of SASL is not accepted.
public enum SASLError: Error, Hashable, Sendable {
    /// It does not have the form that its mechanism asks for, or a field is above its limit.
    case malformed
    /// It asks for channel binding, or for an extension that must be understood.
    case unsupported
    /// It is of another exchange, or proves another password.
    case notAuthorized
}

/// Limits of the fields of SASL messages, in bytes.
public enum SASLLimits {
    /// A name to authenticate as: the local part of a JID.
    public static let nameBytesMax = 1_023
    /// A name to act as: a whole JID.
    public static let authorizationBytesMax = 3_071
    /// A password of PLAIN, which may also be a token.
    public static let secretBytesMax = 8_192
    /// A nonce of a client.
    public static let nonceBytesMax = 256
    /// A message of SCRAM.
    public static let messageBytesMax = 8_192
}
