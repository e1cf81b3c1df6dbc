public import EventLoop
import TLSSessions

// What the loop reports: passed on to the owner, decrypted.

extension SecureLoop: LoopHandler {
    /// Passed on.
    public func streamAccepted(_ id: StreamID) { handler?.streamAccepted(id) }

    /// Passed on: the owner may `adopt` it, or have another secure loop do so.
    public func socketAccepted(_ socket: CInt, listener: Int) -> Bool {
        handler?.socketAccepted(socket, listener: listener) ?? false
    }

    /// Makes a new stream wait for a ClientHello, if its listener is for TLS; passed on.
    public func streamAccepted(_ id: StreamID, listener: Int) {
        if secureListeners.contains(listener) { add(SecureStream(id, listener: listener)) }
        handler?.streamAccepted(id, listener: listener)
    }

    /// Passed on: streams that were begun here are not encrypted.
    public func streamConnected(_ id: StreamID) { handler?.streamConnected(id) }

    /// Passed on as plaintext.
    public func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {
        guard let stream = find(id) else {
            unsafe handler?.streamReceived(id, bytes)
            return
        }
        let bytes = unsafe RawSpan(_unsafeBytes: bytes)
        switch stream.phase {
        case .hello: readHello(bytes, of: stream)
        case .awaiting: continueHandshake(bytes, of: stream)
        case .open: decrypt(bytes, of: stream)
        // The socket is not read in these.
        case .waiting, .working, .over: break
        }
    }

    /// Passed on once, as for a plain stream.
    public func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        guard let stream = find(id) else {
            handler?.streamEnded(id, reason)
            return
        }
        // Without close_notify: as on a plain stream. Before the handshake is over there is nothing
        // that could still be answered.
        let isOpen = stream.phase == .open
        end(stream, isOpen ? reason : .failed(Self.broken))
    }

    /// Passed on when nothing of TLS waits, either.
    public func streamDrained(_ id: StreamID) {
        guard let stream = find(id) else {
            handler?.streamDrained(id)
            return
        }
        stream.isBlocked = false
        let held = stream.held
        stream.held = []
        stream.ownBytesHeld = 0
        writeNow(held, of: stream)
        if stream.closesWhenDrained { return closeAfterWrites(id) }
        guard !stream.isBlocked, stream.phase == .open else { return }
        stream.isOwnerWaiting = false
        handler?.streamDrained(id)
    }

    /// Passed on.
    public func streamClosed(_ id: StreamID) {
        if let stream = find(id) {
            finish(stream)
            streams[Int(id.slot)] = nil
        }
        handler?.streamClosed(id)
    }

    /// Passed on.
    public func acceptFailed(_ error: UVError) { handler?.acceptFailed(error) }

    /// Passed on when it is the owner's deadline.
    public func timerFired() {
        let now = loop.monotonicMilliseconds
        // The end of the turn looks whose time is over.
        if let deadline = deadlines.patience, deadline <= now { deadlines.patience = nil }
        if let deadline = deadlines.rotation, deadline <= now { rotateTickets(at: now) }
        if let deadline = deadlines.owner, deadline <= now {
            deadlines.owner = nil
            handler?.timerFired()
        }
        applyDeadlines()
    }

    /// Takes handshakes from the bench; passed on.
    public func wokenUp() {
        takeHandshakes()
        reportEnds()
        handler?.wokenUp()
    }

    /// Passed on.
    public func signalReceived(_ signal: CInt) { handler?.signalReceived(signal) }
    /// Begins handshakes for which there is room; passed on.
    public func turnEnded() {
        startWaiting()
        handler?.turnEnded()
    }

    // MARK: - Open streams

    func decrypt(_ bytes: RawSpan, of stream: SecureStream) {
        let phase = stream.session?.receive(bytes, through: wire)
        sendOwn(stream)
        defer { wire.dropPlaintext() }
        if wire.plaintextCount > 0, stream.phase == .open {
            unsafe wire.withPlaintext { unsafe handler?.streamReceived(stream.id, $0) }
        }
        // The owner may have closed the stream meanwhile.
        guard stream.phase == .open else { return }
        switch phase {
        case .peerEnded:
            if stream.wantsInput { end(stream, .endOfFile) } else { stream.endsWhenRead = true }
        case .failed(let error):
            stream.hasAlert = !stream.isBlocked
            fail(stream, error)
        case .open, .handshaking, nil: break
        }
    }

    /// Reports the ends of streams that are read again.
    private func reportEnds() {
        let ended = resumed
        resumed = []
        for stream in ended where stream.wantsInput && stream.endsWhenRead {
            end(stream, .endOfFile)
        }
    }

    /// Writes what TLS itself has to say, or keeps it while a remainder is pending.
    private func sendOwn(_ stream: SecureStream) {
        guard wire.ciphertextCount > 0 else { return }
        let bytes = unsafe wire.withCiphertext { unsafe Array($0) }
        wire.dropCiphertext()
        write(bytes, of: stream)
    }

    func write(_ bytes: [UInt8], of stream: SecureStream) {
        guard !bytes.isEmpty else { return }
        guard !stream.isBlocked else {
            stream.held += bytes
            stream.ownBytesHeld += bytes.count
            if stream.ownBytesHeld > SecureStream.heldBytesMax { fail(stream, .tooManyMessages) }
            return
        }
        writeNow(bytes, of: stream)
    }

    private func writeNow(_ bytes: [UInt8], of stream: SecureStream) {
        guard !bytes.isEmpty else { return }
        let outcome = unsafe bytes.withUnsafeBytes { unsafe loop.write(stream.id, $0) }
        if case .pending = outcome { stream.isBlocked = true }
        if case .failed(let error) = outcome { end(stream, .failed(error)) }
    }

    /// Ends a stream because of an error, and counts it.
    func fail(_ stream: SecureStream, _ error: TLSError) {
        guard !stream.hasEnded else { return }
        counters.errors[Int(error.rawValue)] += 1
        end(stream)
    }

    /// Notifies the owner, once, that the stream has ended; the owner then closes it.
    func end(_ stream: SecureStream, _ reason: StreamEnd = .failed(broken)) {
        guard !stream.hasEnded, stream.phase != .over else { return }
        stream.hasEnded = true
        handler?.streamEnded(stream.id, reason)
    }

    /// What a stream ends with after an error of TLS.
    static let broken = UVError(code: brokenCode, operation: "tls")
    /// EPROTO: a protocol error.
    private static let brokenCode: CInt = -71
}
