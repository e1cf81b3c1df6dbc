// What became of the pushes of an entry of hosts: which are in flight, and which wait and for what.
// Pure: times and random numbers are arguments.
//
//     PushShare ─▶ admit ─▶ in flight ─▶ note ─▶ finished
//                    └─▶ set aside ◀───────┘
//                           └─ read again when it is due ─▶ admit
//
// What is new is never held up by what has failed. An account has a share of what is in flight,
// endpoints that have failed have one in all, and only several accounts stop everything.

import Containers
import Deliveries
import HTTPValues
import WebPush

struct PushLedger {
    /// The most pushes in flight.
    static let inFlightMax = PushSettings.inFlightMax
    /// The most of an account, and of endpoints whose last push has failed: others have the rest.
    static let inFlightOfAccountMax = inFlightMax / 8
    static let retriesInFlightMax = inFlightMax / 16

    /// How often there is nothing to read again until what waits counts as taken, and the time
    /// between.
    static let missesMax = 8
    static let missMilliseconds: Int64 = 5_000

    /// What is to be done with a push.
    enum Admission: Equatable {
        /// It is in flight.
        case begun
        /// It is set aside; others were dropped for it.
        case waits(droppedCount: Int)
        /// Ask again when another has ended.
        case full
    }

    private struct Attempt {
        var account: ExactText
        var endpoint: PushEndpoint
        var time: Int64
        var isRetry: Bool
        /// How many pushes the push service had answered when it began.
        var answersBefore: Int
    }

    private var inFlight: [PushID: Attempt] = [:]
    private var inFlightOfAccounts: [ExactText: Int] = [:]
    private var retriesInFlight = 0
    private var health: HostHealth
    private var endpoints: FailingEndpoints
    private var waiting = WaitingPushes()
    /// What has become unfinished or was finished since the last change that was taken.
    private var touched: Set<PushID> = []
    /// Up to this number every push was admitted.
    private(set) var read: UInt64
    /// Up to this number what waits was read again.
    private var reread: UInt64 = 0
    /// How often in a row there was nothing to read again, and until when it is not looked for.
    private var missCount = 0
    private var missedUntil: Int64 = .min

    /// Every push up to a number was admitted; of these some are unfinished, and set aside.
    init(
        retryMillisecondsMax: Int, downMillisecondsMax: Int, read: UInt64 = 0,
        unfinished: [UnfinishedDelivery] = []
    ) {
        self.read = read
        health = HostHealth(downMillisecondsMax: downMillisecondsMax)
        endpoints = FailingEndpoints(
            waitMillisecondsMax: retryMillisecondsMax, downMillisecondsMax: downMillisecondsMax)
        for delivery in unfinished {
            let id = PushID(number: delivery.number, device: ExactText(delivery.device))
            _ = wait(
                id, of: ExactText(delivery.account), sentAt: delivery.sent, behind: .host)
        }
        // What was dropped for others is not unfinished any more.
        touched = touched.filter { [waiting] id in !waiting.contains(id) }
    }

    // MARK: What is unfinished

    /// Takes what has changed since this was called last: which pushes are not finished now, and
    /// which are. O(changes).
    mutating func takeChanges() -> (begun: [UnfinishedDelivery], finished: [PushID]) {
        defer { touched = [] }
        var begun: [UnfinishedDelivery] = []
        var finished: [PushID] = []
        for id in touched {
            guard let (account, time) = unfinished(id) else {
                finished.append(id)
                continue
            }
            begun.append(
                UnfinishedDelivery(
                    number: id.number, device: id.device.text, account: account.text, sent: time))
        }
        return (begun, finished)
    }

    /// The changes of these pushes could not be stored.
    mutating func giveBack(_ ids: some Sequence<PushID>) { touched.formUnion(ids) }

    private func unfinished(_ id: PushID) -> (account: ExactText, time: Int64)? {
        inFlight[id].map { ($0.account, $0.time) } ?? waiting.origin(of: id)
    }

