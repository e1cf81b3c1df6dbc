import Containers
import Deliveries

/// Whether the push services of an entry are down.
///
/// A client has chosen the endpoint that fails, so one endpoint says nothing about the others: it
/// takes several accounts in a row, with no answer to another push between them. Then one push at a
/// time is tried, until one is answered.
struct HostHealth {
    /// The accounts whose pushes fail in a row before the push service counts as down.
    static let accountsMin = 3
    /// The longest time that a push service that is down can ask for, in seconds: all its pushes
    /// wait.
    static let retryAfterSecondsMax = 60

    private enum State: Equatable {
        case up
        case down(until: Int64)
        /// A push is in flight that shows whether it is still down.
        case probed(PushID)
    }

    private var state = State.up
    /// Accounts whose pushes have failed since the last answer; at most `accountsMin`.
    private var failing: Set<ExactText> = []
    private var backoff: Backoff
    /// How many pushes were accepted or rejected.
    private(set) var answerCount = 0

    init(downMillisecondsMax: Int) { backoff = Backoff(millisecondsMax: downMillisecondsMax) }

    /// Whether it counts as down.
    var isDown: Bool { state != .up }

    /// Whether a push may be attempted.
    func admits(at now: Int64) -> Bool {
        switch state {
        case .up: true
        case .down(let until): until <= now
        case .probed: false
        }
    }

    /// A push is attempted.
    mutating func begin(_ id: PushID) {
        if case .down = state { state = .probed(id) }
    }

    /// A push was answered. Returns whether the push service was down until then.
    mutating func noteAnswer(isFinal: Bool) -> Bool {
        if isFinal { answerCount += 1 }
        let wasDown = isDown
        state = .up
        failing = []
        backoff.succeed()
        return wasDown
    }

    /// A push of an account has failed as all would if the push service were down.
    mutating func noteFailure(
        _ id: PushID, of account: ExactText, retryAfterSeconds: Int?, at now: Int64,
        _ random: inout SplitMix64
    ) {
        if failing.count < Self.accountsMin { failing.insert(account) }
        let isEvidence =
            switch state {
            case .up: failing.count >= Self.accountsMin
            case .probed(let probe): probe == id
            case .down: false
            }
        guard isEvidence else { return }
        let asked = retryAfterSeconds.map { min($0, Self.retryAfterSecondsMax) }
        state = .down(until: now + Int64(backoff.fail(retryAfterSeconds: asked, &random)))
    }

    /// An attempt has ended without a result: another push shows whether it is down.
    mutating func interrupt(_ id: PushID, at now: Int64) {
        if state == .probed(id) { state = .down(until: now) }
    }
}
