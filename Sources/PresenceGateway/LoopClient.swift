// The client on its event loop: what the service hands over is received in a turn of that loop, and
// what its calls have for the service is handed over once, at the end of the turn's tasks.

import NIOCore
import PresenceCore
import PresenceServer
import PresenceWire

/// The client of one event loop, and the timer of its calls. Used on that loop only.
final class LoopClient {
    /// A call that can be given up: by a task that may be cancelled before the call begins.
    enum Ticket {
        case none
        case begun(InProcessClient.ID)
        case cancelled
    }

    private let eventLoop: any EventLoop
    private let door: ServiceDoor
    private let limits: GatewayLimits
    private var client: InProcessClient?
    private var timer: Scheduled<Void>?
    private var isClosed = false

    init(on eventLoop: any EventLoop, _ door: ServiceDoor, _ limits: GatewayLimits) {
        self.eventLoop = eventLoop
        self.door = door
        self.limits = limits
    }

    var counters: InProcessCounters { client?.counters ?? InProcessCounters() }

    func call(
        _ call: MethodCall, _ form: ResultForm, _ ticket: NIOLoopBoundBox<Ticket>,
        _ completion: @escaping (Result<InProcessResponse, any Error>) -> Void
    ) {
        if case .cancelled = ticket.value { return completion(.failure(CancellationError())) }
        do throws(GatewayError) {
            let client = try openClient()
            let deadline = NIODeadline.now() + limits.requestTime
            let id = client.call(call, form, deadline: deadline.uptimeNanoseconds) { result in
                completion(result.mapError(gatewayError))
            }
            if let id { ticket.value = .begun(id) }
            watchDeadlines()
        } catch {
            completion(.failure(error))
        }
    }

    func cancel(_ ticket: NIOLoopBoundBox<Ticket>) {
        switch ticket.value {
        case .begun(let id): client?.cancel(id)
        case .none: ticket.value = .cancelled
        case .cancelled: break
        }
    }

    func close(_ reader: InProcessClient.ID) { client?.cancel(reader) }

    /// Gives the next item of the feed, or nil if there is none within `time`.
    func next(
        of reader: InProcessClient.ID, within time: TimeAmount,
        _ completion: @escaping (Result<FeedItem?, any Error>) -> Void
    ) {
        guard let client else { return completion(.failure(GatewayError.ended)) }
        let waiting = Waiting(completion)
        client.next(of: reader) { waiting.complete($0.map { $0 }.mapError(gatewayError)) }
        guard !waiting.isOver else { return }
        let bound = NIOLoopBound((client, waiting), eventLoop: eventLoop)
        waiting.timer = eventLoop.scheduleTask(in: time) {
            let (client, waiting) = bound.value
            if client.stopWaiting(of: reader) { waiting.complete(.success(nil)) }
        }
    }

    /// Ends everything that is in progress, and refuses what follows.
    func close() {
        isClosed = true
        timer?.cancel()
        client?.close()
        client?.handOver()
        client = nil
    }

    // MARK: The client

    private func openClient() throws(GatewayError) -> InProcessClient {
        guard !isClosed else { throw .ended }
        if let client { return client }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let client = try door.makeClient(
            limits.calls,
            wake: { [eventLoop] in eventLoop.execute { bound.value.client?.receive() } },
            needsHandOver: { [eventLoop] in eventLoop.execute { bound.value.client?.handOver() } })
        self.client = client
        return client
    }

    // MARK: Deadlines

    /// Checks deadlines now and then while there are calls: one timer for all of them.
    private func watchDeadlines() {
        guard timer == nil, let client, client.hasCalls else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let interval = TimeAmount.nanoseconds(limits.requestTime.nanoseconds / 8)
        timer = eventLoop.scheduleTask(in: interval) {
            bound.value.timer = nil
            bound.value.client?.timeOut(at: NIODeadline.now().uptimeNanoseconds)
            bound.value.watchDeadlines()
        }
    }
}

/// A consumer of the feed that waits for the next item, or for the end of its time.
private final class Waiting {
    private var completion: ((Result<FeedItem?, any Error>) -> Void)?
    var timer: Scheduled<Void>?

    init(_ completion: @escaping (Result<FeedItem?, any Error>) -> Void) {
        self.completion = completion
    }

    var isOver: Bool { completion == nil }

    func complete(_ result: Result<FeedItem?, any Error>) {
        timer?.cancel()
        let completion = completion
        self.completion = nil
        completion?(result)
    }
}
