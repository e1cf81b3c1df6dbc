import Containers

/// When rejected clients may reconnect: jittered, or all that were rejected at once would reconnect
/// at once.
struct RetryDelay {
    /// With the jitter, a client is sent at most 59 s, however many there are.
    static let baseSecondsMax = 28

    private var jitter: SplitMix64

    init(seed: UInt64) {
        jitter = SplitMix64(seed: seed)
    }

    /// Seconds after which a client may reconnect that must wait for `waitMilliseconds` at least.
    mutating func seconds(waitMilliseconds: UInt64 = 0) -> Int {
        let base = min(1 + Int(clamping: waitMilliseconds / 1_000), Self.baseSecondsMax)
        return base + Int.random(in: 0...(base + 3), using: &jitter)
    }

    /// A random number.
    mutating func next() -> UInt64 { jitter.next() }
}
