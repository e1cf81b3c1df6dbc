/// What one account says to another about being seen. The names are those of RFC 6121, section 3.
public enum RelationWord: UInt8, CaseIterable, Sendable {
    /// The sender asks to see the other.
    case subscribe
    /// The sender does not want to see the other any more, or takes its request back.
    case unsubscribe
    /// The sender lets the other see it: at once, or when the other asks.
    case subscribed
    /// The sender does not let the other see it, or not any more.
    case unsubscribed
}

/// Whether one account sees another by approval: the state of one direction of a relationship.
public enum RelationState: UInt8, CaseIterable, Sendable {
    case none
    /// It has asked and has no answer yet.
    case pending
    /// The other has accepted.
    case active
}
