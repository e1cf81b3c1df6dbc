import NIOCore

/// What the pool must know of a connection.
protocol PooledConnection: Sendable {
    /// Whether requests can still be sent.
    var isOpen: Bool { get }
}

extension GatewayConnection: PooledConnection {}

/// Assigns connections to requests. It decides; the gateway opens and closes what the pool tells
/// it to, so that nothing of a connection runs while the pool is locked.
struct Pool<Connection: PooledConnection> {
    /// The result of asking for a connection.
    enum Turn {
        /// A connection.
        case take(Connection)
        /// The right to open one; it counts from now on.
        case open
        /// A place in the queue. The future completes with the grant.
        case wait(number: Int, EventLoopFuture<Grant>)
        /// Too many requests are waiting.
        case refused
        /// The pool is closed.
        case closed
    }

    /// What a waiting request gets: a connection, or nil for the right to open one.
    typealias Grant = Connection?

    private struct Idle {
        var connection: Connection
        var since: Int
    }

    private struct Waiter {
        var number: Int
        var promise: EventLoopPromise<Grant>
    }

    private let connectionsMax: Int
    private let waitersMax: Int
    private var idle: [Idle] = []
    private var waiters = CircularBuffer<Waiter>(initialCapacity: 0)
    private var busy = 0
    private var opened = 0
    private var refused = 0
    private var timedOut = 0
    private var lastNumber = 0
    private var sweeps = 0
    private var isClosed = false

    init(_ limits: GatewayLimits) {
        connectionsMax = limits.connectionsMax
        waitersMax = limits.waitersMax
    }

    var counters: GatewayCounters {
        GatewayCounters(
            busy: busy, idle: idle.count, waiting: waiters.count, opened: opened, refused: refused,
            timedOut: timedOut)
    }

    /// Returns the connection that was used last, the right to open one, or a place in the queue,
    /// whose future completes on `loop`.
    mutating func borrow(on loop: any EventLoop) -> Turn {
        guard !isClosed else { return .closed }
        defer { checkInvariants() }
        while let candidate = idle.popLast() {
            guard candidate.connection.isOpen else { continue }
            busy += 1
            return .take(candidate.connection)
        }
        if busy < connectionsMax {
            busy += 1
            opened += 1
            return .open
        }
        guard waiters.count < waitersMax else {
            refused += 1
            return .refused
        }
        lastNumber += 1
        let promise = loop.makePromise(of: Grant.self)
        waiters.append(Waiter(number: lastNumber, promise: promise))
        return .wait(number: lastNumber, promise.futureResult)
    }

    /// Takes back a connection, or nil if it has ended; passes it to the next waiting request.
    /// Returns the connection that must be closed, if any.
    mutating func giveBack(_ connection: Connection?) -> Connection? {
        precondition(busy > 0, "more connections given back than borrowed")
        defer { checkInvariants() }
        let usable = connection.flatMap { $0.isOpen ? $0 : nil }
        if let next = waiters.popFirst() {
            if usable == nil { opened += 1 }
            next.promise.succeed(usable)
            return nil
        }
        busy -= 1
        guard !isClosed else { return usable }
        if let usable { idle.append(Idle(connection: usable, since: sweeps)) }
        return nil
    }

    /// Removes a request from the queue; its future fails with `reason`. No effect if it has its
    /// grant already.
    mutating func leave(_ number: Int, _ reason: any Error) {
        guard let place = waiters.firstIndex(where: { $0.number == number }) else { return }
        waiters.remove(at: place).promise.fail(reason)
    }

    /// Counts a request without a response in time.
    mutating func countTimeout() { timedOut += 1 }

    /// Removes the connections that were not used since the sweep before the last, to be closed.
    mutating func sweep() -> [Connection] {
        sweeps += 1
        let old = idle.prefix { sweeps - $0.since >= 2 }.map(\.connection)
        idle.removeFirst(old.count)
        return old
    }

    /// Rejects every request from now on, and returns the connections to close.
    mutating func close() -> [Connection] {
        isClosed = true
        while let waiter = waiters.popFirst() { waiter.promise.fail(GatewayError.ended) }
        defer { idle = [] }
        return idle.map(\.connection)
    }

    private func checkInvariants() {
        precondition(busy + idle.count <= connectionsMax, "more connections than allowed")
        precondition(
            waiters.isEmpty || busy == connectionsMax,
            "a request waits although there is room for a connection")
    }
}
