// The time limits of one connection. It is closed when
//
// * a request has begun and its body is not complete in time,
// * the client has not read any of the bytes that wait for it for a while,
// * the client disconnects while a stream is written to it,
// * a response said `Connection: close`: then only the output is closed first, and input is
//   discarded for a moment, since closing at once could lose the response.
//
// Hummingbird closes connections that are idle for too long, or whose header is not complete.

import HTTPTypes
import NIOCore
import NIOHTTPTypes

final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler, TableConnection {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// What happens to the connection after the current response.
    private enum AfterResponse { case stay, close, linger }

    private let limits: HTTPLimits
    private let counters: HTTPCounters
    private let connections: ConnectionLimiter
    var place = ConnectionPlace<ConnectionGuard>()
    private var channel: (any Channel)?
    /// Complete requests less complete responses. Negative where a response is complete before its
    /// request, as after 405.
    private var requestsInFlight = 0
    private var afterResponse = AfterResponse.stay
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
        guard afterResponse != .linger else { return }
        // A stream does not end, so a request after it could not be answered.
        guard !isStream else { return context.close(promise: nil) }
        switch unwrapInboundIn(data) {
        case .head: requestDeadline = deadline(in: limits.requestSeconds, context)
        case .body: break
        case .end:
            requestDeadline?.cancel()
            requestsInFlight += 1
            if requestsInFlight > 0 { connections.endWaiting(self) }
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if afterResponse == .linger || isStream { return context.read() }
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
            if head.headerFields[.connection] == "close" { afterResponse = .close }
            isStream = head.headerFields[.contentType] == "text/event-stream"
            context.write(data, promise: promise)
            // Hummingbird does not read during a response, and would not notice the disconnect.
            if isStream { context.read() }
        case .end where afterResponse == .close:
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
        requestsInFlight -= 1
        if requestsInFlight <= 0 { connections.beginWaiting(self) }
    }

    /// Closes the output, and waits a moment for the client to close its own.
    private func linger(_ context: ChannelHandlerContext) {
        afterResponse = .linger
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
            let (connection, context) = bound.value
            connection.counters.connectionTimedOut()
            context.close(promise: nil)
        }
    }
}
