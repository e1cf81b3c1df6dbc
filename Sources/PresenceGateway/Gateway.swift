public import NIOCore
import PresenceCore
import PresenceServer
public import PresenceWire

/// Bounds of a gateway.
public struct GatewayLimits: Sendable {
    /// How many calls can be in progress, and readers of the feed.
    var calls = InProcessLimits()
    /// The longest duration of a call, its wait for others included. Checked eight times as often.
    public var requestTime = TimeAmount.seconds(10)

    /// The defaults.
    public init() {}
}

/// What a gateway has counted.
public struct GatewayCounters: Hashable, Sendable {
    /// Calls that the service is carrying out, and calls that wait for others.
    public let inProgress: Int, waiting: Int
    /// Since startup: calls rejected because too many were in progress, or their results in use,
    /// and calls without a response in time.
    public let refused: Int, timedOut: Int
    /// Bytes of results that are in use.
    public let resultBytes: Int
}

/// Calls the service in this process, for tasks on one event loop.
///
/// What it throws is a `GatewayError` or a `CancellationError`. A call that is cancelled, or has no
/// response in time, may have been carried out.
public final class Gateway: Sendable {
    private let eventLoop: any EventLoop
    private let client: NIOLoopBoundBox<LoopClient?>
    private let door: ServiceDoor
    private let limits: GatewayLimits

    /// A gateway to the service behind `door`, which need not be open yet.
    public init(
        on eventLoop: any EventLoop, _ limits: GatewayLimits = GatewayLimits(), to door: ServiceDoor
    ) {
        self.eventLoop = eventLoop
        self.door = door
        self.limits = limits
        client = NIOLoopBoundBox.makeEmptyBox(valueType: LoopClient.self, eventLoop: eventLoop)
    }

    /// Calls a method; returns its `result`, as JSON. Its bytes count as in use until it is gone.
    public func call(
        _ call: MethodCall, _ form: ResultForm = .whole
    ) async throws -> ResultBytes {
        switch try await response(to: call, form) {
        case .result(let bytes), .text(let bytes), .stats(_, let bytes): bytes
        case .refused(let error): throw GatewayError.refused(error)
        case .feed: preconditionFailure("a reader of the feed that has no owner")
        }
    }

    /// The service's numbers.
    public func stats() async throws -> [StatsField] {
        switch try await response(to: MethodCall(.stats), .whole) {
        case .stats(let fields, _): return fields
        case .refused(let error): throw GatewayError.refused(error)
        case .result, .text, .feed: preconditionFailure("a response to another method")
        }
    }

    /// Begins to read the feed after a cursor, or with a snapshot.
    public func openFeed(from cursor: String?) async throws -> FeedReader {
        var call = MethodCall(.feed)
        if let cursor { call.arguments = [MethodCall.Argument(.cursor, .text(cursor))] }
        switch try await response(to: call, .whole) {
        case .feed(let start, let id): return FeedReader(start, id: id, of: self)
        case .refused(let error): throw GatewayError.refused(error)
        case .result, .text, .stats: preconditionFailure("a response to another method")
        }
    }

    /// The current counters.
    public func counters() async -> GatewayCounters {
        let counters = await withCheckedContinuation { continuation in
            onLoop { continuation.resume(returning: $0.counters) }
        }
        return GatewayCounters(
            inProgress: counters.inProgress, waiting: counters.waiting, refused: counters.refused,
            timedOut: counters.timedOut, resultBytes: counters.resultBytes)
    }

    /// Ends everything that is in progress, and refuses what follows.
    public func close() {
        onLoop { $0.close() }
    }

    // MARK: On the loop

    private func response(
        to call: MethodCall, _ form: ResultForm
    ) async throws -> InProcessResponse {
        let ticket = NIOLoopBoundBox.makeBoxSendingValue(
            LoopClient.Ticket.none, eventLoop: eventLoop)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                onLoop { $0.call(call, form, ticket) { continuation.resume(with: $0) } }
            }
        } onCancel: {
            eventLoop.execute { [self] in onLoop { $0.cancel(ticket) } }
        }
    }

    func next(of reader: InProcessClient.ID, within time: TimeAmount) async throws -> FeedItem? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                onLoop { $0.next(of: reader, within: time) { continuation.resume(with: $0) } }
            }
        } onCancel: {
            close(reader)
        }
    }

    func close(_ reader: InProcessClient.ID) {
        eventLoop.execute { [self] in onLoop { $0.close(reader) } }
    }

    private func onLoop(_ body: @escaping @Sendable (LoopClient) -> Void) {
        guard eventLoop.inEventLoop else {
            return eventLoop.execute { [self] in onLoop(body) }
        }
        if let client = client.value { return body(client) }
        let client = LoopClient(on: eventLoop, door, limits)
        self.client.value = client
        body(client)
    }
}
