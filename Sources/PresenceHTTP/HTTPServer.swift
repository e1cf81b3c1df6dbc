import Dispatch
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
import PresenceGateway

/// Why the API could not be started, in one sentence.
public struct HTTPRefusal: Error, CustomStringConvertible {
    /// The sentence.
    public let description: String
}

/// The HTTP API, on a thread of its own.
public final class HTTPServer: Sendable {
    /// Where it listens, with the port really bound.
    public let address: String
    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    private let gateway: Gateway
    private let task: Task<Void, Never>
    private let ended: EventLoopFuture<Void>

    /// Starts it, and waits until it listens. `connect` gives a socket that is connected to the
    /// service, which need not be serving yet. Not to be called on an event loop.
    public init(
        _ configuration: HTTPConfiguration, logger: Logger,
        connect: @escaping @Sendable () throws -> CInt
    ) throws(HTTPRefusal) {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let bound = loop.makePromise(of: (any Channel).self)
        let ended = loop.makePromise(of: Void.self)
        let gateway = Gateway(on: group, configuration.gateway, connect: connect)
        let application = Self.application(
            configuration, gateway, on: group, bound: bound, logger: logger)
        task = Task(executorPreference: LoopExecutor(loop)) {
            do { try await application.run() } catch { bound.fail(error) }
            // Whoever waits for the address does not wait for one that has ended.
            bound.fail(ChannelError.alreadyClosed)
            ended.succeed()
        }
        self.group = group
        self.gateway = gateway
        self.ended = ended.futureResult
        do {
            listener = try bound.futureResult.wait()
            let host = configuration.host
            let port = listener.localAddress?.port ?? configuration.port
            address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        } catch {
            try? ended.futureResult.wait()
            gateway.close()
            Self.end(task, on: group)
            throw HTTPRefusal(
                description:
                    "Cannot listen on \(configuration.host):\(configuration.port) (\(error)); "
                    + "choose another address or port with --http.")
        }
    }

    /// Closes every connection, and waits for the end. Not to be called on an event loop.
    public func stop() {
        // First nobody new, so that the end of the others is no fault of the listener's.
        try? listener.close().wait()
        task.cancel()
        try? ended.wait()
        gateway.close()
        Self.end(task, on: group)
    }

    /// Waits until nothing has anything left to do on the thread but its last pieces.
    ///
    /// The thread itself stays, for the moment that the process still has: a loop that has been
    /// shut down refuses the last piece of a task, and says so on standard error.
    private static func end(_ task: Task<Void, Never>, on group: MultiThreadedEventLoopGroup) {
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            await task.value
            isDone.signal()
        }
        isDone.wait()
        try? group.next().submit {}.wait()
    }

    private static func application(
        _ configuration: HTTPConfiguration, _ gateway: Gateway,
        on group: MultiThreadedEventLoopGroup, bound: EventLoopPromise<any Channel>, logger: Logger
    ) -> Application<API> {
        let limits = configuration.limits
        let counters = HTTPCounters()
        let api = API(
            gateway: gateway, access: configuration.access, limits: limits, counters: counters,
            readiness: Readiness())
        var logger = logger
        // Hummingbird tells of every start and end, which is ours to tell.
        logger.logLevel = max(logger.logLevel, .warning)
        return Application(
            responder: api,
            server: .http1(
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [ConnectionGuard(limits, counters)],
                    idleTimeout: .seconds(Int64(limits.idleSeconds)),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: limits.headerBytesMax,
                        maxHeaderListSize: limits.headerBytesMax, maxHeaderFieldCount: 100))),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    limits.connectionsMax, logger: logger)),
            onServerRunning: { bound.succeed($0) },
            eventLoopGroupProvider: .shared(group), logger: logger)
    }
}
