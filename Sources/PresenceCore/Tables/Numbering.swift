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
/// these are more, and then uses the monotonic clock. The next block is requested when half of
/// the last is left, 35 minutes before it is needed. If the process was suspended for longer, the
/// numbers are counted until the reservation is a minute old.
///
/// A start takes a block at most, and JavaScript represents 2^53 numbers exactly: enough for more
/// than two centuries, or a million starts.
struct Numbering {
    /// The size of a block.
    static let blockCount: UInt64 = 1 << 32
    /// How long after its request the reservation of a block is relied on.
    static let settlingSeconds = 60
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
    /// Up to here the numbers rise with time: the block is on disk.
    private var usable: UInt64
    /// When the last block that was requested will be.
    private var settled: Mono

    private let began: Mono
    private var time: Mono
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
        settled = now.mono
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
        if settled <= now { usable = reserved }
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

    /// The end of a new block, if one is due.
    ///
    /// The first is relied on at once: no client is served before it is on disk.
    mutating func blockToReserve() -> UInt64? {
        let newest = max(last, ofTime)
        guard newest + Self.blockCount / 2 >= reserved else { return nil }
        let isFirst = reserved < first
        reserved = newest + Self.blockCount
        settled = isFirst ? time : time.advanced(bySeconds: Self.settlingSeconds)
        if isFirst { usable = reserved }
        return reserved
    }
}
