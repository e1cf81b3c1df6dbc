import NIOCore

/// Answers a client of the native protocol, which has connected to the wrong one of the two ports,
/// with a frame that says so; then closes the connection.
///
/// A frame has fewer than 2^24 bytes, so its first byte is 0. No HTTP request begins with 0.
final class NativeProtocolHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var isRejected = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRejected else { return }
        let bytes = unwrapInboundIn(data)
        guard bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) == 0 else {
            context.fireChannelRead(data)
            // One look is enough.
            return context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
        isRejected = true
        context.writeAndFlush(wrapOutboundOut(Self.notice), promise: nil)
        // What the client still sends is read for a moment: closing at once could reset the
        // connection before the client has read the notice.
        context.close(mode: .output, promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .seconds(2)) { bound.value.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if isRejected { context.read() } else { context.fireChannelReadComplete() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isRejected, event as? ChannelEvent == .inputClosed {
            return context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// The protocol's `close`, as a frame.
    static let notice: ByteBuffer = {
        let body = """
            {"jsonrpc":"2.0","method":"close","params":{"code":4400,\
            "reason":"protocol_violation","message":"This is the HTTP port. Connect to the native \
            port, which is 7400 by default."}}
            """
        var frame = ByteBuffer()
        frame.writeInteger(UInt32(body.utf8.count))
        frame.writeString(body)
        return frame
    }()
}
