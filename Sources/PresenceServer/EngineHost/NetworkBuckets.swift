import Containers
import PresenceCore

/// A rate limit for each network.
///
/// The size is fixed: networks share buckets by a keyed hash.
struct NetworkBuckets {
    private static let bucketCount = 8_192

    private let seed: UInt64
    /// Empty before the first use.
    private var buckets: [TokenBucket] = []

    init(seed: UInt64) {
        self.seed = seed
    }

    /// Takes a token, if there is one. Returns whether there was.
    mutating func take(_ network: ClientNetwork?, _ pace: Pace?, at now: Mono) -> Bool {
        withBucket(of: network, pace) { $0.take($1, at: now) == nil } ?? true
    }

    /// Takes `count` tokens, those that are missing in advance: the network has to wait until they
    /// are paid back, an hour at most.
    mutating func charge(
        _ count: Int, to network: ClientNetwork?, _ pace: Pace?, at now: Mono
    ) {
        withBucket(of: network, pace) { bucket, pace in
            for _ in 0..<count {
                _ = bucket.charge(
                    pace, at: now, waitMillisecondsMax: Self.debtMillisecondsMax)
            }
        }
    }

    private static let debtMillisecondsMax: UInt64 = 3_600_000

    @discardableResult
    private mutating func withBucket<Result>(
        of network: ClientNetwork?, _ pace: Pace?,
        _ body: (inout TokenBucket, Pace) -> Result
    ) -> Result? {
        guard let network, let pace else { return nil }
        if buckets.isEmpty {
            buckets = Array(repeating: TokenBucket(), count: Self.bucketCount)
        }
        return body(&buckets[bucket(of: network)], pace)
    }

    /// How many milliseconds a network that has taken as much as it may has to wait; nil: it may
    /// take more.
    func wait(of network: ClientNetwork?, _ pace: Pace?, at now: Mono) -> UInt64? {
        guard let network, let pace, !buckets.isEmpty else { return nil }
        return buckets[bucket(of: network)].wait(pace, at: now)
    }

    private func bucket(of network: ClientNetwork) -> Int {
        network.bucket(of: Self.bucketCount, seed: seed)
    }
}
