internal import XML

/// Why the service closes a stream (RFC 6120, 4.9).
public struct StreamError: Error, Hashable, Sendable {
    /// The defined conditions, by the name of their element, as far as they are used.
    public enum Condition: String, CaseIterable, Hashable, Sendable {
        case badFormat = "bad-format"
        case conflict
        case connectionTimeout = "connection-timeout"
        case hostUnknown = "host-unknown"
        case invalidFrom = "invalid-from"
        case invalidNamespace = "invalid-namespace"
        case notAuthorized = "not-authorized"
        case notWellFormed = "not-well-formed"
        case policyViolation = "policy-violation"
        case reset
        case resourceConstraint = "resource-constraint"
        case restrictedXML = "restricted-xml"
        case systemShutdown = "system-shutdown"
        case unsupportedEncoding = "unsupported-encoding"
        case unsupportedStanzaType = "unsupported-stanza-type"
        case unsupportedVersion = "unsupported-version"
    }

    /// The condition.
    public let condition: Condition
    /// What a developer should know besides; empty: nothing.
    public let text: String

    /// An error with an explanation that is fixed, never one that has input in it.
    public init(_ condition: Condition, _ text: String = "") {
        self.condition = condition
        self.text = text
    }

    static let otherDomain = StreamError(
        .hostUnknown, "The domain in `to` is not one that this service has been set up for.")

    init(of error: XMLError) {
        switch error {
        case .notWellFormed: self.init(.notWellFormed)
        case .restricted:
            self.init(
                .restrictedXML, "Doctypes, comments, instructions and entities are not accepted.")
        case .unsupportedEncoding: self.init(.unsupportedEncoding, "The encoding must be UTF-8.")
        case .badFormat: self.init(.badFormat)
        case .notOneElement:
            self.init(.notWellFormed, "A message has exactly one complete element.")
        case .secondHeader:
            self.init(
                .badFormat,
                "A header is sent only at the beginning, after STARTTLS and after the login.")
        case .namespace:
            self.init(.invalidNamespace, "No element is in the namespace of the prefix xml.")
        case .limit(let limit): self.init(.policyViolation, Self.text(limit))
        case .outOfMemory: self.init(.resourceConstraint)
        }
    }

    private static func text(_ limit: XMLLimit) -> String {
        switch limit {
        case .bytes: "The stanza has too many bytes."
        case .depth: "A stanza has at most \(XMLLimits.depthMax) elements in each other."
        case .nodes: "A stanza has at most \(XMLLimits.nodesMax) elements and texts."
        case .attributes:
            "The element of a stanza has at most \(XMLLimits.attributesMax) attributes."
        case .namespaces: "A stanza has at most \(XMLLimits.namespacesMax) namespaces."
        case .nameBytes:
            "A name has at most \(XMLLimits.nameBytesMax) bytes, that of a namespace "
                + "\(XMLLimits.namespaceBytesMax)."
        case .valueBytes:
            "The value of an attribute has at most \(XMLLimits.valueBytesMax) bytes."
        case .headerBytes:
            "The namespaces of the stream have more than \(XMLLimits.headerBytesMax) bytes."
        }
    }
}

extension [UInt8] {
    /// Appends a stream error and the end of the stream.
    mutating func append(_ error: StreamError, in framing: StreamFraming) {
        append(literal: "<stream:error>")
        append(
            condition: error.condition.rawValue, error.text,
            in: "urn:ietf:params:xml:ns:xmpp-streams")
        append(literal: "</stream:error>")
        appendStreamEnd(in: framing)
    }
}
