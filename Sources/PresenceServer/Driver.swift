import Connections
import EventLoop
import Logging
import PresenceStore
import SecureLoop

/// Drives the connection loop and the engine host on one thread: passes on the loop's events and
/// the mailbox's contents, without logic.
///
/// Each call is one access to the value. The compiler proves that accesses do not overlap; in a
/// class, each property would be checked on each use.
final class Driver: LoopHandler {
    var connections: ConnectionLoop<SecureLoop, InlineLink<Store, Loop>>
    /// The actions for signals; to be set before the loop runs.
    var signals: [CInt: SignalMeaning] = [:]
    private let mailbox: Mailbox
    private var outcomes = OutcomeQueue()

    init(
        _ connections: consuming ConnectionLoop<SecureLoop, InlineLink<Store, Loop>>,
        _ mailbox: Mailbox
    ) {
        self.connections = connections
        self.mailbox = mailbox
    }

    func streamAccepted(_ id: StreamID) { preconditionFailure("a stream without its listener") }

    func streamAccepted(_ id: StreamID, listener: Int) {
        connections.beginTurn()
        connections.accept(id, on: connections.configuration.listeners[listener])
    }

    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {
        connections.beginTurn()
        unsafe connections.receive(RawSpan(_unsafeBytes: bytes), from: id)
    }

    func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        connections.beginTurn()
        connections.streamEnded(id, reason)
    }

    func streamDrained(_ id: StreamID) {
        connections.beginTurn()
        connections.streamDrained(id)
    }

    func streamClosed(_ id: StreamID) { connections.streamClosed(id) }
    func acceptFailed(_ error: UVError) { connections.acceptFailed(error) }
    // Deadlines are handled at the end of the turn, after the input that has arrived.
    func timerFired() { connections.beginTurn() }
    func turnEnded() {
        connections.turnEnded()
        // The next turn continues with them.
        if !outcomes.isEmpty, connections.phase != .stopped { mailbox.wakeHost() }
    }

    func wokenUp() {
        connections.beginTurn()
        let mail = mailbox.take()
        outcomes.append(mail.outcomes)
        reportOutcomes()
        connections.withHost { host, now in
            host.take(mail, at: now)
            host.takeInProcess(at: now)
        }
    }

    /// Reports what has become of writes, as far as this turn has room for the answers.
    private func reportOutcomes() {
        while !outcomes.isEmpty {
            var work = 0
            connections.withHost { host, now in
                outcomes.report(to: &host, at: now)
                work = host.output.cost >> 10
            }
            connections.clients.budget.spendAnswers(work)
            guard connections.clients.budget.hasRoomForAnswers else { return }
        }
    }

    func signalReceived(_ signal: CInt) {
        switch signals[signal] {
        case .stop:
            connections.clients.logger.info(
                "stopping", metadata: ["signal": .stringConvertible(signal)])
            connections.withHost { host, _ in host.beginStopping() }
        case .call(let body):
            body()
        case nil:
            break
        }
    }
}

/// The action for a signal, in place of the system's default.
public enum SignalMeaning {
    /// The service shuts down in order.
    case stop
    /// Calls this on the loop's thread; work that takes time belongs elsewhere.
    case call(() -> Void)
}
