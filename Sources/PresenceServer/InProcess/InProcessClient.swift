// The service's clients in its own process: HTTP and the webhooks.
//
//     call → RequestDecoder → `Inbound` ─ LinkBox ─▶ engine host
//     completion ◀─ bytes of a result, or items of the feed ◀─ LinkBox ─ `Outbound`
//
// A client is for one thread. Each of its calls, and each of its readers of the feed, is a caller
// of its own to the engine host: a slot and a generation (`InProcessSlots`). So a call that is
// given up frees its slot at once, and a response that comes later finds no call.
//
// What a client can cost the service is bounded by `InProcessLimits`: calls above `callsAtOnceMax`
// wait here, in their order, and above `callsMax` they fail. While results of `resultBytesMax` are
// in use, calls that ask for more states fail. A reader has one share of the feed in flight, and
// asks for the next when its consumer does.

import PresenceCore
public import PresenceWire

/// Calls of one thread of this process, and its readers of the feed.
///
/// All functions are called on that thread, and so are completions: within `receive`, `timeOut`,
/// `cancel`, or the function that they were passed to.
public final class InProcessClient {
    /// A call, and the reader of the feed that it has become.
    public struct ID: Hashable, Sendable {
        let slot: UInt32
        let generation: UInt32
    }

    /// Receives what has become of a call.
    public typealias Completion = (Result<InProcessResponse, InProcessError>) -> Void

    let limits: InProcessLimits
    private let box: LinkBox
    private let number: Int
    /// Called when there is something to hand over, once until `handOver`.
    private let needsHandOver: () -> Void
    private var inbound = Inbound()
    var decoder: RequestDecoder
    var settings: Settings
    var slots = InProcessSlots()
    /// Calls that wait for others, the first first: a few hundred at most.
    private var waiting: [ID] = []
    private var isEnded = false
    private var counts = InProcessCounters()
    private let meter = ResultMeter()
    /// Of the results for callers that may only read.
    private let readOnlyMeter = ResultMeter()

    init(
        _ settings: Settings, _ limits: InProcessLimits, box: LinkBox, number: Int,
        needsHandOver: @escaping () -> Void
    ) {
        self.settings = settings
        self.limits = limits
        self.box = box
        self.number = number
        self.needsHandOver = needsHandOver
        decoder = RequestDecoder(limits: settings.limits)
    }

    /// The current counters.
    public var counters: InProcessCounters {
        var counters = counts
        counters.inProgress = slots.askedCount
        counters.waiting = slots.waitingCount
        counters.resultBytes = meter.bytesInUse + readOnlyMeter.bytesInUse
        return counters
    }

    /// Whether calls are in progress.
    public var hasCalls: Bool { slots.askedCount + slots.waitingCount > 0 }

    // MARK: Calls

    /// Begins a call, which is given up at `deadline` by the clock of `timeOut`.
    ///
    /// Returns nil if the completion has been called already.
    @discardableResult
    public func call(
        _ call: MethodCall, _ form: ResultForm = .whole, isReadOnly: Bool = false,
        deadline: UInt64 = .max, _ completion: @escaping Completion
    ) -> ID? {
        guard !isEnded else {
            completion(.failure(.ended))
            return nil
        }
        let hasRoom = slots.askedCount + slots.waitingCount < limits.callsMax
        guard hasRoom, !call.method.isOfReader || slots.readerCount < limits.feedReadersMax else {
            counts.rejected += 1
            completion(.failure(.overloaded))
            return nil
        }
        let pending = PendingCall(
            call: call, form: form, isReadOnly: isReadOnly, deadline: deadline,
            completion: completion)
        let id = slots.take(.waiting(pending))
        guard canAsk else {
            waiting.append(id)
            return id
        }
        ask(id, pending)
        return slots.isInUse(id) ? id : nil
    }

    /// Gives up a call, or ends a reader.
    public func cancel(_ id: ID) {
        end(id, .cancelled)
        askNext()
    }

    /// Gives up calls whose deadline has passed.
    public func timeOut(at now: UInt64) {
        for id in slots.due(at: now) {
            counts.timedOut += 1
            end(id, .timedOut)
        }
        askNext()
    }

    /// Whether the engine host may have one more call.
    private var canAsk: Bool {
        slots.askedCount < limits.callsAtOnceMax && slots.statesAsked < limits.statesAtOnceMax
    }

    private func ask(_ id: ID, _ pending: PendingCall) {
        var asked = pending
        asked.call.body = nil
        do throws(MethodCallError) {
            let method = try decoder.decode(pending.call)
            asked.warnings = decoder.warnings
            asked.states = method.statesMax
            guard asked.states <= 1 || hasRoom(for: pending) else {
                counts.rejected += 1
                return end(id, .overloaded)
            }
            append { [connection = connection(id)] inbound, decoder in
                inbound.append(method, of: &decoder, from: connection, at: nil)
            }
        } catch {
            switch error {
            case .body(let error): return end(id, .invalidBody(error))
            case .tooLong(let bytesMax): return end(id, .tooLong(bytesMax: bytesMax))
            case .rejected(let rejection):
                // As a connection does: the engine host reports a missing permission first.
                append { [connection = connection(id)] inbound, _ in
                    inbound.append(.invalid(connection, pending.call.method, rejection))
                }
            }
        }
        slots.enter(id, .asked(asked))
    }

