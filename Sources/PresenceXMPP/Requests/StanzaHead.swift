internal import XML

/// What an answer repeats of a stanza.
public struct StanzaHead: Hashable, Sendable {
    /// Which stanza it is.
    public var kind: Stanza.Kind
    /// Its id; nil: it has none.
    public var id: [UInt8]?
    /// Its address as it was sent; nil: it has none.
    public var to: [UInt8]?
    /// The text of a message: clients show it as not delivered if the error has it. Nil: none, or
    /// more than `bodyBytesMax`.
    public var body: [UInt8]?

    /// Longer texts are not repeated.
    public static let bodyBytesMax = 4_096

    /// A head.
    public init(
        _ kind: Stanza.Kind, id: [UInt8]? = nil, to: [UInt8]? = nil, body: [UInt8]? = nil
    ) {
        self.kind = kind
        self.id = id
        self.to = to
        self.body = body
    }

    init(_ stanza: Stanza) {
        kind = stanza.kind
        id = stanza.element.attribute("id").map { Array($0) }
        to = stanza.element.attribute("to").map { Array($0) }
        if kind == .message {
            body = stanza.element.first("body", in: Namespace.client)?.text
            if body?.count ?? 0 > Self.bodyBytesMax { body = nil }
        }
    }
}

extension Stanza.Kind {
    /// The name of its element.
    var name: StaticString {
        switch self {
        case .message: "message"
        case .presence: "presence"
        case .iq: "iq"
        }
    }
}