    /// Whether there is a push that is not finished.
    var isBusy: Bool { !inFlight.isEmpty || waiting.count > 0 }

    /// Whether a push is in flight.
    var isSending: Bool { !inFlight.isEmpty }

    /// Pushes that are set aside, and endpoints that fail.
    var waitingCount: Int { waiting.count }
    var failingCount: Int { endpoints.count }

    /// When the oldest message was sent whose push is not finished. O(n).
    var pendingSince: Int64? {
        [waiting.firstTime, inFlight.values.lazy.map(\.time).min()].lazy.compactMap { $0 }.min()
    }

    /// Failed attempts at an endpoint while others succeeded; nil: its last push has not failed.
    func attempts(at endpoint: PushEndpoint) -> Int? { endpoints.attempts(at: endpoint) }

    /// Whether a push is set aside.
    func isWaiting(_ id: PushID) -> Bool { waiting.contains(id) }

    // MARK: What is read

    /// Whether what is new may be read: the push service is not down.
    func mayRead(at now: Int64) -> Bool { health.admits(at: now) }

    /// Every push up to a number was admitted.
    mutating func passed(upTo number: UInt64) { read = max(read, number) }

    /// A push may be attempted, is set aside, or must be asked for again.
    mutating func admit(_ push: Push, at now: Int64) -> Admission {
        guard inFlight[push.id] == nil else { return .waits(droppedCount: 0) }
        let account = ExactText(push.message.account)
        let endpoint = push.subscription.endpoint
        let isRetry = endpoints.has(endpoint)
        guard health.admits(at: now) else { return setAside(push, behind: .host) }
        guard health.isDown || endpoints.isDue(endpoint, at: now),
            !isRetry || retriesInFlight < Self.retriesInFlightMax
        else { return setAside(push, behind: .endpoint(endpoint)) }
        guard inFlightOfAccounts[account, default: 0] < Self.inFlightOfAccountMax else {
            return setAside(push, behind: .account(account))
        }
        guard inFlight.count < Self.inFlightMax else { return .full }
        _ = waiting.remove(push.id)
        touched.insert(push.id)
        inFlight[push.id] = Attempt(
            account: account, endpoint: endpoint, time: push.message.time, isRetry: isRetry,
            answersBefore: health.answerCount)
        inFlightOfAccounts[account, default: 0] += 1
        if isRetry { retriesInFlight += 1 }
        endpoints.begin(endpoint)
        health.begin(push.id)
        return .begun
    }

    private mutating func setAside(_ push: Push, behind obstacle: PushObstacle) -> Admission {
        let droppedCount = wait(
            push.id, of: ExactText(push.message.account), sentAt: push.message.time,
            behind: obstacle)
        return .waits(droppedCount: droppedCount)
    }

    /// Sets a push aside. Returns how many are dropped for that.
    private mutating func wait(
        _ id: PushID, of account: ExactText, sentAt time: Int64, behind obstacle: PushObstacle
    ) -> Int {
        touched.insert(id)
        guard let dropped = waiting.add(id, of: account, sentAt: time, behind: obstacle) else {
            return 0
        }
        touched.insert(dropped)
        return 1
    }

    // MARK: What is read again

    /// The number from which on what waits is to be read again; nil: nothing is due. Each part of
    /// what waits has its turn. O(n).
    func firstDue(at now: Int64) -> UInt64? {
        guard inFlight.count < Self.inFlightMax, health.admits(at: now), missedUntil <= now
        else { return nil }
        func isPassable(_ obstacle: PushObstacle) -> Bool {
            switch obstacle {
            case .endpoint(let endpoint):
                (health.isDown || endpoints.isDue(endpoint, at: now))
                    && retriesInFlight < Self.retriesInFlightMax
            case .account(let account):
                inFlightOfAccounts[account, default: 0] < Self.inFlightOfAccountMax
            case .host: true
            }
        }
        return waiting.firstNumber(after: reread, isPassable)
            ?? waiting.firstNumber(after: 0, isPassable)
    }

