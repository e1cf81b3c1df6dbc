import NIOCore

/// One connection to the demo's own server: requests one after the other, on loopback.
///
/// `HTTPConnection` has the bounds that a server for others needs; here are those that cost
/// nothing: of a request's size, and of the time for which a connection is idle.
final class DemoConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let limits = RequestLimits(
        lineBytesMax: 4_096, fields: FieldSection.Limits(count: 100, bytes: 1 << 15),
        bodyBytesMax: 1_024)

    private let pages: DemoPages
    private let date: DateField
    private var input = RequestInput(DemoConnection.limits)
    /// The request whose end has not been read.
    private var head: RequestHead?
    /// Whether a response is awaited. Meanwhile nothing is read.
    private var isResponding = false

    init(_ pages: DemoPages, _ date: DateField) {
        self.pages = pages
        self.date = date
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !input.append(unwrapInboundIn(data)) { context.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        advance(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed {
            input.hasEnded = true
            advance(context)
        } else if event is IdleStateHandler.IdleStateEvent, !isResponding {
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func advance(_ context: ChannelHandlerContext) {
        do throws(HTTPError) {
            while !isResponding {
                guard let event = try input.next() else {
                    return input.hasEnded ? context.close(promise: nil) : context.read()
                }
                try take(event, context)
            }
        } catch {
            // Where the next request begins is not known.
            isResponding = true
            write(error.response, to: nil, context, closes: true)
        }
    }

    private func take(
        _ event: RequestReader.Event, _ context: ChannelHandlerContext
    ) throws(HTTPError) {
        switch event {
        case .head(let head):
            let bytesMax = Self.limits.bodyBytesMax
            if case .length(let length) = head.framing, length > bytesMax {
                throw .bodyTooLarge(bytesMax: bytesMax)
            }
            self.head = head
        case .body: break
        case .end:
            guard let head else { return }
            isResponding = true
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            pages.respond(to: head) { response in
                bound.eventLoop.execute {
                    let (connection, context) = bound.value
                    connection.write(response, to: head, context, closes: !head.keepsConnection)
                }
            }
        }
    }

    private func write(
        _ response: Response, to head: RequestHead?, _ context: ChannelHandlerContext,
        closes: Bool
    ) {
        let framing = ResponseFraming(of: response, to: head, closes: closes)
        var bytes = framing.head(of: response, date: date.text)
        var outgoing = OutgoingResponse(response.body, framing)
        while let part = outgoing.next() { bytes.writeImmutableBuffer(part) }
        guard !closes else {
            let isWritten = context.eventLoop.makePromise(of: Void.self)
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            isWritten.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
            return context.writeAndFlush(wrapOutboundOut(bytes), promise: isWritten)
        }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
        isResponding = false
        advance(context)
    }
}
