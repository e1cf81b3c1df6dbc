/// The counter behind `seq`, event ids and session ids.
///
/// One for the whole service, so that it also rises for a publisher who was forgotten
/// meanwhile. It never falls, not even over a crash: numbers are given out only from blocks
/// whose end is on disk, and a start begins where the last block ended. A new block is asked
/// for when half of the last is left: at a million events a second a store that is away has
/// half an hour. Two million starts fit the integers that JavaScript holds exactly.
struct Numbering {
    /// How many numbers a block has.
    static let blockCount: UInt64 = 1 << 32

    /// The number given out last.
    private(set) var last: UInt64
    /// The end of the last block that was asked for.
    private(set) var reserved: UInt64

    /// Goes on after the blocks that an earlier run has used.
    init(after reserved: UInt64) {
        last = reserved
        self.reserved = reserved
    }

    /// The next number.
    mutating func next() -> UInt64 {
        last += 1
        return last
    }

    /// The end of a new block, where one is due.
    mutating func blockToReserve() -> UInt64? {
        guard last + Self.blockCount / 2 >= reserved else { return nil }
        reserved = last + Self.blockCount
        return reserved
    }
}
