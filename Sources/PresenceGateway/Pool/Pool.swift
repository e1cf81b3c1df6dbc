import NIOCore

/// Which requests have a connection, and which wait: the part of the gateway that decides.
struct Pool {
    /// The result of asking for a connection.
    enum Turn {
        /// A connection.
        case take(GatewayConnection)
        /// The right to open one; it counts from now on.
        case open
        /// The promise completes when there is one.
        case wait(number: Int)
        /// Too many requests are waiting.
        case refused
        /// The pool is closed.
        case closed
    }

    /// What a waiting request gets: a connection, or nil for the right to open one.
    typealias Grant = GatewayConnection?

    private struct Idle {
        var connection: GatewayConnection
        var since: Int
    }

    private struct Waiter {
        var number: Int
        var promise: EventLoopPromise<Grant>
    }

    var counters = GatewayCounters()
    private let connectionsMax: Int
    private let waitersMax: Int
    private var idle: [Idle] = []
    private var waiters = CircularBuffer<Waiter>(initialCapacity: 0)
    private var lastNumber = 0
    private var sweeps = 0
    private var isClosed = false

    init(_ limits: GatewayLimits) {
        connectionsMax = limits.connectionsMax
        waitersMax = limits.waitersMax
    }

    /// Returns the connection that was used last, the right to open one, or a place in the queue.
    mutating func borrow(_ promise: EventLoopPromise<Grant>) -> Turn {
        guard !isClosed else { return .closed }
        while let candidate = idle.popLast() {
            counters.idle -= 1
            guard candidate.connection.isOpen else { continue }
            counters.busy += 1
            return .take(candidate.connection)
        }
        if counters.busy < connectionsMax {
            counters.busy += 1
            counters.opened += 1
            return .open
        }
        guard waiters.count < waitersMax else {
            counters.refused += 1
            return .refused
        }
        lastNumber += 1
        waiters.append(Waiter(number: lastNumber, promise: promise))
        counters.waiting = waiters.count
        return .wait(number: lastNumber)
    }

    /// Takes back a connection, or nil if it has ended; passes it to the next waiting request.
    mutating func giveBack(_ connection: GatewayConnection?) {
        if isClosed {
            counters.busy -= 1
            connection?.close()
            return
        }
        let usable = connection.flatMap { $0.isOpen ? $0 : nil }
        if let next = waiters.popFirst() {
            counters.waiting = waiters.count
            if usable == nil { counters.opened += 1 }
            return next.promise.succeed(usable)
        }
        counters.busy -= 1
        guard let usable else { return }
        idle.append(Idle(connection: usable, since: sweeps))
        counters.idle += 1
    }

    /// Removes a request from the queue. False if its grant is already on its way.
    mutating func leave(_ number: Int) -> Bool {
        guard let place = waiters.firstIndex(where: { $0.number == number }) else { return false }
        let waiter = waiters.remove(at: place)
        counters.waiting = waiters.count
        waiter.promise.fail(GatewayError.overloaded)
        return true
    }

    /// Removes the connections that were not used since the sweep before the last.
    mutating func sweep() -> [GatewayConnection] {
        sweeps += 1
        let old = idle.prefix { sweeps - $0.since >= 2 }.map(\.connection)
        idle.removeFirst(old.count)
        counters.idle -= old.count
        return old
    }

    /// Rejects every request from now on, and returns the connections to close.
    mutating func close() -> [GatewayConnection] {
        isClosed = true
        while let waiter = waiters.popFirst() { waiter.promise.fail(GatewayError.ended) }
        counters.waiting = 0
        counters.idle = 0
        defer { idle = [] }
        return idle.map(\.connection)
    }
}
