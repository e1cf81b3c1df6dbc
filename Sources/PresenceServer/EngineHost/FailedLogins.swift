import Containers
import PresenceCore

/// Recent failed logins by network.
///
/// The size is fixed: networks share buckets by a keyed hash.
struct FailedLogins {
    private static let bucketCount = 8_192

    private let seed: UInt64
    private var buckets = [TokenBucket](repeating: TokenBucket(), count: bucketCount)

    init(seed: UInt64) {
        self.seed = seed
    }

    /// Counts one.
    mutating func note(_ network: ClientNetwork?, _ pace: Pace?, at now: Mono) {
        guard let network, let pace else { return }
        _ = buckets[bucket(of: network)].take(pace, at: now)
    }

    /// Whether a network has had as many as it may.
    func isSuspect(_ network: ClientNetwork?, _ pace: Pace?, at now: Mono) -> Bool {
        guard let network, let pace else { return false }
        return buckets[bucket(of: network)].isEmpty(pace, at: now)
    }

    private func bucket(of network: ClientNetwork) -> Int {
        network.bucket(of: Self.bucketCount, seed: seed)
    }
}
