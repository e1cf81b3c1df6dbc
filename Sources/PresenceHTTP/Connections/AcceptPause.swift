import NIOCore

/// Stops accepting for a second when a connection cannot be accepted.
///
/// NIO's own handler for that (`AcceptBackoffHandler`) delays the next read, but one is pending
/// when accept4(2) fails, and the listener stays in the poll set: without descriptors the thread
/// would try again without end.
final class AcceptPause: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel

    private static let seconds: Int64 = 1

    /// Watches a listener, on its event loop.
    static func install(on listener: any Channel) {
        let isInstalled = listener.pipeline.addHandler(AcceptPause(), position: .first)
        isInstalled.whenFailure { _ in listener.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let listener = context.channel
        listener.setOption(.autoRead, value: false)
            .flatMap {
                listener.eventLoop.scheduleTask(in: .seconds(Self.seconds)) {}.futureResult
            }
            .flatMap { listener.setOption(.autoRead, value: true) }
            .whenFailure { _ in }
        context.fireErrorCaught(error)
    }
}