    /// Whether a call may have a large result. Those of callers that may only read have half.
    private func hasRoom(for pending: PendingCall) -> Bool {
        let readOnlyBytes = readOnlyMeter.bytesInUse
        return meter.bytesInUse + readOnlyBytes < limits.resultBytesMax
            && (!pending.isReadOnly || readOnlyBytes < limits.resultBytesMax / 2)
    }

    /// Where the bytes of its result count.
    func meter(of pending: PendingCall) -> ResultMeter {
        pending.isReadOnly ? readOnlyMeter : meter
    }

    /// Asks what has waited longest, as much as there is room for.
    private func askNext() {
        while canAsk, !waiting.isEmpty {
            let id = waiting.removeFirst()
            if case .waiting(let pending) = slots.use(of: id) { ask(id, pending) }
        }
    }

    /// Frees the slot of a call or a reader, and says why.
    func end(_ id: ID, _ error: InProcessError) {
        switch slots.use(of: id) {
        case .waiting(let pending):
            slots.free(id)
            waiting.removeAll { $0 == id }
            pending.completion(.failure(error))
        case .asked(let pending):
            lose(id)
            pending.completion(.failure(error))
        case .reader(let reader):
            lose(id)
            reader.consumer?(.failure(error))
        case .free:
            break
        }
    }

    /// Has the engine host forget a caller.
    private func lose(_ id: ID) {
        slots.free(id)
        guard !isEnded else { return }
        let lost = LostConnection(
            connection: connection(id), end: .lost, lastHeard: Mono(milliseconds: 0),
            unsentBytes: 0)
        append { inbound, _ in inbound.append(.lost(lost)) }
    }

    // MARK: The feed

    /// Gives the next item of the feed to `consumer`, of which there is one at a time. Returns
    /// whether it waits.
    @discardableResult
    public func next(
        of id: ID, _ consumer: @escaping (Result<FeedItem, InProcessError>) -> Void
    ) -> Bool {
        guard case .reader(var reader) = slots.use(of: id) else {
            consumer(.failure(isEnded ? .ended : .cancelled))
            return false
        }
        precondition(reader.consumer == nil, "a reader of the feed with two consumers")
        if !reader.items.isEmpty {
            let item = reader.items.removeFirst()
            slots.enter(id, .reader(reader))
            consumer(.success(item))
            return false
        }
        reader.consumer = consumer
        if !reader.hasAsked {
            reader.hasAsked = true
            append { [connection = connection(id)] inbound, _ in
                inbound.append(.drained(connection))
            }
        }
        slots.enter(id, .reader(reader))
        return true
    }

    /// Removes the consumer that waits for the next item, if it still does. What arrives is kept
    /// for the next one.
    public func stopWaiting(of id: ID) -> Bool {
        guard case .reader(var reader) = slots.use(of: id), reader.consumer != nil else {
            return false
        }
        reader.consumer = nil
        slots.enter(id, .reader(reader))
        return true
    }

    // MARK: Turns

    /// Ends all calls and readers, and rejects what follows.
    public func close() {
        for id in slots.all { end(id, .ended) }
        isEnded = true
    }

    /// Hands over the pending input of the engine host.
    public func handOver() {
        guard !box.hand(&inbound) else { return }
        end()
    }

    /// Takes what the engine host has handed over.
    public func receive() {
        let hasEnded = box.isClosed
        for outbound in box.takeAndReleaseOutbound() {
            for item in outbound.own.calls { carryOut(item, of: outbound.shared) }
        }
        if hasEnded { end() }
        askNext()
    }

    private func append(_ body: (inout Inbound, inout RequestDecoder) -> Void) {
        let wasEmpty = inbound.isEmpty
        body(&inbound, &decoder)
        if wasEmpty { needsHandOver() }
    }

    private func connection(_ id: ID) -> ConnectionID {
        ConnectionID(
            slot: LoopCount.engineSlot(id.slot, ofLoopInProcess: number),
            generation: id.generation)
    }

    func id(_ connection: ConnectionID) -> ID {
        ID(slot: LoopCount.slotInProcess(connection.slot), generation: connection.generation)
    }

    /// Ends everything: the service has ended.
    func end() {
        isEnded = true
        for id in slots.all { end(id, .ended) }
    }
}

extension Method {
    /// The states that its result may have, and the entries of lists.
    fileprivate var statesMax: Int {
        switch self {
        case .command(.query(_, let accounts)): Int(accounts.count)
        case .command(.subscribe(_, let request)) where request.answer != .withoutStates:
            Int(request.publishers.count)
        case .command(.subscriptions(_, let list)): list.entriesMax
        case .command(.subscribers(let list)): list.entriesMax
        case .command(.contacts(_, let list)): list.entriesMax
        default: 0
        }
    }
}

extension MethodName {
    /// Whether its caller becomes a reader.
    fileprivate var isOfReader: Bool { self == .feed || self == .undelivered }
}
