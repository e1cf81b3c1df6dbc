/// Sums by publisher, for `top`: a hash table that is filled once and then read through.
///
/// A dictionary takes ten times as long, most of it for growing.
struct PublisherSums {
    struct Sum {
        var account: NotedAccount
        var events = 0
        var deliveries = 0
    }

    /// In the order in which the publishers were first added.
    private(set) var sums: [Sum] = []
    /// Places in `sums`, plus one; 0: none. At least half are free.
    private var slots: [UInt32]
    private let shift: UInt64

    /// Sums of at most `countMax` publishers.
    init(countMax: Int) {
        let bits = max(4, Int.bitWidth - (2 * max(1, countMax) - 1).leadingZeroBitCount)
        slots = Array(repeating: 0, count: 1 << bits)
        shift = UInt64(64 - bits)
    }

    /// Adds an event that was handed to `deliveries` connections.
    mutating func add(_ account: NotedAccount, deliveries: Int) {
        // Fibonacci hashing: neighbouring numbers go far apart.
        let key = UInt64(account.number) << 16 | UInt64(account.tenant)
        var slot = Int((key &* 0x9E37_79B9_7F4A_7C15) >> shift)
        while slots[slot] != 0 {
            let place = Int(slots[slot]) - 1
            if sums[place].account == account {
                sums[place].events += 1
                sums[place].deliveries += deliveries
                return
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        precondition(2 * sums.count <= slots.count, "more publishers than there is room for")
        sums.append(Sum(account: account, events: 1, deliveries: deliveries))
        slots[slot] = UInt32(sums.count)
    }
}
