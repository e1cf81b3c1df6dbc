import PresenceCore

/// How a connection loop reaches the engine host.
///
/// What the loop hands over arrives in order, and so does what it gets. Answers may come at once or
/// later, by `ConnectionLoop.take`.
protocol EngineLink: ~Copyable {
    /// Hands over what the loop has, and empties the buffer. What there is for the loop already is
    /// put into `outbound`, which is empty before.
    mutating func exchange(_ inbound: inout Inbound, into outbound: inout Outbound, at now: Moment)

    /// The loop has read what came, and will write its outboxes next. Deadlines of the engine are
    /// met that came by `heardUpTo`, when the sockets had last been looked at.
    mutating func advance(
        to now: Moment, heardUpTo: Mono, into outbound: inout Outbound
    )

    /// The loop's turn has ended: hands what is to be stored to the store.
    mutating func endTurn(at now: Moment, into outbound: inout Outbound)

    /// When the loop is to call `advance` on the engine host's behalf; nil: not for that.
    func nextDeadline(at now: Moment) -> Mono?
}
