import EventLoop
import Logging
import PresenceStore

/// Drives a reactor: passes on the loop's events and the mailbox's contents, without logic.
///
/// Each call is one access to the reactor. The compiler proves that accesses do not overlap; in a
/// class, each property would be checked on each use.
final class Driver: LoopHandler {
    var reactor: Reactor<Loop, Store>
    /// The actions for signals; to be set before the loop runs.
    var signals: [CInt: SignalMeaning] = [:]
    private let mailbox: Mailbox

    init(_ reactor: consuming Reactor<Loop, Store>, _ mailbox: Mailbox) {
        self.reactor = reactor
        self.mailbox = mailbox
    }

    func streamAccepted(_ id: StreamID) {
        reactor.beginTurn()
        reactor.accept(id)
    }

    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {
        reactor.beginTurn()
        unsafe reactor.receive(RawSpan(_unsafeBytes: bytes), from: id)
    }

    func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        reactor.beginTurn()
        reactor.streamEnded(id, reason)
    }

    func streamDrained(_ id: StreamID) {
        reactor.beginTurn()
        reactor.streamDrained(id)
    }

    func streamClosed(_ id: StreamID) { reactor.streamClosed(id) }
    func acceptFailed(_ error: UVError) { reactor.acceptFailed(error) }
    // Deadlines are handled at the end of the turn, after the input that has arrived.
    func timerFired() { reactor.beginTurn() }
    func turnEnded() { reactor.turnEnded() }

    func wokenUp() {
        reactor.beginTurn()
        let contents = mailbox.take()
        reactor.report(contents.outcomes)
        reactor.report(contents.verdicts)
        for socket in contents.internalSockets {
            reactor.acceptInternal(reactor.loop.adopt(socket))
        }
        if var configuration = contents.configuration {
            configuration.admission.fillInFromMachine()
            reactor.apply(configuration)
        }
        if contents.isToStop { reactor.beginStopping() }
    }

    func signalReceived(_ signal: CInt) {
        switch signals[signal] {
        case .stop:
            reactor.logger.info("stopping", metadata: ["signal": "\(signal)"])
            reactor.beginStopping()
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
