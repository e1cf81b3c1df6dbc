/// The counter behind `seq`, event ids and session ids.
///
/// There is one for the whole service, so that it also rises for a publisher that was forgotten
/// meanwhile. It never decreases, not even after a crash: numbers are assigned only from blocks
/// whose end is on disk, and a start continues after the last block. A new block is requested when
/// half of the last is left: at a million events per second that leaves half an hour for a store
/// that does not respond. Two million starts fit the integers that JavaScript represents exactly.
struct Numbering {
    /// The size of a block.
    static let blockCount: UInt64 = 1 << 32

    /// A number above those of earlier runs, and not above what this one assigns.
    let first: UInt64
    /// The last number that was assigned.
    private(set) var last: UInt64
    /// The end of the last block that was requested.
    private(set) var reserved: UInt64

    /// Continues after the blocks that an earlier run has used.
    init(after reserved: UInt64) {
        first = reserved + 1
        last = reserved
        self.reserved = reserved
    }

    /// The next number.
    mutating func next() -> UInt64 {
        last += 1
        return last
    }

    /// The end of a new block, if one is due.
    mutating func blockToReserve() -> UInt64? {
        guard last + Self.blockCount / 2 >= reserved else { return nil }
        reserved = last + Self.blockCount
        return reserved
    }
}
