internal import XML

/// An error that is answered with a stanza of type `error` (RFC 6120, 8.3).
public struct StanzaError: Error, Hashable, Sendable {
    /// What the sender should do about it.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case auth, cancel, modify, wait
    }

    /// The defined conditions that are used, by the name of their element.
    public enum Condition: String, CaseIterable, Hashable, Sendable {
        case badRequest = "bad-request"
        case conflict
        case forbidden
        case internalServerError = "internal-server-error"
        case itemNotFound = "item-not-found"
        case jidMalformed = "jid-malformed"
        case notAcceptable = "not-acceptable"
        case notAllowed = "not-allowed"
        case policyViolation = "policy-violation"
        case remoteServerNotFound = "remote-server-not-found"
        case resourceConstraint = "resource-constraint"
        case serviceUnavailable = "service-unavailable"
    }

    /// What the sender should do about it.
    public var kind: Kind
    /// What is wrong.
    public var condition: Condition
    /// What a developer should know besides; empty: nothing. Never has input in it.
    public var text: String

    /// An error.
    public init(_ kind: Kind, _ condition: Condition, _ text: String = "") {
        self.kind = kind
        self.condition = condition
        self.text = text
    }

    /// The stanza is not as its schema says.
    public static func badRequest(_ text: String = "") -> Self {
        Self(.modify, .badRequest, text)
    }

    /// The value is not allowed.
    public static func notAcceptable(_ text: String) -> Self {
        Self(.modify, .notAcceptable, text)
    }

    /// A value is longer than allowed.
    public static func tooLong(_ text: String) -> Self {
        Self(.modify, .policyViolation, text)
    }

    /// An element of the stanza has more than is read of it.
    public static let elementsTooLarge = tooLong(
        "An element has at most \(XMLLimits.attributesMax) attributes with values of "
            + "\(XMLLimits.valueBytesMax) bytes. Names have at most \(XMLLimits.nameBytesMax) "
            + "bytes, those of namespaces \(XMLLimits.namespaceBytesMax), and a stanza has at "
            + "most \(XMLLimits.namespacesMax) namespaces.")
    /// The address cannot be one of an account.
    public static let jidMalformed = Self(.modify, .jidMalformed)
    /// The address has another domain.
    public static let remoteServerNotFound = Self(
        .cancel, .remoteServerNotFound, "This service has no connections to other domains.")
    /// Not possible here, or not there.
    public static let serviceUnavailable = Self(.cancel, .serviceUnavailable)
    /// There is no such thing.
    public static let itemNotFound = Self(.cancel, .itemNotFound)
    /// Not for this sender.
    public static let forbidden = Self(.auth, .forbidden)
    /// Never possible.
    public static let notAllowed = Self(.cancel, .notAllowed)
    /// The cards of all accounts have as many bytes as they may have.
    public static let cardsFull = Self(
        .wait, .resourceConstraint, "The service has no room for more vCards.")
    /// Another account has the name that was to be registered.
    public static let nameTaken = Self(
        .cancel, .conflict, "The name is taken: choose another.")
    /// What the client has logged in with is not valid any more.
    public static let passwordChanged = Self(
        .auth, .forbidden, "The password has changed since the login.")
    /// The account has no password that the client could change.
    public static let passwordsNotChanged = Self(
        .cancel, .notAllowed,
        "A password is changed by a client that has logged in with one, where the service takes "
            + "passwords.")
}
