// A pool of connections to the service, for concurrent requests.
//
// A connection carries out one request after the other, so each request borrows one. Connections
// are opened as they are needed, up to a limit. Above it requests wait in order of arrival, up to a
// limit and a time; above that they are rejected. A connection that has not been used for a while
// is closed before the service would close it.

public import NIOCore
import Synchronization

/// The limits of the pool.
public struct GatewayLimits: Sendable {
    /// Concurrent connections.
    public var connectionsMax = 64
    /// Requests that wait for a connection.
    public var waitersMax = 512
    /// The longest duration of a request, its wait for a connection included.
    public var requestTime = TimeAmount.seconds(10)
    /// How long a connection may be unused before it is closed. Less than the heartbeat that the
    /// service requires.
    public var idleTime = TimeAmount.seconds(20)
    /// The limits of each connection.
    public var connection = GatewayConnectionLimits()

    /// The defaults.
    public init() {}

    /// Shortens times to fit a service that closes a connection after 1.5 heartbeats without input.
    public mutating func fit(heartbeatSeconds: Int) {
        idleTime = min(idleTime, .seconds(Int64(heartbeatSeconds)))
        connection.keepAliveInterval = .seconds(Int64(min(10, max(1, heartbeatSeconds / 2))))
    }
}

/// The pool's counters.
public struct GatewayCounters: Hashable, Sendable {
    /// Connections with a pending request, and idle ones.
    public var busy = 0, idle = 0
    /// Requests that wait for a connection.
    public var waiting = 0
    /// Since startup: connections opened, requests rejected because too many were waiting, and
    /// requests without a response in time.
    public var opened = 0, refused = 0, timedOut = 0
}

/// Sends requests to the service, from any task.
public final class Gateway: Sendable {
    let limits: GatewayLimits
    let group: any EventLoopGroup
    let connect: @Sendable () throws -> CInt
    let pool: Mutex<Pool<GatewayConnection>>
    private let sweep: Mutex<RepeatedTask?>

    /// A pool without connections. `connect` returns a socket that is connected to the service.
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

    /// Sends a request and waits for its response.
    ///
    /// - Throws: `GatewayError` or `CancellationError`.
    public func call(
        _ method: String, _ params: ByteBuffer = ByteBuffer(staticString: "{}")
    ) async throws -> ServiceResponse {
        let time = limits.requestTime
        return try await borrowing { try await $0.call(method, params, within: time) }
    }

    /// Requests states, including those that follow the response.
    public func callForStates(_ method: String, _ params: ByteBuffer) async throws
        -> ServiceResponse
    {
        let time = limits.requestTime
        return try await borrowing { try await $0.callForStates(method, params, within: time) }
    }

    /// A connection that belongs to the caller, outside the pool and its limits.
    public func openLongLived() async throws -> GatewayConnection {
        try await open(for: .longLived)
    }

    /// The current counters.
    public var counters: GatewayCounters { pool.withLock { $0.counters } }

    /// Closes every connection, and rejects requests from now on. Connections of `openLongLived`
    /// belong to their owners.
    public func close() {
        sweep.withLock { $0?.cancel() }
        for connection in pool.withLock({ $0.close() }) { connection.close() }
    }

    private func borrowing(
        _ body: @Sendable (GatewayConnection) async throws -> ServiceResponse
    ) async throws -> ServiceResponse {
        let connection = try await borrow()
        do {
            let answer = try await body(connection)
            giveBack(connection)
            return answer
        } catch {
            if case GatewayError.timedOut = error {
                pool.withLock { $0.countTimeout() }
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
