public import NIOCore
import NIOPosix

/// What a connection is for.
public enum ConnectionUse: Sendable {
    /// Requests; what the service sends by itself is dropped.
    case requests
    /// Notifications, too; keep-alives are sent.
    case longLived
}

/// The bounds of a connection.
public struct ConnectionLimits: Sendable {
    /// Bytes in the body of a frame of the service's.
    public var frameBytesMax = 1 << 20
    /// Bytes in the body of a request's frame.
    public var requestBytesMax = 1 << 16
    /// Bytes of notifications that wait for whoever takes them. With more, nothing is read.
    public var notificationBytesMax = 1 << 18
    /// Bytes of states that follow an answer.
    public var followerBytesMax = 4 << 20
    /// How often a long-lived connection says that it is there; nil: it does not.
    public var keepAliveInterval: TimeAmount? = .seconds(10)

    /// The defaults.
    public init() {}
}

/// A connection to the service over a socket that somebody has connected.
///
/// Several requests may be under way; they are carried out one after the other. A call that is
/// cancelled, or whose answer does not come in time, ends the connection, so that no answer can
/// be taken for another's.
public final class GatewayConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<ConnectionHandler>

    private init(_ channel: any Channel, _ handler: NIOLoopBound<ConnectionHandler>) {
        self.channel = channel
        self.handler = handler
    }

    /// Takes over `socket`, which is the connection's from now on.
    ///
    /// - Throws: where the socket cannot be watched; it is closed then.
    public static func open(
        socket: CInt, on group: any EventLoopGroup, for use: ConnectionUse = .requests,
        _ limits: ConnectionLimits = ConnectionLimits()
    ) async throws -> GatewayConnection {
        try await ClientBootstrap(group: group)
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectionHandler(use, limits))
                }
            }
            .withConnectedSocket(socket)
            .flatMapThrowing { channel in
                let handler = try channel.pipeline.syncOperations.handler(
                    type: ConnectionHandler.self)
                return GatewayConnection(
                    channel, NIOLoopBound(handler, eventLoop: channel.eventLoop))
            }
            .get()
    }

    /// The loop on which the connection lives.
    public var eventLoop: any EventLoop { channel.eventLoop }

    /// When the connection has ended.
    public var closeFuture: EventLoopFuture<Void> { channel.closeFuture }

    /// Whether requests can still be made.
    public var isOpen: Bool { channel.isActive }

    /// Asks the service, and waits for its answer.
    ///
    /// - Throws: `GatewayError`, or `CancellationError`; then the connection has ended, but
    ///   after `requestTooLarge`.
    public func call(
        _ method: String, _ params: ByteBuffer = ByteBuffer(staticString: "{}"),
        within time: TimeAmount? = nil
    ) async throws -> Answer {
        let promise = channel.eventLoop.makePromise(of: Answer.self)
        onLoop { $0.send(method, params, within: time, promise, .now) }
        return try await wait(for: promise)
    }

    /// Asks for states. Those that do not fit into the answer's frame follow it, and are put
    /// back into its list.
    ///
    /// That nothing more follows is known when a `ping` behind the request is answered.
    public func callForStates(
        _ method: String, _ params: ByteBuffer, within time: TimeAmount? = nil
    ) async throws -> Answer {
        let answer = channel.eventLoop.makePromise(of: Answer.self)
        let pong = channel.eventLoop.makePromise(of: Answer.self)
        let followers = channel.eventLoop.makePromise(of: [ByteBuffer].self)
        onLoop {
            $0.beginFollowing()
            $0.send(method, params, within: time, answer, .laterOn)
            $0.send("ping", ByteBuffer(staticString: "{}"), within: time, pong, .now)
        }
        defer { onLoop { followers.succeed($0.endFollowing()) } }
        let first = try await wait(for: answer)
        _ = try await wait(for: pong)
        onLoop { followers.succeed($0.endFollowing()) }
        guard case .result(let result) = first else { return first }
        guard let whole = StateList.join(result, try await followers.futureResult.get()) else {
            close()
            throw GatewayError.notUnderstood
        }
        return .result(whole)
    }

    /// What the service sends by itself, for one who takes it; ends with an error.
    public var notifications: Notifications { Notifications(connection: self) }

    /// The next notification; nil where none comes within `time`, and the connection goes on.
    public func notification(within time: TimeAmount) async throws -> Notification? {
        let promise = channel.eventLoop.makePromise(of: Notification?.self)
        onLoop { $0.take(promise, within: time) }
        return try await wait(for: promise)
    }

    /// Ends the connection. Whoever waits for something hears `ended`.
    public func close() {
        onLoop { $0.end(.ended) }
    }

    fileprivate func next() async throws -> Notification? {
        let promise = channel.eventLoop.makePromise(of: Notification?.self)
        onLoop { $0.take(promise, within: nil) }
        return try await wait(for: promise)
    }

    private func wait<Value: Sendable>(for promise: EventLoopPromise<Value>) async throws -> Value {
        do {
            return try await withTaskCancellationHandler {
                try await promise.futureResult.get()
            } onCancel: {
                close()
            }
        } catch {
            try Task.checkCancellation()
            throw error
        }
    }

    private func onLoop(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
        if channel.eventLoop.inEventLoop { return body(handler.value) }
        channel.eventLoop.execute { [handler] in body(handler.value) }
    }
}

/// What the service sends by itself on a long-lived connection.
///
/// What is not taken is not read from the socket, beyond a bound. Cancelling whoever waits ends
/// the connection.
public struct Notifications: AsyncSequence, Sendable {
    fileprivate let connection: GatewayConnection

    /// The one who takes them: one at a time.
    public func makeAsyncIterator() -> Iterator { Iterator(connection: connection) }

    /// Takes one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let connection: GatewayConnection

        /// The next one. It is never nil: the sequence ends with an error, which says why.
        public mutating func next() async throws -> Notification? {
            try await connection.next()
        }
    }
}
