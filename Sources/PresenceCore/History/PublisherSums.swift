/// Sums by publisher, for `top`: a hash table that is filled once and then read.
///
/// A dictionary takes ten times as long, most of it to grow. The cost is the memory that is
/// touched: 16 bytes per publisher, and 8 to 16 of the table.
struct PublisherSums {
    struct Sum {
        private let number: UInt32
        private let generation: UInt16
        var events: UInt32 = 1
        /// At most 2^32 - 1.
        var deliveries: UInt32

        fileprivate init(_ account: HistoryAccount, deliveries: UInt32) {
            number = account.number
            generation = account.generation
            self.deliveries = deliveries
        }

        var account: HistoryAccount { HistoryAccount(number: number, generation: generation) }
    }

    /// In the order in which the publishers were first added.
    private(set) var sums: [Sum] = []
    /// A place in `sums`, plus one, and above it some bits of the hash; 0 if there is none. At
    /// least half are free.
    private var slots: [UInt32]
    private let bits: Int

    /// Sums of at most `countMax` publishers.
    init(countMax: Int) {
        bits = max(4, Int.bitWidth - (2 * max(1, countMax) - 1).leadingZeroBitCount)
        precondition(bits < 32, "more publishers than a history holds")
        slots = Array(repeating: 0, count: 1 << bits)
        sums.reserveCapacity(countMax)
    }

    /// Adds an event that was sent to `deliveries` connections.
    mutating func add(_ account: HistoryAccount, deliveries: Int) {
        let deliveries = UInt32(clamping: deliveries)
        // Fibonacci hashing: neighbouring numbers are placed far apart.
        let key = UInt64(account.number) << 16 | UInt64(account.generation)
        let hash = key &* 0x9E37_79B9_7F4A_7C15
        let placeMask = (UInt32(1) << bits) - 1
        let tag = UInt32(truncatingIfNeeded: hash >> 16) & ~placeMask
        var slot = Int(hash >> UInt64(64 - bits))
        while slots[slot] != 0 {
            let found = slots[slot]
            let place = Int(found & placeMask) - 1
            if found & ~placeMask == tag, sums[place].account == account {
                sums[place].events += 1
                let (sum, overflow) = sums[place].deliveries.addingReportingOverflow(deliveries)
                sums[place].deliveries = overflow ? .max : sum
                return
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        precondition(2 * sums.count < slots.count, "more publishers than there is room for")
        sums.append(Sum(account, deliveries: deliveries))
        slots[slot] = tag | UInt32(sums.count)
    }
}
