// A pool of connections to the service, for requests that come from many places.
//
// A connection carries out one request after the other, so a request borrows one for itself.
// There are as many as are needed at the same time, up to a bound; beyond, requests wait in the
// order in which they came, up to a bound and a time; beyond, they are refused. A connection
// that nobody has needed for a while is closed, before the service would do it.

public import NIOCore
import Synchronization

/// The bounds of the pool.
public struct GatewayLimits: Sendable {
    /// Connections at the same time.
    public var connectionsMax = 64
    /// Requests that wait for one.
    public var waitersMax = 512
    /// How long a request takes at most, with its wait for a connection.
    public var requestTime = TimeAmount.seconds(10)
    /// After how long an unused connection is closed, at most. Less than the heartbeat that the
    /// service asks for.
    public var idleTime = TimeAmount.seconds(20)
    /// The bounds of each connection.
    public var connection = ConnectionLimits()

    /// The defaults.
    public init() {}

    /// Makes times short enough for a service that takes who says nothing for one and a half
    /// heartbeats for dead.
    public mutating func fit(heartbeatSeconds: Int) {
        idleTime = min(idleTime, .seconds(Int64(heartbeatSeconds)))
        connection.keepAliveInterval = .seconds(Int64(min(10, max(1, heartbeatSeconds / 2))))
    }
}

/// What the pool counts.
public struct GatewayCounters: Hashable, Sendable {
    /// Connections that carry out a request, and those that are ready for one.
    public var busy = 0, idle = 0
    /// Requests that wait for a connection.
    public var waiting = 0
    /// Since the start: connections opened, requests refused because too many waited, and
    /// requests whose answer did not come in time.
    public var opened = 0, refused = 0, timedOut = 0
}

/// Requests to the service, by whoever has some.
public final class Gateway: Sendable {
    let limits: GatewayLimits
    let group: any EventLoopGroup
    let connect: @Sendable () throws -> CInt
    let pool: Mutex<Pool>
    private let sweep: Mutex<RepeatedTask?>

    /// A pool without connections. `connect` gives a socket that is connected to the service.
    public init(
        on group: any EventLoopGroup, _ limits: GatewayLimits = GatewayLimits(),
        connect: @escaping @Sendable () throws -> CInt
    ) {
        self.limits = limits
        self.group = group
        self.connect = connect
        pool = Mutex(Pool(limits))
        sweep = Mutex(nil)
        let interval = TimeAmount.nanoseconds(max(1, limits.idleTime.nanoseconds / 2))
        let task = group.next().scheduleRepeatedTask(initialDelay: interval, delay: interval) {
            [weak self] _ in
            for connection in self?.pool.withLock({ $0.sweep() }) ?? [] { connection.close() }
        }
        sweep.withLock { $0 = task }
    }

    deinit {
        sweep.withLock { $0?.cancel() }
    }

    /// Asks the service, and waits for its answer.
    ///
    /// - Throws: `GatewayError`, or `CancellationError`.
    public func call(
        _ method: String, _ params: ByteBuffer = ByteBuffer(staticString: "{}")
    ) async throws -> Answer {
        let time = limits.requestTime
        return try await borrowing { try await $0.call(method, params, within: time) }
    }

    /// Asks for states, those that follow the answer included.
    public func callForStates(_ method: String, _ params: ByteBuffer) async throws -> Answer {
        let time = limits.requestTime
        return try await borrowing { try await $0.callForStates(method, params, within: time) }
    }

    /// A connection of the caller's own, outside the pool and its bounds.
    public func openLongLived() async throws -> GatewayConnection {
        try await open(for: .longLived)
    }

    /// What is counted, now.
    public var counters: GatewayCounters { pool.withLock { $0.counters } }

    /// Ends every connection, and refuses from now on. Those of `openLongLived` are their
    /// owners'.
    public func close() {
        sweep.withLock { $0?.cancel() }
        for connection in pool.withLock({ $0.close() }) { connection.close() }
    }

    private func borrowing(
        _ body: @Sendable (GatewayConnection) async throws -> Answer
    ) async throws -> Answer {
        let connection = try await borrow()
        do {
            let answer = try await body(connection)
            giveBack(connection)
            return answer
        } catch {
            if case GatewayError.timedOut = error {
                pool.withLock { $0.counters.timedOut += 1 }
            }
            giveBack(connection)
            throw error
        }
    }

    func open(for use: ConnectionUse) async throws -> GatewayConnection {
        let socket: CInt
        do { socket = try connect() } catch { throw GatewayError.ended }
        return try await GatewayConnection.open(
            socket: socket, on: group, for: use, limits.connection)
    }
}
