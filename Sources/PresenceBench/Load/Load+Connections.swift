// How clients connect and disconnect. At most `connectingMax` connect at the same time; a reconnect
// storm has a large `connectingMax`. A client that is rejected or disconnected reconnects as the
// protocol requires: after `retryAfter` plus jitter if it has one, else after a pause that doubles.

import EventLoop
import PresenceWire

extension Load {
    /// Adds clients, up to `count`.
    func grow(to count: Int) {
        while clients.count < count { clients.append(LoadClient()) }
    }

    /// Has clients log in, `connectingMax` at a time.
    func bring(_ range: Range<Int>) {
        grow(to: range.upperBound)
        for client in range where clients[client].phase == .away {
            clients[client].phase = .opening
            opening.append(Int32(client))
        }
    }

    /// Ends connections without a logout, like a crash or a lost network.
    func drop(_ range: Range<Int>, _ end: DropMethod) {
        for client in range where clients[client].phase != .away {
            let stream = clients[client].stream
            switch end {
            case .reset: loop.reset(stream)
            case .close: loop.close(stream)
            }
            leave(client, to: .away)
        }
    }

    /// Moves a client to another phase, and updates the counts.
    func leave(_ client: Int, to phase: LoadClient.Phase) {
        switch clients[client].phase {
        case .connecting, .loggingIn, .listing: connectingCount -= 1
        case .online: onlineCount -= 1
        case .away, .opening, .waiting: break
        }
        switch phase {
        case .connecting, .loggingIn, .listing: connectingCount += 1
        case .online: onlineCount += 1
        case .away, .opening, .waiting:
            let slot = Int(clients[client].stream.slot)
            if slot < clientOfSlot.count, clientOfSlot[slot] == client { clientOfSlot[slot] = -1 }
            clients[client].stream = StreamID(slot: .max, generation: 0)
            clients[client].splitter = FrameSplitter()
            clients[client].outbox = []
            clients[client].isBlocked = false
            clients[client].session = nil
        }
        clients[client].phase = phase
    }

    /// Connects the next clients of the queue.
    func pump() {
        while openingFirst < opening.count, connectingCount < connectingMax {
            let client = Int(opening[openingFirst])
            openingFirst += 1
            if clients[client].phase == .opening { connect(client) }
        }
        if openingFirst == opening.count, openingFirst > 0 {
            opening.removeAll(keepingCapacity: true)
            openingFirst = 0
        }
    }

    private func connect(_ client: Int) {
        leave(client, to: .connecting)
        clients[client].deadline = loop.monotonicNanoseconds + Self.patienceNanoseconds
        do throws(UVError) {
            let stream = try loop.connect(to: target, from: localHost(of: client))
            clients[client].stream = stream
            let slot = Int(stream.slot)
            while clientOfSlot.count <= slot { clientOfSlot.append(-1) }
            clientOfSlot[slot] = Int32(client)
        } catch {
            counters.connectFailures += 1
            notConnected(client, "\(error)")
        }
    }

    /// Each loopback address has its own ports.
    private func localHost(of client: Int) -> String? {
        target.host == "127.0.0.1" ? Self.localHosts[client % Self.localHosts.count] : nil
    }

    private static let localHosts = (1...8).map { "127.0.0.\($0)" }

    /// Nanoseconds after which an attempt to connect is repeated.
    ///
    /// The kernel's own timeout is too long: after six dropped SYNs a client waits for a minute.
    private static let patienceNanoseconds: UInt64 = 10_000_000_000

    /// Aborts attempts that take too long.
    func giveUpAttempts() {
        guard connectingCount > 0 else { return }
        for client in clients.indices
        where clients[client].phase == .connecting && now > clients[client].deadline {
            counters.connectFailures += 1
            counters.timeouts += 1
            notConnected(client, "no response within 10 s")
        }
    }

    func returnThoseDue() {
        guard !waiting.isEmpty else { return }
        waiting.removeAll { number in
            let client = Int(number)
            guard clients[client].phase == .waiting else { return true }
            guard now >= clients[client].deadline else { return false }
            clients[client].phase = .opening
            opening.append(number)
            return true
        }
    }

    /// The client of a stream; nil if the id is stale.
    @inline(__always)
    func client(of id: StreamID) -> Int? {
        let slot = Int(id.slot)
        guard slot < clientOfSlot.count else { return nil }
        let client = Int(clientOfSlot[slot])
        guard client >= 0, clients[client].stream == id else { return nil }
        return client
    }

