import Containers
import Deliveries
import WebPush

/// The endpoints whose last push has failed, and when the next may be attempted.
struct FailingEndpoints {
    /// Failed attempts at an endpoint, while others succeeded, after which what waits for it is
    /// dropped.
    static let attemptsMax = 8

    /// The most endpoints; beyond, the one that was due first is forgotten.
    static let countMax = 50_000

    private struct Endpoint {
        var attempts = 0
        /// How many pushes the push service had answered by the last attempt.
        var answerCount: Int
        var backoff: Backoff
        /// In milliseconds of a steady clock.
        var due: Int64
        /// Whether a push to it is in flight.
        var isTried = false
    }

    private let waitMillisecondsMax: Int
    /// While the push service has not answered others: it may be down for all.
    private let downMillisecondsMax: Int
    private var endpoints: [PushEndpoint: Endpoint] = [:]

    init(waitMillisecondsMax: Int, downMillisecondsMax: Int) {
        self.waitMillisecondsMax = waitMillisecondsMax
        self.downMillisecondsMax = downMillisecondsMax
    }

    /// How many fail.
    var count: Int { endpoints.count }

    /// Whether its last push has failed.
    func has(_ endpoint: PushEndpoint) -> Bool { endpoints[endpoint] != nil }

    /// Whether a push to an endpoint may be attempted.
    func isDue(_ endpoint: PushEndpoint, at now: Int64) -> Bool {
        endpoints[endpoint].map { !$0.isTried && $0.due <= now } ?? true
    }

    /// Failed attempts at an endpoint while others succeeded; nil: its last push has not failed.
    func attempts(at endpoint: PushEndpoint) -> Int? { endpoints[endpoint]?.attempts }

    /// A push to an endpoint is attempted.
    mutating func begin(_ endpoint: PushEndpoint) { endpoints[endpoint]?.isTried = true }

    /// An endpoint works, or nothing waits for it.
    mutating func remove(_ endpoint: PushEndpoint) { endpoints[endpoint] = nil }

    /// An attempt has ended without a result.
    mutating func interrupt(_ endpoint: PushEndpoint) { endpoints[endpoint]?.isTried = false }

    /// A push to an endpoint has failed. `answersBefore`: how many pushes the push service had
    /// answered when it began; `answers`: now. Returns whether it has failed too often.
    mutating func noteFailure(
        at endpoint: PushEndpoint, retryAfterSeconds: Int?, answersBefore: Int, answers: Int,
        at now: Int64, _ random: inout SplitMix64
    ) -> Bool {
        var failing =
            endpoints[endpoint]
            ?? Endpoint(
                answerCount: answersBefore, backoff: Backoff(millisecondsMax: waitMillisecondsMax),
                due: now)
        let isOwnFault = answers > failing.answerCount
        if isOwnFault { failing.attempts += 1 }
        failing.answerCount = answers
        failing.isTried = false
        let wait = failing.backoff.fail(retryAfterSeconds: retryAfterSeconds, &random)
        let mayBeAll = !isOwnFault && retryAfterSeconds == nil
        failing.due = now + Int64(mayBeAll ? min(wait, downMillisecondsMax) : wait)
        endpoints[endpoint] = failing
        if endpoints.count > Self.countMax,
            let first = endpoints.min(by: { $0.value.due < $1.value.due })
        {
            endpoints[first.key] = nil
        }
        return failing.attempts >= Self.attemptsMax
    }

    /// The push service was down until this was the number of its answers: that, and not the
    /// endpoint, may be why a push has failed meanwhile.
    mutating func removeAll(ofAnswerCount answerCount: Int) {
        endpoints = endpoints.filter { $0.value.isTried || $0.value.answerCount != answerCount }
    }
}
