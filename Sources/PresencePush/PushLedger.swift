// What became of the pushes from the position of a reader on: which are finished, and which have
// failed and when they are due again. Pure: times and random numbers are arguments.

import Containers
import Deliveries
import HTTPValues
import WebPush

struct PushLedger {
    /// Failed attempts of a push, while others succeeded, after which it is dropped.
    static let attemptsMax = 8
    /// The most pushes that are remembered as finished. Beyond, what holds the position back is
    /// dropped.
    static let finishedMax = 50_000
    /// The most pushes that are remembered as failed. With more, nothing further is read.
    static let failedMax = 50_000

    private struct Failure {
        var attempts = 0
        /// How often the push service had worked by the last attempt.
        var rounds: Int
        var backoff: Backoff
        /// In milliseconds of a steady clock.
        var due: Int64
    }

    /// The results of a round.
    struct Round: Equatable {
        /// Every attempt has failed: it is the push service that is down.
        var isDown = false
        /// Pushes that are not tried again.
        var dropped = 0
        /// The longest time that a push service that is down has asked for.
        var retryAfterSeconds: Int?
    }

    private let retryMillisecondsMax: Int
    private(set) var finished: Set<PushID> = []
    private var failures: [PushID: Failure] = [:]
    /// Rounds in which the push service has worked.
    private var rounds = 0
    /// The last number before the first push that is not finished.
    private(set) var position: UInt64 = 0
    /// How far the current pass has read, and whether a push before that is not finished.
    private var read: UInt64 = 0
    private(set) var isHeld = false

    /// Without pushes.
    init(retryMillisecondsMax: Int) { self.retryMillisecondsMax = retryMillisecondsMax }

    /// Whether a push needs no further attempt.
    func isFinished(_ id: PushID) -> Bool { id.number <= position || finished.contains(id) }

    /// Whether a push is to be attempted now.
    func isDue(_ id: PushID, at now: Int64) -> Bool {
        !isFinished(id) && failures[id].map { $0.due <= now } ?? true
    }

    /// When the next push that has failed is due.
    var nextDue: Int64? { failures.values.lazy.map(\.due).min() }

    /// Whether nothing further is to be read before what has failed was attempted again.
    var isFull: Bool { failures.count >= Self.failedMax }

    /// Whether a push is due that was read in this pass: it is to be read again.
    func isDueAgain(at now: Int64) -> Bool {
        failures.contains { $0.key.number <= read && $0.value.due <= now }
    }

    /// How often a push has failed while others succeeded; nil: it has not failed.
    func attempts(of id: PushID) -> Int? { failures[id]?.attempts }

    // MARK: A pass, from the position on

    /// What waits is read from the position on.
    mutating func beginPass() {
        read = position
        isHeld = false
    }

    /// Nothing was read though pushes are due: devices may have taken them. They are asked for
    /// again later.
    mutating func postpone(at now: Int64, _ random: inout SplitMix64) {
        for id in failures.keys {
            guard var failure = failures[id], failure.due <= now else { continue }
            failure.due = now + Int64(failure.backoff.fail(&random))
            failures[id] = failure
        }
    }

    /// A share was read and its pushes attempted. What is not in it any longer, a device has taken.
    /// Moves the position. Returns how many pushes are dropped for that.
    mutating func settle(_ share: PushShare) -> Int {
        let there = Set(share.pushes.map(\.id))
        let range = read..<max(read, share.end)
        let isTaken = { (id: PushID) in
            range.contains(id.number &- 1) && !there.contains(id)
        }
        failures = failures.filter { !isTaken($0.key) }
        read = max(read, share.end)
        let dropped = dropWhatHolds(share)
        if !isHeld {
            let first = share.pushes.first { !isFinished($0.id) }?.id.number
            isHeld = first != nil
            position = max(position, first.map { $0 - 1 } ?? share.end)
        }
        finished = finished.filter { $0.number > position && !isTaken($0) }
        return dropped
    }

    private mutating func dropWhatHolds(_ share: PushShare) -> Int {
        guard finished.count > Self.finishedMax,
            let first = failures.keys.lazy.map(\.number).min()
        else { return 0 }
        let ids = share.pushes.map(\.id).filter { $0.number == first && !finished.contains($0) }
        for id in ids { finish(id) }
        return ids.count
    }

    // MARK: A round

    /// A push needs no further attempt.
    mutating func finish(_ id: PushID) {
        failures[id] = nil
        finished.insert(id)
    }

    /// Notes what became of pushes that were attempted at about the same time. `now` in
    /// milliseconds of a steady clock; `wall` in seconds since 1970.
    mutating func note(
        _ answers: [(id: PushID, answer: PushAnswer)], at now: Int64, wall: Int64,
        _ random: inout SplitMix64
    ) -> Round {
        var round = Round()
        let before = rounds
        if answers.contains(where: { $0.answer.isFinal }) { rounds += 1 }
        round.isDown = !answers.isEmpty && answers.allSatisfy { $0.answer.isUnavailable }
        for (id, answer) in answers {
            guard !answer.isFinal else {
                if answer == .rejected { round.dropped += 1 }
                finish(id)
                continue
            }
            var failure =
                failures[id]
                ?? Failure(
                    rounds: before, backoff: Backoff(millisecondsMax: retryMillisecondsMax),
                    due: now)
            let asked = answer.retryAfter?.seconds(at: wall)
            if round.isDown {
                // The reader waits, and then all are due.
                failure.due = now
                round.retryAfterSeconds =
                    asked.map { max($0, round.retryAfterSeconds ?? 0) }
                    ?? round.retryAfterSeconds
            } else {
                let wait = failure.backoff.fail(retryAfterSeconds: asked, &random)
                failure.due = now + Int64(wait)
            }
            // The push service has worked since the last attempt: it is not down, but rejects this.
            if rounds > failure.rounds { failure.attempts += 1 }
            failure.rounds = rounds
            failures[id] = failure
            if failure.attempts >= Self.attemptsMax {
                round.dropped += 1
                finish(id)
            }
        }
        return round
    }
}
