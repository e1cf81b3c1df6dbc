import NIOCore

/// Who has which connection, and who waits: the part of the gateway that decides.
struct Pool {
    /// What becomes of one who wants a connection.
    enum Turn {
        /// It is here.
        case take(GatewayConnection)
        /// One may be opened; it counts from now on.
        case open
        /// The promise is kept when there is one.
        case wait(number: Int)
        /// Too many wait.
        case refused
        /// There are none any more.
        case closed
    }

    /// What one who waits is given: a connection, or nil for the right to open one.
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

    /// Gives the connection that was used last, the right to open one, or a place to wait.
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

    /// Takes a connection back, or hears that it has ended; gives it to the next.
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

    /// One who waits does so no longer. False: something is on its way already.
    mutating func leave(_ number: Int) -> Bool {
        guard let place = waiters.firstIndex(where: { $0.number == number }) else { return false }
        let waiter = waiters.remove(at: place)
        counters.waiting = waiters.count
        waiter.promise.fail(GatewayError.overloaded)
        return true
    }

    /// Takes out those that nobody has needed since the sweep before the last.
    mutating func sweep() -> [GatewayConnection] {
        sweeps += 1
        let old = idle.prefix { sweeps - $0.since >= 2 }.map(\.connection)
        idle.removeFirst(old.count)
        counters.idle -= old.count
        return old
    }

    /// Refuses everybody from now on, and gives what is to be closed.
    mutating func close() -> [GatewayConnection] {
        isClosed = true
        while let waiter = waiters.popFirst() { waiter.promise.fail(GatewayError.ended) }
        counters.waiting = 0
        counters.idle = 0
        defer { idle = [] }
        return idle.map(\.connection)
    }
}
