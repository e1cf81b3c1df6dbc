import Containers

/// The numbers behind `seq` and the ids of events, sessions and messages.
///
/// They rise with time, a million a second, whatever happens: were they counted, the difference of
/// two would tell what else had happened between them, such as the login of an account that is
/// hidden. The last three digits of the first number in a millisecond are random.
///
/// There is one sequence for the whole service, so that it also rises for a publisher that was
/// forgotten meanwhile. It never decreases, not even after a crash, and whatever clocks do. A start
/// continues after the last block that was reserved on disk, or with the microseconds since 1970 if
/// these are more, and then uses the monotonic clock. Numbers rise with time in the first half of
/// the block that is known to be on disk, and the next one is requested 17 minutes before that
/// ends. While none is known to be, such as on a full disk, numbers are counted: the other half is
/// for these.
///
/// A start takes a block at most, and JavaScript represents 2^53 numbers exactly: enough for more
/// than two centuries, or a million starts.
struct Numbering {
    /// The size of a block.
    static let blockCount: UInt64 = 1 << 32
    /// How many numbers at the end of what is reserved are only counted.
    private static let countedCount = blockCount / 2
    /// How many numbers before these the next block is requested.
    private static let leadCount = blockCount / 4
    /// The most that a clock can make a start begin with: half of all.
    private static let clockMax: UInt64 = 1 << 52

    /// The longest time, in milliseconds, for which the numbers rise with it: centuries.
    private static let elapsedMax: UInt64 = 1 << 43

    /// A number above those of earlier runs, and not above what this one assigns.
    private(set) var first: UInt64
    /// The last number that was assigned.
    private(set) var last: UInt64
    /// The end of the last block that was requested.
    private(set) var reserved: UInt64
    /// Up to here the numbers rise with time: what is reserved is on disk.
    private var usable: UInt64
    /// The first ticket that was drawn after the last block was requested: once its change is on
    /// disk, so is the block, since the store writes in order. Nil: the block is on disk.
    private var confirming: UInt64?

    private let began: Mono
    /// The time that was noted last.
    private(set) var time: Mono
    /// The lowest number of the millisecond that `time` names.
    private var floor: UInt64
    private var jitter: SplitMix64

    /// Begins with the time of the wall clock. Until the first block is requested, numbers are
    /// counted.
    init(at now: Moment, seed: UInt64) {
        let (clock, overflow) = UInt64(clamping: now.wall.milliseconds)
            .multipliedReportingOverflow(by: 1_000)
        first = overflow ? Self.clockMax : min(max(clock, 1), Self.clockMax)
        last = first - 1
        reserved = last
        usable = last
        began = now.mono
        time = now.mono
        floor = first
        jitter = SplitMix64(seed: seed)
    }

    /// Continues after the blocks that an earlier run has used. No number was assigned yet.
    mutating func restore(reservedUpTo used: UInt64) {
        precondition(last < first && reserved < first, "numbers have been given out already")
        first = max(first, used + 1)
        last = first - 1
        reserved = last
        usable = last
        floor = first
    }

    /// Notes the time. It never goes back.
    @inline(__always)
    mutating func note(_ now: Mono) {
        if now > time { advance(to: now) }
    }

    private mutating func advance(to now: Mono) {
        time = now
        floor = min(ofTime + jitter.next() % 1_000, usable)
    }

    /// The number that the time stands for.
    private var ofTime: UInt64 {
        first + min(time.milliseconds - began.milliseconds, Self.elapsedMax) * 1_000
    }

    /// The number that `next` returns next, if the time is the same.
    var upcoming: UInt64 { max(last + 1, floor) }

    /// The next number.
    mutating func next() -> UInt64 {
        last = upcoming
        return last
    }

    /// The end of a new block, if one is due. `lastTicket` is the last one that was drawn.
    ///
    /// The first is relied on at once: no client is served before it is on disk.
    mutating func blockToReserve(lastTicket: UInt64) -> UInt64? {
        let newest = max(last, ofTime)
        guard newest + Self.countedCount + Self.leadCount >= reserved else { return nil }
        let isFirst = reserved < first
        reserved = newest + Self.blockCount
        if isFirst {
            usable = reserved - Self.countedCount
        } else {
            confirming = lastTicket + 1
        }
        return reserved
    }

    /// The change with this ticket is on disk, and so is what was written before it.
    mutating func noteCommit(ofTicket number: UInt64) {
        guard let first = confirming, first <= number else { return }
        confirming = nil
        usable = reserved - Self.countedCount
    }
}
