import PresenceCore
import PresenceWire

// What the engine host has for a client: responses, and items of the feed.

extension InProcessClient {
    func carryOut(_ item: InProcessItem, of shared: borrowing SharedOutput) {
        switch item {
        case .caller(let caller, let item): carryOut(item, for: id(caller), of: shared)
        case .configure(let configuration):
            settings = configuration.engine
            decoder.apply(settings.limits)
        case .farewell: end()
        }
    }

    private func carryOut(_ item: CallerItem, for id: ID, of shared: borrowing SharedOutput) {
        switch item {
        case .answer(let index):
            answer(id, shared.effects.answers[index], in: shared.effects)
        case .reject(let rejection):
            complete(id, .failure(.rejected(ErrorContent(rejection, in: shared.effects))))
        case .answerQuestion(let answer): self.answer(id, answer, in: shared.effects)
        case .states(let states, _): takeStates(states.range, for: id, in: shared.effects)
        case .feed(let message): take(message, for: id, from: shared)
        case .close: end(id, .ended)
        }
    }

    private func complete(_ id: ID, _ response: InProcessResponse) {
        complete(id, .success(response))
    }

    private func complete(_ id: ID, _ result: Result<InProcessResponse, InProcessError>) {
        guard case .asked(let pending) = slots.use(of: id) else { return }
        slots.free(id)
        pending.completion(result)
    }

    private func answer(_ id: ID, _ answer: Answer, in effects: borrowing Effects) {
        guard case .asked(let pending) = slots.use(of: id) else { return }
        var bytes: [UInt8] = []
        if case .onlyState = pending.form, case .states(let range) = answer, range.count == 1 {
            bytes.appendState(range.lowerBound, in: effects)
        } else {
            bytes.appendAnswerResult(answer, in: effects, settings: settings)
        }
        bytes.addWarnings(pending.warnings)
        let result = ResultBytes(bytes, meter(of: pending))
        if case .deviceSet(let index) = answer {
            return complete(id, .device(effects.labelled[index].labels, result: result))
        }
        complete(id, .result(result))
    }

    private func answer(_ id: ID, _ answer: QuestionAnswer, in effects: borrowing Effects) {
        guard case .asked(let pending) = slots.use(of: id) else { return }
        let meter = meter(of: pending)
        if case .metrics(let text) = answer {
            return complete(id, .text(ResultBytes(text, meter)))
        }
        var bytes: [UInt8] = []
        bytes.appendResult(answer, in: effects)
        bytes.addWarnings(pending.warnings)
        let result = ResultBytes(bytes, meter)
        if case .stats(let fields) = answer {
            return complete(id, .stats(fields, result: result))
        }
        complete(id, .result(result))
    }

    private func take(
        _ message: FeedMessage, for id: ID, from shared: borrowing SharedOutput
    ) {
        switch message {
        case .began(let beginning, let cursor):
            guard case .asked(let pending) = slots.use(of: id) else { return }
            slots.enter(id, .reader(InProcessReader()))
            let start: FeedStart? = cursor.map { beginning == .now ? .now($0) : .resumed }
            pending.completion(.success(.feed(start ?? .reset, id)))
        case .beganUndelivered:
            guard case .asked(let pending) = slots.use(of: id) else { return }
            slots.enter(id, .reader(InProcessReader()))
            pending.completion(.success(.feed(.resumed, id)))
        case .reset:
            take(.reset, for: id)
        case .events(let share, let cursor):
            guard slots.isInUse(id), let events = FeedEvents(share, shared) else { return }
            take(cursor.map { .changes(events, $0) } ?? .states(events), for: id)
        case .synced(let cursor):
            take(.synced(cursor), for: id)
        case .undelivered(let share, let cursor):
            guard slots.isInUse(id), let messages = FeedEvents(share, shared) else { return }
            take(.undelivered(messages, cursor), for: id)
        }
    }

    private func takeStates(_ states: Range<Int>, for id: ID, in effects: borrowing Effects) {
        guard slots.isInUse(id) else { return }
        var rest = states
        while !rest.isEmpty {
            let first = rest.lowerBound
            var bytes: [UInt8] = []
            rest = bytes.appendFeedStates(rest, in: effects, limits: settings.limits)
            let events = FeedEvents(
                bytes: bytes, count: rest.lowerBound - first,
                firstTime: effects.events[first].time)
            take(.states(events), for: id)
        }
    }

    private func take(_ item: FeedItem, for id: ID) {
        guard case .reader(var reader) = slots.use(of: id) else { return }
        reader.hasAsked = false
        let consumer = reader.consumer
        reader.consumer = nil
        if consumer == nil { reader.items.append(item) }
        slots.enter(id, .reader(reader))
        consumer?(.success(item))
    }
}

extension FeedEvents {
    /// What a share has; nil: nothing.
    fileprivate init?(_ share: FeedShare, _ shared: borrowing SharedOutput) {
        guard let firstTime = share.firstTime else { return nil }
        self.init(
            bytes: Array(shared.bytes[shared.range(of: share.list)]), count: share.count,
            firstTime: firstTime, undelivered: share.undelivered, areNewest: share.isNewest)
    }
}
