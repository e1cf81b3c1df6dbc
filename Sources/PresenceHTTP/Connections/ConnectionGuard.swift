// Watches one connection's clock. The connection ends when
//
// * a request has begun and its body is not complete in time,
// * the client has something to take and has taken none of it for a while,
// * it has gone while a stream is written to it,
// * its answer said `Connection: close`: then our side is ended first, and what still comes is
//   dropped for a moment, since closing at once could take the answer back.
//
// That it is without a request for too long, or with half a header, is seen by Hummingbird.

import HTTPTypes
import NIOCore
import NIOHTTPTypes

final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler, TableConnection {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// What becomes of the connection when the answer under way has been written.
    private enum Afterwards { case stay, close, linger }

    private let limits: HTTPLimits
    private let counters: HTTPCounters
    private let connections: ConnectionLimiter
    var place = ConnectionPlace<ConnectionGuard>()
    private var channel: (any Channel)?
    /// Complete requests less complete responses. Negative where a response is complete before its
    /// request, as after 405.
    private var requestsUnderWay = 0
    private var afterwards = Afterwards.stay
    private var isStream = false
    private var requestDeadline: Scheduled<Void>?
    private var progressDeadline: Scheduled<Void>?

    init(_ limits: HTTPLimits, _ counters: HTTPCounters, _ connections: ConnectionLimiter) {
        self.limits = limits
        self.counters = counters
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        channel = context.channel
        counters.connectionOpened()
        connections.enter(self, from: context.channel.remoteAddress)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
    }

    func closeToMakeRoom() {
        counters.connectionDisplaced()
        let channel = channel
        leave()
        channel?.close(promise: nil)
    }

    private func leave() {
        guard channel != nil else { return }
        channel = nil
        requestDeadline?.cancel()
        progressDeadline?.cancel()
        connections.leave(self)
        counters.connectionClosed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard afterwards != .linger else { return }
        // Behind an endless answer there is no place for another request.
        guard !isStream else { return context.close(promise: nil) }
        switch unwrapInboundIn(data) {
        case .head: requestDeadline = deadline(in: limits.requestSeconds, context)
        case .body: break
        case .end:
            requestDeadline?.cancel()
            requestsUnderWay += 1
            if requestsUnderWay > 0 { connections.endWaiting(self) }
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if afterwards == .linger || isStream { return context.read() }
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        progressDeadline?.cancel()
        if !context.channel.isWritable {
            progressDeadline = deadline(in: limits.progressSeconds, context)
        }
        context.fireChannelWritabilityChanged()
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            if head.headerFields[.connection] == "close" { afterwards = .close }
            isStream = head.headerFields[.contentType] == "text/event-stream"
            context.write(data, promise: promise)
            // Nobody else reads while an answer is written, so that its end would not be seen.
            if isStream { context.read() }
        case .end where afterwards == .close:
            responseEnded()
            context.writeAndFlush(data, promise: promise)
            linger(context)
        case .end:
            responseEnded()
            isStream = false
            context.write(data, promise: promise)
        case .body:
            context.write(data, promise: promise)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isStream, event as? ChannelEvent == .inputClosed { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    private func responseEnded() {
        requestsUnderWay -= 1
        if requestsUnderWay <= 0 { connections.beginWaiting(self) }
    }

    /// Ends our side, and waits a moment for the client to end its own.
    private func linger(_ context: ChannelHandlerContext) {
        afterwards = .linger
        requestDeadline?.cancel()
        context.close(mode: .output, promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        requestDeadline = context.eventLoop.scheduleTask(in: .seconds(2)) {
            bound.value.close(promise: nil)
        }
        context.read()
    }

    private func deadline(in seconds: Int, _ context: ChannelHandlerContext) -> Scheduled<Void> {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        return context.eventLoop.scheduleTask(in: .seconds(Int64(seconds))) {
            let (guardian, context) = bound.value
            guardian.counters.connectionTimedOut()
            context.close(promise: nil)
        }
    }
}
