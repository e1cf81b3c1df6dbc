public import NIOCore
public import PresenceCore
public import PresenceServer
public import PresenceWire

/// Calls the service in this process, for tasks on one event loop.
///
/// What the service hands over is received in a turn of that loop, and what calls have for the
/// service is handed over once, at the end of the turn's tasks. A call that is cancelled, or has no
/// response in time, may have been carried out.
public final class Gateway: Sendable {
    /// A call that can be given up: by a task that may be cancelled before the call begins.
    private enum Ticket {
        case none
        case begun(InProcessClient.ID)
        case cancelled
    }

    /// What is used on the event loop only.
    private struct State {
        /// Made when the first call finds the service open.
        var client: InProcessClient?
        /// Checks the deadlines of all calls, while there are any.
        var timer: Scheduled<Void>?
        var isClosed = false
    }

    private let eventLoop: any EventLoop
    private let state: NIOLoopBoundBox<State>
    private let service: ServiceReference
    private let limits: InProcessLimits
    private let requestTime: TimeAmount

    /// A gateway to the service behind `service`, which need not be open yet.
    public init(
        on eventLoop: any EventLoop, _ limits: InProcessLimits = InProcessLimits(),
        to service: ServiceReference
    ) {
        self.eventLoop = eventLoop
        self.service = service
        self.limits = limits
        requestTime = .milliseconds(Int64(limits.requestMilliseconds))
        state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: eventLoop)
    }

    /// Calls a method; returns its `result`, as JSON. Its bytes count as in use until it is
    /// released; those for callers that may only read have half of the room.
    public func call(
        _ call: MethodCall, _ form: ResultForm = .whole, isReadOnly: Bool = false
    ) async throws(InProcessError) -> ResultBytes {
        switch try await response(to: call, form, isReadOnly: isReadOnly) {
        case .result(let bytes), .text(let bytes), .stats(_, let bytes), .device(_, let bytes):
            return bytes
        case .feed: preconditionFailure("a reader of the feed that has no owner")
        }
    }

    /// The service's numbers.
    public func stats() async throws(InProcessError) -> [StatsField] {
        guard case .stats(let fields, _) = try await response(to: MethodCall(.stats), .whole) else {
            preconditionFailure("a response to another method")
        }
        return fields
    }

    /// Calls `setDevice` with these arguments; returns what the device has then.
    public func setDevice(
        _ arguments: [MethodCall.Argument]
    ) async throws(InProcessError) -> DeviceLabels {
        var call = MethodCall(.setDevice)
        call.arguments = arguments
        guard case .device(let labels, _) = try await response(to: call, .whole) else {
            preconditionFailure("a response to another method")
        }
        return labels
    }

    /// Begins to read the feed after a cursor; or where `beginning` says, as a parameter of `feed`;
    /// without both, with a snapshot.
    public func openFeed(
        after cursor: String?, from beginning: String? = nil
    ) async throws(InProcessError) -> FeedReader {
        try await open(.feed, after: cursor, from: beginning)
    }

    /// Begins to read what no device has taken in time, after a cursor or from the beginning.
    public func openUndelivered(
        from cursor: String?
    ) async throws(InProcessError) -> FeedReader {
        try await open(.undelivered, after: cursor)
    }

    private func open(
        _ method: MethodName, after cursor: String?, from beginning: String? = nil
    ) async throws(InProcessError) -> FeedReader {
        var call = MethodCall(method)
        if let cursor { call.arguments.append(MethodCall.Argument(.cursor, .text(cursor))) }
        if let beginning {
            call.arguments.append(MethodCall.Argument(.from, .text(beginning)))
        }
        guard case .feed(let start, let id) = try await response(to: call, .whole) else {
            preconditionFailure("a response to another method")
        }
        return FeedReader(start, id: id, of: self)
    }

    /// The current counters.
    public func counters() async -> InProcessCounters {
        await withCheckedContinuation { continuation in
            onLoop { [state] in
                continuation.resume(
                    returning: state.value.client?.counters ?? InProcessCounters())
            }
        }
    }

    /// Ends everything that is in progress, and rejects what follows.
    public func close() {
        onLoop { [state] in
            state.value.isClosed = true
            state.value.timer?.cancel()
            state.value.client?.close()
            state.value.client?.handOver()
            state.value.client = nil
        }
    }

    private func response(
        to call: MethodCall, _ form: ResultForm, isReadOnly: Bool = false
    ) async throws(InProcessError) -> InProcessResponse {
        let ticket = NIOLoopBoundBox.makeBoxSendingValue(Ticket.none, eventLoop: eventLoop)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                onLoop { [self] in
                    begin(call, form, isReadOnly, ticket) { continuation.resume(returning: $0) }
                }
            }
        } onCancel: {
            eventLoop.execute { [self] in cancel(ticket) }
        }
        return try result.get()
    }

    /// The next item of a reader; nil if there is none within `time`.
    func next(
        of reader: InProcessClient.ID, within time: TimeAmount
    ) async throws(InProcessError) -> FeedItem? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                onLoop { [self] in
                    wait(for: reader, time) { continuation.resume(returning: $0) }
                }
            }
        } onCancel: {
            close(reader)
        }
        return try result.get()
    }

    /// Returns after `time`, or when the loop ends.
    func pause(_ time: TimeAmount) async {
        try? await eventLoop.scheduleTask(in: time) {}.futureResult.get()
    }

    func close(_ reader: InProcessClient.ID) {
        eventLoop.execute { [state] in state.value.client?.cancel(reader) }
    }

    // MARK: On the loop

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { body() } else { eventLoop.execute(body) }
    }

    private func begin(
        _ call: MethodCall, _ form: ResultForm, _ isReadOnly: Bool,
        _ ticket: NIOLoopBoundBox<Ticket>,
        _ completion: @escaping InProcessClient.Completion
    ) {
        if case .cancelled = ticket.value { return completion(.failure(.cancelled)) }
        do throws(InProcessError) {
            let client = try openClient()
            let deadline = NIODeadline.now() + requestTime
            let id = client.call(
                call, form, isReadOnly: isReadOnly, deadline: deadline.uptimeNanoseconds,
                completion)
            if let id { ticket.value = .begun(id) }
            watchDeadlines()
        } catch {
            completion(.failure(error))
        }
    }

    private func cancel(_ ticket: NIOLoopBoundBox<Ticket>) {
        switch ticket.value {
        case .begun(let id): state.value.client?.cancel(id)
        case .none: ticket.value = .cancelled
        case .cancelled: break
        }
    }

    private func openClient() throws(InProcessError) -> InProcessClient {
        guard !state.value.isClosed else { throw .ended }
        if let client = state.value.client { return client }
        let client = try service.makeClient(
            limits,
            wake: { [state, eventLoop] in
                eventLoop.execute { state.value.client?.receive() }
            },
            needsHandOver: { [state, eventLoop] in
                eventLoop.execute { state.value.client?.handOver() }
            })
        state.value.client = client
        return client
    }

    /// Gives the next item of a reader, or nil if there is none within `time`.
    private func wait(
        for reader: InProcessClient.ID, _ time: TimeAmount,
        _ completion: @escaping @Sendable (Result<FeedItem?, InProcessError>) -> Void
    ) {
        guard let client = state.value.client else { return completion(.failure(.ended)) }
        var timer: Scheduled<Void>?
        let waits = client.next(of: reader) { result in
            timer?.cancel()
            completion(result.map { $0 })
        }
        guard waits else { return }
        timer = eventLoop.scheduleTask(in: time) { [state] in
            guard state.value.client?.stopWaiting(of: reader) == true else { return }
            completion(.success(nil))
        }
    }

    /// Checks deadlines eight times in the longest duration of a call, while there are calls.
    private func watchDeadlines() {
        guard state.value.timer == nil, state.value.client?.hasCalls == true else { return }
        let interval = TimeAmount.nanoseconds(requestTime.nanoseconds / 8)
        state.value.timer = eventLoop.scheduleTask(in: interval) { [self] in
            state.value.timer = nil
            state.value.client?.timeOut(at: NIODeadline.now().uptimeNanoseconds)
            watchDeadlines()
        }
    }
}
