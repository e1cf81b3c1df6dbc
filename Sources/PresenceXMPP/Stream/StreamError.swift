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
        case undefinedCondition = "undefined-condition"
        case unsupportedEncoding = "unsupported-encoding"
        case unsupportedStanzaType = "unsupported-stanza-type"
        case unsupportedVersion = "unsupported-version"
    }

    /// The condition.
    public let condition: Condition
    /// What a developer should know besides; empty: nothing.
    public let text: String
    /// What an extension says besides.
    private(set) var detail = Detail.none

    /// What is said of an error of an extension.
    enum Detail: Hashable, Sendable {
        case none
        /// XEP-0198: the client has acknowledged more stanzas than it was sent.
        case acknowledgedTooMany(UInt32, sent: UInt32)
    }

    /// An error with an explanation that is fixed, never one that has input in it.
    public init(_ condition: Condition, _ text: String = "") {
        self.condition = condition
        self.text = text
    }

    static func acknowledgedTooMany(_ count: UInt32, sent: UInt32) -> StreamError {
        var error = StreamError(
            .undefinedCondition, "More stanzas were acknowledged than were sent.")
        error.detail = .acknowledgedTooMany(count, sent: sent)
        return error
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
        case .depth: "A stanza has at most \(XMLLimits.depthReadMax) elements in each other."
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
        if case .acknowledgedTooMany(let count, let sent) = error.detail {
            append(literal: "<handled-count-too-high xmlns='urn:xmpp:sm:3'")
            appendXML(attribute: "h", String(count).utf8)
            appendXML(attribute: "send-count", String(sent).utf8)
            append(literal: "/>")
        }
        append(literal: "</stream:error>")
        appendStreamEnd(in: framing)
    }
}