    func streamConnected(_ id: StreamID) {
        guard let client = client(of: id) else { return }
        loop.startReading(id)
        if let tls { beginHandshake(of: client, tls) } else { logIn(client) }
    }

    /// Sends the login of a client whose connection is established.
    func logIn(_ client: Int) {
        leave(client, to: .loggingIn)
        scratch.removeAll(keepingCapacity: true)
        switch clients[client].role {
        case .account:
            scratch.appendLogin(
                client, names, sync: loginList,
                messages: messageReaders.contains(client) ? .read : .none)
        case .appServer: scratch.appendAppServerLogin(key: serverKey)
        }
        send(scratch, by: client)
        observer?.connected(client)
    }

    func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        let owner = client(of: id)
        loop.close(id)
        guard let client = owner else { return }
        if clients[client].phase == .connecting {
            counters.connectFailures += 1
            notConnected(client, reason.summary)
        } else {
            lost(client, "lost its connection (\(reason.summary))", retryAfterSeconds: nil)
        }
    }

    func streamClosed(_ id: StreamID) {
        guard let client = client(of: id) else { return }
        lost(client, "found its connection closed", retryAfterSeconds: nil)
    }

    /// A connection has ended that the load did not close.
    func lost(_ client: Int, _ how: @autoclosure () -> String, retryAfterSeconds: Int?) {
        lost(
            client, message: "The client of \(names.text(client)) \(how()).",
            retryAfterSeconds: retryAfterSeconds)
    }

    /// A connection was never established.
    private func notConnected(_ client: Int, _ why: @autoclosure () -> String) {
        lost(
            client,
            message: "Cannot connect to \(target) (\(why())). Is `porchlight serve` running there?",
            retryAfterSeconds: nil)
    }

    private func lost(
        _ client: Int, message: @autoclosure () -> String, retryAfterSeconds: Int?
    ) {
        counters.losses += 1
        guard lossPolicy == .reconnect else {
            leave(client, to: .away)
            return fail(message())
        }
        let stream = clients[client].stream
        leave(client, to: .waiting)
        loop.close(stream)
        var pause: Double
        if let retryAfterSeconds {
            pause = Double(retryAfterSeconds) + Double.random(in: 0..<1, using: &random)
        } else {
            pause = 0.1 * Double(1 << min(clients[client].failures, 5))
            pause *= Double.random(in: 0.5..<1, using: &random)
        }
        if clients[client].failures < 10 { clients[client].failures += 1 }
        clients[client].deadline = loop.monotonicNanoseconds + UInt64(pause * 1e9)
        waiting.append(Int32(client))
    }

    // MARK: Writing

    /// Sends frames.
    func send(_ bytes: [UInt8], by client: Int) {
        guard let session = clients[client].session else { return write(bytes, by: client) }
        session.send(bytes, through: wire)
        write(takeCiphertext(), by: client)
    }

    /// Sends bytes as they are; those that the socket does not accept wait.
    func write(_ bytes: [UInt8], by client: Int) {
        if clients[client].isBlocked {
            clients[client].outbox.append(contentsOf: bytes)
            return
        }
        let outcome = unsafe bytes.withUnsafeBytes {
            unsafe loop.write(clients[client].stream, $0)
        }
        switch outcome {
        case .written: break
        case .pending: clients[client].isBlocked = true
        case .failed(let error):
            lost(client, "cannot write (\(error))", retryAfterSeconds: nil)
        }
    }

    /// Sends requests that are each answered.
    func request(_ bytes: [UInt8], by client: Int, count: Int = 1) {
        counters.requestsOutstanding += count
        send(bytes, by: client)
    }

    func streamDrained(_ id: StreamID) {
        guard let client = client(of: id) else { return }
        clients[client].isBlocked = false
        guard !clients[client].outbox.isEmpty else { return }
        let bytes = clients[client].outbox
        clients[client].outbox = []
        write(bytes, by: client)
    }
}

/// How the load ends a connection.
enum DropMethod: String, CaseIterable { case reset, close }

extension StreamEnd {
    /// For a sentence in parentheses.
    fileprivate var summary: String {
        switch self {
        case .endOfFile: "the service closed it"
        case .failed(let error): "\(error)"
        }
    }
}
