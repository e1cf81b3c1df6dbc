import Connections
import PresenceCore

/// How a connection loop reaches the engine host.
///
/// What the loop hands over arrives in order, and so does what it gets. Answers may come at once or
/// later, by `ConnectionLoop.take`.
protocol EngineLink: ~Copyable {
    /// Whether the memory of output that was carried out is used again. If other loops have parts
    /// of it, to empty it would copy it.
    static var reusesOutput: Bool { get }

    /// Hands over what the loop has, and empties the buffer. Output that is ready for the loop is
    /// put into `outbound`, which is empty before. Returns the units of work that the engine has
    /// had on this thread.
    mutating func exchange(
        _ inbound: inout Inbound, into outbound: inout Outbound, at now: Moment
    ) -> Int

    /// The loop has read what arrived, and will write its outboxes next. Deadlines of the engine
    /// fire that are due by `heardUpTo`, when the sockets were last polled.
    mutating func advance(
        to now: Moment, heardUpTo: Mono, into outbound: inout Outbound
    )

    /// The loop's turn has ended, and outboxes are written. Hands over what is left, and to the
    /// store what is to be stored.
    mutating func endTurn(
        at now: Moment, _ progress: WriteProgress, into outbound: inout Outbound)

    /// When the engine host needs a call of `advance`; nil: never, or it has a timer of its own.
    func nextDeadline(at now: Moment) -> Mono?
}

extension EngineLink where Self: ~Copyable {
    static var reusesOutput: Bool { true }
}
