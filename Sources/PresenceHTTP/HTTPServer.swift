import HummingbirdCore
public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
public import PresenceGateway
import TaskLoops

/// Why the API could not be started, in one sentence.
public struct HTTPStartError: Error, CustomStringConvertible {
    /// The system's error number; nil if the system was not the cause.
    public let errorNumber: CInt?
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

    /// Starts it, and waits until it listens. The service behind `door` need not be serving yet.
    /// Not to be called on an event loop.
    public init(
        _ configuration: HTTPConfiguration, to door: ServiceDoor, logger: Logger
    ) throws(HTTPStartError) {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let bound = loop.makePromise(of: (any Channel).self)
        let ended = loop.makePromise(of: Void.self)
        let gateway = Gateway(on: loop, configuration.gateway, to: door)
        let server = Self.server(configuration, gateway, on: group, bound: bound, logger: logger)
        task = TaskLoop(loop).task {
            do { try await server.run() } catch { bound.fail(error) }
            // No effect if the address is known; otherwise the server has ended without one.
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
            throw HTTPStartError(
                errorNumber: (error as? IOError)?.errnoCode,
                description:
                    "Cannot listen on \(configuration.host):\(configuration.port) (\(error)); "
                    + "choose another address or port with --http.")
        }
    }

    /// Closes every connection, and waits for the end. Not to be called on an event loop.
    public func stop() {
        // Stop accepting first, so that closing the connections is not an error of the listener.
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
        TaskLoop(group.next()).wait { await task.value }
        try? group.next().submit {}.wait()
    }

    private static func server(
        _ configuration: HTTPConfiguration, _ gateway: Gateway,
        on group: MultiThreadedEventLoopGroup, bound: EventLoopPromise<any Channel>, logger: Logger
    ) -> Server<HTTP1Channel> {
        let limits = configuration.limits
        let counters = HTTPCounters()
        let api = API(
            gateway: gateway, access: configuration.access, limits: limits, counters: counters,
            readiness: Readiness(), date: DateField(configuration.wallMilliseconds))
        let connections = ConnectionLimiter(limits, on: group.next())
        var logger = logger
        // Hummingbird logs every start and end, which the service logs itself.
        logger.logLevel = max(logger.logLevel, .warning)
        return Server(
            childChannelSetup: HTTP1Channel(
                responder: { request, writer, channel in
                    let response = try await api.respond(to: request, over: channel)
                    do {
                        try await writer.write(response: response.head, body: response.body)
                    } catch is HTTPParserError {
                        // A body that is no HTTP: half a response cannot become another one.
                        throw ChannelError.inputClosed
                    }
                },
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [
                        NativeProtocolInstaller(), ConnectionGuard(limits, counters, connections),
                    ],
                    idleTimeout: .seconds(Int64(limits.idleSeconds)),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: limits.headerBytesMax,
                        maxHeaderListSize: limits.headerBytesMax, maxHeaderFieldCount: 100))),
            configuration: ServerConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                backlog: 4_096),
            onServerRunning: { listener in
                AcceptPause.install(on: listener)
                bound.succeed(listener)
            },
            eventLoopGroup: group, logger: logger)
    }
}
