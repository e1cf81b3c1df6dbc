/// The phase of the negotiation of a stream (RFC 6120, 4.3).
public enum StreamPhase: UInt8, CaseIterable, Hashable, Sendable {
    /// Not encrypted, not authenticated.
    case clear
    /// Encrypted, not authenticated.
    case secured
    /// Authenticated; the client must bind a resource.
    case authenticated
    /// The session has its full JID, and stanzas are exchanged.
    case bound
    /// Closed by either side. Nothing is read any more.
    case ended
}