    /// A share was read again, from a number on. What is not in it any longer, a device has taken.
    /// Returns what waits of it: what has not failed first, as likelier to be accepted.
    mutating func takeAgain(_ share: PushShare, from number: UInt64) -> [Push] {
        missCount = 0
        reread = max(share.end, number)
        let pushes = share.pushes.filter { waiting.contains($0.id) }
        let there = Set(pushes.map(\.id))
        for id in Array(waiting.ids) where number...reread ~= id.number && !there.contains(id) {
            stopWaiting(id)
        }
        guard health.isDown else { return pushes }
        return pushes.filter { !endpoints.has($0.subscription.endpoint) }
            + pushes.filter { endpoints.has($0.subscription.endpoint) }
    }

    /// There was nothing to read again from a number on. Devices have taken it, or the database
    /// cannot be read now.
    mutating func missAgain(from number: UInt64, at now: Int64) {
        missCount += 1
        missedUntil = now + Self.missMilliseconds
        reread = 0
        guard missCount >= Self.missesMax else { return }
        missCount = 0
        for id in Array(waiting.ids) where id.number >= number { stopWaiting(id) }
    }

    private mutating func stopWaiting(_ id: PushID) {
        touched.insert(id)
        guard case .endpoint(let endpoint) = waiting.remove(id) else { return }
        if !waiting.hasAny(behind: .endpoint(endpoint)) { endpoints.remove(endpoint) }
    }

    // MARK: What is answered

    /// Notes what became of an attempt. `now` in milliseconds of a steady clock; `wall` in seconds
    /// since 1970. Returns how many pushes are not tried again.
    mutating func note(
        _ answer: PushAnswer, to id: PushID, at now: Int64, wall: Int64,
        _ random: inout SplitMix64
    ) -> Int {
        let attempt = end(id)
        let answers = health.answerCount
        if !answer.isUnavailable, health.noteAnswer(isFinal: answer.isFinal) {
            endpoints.removeAll(ofAnswerCount: answers)
        }
        guard !answer.isFinal else {
            endpoints.remove(attempt.endpoint)
            return answer == .rejected ? 1 : 0
        }
        let asked = answer.retryAfter?.seconds(at: wall)
        if answer.isUnavailable {
            health.noteFailure(
                id, of: attempt.account, retryAfterSeconds: asked, at: now, &random)
        }
        let isHopeless = endpoints.noteFailure(
            at: attempt.endpoint, retryAfterSeconds: asked, answersBefore: attempt.answersBefore,
            answers: health.answerCount, at: now, &random)
        let obstacle = PushObstacle.endpoint(attempt.endpoint)
        guard isHopeless else {
            return wait(id, of: attempt.account, sentAt: attempt.time, behind: obstacle)
        }
        let others = waiting.pushes(behind: obstacle)
        for other in others { _ = waiting.remove(other) }
        touched.formUnion(others)
        endpoints.remove(attempt.endpoint)
        return others.count + 1
    }

    /// An attempt has ended without a result, since the service ends: it is not finished.
    mutating func interrupt(_ id: PushID, at now: Int64) {
        let attempt = end(id)
        health.interrupt(id, at: now)
        endpoints.interrupt(attempt.endpoint)
        _ = wait(id, of: attempt.account, sentAt: attempt.time, behind: .host)
    }

    private mutating func end(_ id: PushID) -> Attempt {
        guard let attempt = inFlight.removeValue(forKey: id) else {
            preconditionFailure("the answer to no push")
        }
        touched.insert(id)
        if attempt.isRetry { retriesInFlight -= 1 }
        let rest = (inFlightOfAccounts[attempt.account] ?? 0) - 1
        precondition(rest >= 0, "pushes of an account miscounted")
        inFlightOfAccounts[attempt.account] = rest == 0 ? nil : rest
        return attempt
    }
}
