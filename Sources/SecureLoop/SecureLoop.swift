// TLS between an event loop and the owner of its connections.
//
// Below, this is the loop's handler. Above, it looks like the loop: the same calls and events, with
// plaintext. The owner does not learn which of its streams are encrypted, apart from this:
//
//   * An encrypted stream is accepted when its socket is, before the handshake. So the owner's
//     limits and its time for the first message hold from then on. What it writes before the
//     handshake is over is dropped: there is no key to encrypt it with.
//   * An error of TLS ends a stream as a broken connection does. An alert is sent if there is one,
//     and to a client that speaks no TLS what `plainAnswer` has for its first byte.
//   * close_notify ends a stream as a FIN does: the owner may still write.
//
// Nothing of OpenSSL exists for a stream before its whole ClientHello is here. Handshakes are
// carried out by threads of their own, and while one is, its socket is not read. At most
// `handshakesMax` have an object of OpenSSL, 44 KB each; further ones wait, as hellos of their own
// size. When some wait, the client that has owed its next message for the longest time is dropped,
// if that is longer than `patienceMilliseconds`: otherwise 2,048 clients that stop after the
// ServerHello would keep all others out.
//
// Several loops have a part each of these limits. A limit for all would have to wake the loop whose
// handshakes wait when another loop has room; and since a connection goes to the loop that has the
// fewest, handshakes are divided evenly already. The threads are shared: their number depends on
// the processors.

import Containers
public import EventLoop
public import TLSSessions

/// An event loop whose streams may be encrypted; see `Loop` for what is not described here.
public final class SecureLoop {
    /// The limits of handshakes.
    public struct Limits: Sendable {
        /// Handshakes with an object of OpenSSL.
        public var handshakesMax = 2_048
        /// Handshakes that wait for room.
        public var waitingMax = 16_384
        /// How long a client may owe its next message while others wait.
        public var patienceMilliseconds: UInt64 = 1_000

        /// The limits of a service.
        public init() {}
    }

    /// The loop below.
    public let loop: Loop
    /// What was counted so far.
    public internal(set) var counters = TLSCounters()
    /// What new connections use. Those in progress keep theirs. Nil only without a listener for
    /// TLS.
    public var context: TLSContext?
    /// What those of some listeners use instead. A listener that is named here and is not secure
    /// has streams that may begin TLS later.
    public var contextsOfListeners: [Int: TLSContext]

    /// No stream is encrypted: this does nothing but pass on the owner's calls, and the loop's
    /// events do not come by here.
    let isPlain: Bool
    let limits: Limits
    /// The listeners whose connections are encrypted.
    let secureListeners: Set<Int>
    /// What a client of an encrypted listener is answered whose first byte is not TLS.
    let plainAnswer: (_ first: UInt8, _ listener: Int) -> [UInt8]
    let bench: HandshakeBench
    let wire = TLSWire()
    /// By slot; nil for a stream that is not encrypted.
    var streams: [SecureStream?] = []
    /// The oldest first; streams that wait no more are skipped.
    var waiting = StreamQueue()
    /// Clients that owe their next message, the oldest first.
    var awaiting = StreamQueue()
    /// Streams whose end is to be reported, because they are read again.
    var resumed: [SecureStream] = []
    var deadlines = Deadlines()
    private(set) var handler: (any LoopHandler)?

    /// The owner's deadline, and those of this.
    struct Deadlines {
        var owner: UInt64?
        /// When the slowest client's time is over, while handshakes wait.
        var patience: UInt64?
        /// When the keys of tickets are to be replaced.
        var rotation: UInt64?

        var first: UInt64? {
            let own = min(patience ?? .max, rotation ?? .max)
            let first = min(own, owner ?? .max)
            return first == .max ? nil : first
        }
    }

    /// Encrypts the streams that these listeners accept, which are those of `loop` or of another
    /// loop, from which this one adopts sockets. Several loops may share a context and threads.
    /// `plainAnswer` returns what is written, without encryption, to a client of such a listener
    /// that does not speak TLS.
    public init(
        _ loop: Loop, secureListeners: Set<Int>, context: TLSContext?,
        contextsOfListeners: [Int: TLSContext] = [:], limits: Limits = Limits(),
        threads: HandshakeThreads = HandshakeThreads(count: 1),
        plainAnswer: @escaping (_ first: UInt8, _ listener: Int) -> [UInt8] = { _, _ in [] }
    ) {
        precondition(
            context != nil || secureListeners.allSatisfy { contextsOfListeners[$0] != nil },
            "TLS needs a certificate")
        self.loop = loop
        self.secureListeners = secureListeners
        isPlain = secureListeners.isEmpty && contextsOfListeners.isEmpty
        self.context = context
        self.contextsOfListeners = contextsOfListeners
        self.limits = limits
        self.plainAnswer = plainAnswer
        bench = HandshakeBench(threads, wakeup: loop.wakeup)
    }

    /// Runs the loop until `stop()`, as `Loop.run` does.
    public func run(_ handler: any LoopHandler) {
        guard !isPlain else { return loop.run(handler) }
        self.handler = handler
        rotateTickets(at: loop.monotonicMilliseconds)
        loop.run(self)
    }

    /// Closes the loop, as `Loop.close` does.
    public func close() {
        loop.close()
        handler = nil
    }

    /// What new connections of a listener use.
    func context(of listener: Int) -> TLSContext? { contextsOfListeners[listener] ?? context }

    /// The encrypted stream with this id.
    func find(_ id: StreamID) -> SecureStream? {
        guard !isPlain else { return nil }
        let slot = Int(id.slot)
        guard slot < streams.count, let stream = streams[slot], stream.id == id else { return nil }
        return stream
    }

    func add(_ stream: SecureStream) {
        let slot = Int(stream.id.slot)
        while streams.count <= slot { streams.append(nil) }
        precondition(streams[slot] == nil, "a slot that is still in use")
        streams[slot] = stream
    }
}

/// Streams in the order in which they were added, with times that never decrease.
struct StreamQueue {
    private var entries = Queue<(stream: SecureStream, since: UInt64)>()

    mutating func append(_ stream: SecureStream, at now: UInt64) {
        entries.append((stream, now))
    }

    /// The first stream that `isMeant` accepts; removes those before it.
    mutating func peek(_ isMeant: (SecureStream) -> Bool) -> (stream: SecureStream, since: UInt64)?
    {
        while let entry = entries.first {
            if isMeant(entry.stream) { return entry }
            removeFirst()
        }
        return nil
    }

    mutating func removeFirst() { _ = entries.popFirst() }
}
