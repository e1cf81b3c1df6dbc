import EventLoop
import Logging
import PresenceStore

/// Drives a reactor: the loop's events and the mailbox's contents, passed on without logic.
///
/// Whatever the reactor does, it does within one access to it. That nothing overlaps in there is
/// proved by the compiler; in a class, each property would be checked each time it is used.
final class Driver: LoopHandler {
    var reactor: Reactor<Loop, Store>
    /// What is done when a signal comes; to be set before the loop runs.
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
    // What is due is done at the end of the turn, after those who have spoken are heard.
    func timerFired() { reactor.beginTurn() }
    func turnEnded() { reactor.turnEnded() }

    func wokenUp() {
        reactor.beginTurn()
        let contents = mailbox.take()
        reactor.report(contents.outcomes)
        reactor.report(contents.verdicts)
        for socket in contents.visitors { reactor.receive(visitor: reactor.loop.adopt(socket)) }
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

/// What is done when a signal comes, instead of what the system does.
public enum SignalMeaning {
    /// The service stops in order.
    case stop
    /// Somebody else is told, on the loop's thread: what takes time is to be done elsewhere.
    case call(() -> Void)
}
