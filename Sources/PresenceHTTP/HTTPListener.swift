import NIOCore
import NIOPosix

/// An address that the API listens on, while it does.
struct HTTPListener: Sendable {
    /// The address, with the port really bound.
    let address: String
    private let channel: any Channel

    /// What the kernel keeps of the input of a connection that is not read, and of the output that
    /// its client does not read. By default the latter grows to 4 MiB.
    private static let kernelInputBytes: ChannelOptions.Types.SocketOption.Value = 1 << 16
    private static let kernelOutputBytes: ChannelOptions.Types.SocketOption.Value = 1 << 18
    /// Bytes of a read.
    private static let readBytes = AdaptiveRecvByteBufferAllocator(
        minimum: 1 << 10, initial: 1 << 11, maximum: 1 << 14)

    /// Waits until it listens. Not to be called on an event loop.
    init(
        _ place: HTTPPlace, isSecure: Bool, on group: MultiThreadedEventLoopGroup,
        _ setUp: @escaping @Sendable (any Channel) throws -> Void
    ) throws(HTTPStartError) {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4_096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Accepted connections have the same.
            .serverChannelOption(.socketOption(.so_rcvbuf), value: Self.kernelInputBytes)
            .serverChannelOption(.socketOption(.so_sndbuf), value: Self.kernelOutputBytes)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: Self.readBytes)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try setUp(channel) }
            }
        do {
            let socketAddress = try SocketAddress(ipAddress: place.host, port: place.port)
            channel = try bootstrap.bind(to: socketAddress).wait()
        } catch {
            throw HTTPStartError(error, at: place, isSecure: isSecure)
        }
        AcceptPause.install(on: channel)
        let port = channel.localAddress?.port ?? place.port
        address = place.host.contains(":") ? "[\(place.host)]:\(port)" : "\(place.host):\(port)"
    }

    /// Accepts no further connections. Not to be called on an event loop.
    func stop() {
        try? channel.close().wait()
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
