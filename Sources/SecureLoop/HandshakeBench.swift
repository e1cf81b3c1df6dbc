import EventLoop
import TLSSessions

/// A connection's handshake, while it is not with the loop.
// SAFETY: One thread at a time uses it: the loop, then one worker, then the loop. It is passed on
// through the worker's thread and through `HandshakeResults`.
final class Handshake: @unchecked Sendable {
    let id: StreamID
    let context: TLSContext
    /// Made by the worker: until then there is no object of OpenSSL.
    var session: TLSSession?
    /// What the client has sent; after the handshake, the input of the open session.
    var input: [UInt8]
    /// What the client is to be sent.
    var output: [UInt8] = []
    var phase = TLSSession.Phase.handshaking
    /// When the client's hello was complete, by the loop's clock.
    let since: UInt64

    init(_ id: StreamID, _ context: TLSContext, hello: [UInt8], since: UInt64) {
        self.id = id
        self.context = context
        self.since = since
        input = hello
    }

    /// Reads the input.
    func advance(through wire: TLSWire) {
        if session == nil { session = TLSSession(context) }
        guard session != nil else {
            phase = .failed(.outOfMemory)
            return
        }
        var offset = 0
        phase = unsafe session?.handshake(input.span.bytes, from: &offset, through: wire) ?? phase
        input.removeFirst(offset)
        unsafe wire.withCiphertext { unsafe output.append(contentsOf: $0) }
        wire.dropCiphertext()
    }
}

/// Threads that carry out handshakes, for any number of loops.
///
/// A handshake costs 150 µs, and its sender almost nothing. On the loop, a few thousand of them in
/// a second would take the time of every connected client.
public final class HandshakeThreads: Sendable {
    private let workers: [Worker]

    /// This number of threads.
    public init(count: Int) {
        precondition(count > 0)
        workers = (0..<count).map(Worker.init)
    }

    /// The thread for a stream.
    fileprivate func worker(for id: StreamID) -> Worker { workers[Int(id.slot) % workers.count] }
}

/// Where a loop has its handshakes carried out.
final class HandshakeBench: Sendable {
    private let threads: HandshakeThreads
    private let results = HandshakeResults()
    private let wakeup: Wakeup

    init(_ threads: HandshakeThreads, wakeup: Wakeup) {
        self.threads = threads
        self.wakeup = wakeup
    }

    /// Continues a handshake on one of the threads; `takeDone` returns it.
    func submit(_ handshake: Handshake) {
        let worker = threads.worker(for: handshake.id)
        worker.thread.add { [self] in
            handshake.advance(through: worker.wire)
            if results.add(handshake) { wakeup.wake() }
        }
    }

    /// Takes the handshakes that have been continued. The loop's thread.
    func takeDone() -> [Handshake] { results.take() }
}

/// A thread, and the wire that it uses.
// SAFETY: The wire is used only by the thread's work, of which one piece runs at a time.
private final class Worker: @unchecked Sendable {
    let thread: WorkThread
    let wire = TLSWire()

    init(_ number: Int) {
        thread = WorkThread(name: "handshakes \(number)")
    }
}
