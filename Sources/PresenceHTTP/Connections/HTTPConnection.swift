// One connection: requests one after the other, each read, carried out and answered.
//
//     waiting ─▶ receiving ─▶ carryingOut ─▶ writing ─▶ finishing ─▶ waiting
//        └────▶ discarding                └▶ streaming      └▶ lingering
//     any ─▶ closed
//
// While a request is carried out and its response is written, nothing is read: what a client sends
// ahead stays in the kernel, but for one read. A client that does not read gets no further
// responses. A client that sends several requests at once has one of them carried out at once; with
// the others its connection waits for its turn among those that have some (`ConnectionLimiter`).
//
// It is closed when
//
// * it is silent for too long, or a head or a body is not complete in time,
// * the client has read the bytes that wait for it too slowly for a while,
// * the client disconnects while a stream is written to it, or sends another request behind it,
// * the client has closed its output, and all its requests are answered,
// * a response said `Connection: close`: then only the output is closed first, and input is
//   discarded for a moment, since closing at once could lose the response.
// The kernel has the whole response before any of the last two.

import NIOCore
import TaskLoops

final class HTTPConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        /// For a request, or for the rest of its head.
        case waiting
        /// For the rest of the body of a request that will be carried out.
        case receiving(RequestHead, RequestPlan.Action)
        /// For the rest of the body of a request that is rejected. Nil: it has been answered.
        case discarding(RequestHead, HTTPError?)
        /// For the response.
        case carryingOut(RequestHead)
        case writing(OutgoingResponse)
        case streaming(ResponseFraming)
        /// For the kernel to have all of the response, and the end of the output if it is the last.
        /// NIO drops what it holds when it closes a connection, or the output after the input.
        case finishing
        /// After the last response, for the client to close its output.
        case lingering
        case closed
    }

    private static let lingerSeconds = 2

    private let shared: Shared
    private var limits: HTTPLimits { shared.application.limits }
    private var counters: HTTPCounters { shared.application.counters }
    /// Its slot in `OpenConnections`, while it is one of them.
    var slot: Int?
    private var context: ChannelHandlerContext?
    private var phase = Phase.waiting
    private(set) var input: RequestInput
    private var body: [UInt8] = []
    /// The operation of a request that has not been counted yet.
    private var uncounted: Operation??
    private var place = RequestPlace()
    private var task: Task<Void, Never>?
    private var awaitsTurn = false
    private var isAdvancing = false
    private var isPumping = false
    private var deadline: Scheduled<Void>?
    private var progress: WriteProgress?
    private var onWritable: ((Result<Void, any Error>) -> Void)?

    init(_ shared: Shared) {
        self.shared = shared
        input = RequestInput(shared.application.limits.request)
    }

    // MARK: - The connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        counters.connectionOpened()
        shared.connections.enter(self, from: context.channel.remoteAddress)
        guard self.context != nil else { return }
        progress = WriteProgress(
            on: context.eventLoop, seconds: limits.progressSeconds,
            unacknowledgedBytes: { context.channel.unacknowledgedBytes },
            whenStalled: { [self] in
                counters.connectionTimedOut()
                close()
            })
        setDeadline(shared.idleSeconds.value)
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.read()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close()
    }

    /// Closes it now. It has left the others before this returns.
    func closeToMakeRoom() {
        counters.connectionDisplaced()
        close()
    }

    /// Closes it at once.
    func close() {
        guard let context else { return }
        leave()
        context.close(promise: nil)
    }

    private func leave() {
        guard context != nil else { return }
        context = nil
        phase = .closed
        input.discard()
        body = []
        count(nil)
        deadline?.cancel()
        progress?.end()
        progress = nil
        task?.cancel()
        resumeWriter(.failure(ChannelError.ioOnClosedChannel))
        place.giveBack(to: shared.connections)
        shared.connections.leave(self)
        counters.connectionClosed()
    }

    /// Closes the output after the last response.
    private func closeOutput() {
        guard let context else { return }
        let isClosed = context.eventLoop.makePromise(of: Void.self)
        isClosed.futureResult.assumeIsolated().whenComplete { [self] _ in linger() }
        context.close(mode: .output, promise: isClosed)
        awaitProgress()
    }

    /// Waits a moment for the client to close its output, too.
    private func linger() {
        guard case .finishing = phase, let context else { return }
        guard !input.hasEnded else { return close() }
        phase = .lingering
        input.discard()
        awaitProgress()
        setDeadline(Self.lingerSeconds)
        context.read()
    }

    // MARK: - Input

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch phase {
        case .lingering, .closed: return
        // A stream does not end, so a request after it could not be answered.
        case .streaming: return close()
        case .waiting where input.isBetweenRequests: setDeadline(limits.headSeconds)
        case .waiting, .receiving, .discarding, .carryingOut, .writing, .finishing: break
        }
        guard input.append(unwrapInboundIn(data)) else { return close() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        input.grant(requests: 1)
        switch phase {
        case .lingering, .streaming: context.read()
        case .waiting, .receiving, .discarding: advance()
        case .carryingOut, .writing, .finishing, .closed: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed else {
            return context.fireUserInboundEventTriggered(event)
        }
        input.hasEnded = true
        switch phase {
        case .lingering, .streaming: close()
        case .waiting, .receiving, .discarding: advance()
        case .carryingOut, .writing, .finishing, .closed: break
        }
    }

    private var isReading: Bool {
        switch phase {
        case .waiting, .receiving, .discarding: context?.channel.isWritable == true
        case .carryingOut, .writing, .streaming, .finishing, .lingering, .closed: false
        }
    }

    /// Reads the input as far as possible now.
    private func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while isReading {
            if case .waiting = phase, input.requestsLeft == 0, !input.isEmpty {
                return awaitTurn()
            }
            do throws(HTTPError) {
                guard let event = try input.next() else {
                    return input.linesLeft > 0 ? awaitInput() : awaitTurn()
                }
                take(event)
            } catch {
                rejectInput(error)
            }
        }
    }

    private func awaitInput() {
        if input.hasEnded { endResponse(closes: true) } else { context?.read() }
    }

    private func awaitTurn() {
        guard !awaitsTurn else { return }
        awaitsTurn = true
        shared.connections.awaitTurn(self)
    }

    /// Reads up to this number of further requests.
    func takeTurn(_ requests: Int) {
        precondition(awaitsTurn, "a turn that was not awaited")
        awaitsTurn = false
        input.grant(requests: requests)
        advance()
    }

    private func take(_ event: RequestReader.Event) {
        switch event {
        case .head(let head): begin(head)
        case .body(let part):
            if case .receiving = phase { body.append(contentsOf: part.readableBytesView) }
        case .end:
            switch phase {
            case .receiving(let head, let action): carryOut(action, head)
            case .discarding(let head, let error?): reject(error, head)
            case .discarding(let head, nil): endResponse(closes: shouldClose(after: head))
            case .waiting, .carryingOut, .writing, .streaming, .finishing, .lingering, .closed:
                break
            }
        }
    }

    // MARK: - Requests

    private func begin(_ head: RequestHead) {
        input.beginRequest()
        setDeadline(limits.requestSeconds)
        counters.begin()
        let plan = shared.application.plan(for: head)
        uncounted = .some(plan.operation)
        place.begin(for: plan.party)
        let isTooLarge = head.framing.isLonger(than: limits.bodyBytesMax)
        switch plan.next {
        // Some clients take what follows a CONNECT for the tunnel, whatever the response is.
        case .reject(let error) where isTooLarge || head.method == .connect:
            reject(error, head, closes: true)
        case .carryOut where isTooLarge:
            reject(.bodyTooLarge(bytesMax: limits.bodyBytesMax), head, closes: true)
        case .reject(let error):
            phase = .discarding(head, error)
            guard head.awaitsContinue, input.isEmpty else { return }
            // Before it sends the body. It may all the same: then that is discarded.
            writeWhole(error.response, head, closes: !head.keepsConnection)
            phase = .discarding(head, nil)
        case .carryOut(let action):
            phase = .receiving(head, action)
            guard head.awaitsContinue, input.isEmpty else { return }
            writeAndFlush(ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n"))
        }
    }

    /// Rejects a complete request, or one whose rest is not read.
    private func reject(_ error: HTTPError, _ head: RequestHead?, closes: Bool = false) {
        let closes = closes || shouldClose(after: head)
        writeWhole(error.response, head, closes: closes)
        endResponse(closes: closes)
    }

    /// Rejects input that cannot be read.
    private func rejectInput(_ error: HTTPError) {
        switch phase {
        // Another response would be taken for that to the next request.
        case .discarding(_, nil): endResponse(closes: true)
        case .discarding(let head, _), .receiving(let head, _):
            reject(error, head, closes: true)
        case .waiting, .carryingOut, .writing, .streaming, .finishing, .lingering, .closed:
            counters.begin()
            uncounted = .some(nil)
            reject(error, nil, closes: true)
        }
    }

    private func shouldClose(after head: RequestHead?) -> Bool {
        head?.keepsConnection != true || counters.connections > limits.connectionsToShed
    }

    private func carryOut(_ action: @escaping RequestPlan.Action, _ head: RequestHead) {
        precondition(task == nil, "two requests of one connection at once")
        precondition(body.count <= limits.bodyBytesMax, "a body above its limit")
        let body = body
        self.body = []
        guard place.take(of: shared.connections) else {
            counters.requestHadNoPlace(place.party)
            return reject(.noPlace(for: place.party), head)
        }
        progress?.renew()
        deadline?.cancel()
        phase = .carryingOut(head)
        shared.connections.endWaiting(self)
        guard let context else { return }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        shared.connections.beginTask()
        task = shared.loop.task { [shared] in
            let response = await action(body)
            if let stream = bound.value.begin(response) {
                do {
                    try await stream(StreamWriter(bound))
                    bound.value.endStream()
                } catch {
                    bound.value.close()
                }
            }
            shared.connections.endTask()
        }
    }

    private func count(_ status: HTTPStatus?) {
        guard let operation = uncounted else { return }
        uncounted = nil
        counters.end(operation, status)
    }

    // MARK: - Responses

    /// Begins to write a response. Returns what writes a stream.
    private func begin(
        _ response: Response
    ) -> (@Sendable (StreamWriter) async throws -> Void)? {
        guard case .carryingOut(let head) = phase, let context else { return nil }
        count(response.status)
        let framing = ResponseFraming(
            of: response, to: head, closes: shouldClose(after: head))
        write(framing.head(of: response, date: shared.application.date.text))
        if case .stream(let stream) = response.body, framing.hasBody {
            phase = .streaming(framing)
            context.flush()
            // To notice when the client ends.
            context.read()
            return stream
        }
        phase = .writing(OutgoingResponse(response.body, framing))
        pump()
        return nil
    }

    /// Writes on, as long as the client reads.
    private func pump() {
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        while case .writing(var response) = phase, let context, context.channel.isWritable {
            guard let part = response.next() else {
                return endResponse(closes: response.framing.closes)
            }
            phase = .writing(response)
            write(part)
            // This may make it writable again at once.
            if !context.channel.isWritable { context.flush() }
        }
    }

    /// A short response, whether the client reads or not.
    private func writeWhole(_ response: Response, _ head: RequestHead?, closes: Bool) {
        count(response.status)
        let framing = ResponseFraming(of: response, to: head, closes: closes)
        var bytes = framing.head(of: response, date: shared.application.date.text)
        var outgoing = OutgoingResponse(response.body, framing)
        while let part = outgoing.next() { bytes.writeImmutableBuffer(part) }
        writeAndFlush(bytes)
    }

    /// Flushes the response, and continues when the kernel has all of it.
    private func endResponse(closes: Bool) {
        guard let context else { return }
        deadline?.cancel()
        // Before the next request has its own.
        task = nil
        phase = .finishing
        let isWritten = context.eventLoop.makePromise(of: Void.self)
        isWritten.futureResult.assumeIsolated().whenSuccess { [self] in finish(closes: closes) }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: isWritten)
        awaitProgress()
    }

    private func finish(closes: Bool) {
        guard case .finishing = phase else { return }
        place.giveBack(to: shared.connections)
        shared.connections.beginWaiting(self)
        guard !closes else { return closeOutput() }
        phase = .waiting
        awaitProgress()
        setDeadline(input.isBetweenRequests ? shared.idleSeconds.value : limits.headSeconds)
        advance()
    }

    /// Writes a part of a stream; whether the next one can follow.
    func writePart(_ part: ByteBuffer) -> Bool {
        guard case .streaming(let framing) = phase, let context else { return false }
        writeAndFlush(framing.framed(part))
        return context.channel.isWritable
    }

    /// Calls `body` when the client can be sent more, or the connection has ended.
    func onceWritable(_ body: @escaping (Result<Void, any Error>) -> Void) {
        precondition(onWritable == nil, "two writers of one stream")
        onWritable = body
        guard let context else {
            return resumeWriter(.failure(ChannelError.ioOnClosedChannel))
        }
        if context.channel.isWritable { resumeWriter(.success(())) }
    }

    private func resumeWriter(_ result: Result<Void, any Error>) {
        let body = onWritable
        onWritable = nil
        body?(result)
    }

    private func endStream() {
        guard case .streaming(let framing) = phase else { return }
        writeAndFlush(framing.end)
        endResponse(closes: framing.closes)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        awaitProgress()
        if context.channel.isWritable {
            resumeWriter(.success(()))
            pump()
            advance()
        }
        context.fireChannelWritabilityChanged()
    }

    /// Watches whether the client reads, while it has to before anything else can happen.
    private func awaitProgress() {
        switch phase {
        case .finishing: progress?.begin()
        case _ where context?.channel.isWritable == false: progress?.begin()
        // A stream has no end, and has been read up to here.
        case .streaming:
            progress?.end()
            progress?.renew()
        default: progress?.end()
        }
    }

    private func write(_ bytes: ByteBuffer) {
        context?.write(wrapOutboundOut(bytes), promise: nil)
    }

    private func writeAndFlush(_ bytes: ByteBuffer) {
        context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    // MARK: - Time

    private func setDeadline(_ seconds: Int) {
        deadline?.cancel()
        guard let context else { return }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: .seconds(Int64(seconds))) {
            bound.value.deadlineHasCome()
        }
    }

    private func deadlineHasCome() {
        switch phase {
        case .waiting where input.isBetweenRequests: break
        case .waiting, .receiving, .discarding: counters.connectionTimedOut()
        case .carryingOut, .writing, .streaming, .finishing, .lingering, .closed: break
        }
        close()
    }
}
