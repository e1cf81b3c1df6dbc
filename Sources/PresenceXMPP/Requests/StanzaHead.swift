internal import XML

/// What an answer repeats of a stanza: none of its elements. Archives of clients take an error that
/// has the text of a message for words of the contact.
public struct StanzaHead: Hashable, Sendable {
    /// Which stanza it is.
    public var kind: Stanza.Kind
    /// Its id; nil: it has none.
    public var id: [UInt8]?
    /// Its address as it was sent; nil: it has none, or is a presence for an empty address.
    public var to: [UInt8]?

    /// A head.
    public init(_ kind: Stanza.Kind, id: [UInt8]? = nil, to: [UInt8]? = nil) {
        self.kind = kind
        self.id = id
        self.to = to
    }

    init(_ stanza: Stanza) {
        kind = stanza.kind
        id = stanza.element.attribute("id").map { Array($0) }
        to = stanza.element.attribute("to").map { Array($0) }
        // A presence is not rejected because its address was left empty: it is for all.
        if kind == .presence, to == [] { to = nil }
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
