import Containers
import PresenceCore

/// A pace for each network.
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

    /// Takes so many tokens, of which there may be too few. Returns whether there was one at the
    /// beginning.
    mutating func take(
        _ count: Int = 1, of network: ClientNetwork?, _ pace: Pace?, at now: Mono
    ) -> Bool {
        guard let network, let pace else { return true }
        if buckets.isEmpty {
            buckets = Array(repeating: TokenBucket(), count: Self.bucketCount)
        }
        let bucket = bucket(of: network)
        guard !buckets[bucket].isEmpty(pace, at: now) else { return false }
        for _ in 0..<count { _ = buckets[bucket].take(pace, at: now) }
        return true
    }

    /// Whether a network has taken as much as it may.
    func isEmpty(of network: ClientNetwork?, _ pace: Pace?, at now: Mono) -> Bool {
        guard let network, let pace, !buckets.isEmpty else { return false }
        return buckets[bucket(of: network)].isEmpty(pace, at: now)
    }

    private func bucket(of network: ClientNetwork) -> Int {
        network.bucket(of: Self.bucketCount, seed: seed)
    }
}
