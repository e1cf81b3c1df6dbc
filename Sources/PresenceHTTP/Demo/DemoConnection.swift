import NIOCore

/// One connection to the demo's own server: requests one after the other, on loopback.
///
/// `HTTPConnection` has the bounds that a server for others needs; here are those that cost
/// nothing: of a request's size, of the responses that wait for a client (one), of the time for
/// which a connection is idle or its client does not read, and of the number of connections.
final class DemoConnection: ChannelInboundHandler, TableConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let limits = RequestLimits(
        lineBytesMax: 4_096, fields: FieldSection.Limits(count: 100, bytes: 1 << 15),
        bodyBytesMax: 1_024)

    private let pages: DemoPages
    private let date: DateField
    private let connections: DemoConnections
    var place = ConnectionPlace<DemoConnection>()
    private var context: ChannelHandlerContext?
    private var input = RequestInput(DemoConnection.limits)
    /// The request whose end has not been read.
    private var head: RequestHead?
    private enum Phase {
        case reading
        /// Until there is a response. This and the next read nothing.
        case awaitingResponse
        /// Until the kernel has all of the response.
        case writing
    }
    private var phase = Phase.reading

    init(_ pages: DemoPages, _ date: DateField, _ connections: DemoConnections) {
        self.pages = pages
        self.date = date
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connections.enter(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func leave() {
        context = nil
        connections.leave(self)
    }

    func closeToMakeRoom() {
        let context = context
        leave()
        context?.close(promise: nil)
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
        } else if event is IdleStateHandler.IdleStateEvent, phase != .awaitingResponse {
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func advance(_ context: ChannelHandlerContext) {
        do throws(HTTPError) {
            while phase == .reading {
                guard let event = try input.next() else {
                    return input.hasEnded ? context.close(promise: nil) : context.read()
                }
                try take(event, context)
            }
        } catch {
            // Where the next request begins is not known.
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
            phase = .awaitingResponse
            connections.endWaiting(self)
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
        phase = .writing
        let isWritten = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        isWritten.futureResult.whenComplete { _ in
            let (connection, context) = bound.value
            connection.endResponse(context, closes: closes)
        }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: isWritten)
    }

    private func endResponse(_ context: ChannelHandlerContext, closes: Bool) {
        guard !closes else { return context.close(promise: nil) }
        phase = .reading
        connections.beginWaiting(self)
        advance(context)
    }
}

/// The connections to the demo's own server, on their event loop.
///
/// One above the limit closes the one that has been waiting longest for a request.
final class DemoConnections: Sendable {
    private final class Box {
        var table: ConnectionTable<DemoConnection>

        init(_ connectionsMax: Int) {
            table = ConnectionTable(connectionsMax: connectionsMax, perNetworkMax: connectionsMax)
        }
    }

    private let box: NIOLoopBoundBox<Box>

    init(connectionsMax: Int = 64, on loop: any EventLoop) {
        box = NIOLoopBoundBox.makeBoxSendingValue(Box(connectionsMax), eventLoop: loop)
    }

    func enter(_ connection: DemoConnection) {
        box.value.table.enter(connection, from: nil)?.closeToMakeRoom()
    }

    func leave(_ connection: DemoConnection) { box.value.table.leave(connection) }
    func beginWaiting(_ connection: DemoConnection) { box.value.table.beginWaiting(connection) }
    func endWaiting(_ connection: DemoConnection) { box.value.table.endWaiting(connection) }
}
