import NIOCore
import TLSSessions

/// TLS between the socket and everything else of a connection.
///
/// The client's close_notify is passed on as a FIN is: as the end of its input, once.
final class TLSHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let tls: TLSContext
    /// Empty whenever another handler is called: it may call this one, or that of another channel.
    private let wire: TLSWire
    private let counters: HTTPCounters
    private let handshakeSeconds: Int
    /// Until the ClientHello is complete.
    private var hello: ClientHelloReader? = ClientHelloReader()
    private var session: TLSSession?
    private var deadline: Scheduled<Void>?
    private var hasInputEnded = false
    /// After an error: input is discarded.
    private var hasFailed = false

    /// An alert can be read for this long. Closing at once could reset the connection before.
    private static let lingerSeconds: Int64 = 2

    init(_ tls: TLSContext, _ wire: TLSWire, _ limits: HTTPLimits, _ counters: HTTPCounters) {
        self.tls = tls
        self.wire = wire
        self.counters = counters
        handshakeSeconds = limits.requestSeconds
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: .seconds(Int64(handshakeSeconds))) {
            let (handler, context) = bound.value
            handler.counters.connectionTimedOut()
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        hello = nil
        session = nil
    }

    // MARK: - From the client

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasFailed else { return }
        let bytes = unwrapInboundIn(data)
        if hello == nil {
            read(bytes.readableBytesSpan, context)
        } else {
            readHello(bytes.readableBytesSpan, context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed else {
            return context.fireUserInboundEventTriggered(event)
        }
        switch session?.phase {
        case .open: endInput(context)
        // The end of its input has been passed on.
        case .peerEnded: break
        case .handshaking, .failed, nil: context.close(promise: nil)
        }
    }

    private func readHello(_ bytes: RawSpan, _ context: ChannelHandlerContext) {
        switch hello?.receive(bytes) {
        case .needMore, nil: return
        case .rejected(.notTLS): return rejectPlain(bytes, context)
        case .rejected(let error): return fail(error, context)
        case .complete: break
        }
        let first = hello?.bytes ?? []
        hello = nil
        // Nothing else may rotate them, if only HTTP is served over TLS.
        _ = tls.tickets.rotate(at: NIODeadline.now().uptimeNanoseconds / 1_000_000_000)
        session = TLSSession(tls)
        guard session != nil else { return fail(.outOfMemory, context) }
        unsafe read(first.span.bytes, context)
    }

    private func read(_ bytes: RawSpan, _ context: ChannelHandlerContext) {
        var offset = 0
        if session?.phase == .handshaking {
            let phase = session?.handshake(bytes, from: &offset, through: wire)
            if phase == .open {
                deadline?.cancel()
                counters.tlsHandshakeCompleted()
            }
        }
        if session?.phase == .open, offset < bytes.byteCount {
            _ = session?.receive(bytes.extracting(offset..<bytes.byteCount), through: wire)
        }
        let phase = session?.phase
        let plaintext = takePlaintext(context)
        let own = takeCiphertext(context)
        if own.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(own), promise: nil) }
        if plaintext.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(plaintext)) }
        switch phase {
        case .peerEnded: endInput(context)
        case .failed(let error): fail(error, context)
        case .handshaking, .open, nil: break
        }
    }

    private func endInput(_ context: ChannelHandlerContext) {
        guard !hasInputEnded else { return }
        hasInputEnded = true
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    // MARK: - To the client

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        switch session?.phase {
        case .open, .peerEnded: break
        case .handshaking, .failed, nil:
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let bytes = unwrapOutboundIn(data)
        let phase = session?.send(bytes.readableBytesSpan, through: wire)
        context.write(wrapOutboundOut(takeCiphertext(context)), promise: promise)
        if case .failed(let error) = phase { fail(error, context) }
    }

    func close(
        context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
        guard mode != .input else { return context.close(mode: mode, promise: promise) }
        session?.end(through: wire)
        let notice = wrapOutboundOut(takeCiphertext(context))
        guard mode == .output else {
            context.writeAndFlush(notice, promise: nil)
            return context.close(mode: mode, promise: promise)
        }
        // Where the input has ended, NIO closes everything, and drops what it holds.
        let isWritten = context.eventLoop.makePromise(of: Void.self)
        isWritten.futureResult.assumeIsolated().whenComplete { _ in
            context.close(mode: .output, promise: promise)
        }
        context.writeAndFlush(notice, promise: isWritten)
    }

    // MARK: - Errors

    /// Answers a client that speaks HTTP without TLS; an operator's `curl http://…`, above all.
    private func rejectPlain(_ bytes: RawSpan, _ context: ChannelHandlerContext) {
        let first = unsafe bytes.withUnsafeBytes { unsafe $0.first }
        if let first, UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first {
            let answer = ByteBuffer(string: Self.plainAnswer)
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }
        fail(.notTLS, context)
    }

    private static let plainAnswer = """
        HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\
        Content-Length: 33\r\n\r\nThis port speaks TLS: use https.\n
        """

    private func fail(_ error: TLSError, _ context: ChannelHandlerContext) {
        guard !hasFailed else { return }
        hasFailed = true
        hello = nil
        deadline?.cancel()
        counters.tlsFailed(error)
        context.close(mode: .output, promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: .seconds(Self.lingerSeconds)) {
            bound.value.close(promise: nil)
        }
    }

    // MARK: - The wire

    private func takePlaintext(_ context: ChannelHandlerContext) -> ByteBuffer {
        defer { wire.dropPlaintext() }
        return unsafe wire.withPlaintext { unsafe context.channel.allocator.buffer(bytes: $0) }
    }

    private func takeCiphertext(_ context: ChannelHandlerContext) -> ByteBuffer {
        defer { wire.dropCiphertext() }
        return unsafe wire.withCiphertext { unsafe context.channel.allocator.buffer(bytes: $0) }
    }
}
