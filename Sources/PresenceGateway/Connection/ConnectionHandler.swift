// One connection to the service, on its event loop: bytes become frames, frames become responses
// and notifications.
//
// Responses are matched to pending requests in order. Notifications wait in a queue of limited size
// for their consumer. While the queue is full nothing is read, so that back-pressure reaches the
// service through the socket, and the service treats the connection as a slow client. A connection
// of the pool drops notifications, except states that follow a response.
//
// The first reason for which a connection ends is the one that is reported everywhere.

import NIOCore

final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// When written frames are flushed.
    enum Flush { case now, laterOn }

    /// A pending request.
    private struct Pending {
        var id: Int
        var promise: EventLoopPromise<ServiceResponse>
        var deadline: Scheduled<Void>?
    }

    private let limits: GatewayConnectionLimits
    private let use: ConnectionUse
    private var context: ChannelHandlerContext?
    private var received = ByteBuffer()
    private var pending = CircularBuffer<Pending>(initialCapacity: 2)
    private var lastID = 0
    private var queue = CircularBuffer<ServiceNotification>(initialCapacity: 0)
    private var queueBytes = 0
    private var taker: EventLoopPromise<ServiceNotification?>?
    private var takerDeadline: Scheduled<Void>?
    private var followers: [ByteBuffer]?
    private var followerBytes = 0
    private var ending: GatewayError?
    private var isReading = false
    private var keepAlive: RepeatedTask?

    init(_ use: ConnectionUse, _ limits: GatewayConnectionLimits) {
        self.use = use
        self.limits = limits
    }

    /// Sends a request for `method`; the promise is always completed.
    func send(
        _ method: String, _ params: ByteBuffer, within time: TimeAmount?,
        _ promise: EventLoopPromise<ServiceResponse>, _ flush: Flush
    ) {
        guard ending == nil, let context else { return promise.fail(ending ?? .ended) }
        lastID += 1
        let frame = Self.frame(id: lastID, method, params)
        guard frame.readableBytes - 4 <= limits.requestBytesMax else {
            return promise.fail(GatewayError.requestTooLarge(bytesMax: limits.requestBytesMax))
        }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let deadline = time.map {
            context.eventLoop.scheduleTask(in: $0) { bound.value.end(.timedOut) }
        }
        pending.append(Pending(id: lastID, promise: promise, deadline: deadline))
        context.write(wrapOutboundOut(frame), promise: nil)
        if flush == .now { context.flush() }
    }

    private static func frame(
        id: Int, _ method: String, _ params: ByteBuffer
    ) -> ByteBuffer {
        var frame = ByteBuffer()
        frame.reserveCapacity(80 + method.utf8.count + params.readableBytes)
        frame.writeInteger(UInt32(0))
        frame.writeString("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(method)\",\"params\":")
        frame.writeImmutableBuffer(params)
        frame.writeStaticString("}")
        frame.setInteger(UInt32(frame.readableBytes - 4), at: 0)
        return frame
    }

    /// From now on, keeps the states that the service sends after a response.
    func beginFollowing() {
        followers = []
        followerBytes = 0
    }

    /// The kept states, each the `params` of an `events` notification.
    func endFollowing() -> [ByteBuffer] {
        defer { followers = nil }
        return followers ?? []
    }

    /// Completes with the next notification, or with nil after `time`; for one consumer at a time.
    func take(_ promise: EventLoopPromise<ServiceNotification?>, within time: TimeAmount?) {
        precondition(taker == nil, "only one task at a time may wait for notifications")
        if let next = queue.popFirst() {
            queueBytes -= next.params.readableBytes
            promise.succeed(next)
            return readMore()
        }
        guard ending == nil, let context else { return promise.fail(ending ?? .ended) }
        taker = promise
        guard let time else { return }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        takerDeadline = context.eventLoop.scheduleTask(in: time) {
            bound.value.endTaking()?.succeed(nil)
        }
    }

    /// The consumer has to ask again.
    private func endTaking() -> EventLoopPromise<ServiceNotification?>? {
        takerDeadline?.cancel()
        takerDeadline = nil
        defer { taker = nil }
        return taker
    }

    /// Closes the connection; everything that is pending fails with the reason.
    func end(_ reason: GatewayError) {
        guard ending == nil else { return }
        ending = reason
        keepAlive?.cancel()
        // Before any callback runs, so that none takes the connection for a usable one.
        context?.close(promise: nil)
        endTaking()?.fail(reason)
        while let request = pending.popFirst() {
            request.deadline?.cancel()
            request.promise.fail(reason)
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(.ended)
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        if let interval = limits.keepAliveInterval, use == .longLived {
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            keepAlive = context.eventLoop.scheduleRepeatedTask(
                initialDelay: interval, delay: interval
            ) { _ in bound.value.sendKeepAlive() }
        }
        readMore()
    }

    private func sendKeepAlive() {
        guard ending == nil, let context else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(integer: UInt32(0))), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.ended)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.ended)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var chunk = unwrapInboundIn(data)
        if received.readableBytes == 0 { received = chunk } else { received.writeBuffer(&chunk) }
        while ending == nil,
            let length = received.getInteger(at: received.readerIndex, as: UInt32.self)
        {
            guard length <= limits.frameBytesMax else { return end(.notUnderstood) }
            guard received.readableBytes >= 4 + Int(length) else {
                received.reserveCapacity(
                    minimumWritableBytes: 4 + Int(length) - received.readableBytes)
                return
            }
            received.moveReaderIndex(forwardBy: 4)
            guard let body = received.readSlice(length: Int(length)) else { return }
            if length > 0 { receive(body) }
        }
        // The memory belongs to the frames that were handed out; the next bytes get their own.
        if received.readableBytes == 0 { received = ByteBuffer() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        readMore()
    }

    private func readMore() {
        guard !isReading, ending == nil, queueBytes < limits.notificationBytesMax else { return }
        isReading = true
        context?.read()
    }

    private func receive(_ body: ByteBuffer) {
        switch ServiceMessage(body) {
        case .answer(let id, let answer):
            guard let request = pending.popFirst() else { return end(.notUnderstood) }
            request.deadline?.cancel()
            guard id == nil || id == request.id else {
                request.promise.fail(GatewayError.notUnderstood)
                return end(.notUnderstood)
            }
            request.promise.succeed(answer)
        case .notification(let notification):
            receive(notification)
        case nil:
            end(.notUnderstood)
        }
    }

    private func receive(_ notification: ServiceNotification) {
        if notification.method == "close" {
            return end(CloseNotice(notification.params).map { .closed($0) } ?? .notUnderstood)
        }
        if notification.method == "events", followers != nil { return keep(notification.params) }
        guard use == .longLived else { return }
        if let taker = endTaking() { return taker.succeed(notification) }
        queue.append(notification)
        queueBytes += notification.params.readableBytes
    }

    private func keep(_ states: ByteBuffer) {
        followerBytes += states.readableBytes
        guard followerBytes <= limits.followerBytesMax else { return end(.answerTooLarge) }
        followers?.append(states)
    }
}
