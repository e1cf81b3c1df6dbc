public import NIOCore
import NIOPosix

/// The use of a connection.
public enum ConnectionUse: Sendable {
    /// Requests only; notifications are dropped.
    case requests
    /// Notifications, too; keep-alives are sent.
    case longLived
}

/// The limits of a connection.
public struct GatewayConnectionLimits: Sendable {
    /// Bytes in the body of a frame from the service.
    public var frameBytesMax = 1 << 20
    /// Bytes in the body of a request.
    public var requestBytesMax = 1 << 16
    /// Bytes of queued notifications. Above the limit nothing is read.
    public var notificationBytesMax = 1 << 18
    /// Bytes of states that follow a response.
    public var followerBytesMax = 4 << 20
    /// The interval of keep-alives on a long-lived connection; nil for none.
    public var keepAliveInterval: TimeAmount? = .seconds(10)

    /// The defaults.
    public init() {}
}

/// A connection to the service over a socket that is already connected.
///
/// Several requests may be pending; the service carries them out one after the other. A call that
/// is cancelled, or whose response does not arrive in time, closes the connection, so that no
/// response can be matched to the wrong request.
public final class GatewayConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<ConnectionHandler>

    private init(_ channel: any Channel, _ handler: NIOLoopBound<ConnectionHandler>) {
        self.channel = channel
        self.handler = handler
    }

    /// Takes ownership of `socket`.
    ///
    /// - Throws: if the socket cannot be watched; it is closed then.
    public static func open(
        socket: CInt, on group: any EventLoopGroup, for use: ConnectionUse = .requests,
        _ limits: GatewayConnectionLimits = GatewayConnectionLimits()
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

    /// The loop of the connection.
    public var eventLoop: any EventLoop { channel.eventLoop }

    /// Completes when the connection has ended.
    public var closeFuture: EventLoopFuture<Void> { channel.closeFuture }

    /// Whether requests can still be sent.
    public var isOpen: Bool { channel.isActive }

    /// Sends a request and waits for the response.
    ///
    /// - Throws: `GatewayError` or `CancellationError`. The connection has then ended, except after
    /// `requestTooLarge`.
    public func call(
        _ method: String, _ params: ByteBuffer = ByteBuffer(staticString: "{}"),
        within time: TimeAmount? = nil
    ) async throws -> ServiceResponse {
        let promise = channel.eventLoop.makePromise(of: ServiceResponse.self)
        onLoop { $0.send(method, params, within: time, promise, .now) }
        return try await wait(for: promise)
    }

    /// Requests states. Those that do not fit into the frame of the response follow it as
    /// notifications and are appended to its list.
    ///
    /// A `ping` after the request marks the end: when it is answered, no more states follow.
    public func callForStates(
        _ method: String, _ params: ByteBuffer, within time: TimeAmount? = nil
    ) async throws -> ServiceResponse {
        let answer = channel.eventLoop.makePromise(of: ServiceResponse.self)
        let pong = channel.eventLoop.makePromise(of: ServiceResponse.self)
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

    /// The notifications, for one consumer; ends with an error.
    public var notifications: ServiceNotifications { ServiceNotifications(connection: self) }

    /// The next notification; nil if none arrives within `time`. The connection stays open then.
    public func notification(within time: TimeAmount) async throws -> ServiceNotification? {
        let promise = channel.eventLoop.makePromise(of: ServiceNotification?.self)
        onLoop { $0.take(promise, within: time) }
        return try await wait(for: promise)
    }

    /// Closes the connection. Pending calls throw `ended`.
    public func close() {
        onLoop { $0.end(.ended) }
    }

    fileprivate func next() async throws -> ServiceNotification? {
        let promise = channel.eventLoop.makePromise(of: ServiceNotification?.self)
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

/// The notifications of a long-lived connection.
///
/// Above a limit on queued notifications the socket is not read. Cancelling the consumer closes the
/// connection.
public struct ServiceNotifications: AsyncSequence, Sendable {
    fileprivate let connection: GatewayConnection

    /// The consumer's iterator: one at a time.
    public func makeAsyncIterator() -> Iterator { Iterator(connection: connection) }

    /// Iterates over the notifications.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let connection: GatewayConnection

        /// The next notification. Never nil: the sequence ends with an error that says why.
        public mutating func next() async throws -> ServiceNotification? {
            try await connection.next()
        }
    }
}
