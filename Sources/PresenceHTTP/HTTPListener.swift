import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import TaskLoops

/// An address that the API listens on, while it does.
struct HTTPListener: Sendable {
    /// The address, with the port really bound.
    let address: String
    private let channel: any Channel
    private let task: Task<Void, Never>
    private let ended: EventLoopFuture<Void>
    private let loop: any EventLoop
    private let group: MultiThreadedEventLoopGroup

    /// Waits until it listens. Not to be called on an event loop.
    init(
        _ place: HTTPPlace, _ setup: HTTPChannel, on group: MultiThreadedEventLoopGroup,
        logger: Logger
    ) throws(HTTPStartError) {
        loop = group.next()
        self.group = group
        let bound = loop.makePromise(of: (any Channel).self)
        let ended = loop.makePromise(of: Void.self)
        let server = Server(
            childChannelSetup: setup,
            configuration: ServerConfiguration(
                address: .hostname(place.host, port: place.port), backlog: 4_096),
            onServerRunning: { listener in
                AcceptPause.install(on: listener)
                bound.succeed(listener)
            },
            eventLoopGroup: group, logger: logger)
        task = TaskLoop(loop).task {
            do { try await server.run() } catch { bound.fail(error) }
            // No effect if the address is known; otherwise the server has ended without one.
            bound.fail(ChannelError.alreadyClosed)
            ended.succeed()
        }
        self.ended = ended.futureResult
        do {
            channel = try bound.futureResult.wait()
        } catch {
            try? ended.futureResult.wait()
            Self.end(task, on: loop)
            throw HTTPStartError(error, at: place, isSecure: setup.tls != nil)
        }
        let port = channel.localAddress?.port ?? place.port
        address = place.host.contains(":") ? "[\(place.host)]:\(port)" : "\(place.host):\(port)"
    }

    /// Closes every connection. Not to be called on an event loop.
    func stop() {
        // Stop accepting first, so that closing the connections is not an error of the listener.
        try? channel.setOption(.autoRead, value: false).wait()
        // A connection that is being set up crosses to its loop and back. If the listener were
        // closed meanwhile, it would be handed to no task, and its unused writer ends the process.
        for _ in 0..<2 {
            for loop in group.makeIterator() { try? loop.submit {}.wait() }
        }
        try? channel.close().wait()
        task.cancel()
        try? ended.wait()
    }

    /// Waits until nothing has anything left to do on the thread but its last pieces.
    ///
    /// The thread itself stays, for the moment that the process still has: a loop that has been
    /// shut down refuses the last piece of a task, and says so on standard error.
    func end() { Self.end(task, on: loop) }

    private static func end(_ task: Task<Void, Never>, on loop: any EventLoop) {
        TaskLoop(loop).wait { await task.value }
        try? loop.submit {}.wait()
    }
}

extension HTTPStartError {
    fileprivate init(_ error: any Error, at place: HTTPPlace, isSecure: Bool) {
        self.init(
            errorNumber: (error as? IOError)?.errnoCode, isSecure: isSecure,
            description:
                "Cannot listen on \(place.host):\(place.port) (\(error)); choose another address "
                + "or port with \(isSecure ? "--http-tls" : "--http").")
    }
}
