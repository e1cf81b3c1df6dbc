import Containers
import EventLoop
import TLSSessions

// Handshakes: from the first byte to an open stream.

extension SecureLoop {
    func readHello(_ bytes: RawSpan, of stream: SecureStream) {
        switch stream.reader?.receive(bytes) {
        case .needMore, nil: return
        case .rejected(let error):
            if error == .notTLS { answerPlain(bytes, of: stream) }
            return fail(stream, error)
        case .complete: break
        }
        guard let context = context(of: stream.listener), counters.waiting < limits.waitingMax
        else {
            counters.rejected += 1
            return end(stream)
        }
        let now = loop.monotonicMilliseconds
        stream.handshake = Handshake(
            stream.id, context, hello: stream.reader?.bytes ?? [], since: now)
        stream.reader = nil
        stream.phase = .waiting
        counters.waiting += 1
        waiting.append(stream, at: now)
        applyReading(stream)
    }

    /// Says to a client that speaks no TLS what would be right. Not after a plain stream has begun
    /// TLS: its client knows that.
    private func answerPlain(_ bytes: RawSpan, of stream: SecureStream) {
        guard bytes.byteCount > 0, secureListeners.contains(stream.listener) else { return }
        let first = unsafe bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
        let answer = plainAnswer(first, stream.listener)
        guard !answer.isEmpty else { return }
        stream.hasAlert = true
        write(answer, of: stream)
    }

    /// The client's next message of the handshake.
    func continueHandshake(_ bytes: RawSpan, of stream: SecureStream) {
        guard let handshake = stream.handshake else { return }
        unsafe bytes.withUnsafeBytes { unsafe handshake.input.append(contentsOf: $0) }
        submit(stream)
    }

    /// Begins handshakes that wait, as long as there is room. At the end of a turn, since it may
    /// end other streams, and no call of the owner may call the owner.
    func startWaiting() {
        while let next = waiting.peek({ $0.phase == .waiting }) {
            guard counters.inProgress < limits.handshakesMax || dropSlowest() else { break }
            waiting.removeFirst()
            counters.waiting -= 1
            counters.inProgress += 1
            submit(next.stream)
        }
        armPatience()
    }

    private func submit(_ stream: SecureStream) {
        guard let handshake = stream.handshake else { return }
        stream.handshake = nil
        stream.phase = .working
        applyReading(stream)
        bench.submit(handshake)
    }

    /// Takes the handshakes that the threads have continued.
    func takeHandshakes() {
        for handshake in bench.takeDone() {
            // The owner may have closed the stream; its slot may have another.
            guard let stream = find(handshake.id), stream.phase == .working else {
                counters.inProgress -= 1
                continue
            }
            // Counted as in progress until it leaves this.
            stream.phase = .awaiting
            write(handshake.output, of: stream)
            handshake.output = []
            switch handshake.phase {
            case .handshaking:
                guard stream.phase == .awaiting else { continue }
                stream.handshake = handshake
                awaiting.append(stream, at: loop.monotonicMilliseconds)
                applyReading(stream)
            case .open:
                guard stream.phase == .awaiting else { continue }
                open(stream, handshake)
            case .failed(let error):
                stream.hasAlert = true
                fail(stream, error)
            // Only an open session can be ended by its peer.
            case .peerEnded: end(stream)
            }
        }
    }

    private func open(_ stream: SecureStream, _ handshake: Handshake) {
        leave(stream.phase)
        stream.phase = .open
        stream.session = handshake.session.take()
        counters.handshakes += 1
        if stream.session?.isResumed == true { counters.resumed += 1 }
        let now = loop.monotonicMilliseconds
        counters.times.observe(microseconds: (now - handshake.since) * 1_000)
        applyReading(stream)
        // The first request often comes together with the end of the handshake.
        let input = handshake.input
        if !input.isEmpty { unsafe decrypt(input.span.bytes, of: stream) }
    }

    /// Drops the client that has owed its next message for the longest time, if that is too long.
    private func dropSlowest() -> Bool {
        guard let slowest = awaiting.peek({ $0.phase == .awaiting }),
            loop.monotonicMilliseconds >= slowest.since + limits.patienceMilliseconds
        else { return false }
        awaiting.removeFirst()
        counters.dropped += 1
        end(slowest.stream)
        return true
    }

    /// While handshakes wait, looks again when the slowest client's time is over.
    private func armPatience() {
        // Always, so that the queue does not keep streams that have left it.
        let slowest = awaiting.peek { $0.phase == .awaiting }
        let deadline =
            counters.waiting > 0 ? slowest.map { $0.since + limits.patienceMilliseconds } : nil
        guard deadline != deadlines.patience else { return }
        deadlines.patience = deadline
        applyDeadlines()
    }

    /// Replaces the keys of tickets if that is due.
    func rotateTickets(at now: UInt64) {
        // All contexts of a process share their keys.
        guard let context = context ?? contextsOfListeners.values.first else { return }
        deadlines.rotation = context.tickets.rotate(at: now / 1_000) * 1_000
        applyDeadlines()
    }

    /// Counts a stream that leaves a phase of its handshake.
    func leave(_ phase: SecureStream.Phase) {
        switch phase {
        case .waiting: counters.waiting -= 1
        case .awaiting: counters.inProgress -= 1
        // In `working`, it is in progress until the bench returns it.
        case .hello, .working, .open, .over: break
        }
    }
}
