public import Containers
public import EventLoop
import TLSSessions

// What the owner calls: as of `Loop`, for plaintext.

extension SecureLoop {
    /// Starts reading; ignored after the stream's end.
    public func startReading(_ id: StreamID) {
        guard let stream = find(id) else { return loop.startReading(id) }
        stream.wantsInput = true
        applyReading(stream)
        if stream.endsWhenRead, !stream.hasEnded {
            // Not now: no call of the owner may call the owner.
            resumed.append(stream)
            loop.wakeup.wake()
        }
    }

    /// Stops reading: further bytes stay in the kernel.
    public func stopReading(_ id: StreamID) {
        guard let stream = find(id) else { return loop.stopReading(id) }
        stream.wantsInput = false
        applyReading(stream)
    }

    /// Whether a stream is encrypted.
    public func isEncrypted(_ id: StreamID) -> Bool { find(id) != nil }

    /// Encrypts a plain stream from now on, with the context of its listener: it waits for a
    /// ClientHello. What it was given to write must be written, and it must not be read from; the
    /// owner then starts reading. What has arrived without encryption and was not read is taken
    /// for a ClientHello, and fails.
    public func startTLS(_ id: StreamID, listener: Int) {
        precondition(
            !isPlain && find(id) == nil && context(of: listener) != nil, "TLS cannot begin")
        precondition(loop.bytesPending(id) == 0, "TLS before the last plain byte was written")
        add(SecureStream(id, listener: listener))
    }

    /// Encrypts and writes bytes; keeps a copy of what the kernel does not accept.
    ///
    /// The count of pending bytes is that of the ciphertext: 22 more for each 16 KiB.
    public func write(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) -> WriteOutcome {
        guard let stream = find(id) else { return unsafe loop.write(id, bytes) }
        guard stream.phase == .open else { return .written }
        precondition(!stream.isOwnerWaiting, "write while a remainder is pending")
        let phase = unsafe stream.session?.send(RawSpan(_unsafeBytes: bytes), through: wire)
        if case .failed = phase {
            wire.dropCiphertext()
            return .failed(Self.broken)
        }
        guard stream.isBlocked else {
            let outcome = writeWire(stream)
            if case .pending = outcome { stream.isOwnerWaiting = true }
            return outcome
        }
        // What TLS itself had to say was not accepted, of which the owner knows nothing.
        unsafe wire.withCiphertext { unsafe stream.held += $0 }
        wire.dropCiphertext()
        stream.isOwnerWaiting = true
        return .pending(bytes: stream.held.count)
    }

    /// Bytes of ciphertext that the kernel has not accepted yet.
    public func bytesPending(_ id: StreamID) -> Int {
        loop.bytesPending(id) + (find(id)?.held.count ?? 0)
    }

    /// Closes the stream now. A client that has been sent an alert gets time to read it.
    public func close(_ id: StreamID) {
        guard let stream = find(id) else { return loop.close(id) }
        let hasAlert = stream.hasAlert
        finish(stream)
        if hasAlert { loop.closeAfterWrites(id) } else { loop.close(id) }
    }

    /// Writes what is pending, then close_notify and FIN, and closes after the peer's FIN.
    ///
    /// While a remainder is pending, close_notify is left out: it would have to be kept until then.
    public func closeAfterWrites(_ id: StreamID) {
        guard let stream = find(id) else { return loop.closeAfterWrites(id) }
        guard stream.held.isEmpty || stream.phase != .open else {
            stream.closesWhenDrained = true
            return stopReading(id)
        }
        if stream.phase == .open, !stream.isBlocked {
            stream.session?.end(through: wire)
            _ = writeWire(stream)
        }
        finish(stream)
        loop.closeAfterWrites(id)
    }

    /// The stream is not used any more, except by the loop.
    func finish(_ stream: SecureStream) {
        leave(stream.phase)
        stream.phase = .over
        stream.reader = nil
        stream.handshake = nil
        stream.session = nil
        stream.held = []
    }

    func applyReading(_ stream: SecureStream) {
        if stream.readsSocket {
            loop.startReading(stream.id)
        } else {
            loop.stopReading(stream.id)
        }
    }

    /// Writes what the session has put on the wire.
    func writeWire(_ stream: SecureStream) -> WriteOutcome {
        let outcome = unsafe wire.withCiphertext { unsafe loop.write(stream.id, $0) }
        wire.dropCiphertext()
        if case .pending = outcome { stream.isBlocked = true }
        return outcome
    }
}

// MARK: - What is the same

extension SecureLoop {
    /// Connections that are not completely closed yet.
    public var streamCount: Int { loop.streamCount }
    /// Milliseconds of a clock that never jumps.
    public var monotonicMilliseconds: UInt64 { loop.monotonicMilliseconds }
    /// The same clock in nanoseconds.
    public var monotonicNanoseconds: UInt64 { loop.monotonicNanoseconds }

    /// Milliseconds since bytes of the peer last arrived in the kernel.
    public func millisecondsSinceReceived(_ id: StreamID) -> UInt64? {
        loop.millisecondsSinceReceived(id)
    }

    /// What has become of the bytes of a stream, as they are on the wire.
    public func delivery(_ id: StreamID) -> SocketDelivery? { loop.delivery(id) }

    /// The peer as `127.0.0.1:51234`; nil if it is disconnected.
    public func peerAddress(of id: StreamID) -> String? { loop.peerAddress(of: id) }

    /// The network of the peer, for limits.
    public func peerNetwork(of id: StreamID) -> ClientNetwork? { loop.peerNetwork(of: id) }

    /// Makes a stream of a socket that a listener has accepted, of this loop or of another one with
    /// the same listeners. If that is for TLS, the stream waits for a ClientHello.
    public func adopt(_ fd: CInt, listener: Int) -> StreamID {
        let id = loop.adopt(fd)
        if secureListeners.contains(listener) { add(SecureStream(id, listener: listener)) }
        return id
    }

    /// Calls `timerFired` once, as soon as the deadline is reached.
    public func armTimer(atMonotonicMilliseconds deadline: UInt64) {
        guard !isPlain else { return loop.armTimer(atMonotonicMilliseconds: deadline) }
        deadlines.owner = deadline
        applyDeadlines()
    }

    /// Clears the deadline.
    public func disarmTimer() {
        guard !isPlain else { return loop.disarmTimer() }
        deadlines.owner = nil
        applyDeadlines()
    }

    /// Makes `run` return after this turn.
    public func stop() { loop.stop() }

    func applyDeadlines() {
        guard let first = deadlines.first else { return loop.disarmTimer() }
        loop.armTimer(atMonotonicMilliseconds: first)
    }
}
