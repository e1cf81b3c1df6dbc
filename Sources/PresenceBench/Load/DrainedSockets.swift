import EventLoop
import Glibc
import Synchronization

/// Clients whose bytes are counted and discarded, on a thread of their own.
///
/// A socket counts as readable once `lowWaterBytes` wait (socket(7), `SO_RCVLOWAT`), and the kernel
/// drops the bytes without a copy (tcp(7), `MSG_TRUNC`). That costs a tenth of what reading and
/// parsing does, so that a service on two processors can be loaded from the same machine.
final class DrainedSockets: Sendable {
    private let accounts: [Int]
    private let descriptors: [CInt]
    private let pauseMilliseconds: CInt
    private let total = Atomic(0)
    private let isToStop = Atomic(false)
    private let counts: Mutex<[Int]>
    private let thread = Mutex<NamedThread?>(nil)

    /// Takes over the reading of clients' sockets from the load; they stay open. Bytes are counted
    /// late: fewer than `lowWaterBytes` of a socket at the end only, more within
    /// `pauseMilliseconds`.
    init(
        _ load: Load, accounts: [Int], lowWaterBytes: Int, pauseMilliseconds: Int
    ) throws(BenchError) {
        guard load.tls == nil else {
            throw BenchError("Clients over TLS cannot be drained: leave out --drain or --tls.")
        }
        var descriptors: [CInt] = []
        for account in accounts {
            let stream = load.clients[account].stream
            load.loop.stopReading(stream)
            guard let descriptor = load.loop.descriptor(of: stream) else {
                throw BenchError("A connection ended before its bytes were counted.")
            }
            descriptors.append(descriptor)
        }
        self.accounts = accounts
        self.descriptors = descriptors
        self.pauseMilliseconds = CInt(clamping: pauseMilliseconds)
        counts = Mutex(Array(repeating: 0, count: descriptors.count))
        setLowWater(lowWaterBytes)
        do throws(UVError) {
            let drain = try NamedThread(name: "drain") { [self] in run() }
            thread.withLock { $0 = drain }
        } catch {
            throw BenchError("A thread cannot be started (\(error)).")
        }
    }

    /// The bytes of all sockets so far.
    var bytes: Int { total.load(ordering: .relaxed) }

    /// Waits until each account has received the bytes that are expected of it, or no more arrive
    /// for `patienceSeconds`.
    ///
    /// - Throws: `BenchError` if one has received fewer, or more.
    func finish(
        _ load: Load, patienceSeconds: Double, expected: (_ account: Int) -> Int
    ) throws(BenchError) {
        setLowWater(1)
        let bytesExpected = accounts.reduce(0) { $0 + expected($1) }
        var (seen, seenAt) = (bytes, load.seconds)
        try load.wait(for: "the last bytes", atMostSeconds: 600) { [self, unowned load] in
            if bytes > seen { (seen, seenAt) = (bytes, load.seconds) }
            return seen >= bytesExpected || load.seconds > seenAt + patienceSeconds
        }
        for (account, bytes) in zip(accounts, counts.withLock { $0 })
        where bytes != expected(account) {
            throw BenchError(
                "\(load.names.text(account)) received \(bytes) bytes of events instead of "
                    + "\(expected(account)).")
        }
    }

    /// Ends the thread, before the sockets are closed: their numbers may be given to others.
    func stop() {
        isToStop.store(true, ordering: .relaxed)
        thread.withLock {
            // The thread looks for the mark every 20 ms.
            guard let drain = $0 else { return }
            precondition(drain.join(withinMilliseconds: 10_000), "a thread that does not end")
            $0 = nil
        }
    }

    private func setLowWater(_ bytes: Int) {
        for descriptor in descriptors {
            var value = CInt(bytes)
            unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_RCVLOWAT, &value, socklen_t(MemoryLayout<CInt>.size))
        }
    }

    /// Each round looks at all sockets. So there is a pause between two rounds, in which many of
    /// them become readable; the buffers of the sockets hold more than what arrives meanwhile.
    private func run() {
        var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while !isToStop.load(ordering: .relaxed) {
            _ = poll(nil, 0, pauseMilliseconds)
            guard unsafe poll(&polled, nfds_t(polled.count), 20) > 0 else { continue }
            counts.withLock { counts in
                for number in polled.indices where polled[number].revents != 0 {
                    guard let count = drain(polled[number].fd) else {
                        // Its missing bytes are noticed at the end of the run.
                        polled[number].fd = -1
                        continue
                    }
                    counts[number] += count
                }
            }
        }
    }

    /// Returns how many bytes there were; nil at the end of the connection.
    private func drain(_ descriptor: CInt) -> Int? {
        let flags = CInt(MSG_TRUNC) | CInt(MSG_DONTWAIT)
        let count = recv(descriptor, nil, 1 << 20, flags)
        if count > 0 { total.wrappingAdd(count, ordering: .relaxed) }
        return count == 0 ? nil : max(count, 0)
    }
}
