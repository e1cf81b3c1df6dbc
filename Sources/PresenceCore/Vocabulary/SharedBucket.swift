/// A token bucket that several parties share: see `Share`.
///
/// A party holds the tokens that it has taken until the bucket has refilled by as much; what the
/// bucket refills by is given back to all in proportion to what they hold. So the parties never
/// hold more than is missing, a party that is alone gets the whole rate, and of many each gets its
/// part.
/// Rejected: a bucket of its own for each party. If it refills at the rate of the shared one, a few
/// parties at that rate keep the shared one empty while they seem to hold nothing; if it refills
/// more slowly, a party that is alone does not get what no other uses.
struct SharedBucket<Party: Hashable>: RefillingBucket {
    private struct Holding {
        let party: Party
        /// In microseconds of refilling.
        var held: UInt64
    }

    private var bucket = TokenBucket()
    private var holdings: [Holding] = []
    /// What was missing when the holdings were last settled, in microseconds of refilling.
    private var settled: UInt64 = 0

    /// Parties that are kept; beyond, the quarter with the smallest holdings is forgotten.
    static var partiesMax: Int { 256 }

    init() {}

    var fullAtMicroseconds: UInt64 { bucket.fullAtMicroseconds }

    /// How many parties hold tokens.
    var partyCount: Int { holdings.count }

    /// Takes a token for a party and returns nil; or returns the wait in milliseconds. O(parties).
    mutating func take(for party: Party, _ pace: Pace, at now: Mono) -> UInt64? {
        if let wait = wait(of: party, pace, at: now) { return wait }
        _ = bucket.take(pace, at: now)
        hold(pace.tokenMicroseconds, party)
        settled = bucket.missingMicroseconds(at: now)
        return nil
    }

    /// The milliseconds until a party may take a token, if others take none; nil: it may.
    mutating func wait(of party: Party, _ pace: Pace, at now: Mono) -> UInt64? {
        settle(at: now)
        if let wait = bucket.wait(pace, at: now) { return wait }
        let token = pace.tokenMicroseconds
        let room = token * UInt64(pace.burst)
        let held = holdings.first { $0.party == party }?.held ?? 0
        let free = room - min(room, settled)
        guard
            !Share.half.admits(
                Int(clamping: token), held: Int(clamping: held), free: Int(clamping: free))
        else { return nil }
        // After `t`, t more is free and the party holds held × (1 − t / settled).
        let lacking = Double(held) + Double(token) - Double(free)
        let wait = lacking / (1 + Double(held) / Double(max(1, settled)))
        return UInt64(max(1_000, min(wait, 1e15)) + 999) / 1_000
    }

    /// Gives back to the parties what the bucket has refilled by.
    private mutating func settle(at now: Mono) {
        let missing = bucket.missingMicroseconds(at: now)
        defer { settled = missing }
        guard missing < settled else { return }
        guard missing > 0 else { return holdings = [] }
        for place in holdings.indices {
            let (high, low) = holdings[place].held.multipliedFullWidth(by: missing)
            // The quotient is below `held`, since `missing` is below `settled`.
            holdings[place].held = settled.dividingFullWidth((high, low)).quotient
        }
        holdings.removeAll { $0.held == 0 }
    }

    private mutating func hold(_ amount: UInt64, _ party: Party) {
        if let place = holdings.firstIndex(where: { $0.party == party }) {
            holdings[place].held += amount
            return
        }
        if holdings.count == Self.partiesMax {
            holdings.sort { $0.held > $1.held }
            holdings.removeLast(Self.partiesMax / 4)
        }
        holdings.append(Holding(party: party, held: amount))
    }

    /// Traps if parties hold more than is missing.
    func checkInvariants() {
        var sum: UInt64 = 0
        for holding in holdings { sum += holding.held }
        precondition(sum <= settled, "tokens that no party has taken")
    }
}

/// Buckets by key, each with a limit that parties share; of a bounded number.
public struct SharedTokenBuckets<Key: Hashable, Party: Hashable> {
    private var table: BucketTable<Key, SharedBucket<Party>>

    /// Full buckets for all keys, of which at most `countMax` (at least 1,024) that are not full
    /// are kept.
    public init(countMax: Int = 1_024) {
        table = BucketTable(countMax: countMax)
    }

    /// Takes a token of a key for a party and returns nil; or returns the wait in milliseconds.
    public mutating func take(
        of key: Key, for party: Party, _ pace: Pace, at now: Mono
    ) -> UInt64? {
        table.update(key, at: now) { $0.take(for: party, pace, at: now) }
    }

    /// The milliseconds until a party may take a token of a key; nil: it may.
    public mutating func wait(
        of key: Key, for party: Party, _ pace: Pace, at now: Mono
    ) -> UInt64? {
        table.update(key, at: now) { $0.wait(of: party, pace, at: now) }
    }

    /// Forgets what was taken of a key.
    public mutating func remove(_ key: Key) { table.remove(key) }

    /// How many buckets are kept.
    var count: Int { table.buckets.count }

    /// Traps if parties hold more than is missing. O(parties); for tests.
    func checkInvariants() {
        for bucket in table.buckets.values { bucket.checkInvariants() }
    }
}
