import Containers
import PresenceCore

/// A rate limit for each network.
///
/// The size is fixed. A keyed hash gives each network a set of places, and none is shared: a
/// network that needs one takes that of the network in its set that has the least time to wait.
/// However many networks there are, they do not make others wait, and what one owes is forgotten
/// only for those that owe more.
struct NetworkBuckets {
    private static let setCount = 512
    private static let placesPerSet = 16
    /// For how long a network may have to wait for what it has taken in advance.
    static let debtMillisecondsMax: UInt64 = 10_000

    private struct Place {
        var network: ClientNetwork?
        var bucket = TokenBucket()
    }

    private let seed: UInt64
    /// Empty before the first use.
    private var places: [Place] = []

    init(seed: UInt64) {
        self.seed = seed
    }

    /// Takes a token, if there is one. Returns whether there was.
    mutating func take(_ network: ClientNetwork?, _ pace: Pace?, at now: Mono) -> Bool {
        guard let network, let pace else { return true }
        return places[enter(network, pace, at: now)].bucket.take(pace, at: now) == nil
    }

    /// Takes `count` tokens, those that are missing in advance: the network has to wait until they
    /// are paid back, for ten seconds at most.
    mutating func charge(
        _ count: Int, to network: ClientNetwork?, _ pace: Pace?, at now: Mono
    ) {
        guard let network, let pace else { return }
        let place = enter(network, pace, at: now)
        for _ in 0..<count {
            _ = places[place].bucket.charge(
                pace, at: now, waitMillisecondsMax: Self.debtMillisecondsMax)
        }
    }

    /// How many milliseconds a network that has taken as much as it may has to wait; nil: it may
    /// take more.
    func wait(of network: ClientNetwork?, _ pace: Pace?, at now: Mono) -> UInt64? {
        guard let network, let pace, let place = find(network) else { return nil }
        return places[place].bucket.wait(pace, at: now)
    }

    /// How many tokens a network has left.
    func tokensLeft(of network: ClientNetwork, _ pace: Pace, at now: Mono) -> Int {
        guard let place = find(network) else { return pace.burst }
        return max(0, pace.burst - places[place].bucket.missing(pace, at: now))
    }

    // MARK: Places

    private func set(of network: ClientNetwork) -> Range<Int> {
        let first = network.bucket(of: Self.setCount, seed: seed) * Self.placesPerSet
        return first..<first + Self.placesPerSet
    }

    private func find(_ network: ClientNetwork) -> Int? {
        guard !places.isEmpty else { return nil }
        return set(of: network).first { places[$0].network == network }
    }

    /// The place of a network. If it had none, that of the one in its set that is missing least.
    private mutating func enter(_ network: ClientNetwork, _ pace: Pace, at now: Mono) -> Int {
        if places.isEmpty {
            places = Array(repeating: Place(), count: Self.setCount * Self.placesPerSet)
        }
        if let place = find(network) { return place }
        var (chosen, least) = (set(of: network).lowerBound, Int.max)
        for place in set(of: network) {
            let missing = places[place].bucket.missing(pace, at: now)
            if missing < least { (chosen, least) = (place, missing) }
        }
        places[chosen] = Place(network: network)
        return chosen
    }
}
