// Theory of operation.
//
// The wheel is a digit sort over time. `current` and every deadline are numbers of 6-bit
// digits; an entry lies on the level of the highest digit in which its deadline differs from
// `current`, in the slot that this digit of the deadline names. So everything on a lower level
// is due before everything on a higher one, within a level the slots are in order of time, and
// the next slot is the lowest bit of the lowest occupancy word that is not zero.
//
// `current` never steps over an occupied slot: it goes to the slot's first tick, and the slot's
// entries are placed again, each on a lower level. An entry moves at most six times in its life,
// and empty time costs nothing, however long.
//
// All entries of one deadline are always in one list, and lists are first in, first out, also
// when they move: that is what makes the order of equal deadlines the order of the calls.
//
// The lists are circular and doubly linked by index through one slab, whose first 384 entries
// are their heads: so unlinking has no special case and shows which slot is now empty.
// The wheel has no callbacks and reads no clock: its owner pops entries and passes the time.

/// Names one scheduled entry of a `TimingWheel`, until it is popped or cancelled.
///
/// Four bytes without a generation: an id that was popped or cancelled must be forgotten, since
/// the next entry may bear it.
public struct TimerID: Equatable, Hashable, Sendable {
    let index: UInt32

    /// The id of no entry, for a place that holds a timer only at times.
    public static var none: TimerID { TimerID(index: .max) }
}

/// An entry that was due and has left the wheel.
public struct DueTimer: Equatable, Sendable {
    /// What was given to `schedule`.
    public let payload: UInt64
    /// When it was due, in ticks; for one scheduled in the past, the wheel's tick at that time.
    public let deadline: UInt64
}

/// Deadlines in milliseconds, any number of them, at a constant cost each.
///
/// | level | slots | a slot spans         | the level reaches    |
/// |-------|-------|----------------------|----------------------|
/// | 0     | 64    | 1 ms                 | 64 ms                |
/// | 1     | 64    | 64 ms                | 4.1 s                |
/// | 2     | 64    | 4,096 ms             | 4.4 min              |
/// | 3     | 64    | 262,144 ms = 4.4 min | 4.7 h                |
/// | 4     | 64    | 4.7 h                | 12.4 d               |
/// | 5     | 64    | 12.4 d               | 2.2 years (2³⁶ ms)   |
///
/// A deadline beyond that is parked in slot 0 of level 5, which nothing else can use (a later
/// time in the same 2³⁶ ms has a digit above the present one, which is at least 0), and is
/// placed again when its own 2³⁶ ms begin.
///
/// Deadlines come out in order; equal ones in the order of the calls of `schedule` or
/// `reschedule` that gave them their deadline. The *wheel's tick* is the deadline of the last
/// entry popped, or the `now` of the last `popDue` that returned nil, whichever is later; a
/// deadline before it counts as equal to it.
///
/// An entry takes 24 bytes.
public struct TimingWheel: ~Copyable {
    struct Entry {
        var payload: UInt64
        /// Never before `current`.
        var deadline: UInt64
        var next: UInt32
        /// `freeMark` while the entry is in the free list.
        var previous: UInt32
    }

    static let freeMark = UInt32.max
    static let entriesDoublingLimit = 1_024

    /// 384 heads of lists, then entries, live or free.
    var entries: [Entry]
    /// One bit for each slot that has an entry, one word a level.
    var occupied: [6 of UInt64]
    /// The wheel's tick.
    var current: UInt64
    /// The greatest `now` passed: beyond `current` while due entries wait to be popped.
    var latestNow: UInt64
    /// The first free entry, `freeMark` for none.
    var freeHead: UInt32

    /// How many entries are scheduled.
    public internal(set) var count: Int

    /// Makes an empty wheel whose first tick is `now`.
    public init(now: UInt64) {
        entries = []
        entries.reserveCapacity(Self.listCount + 16)
        for list in 0..<UInt32(Self.listCount) {
            entries.append(Entry(payload: 0, deadline: 0, next: list, previous: list))
        }
        occupied = .init(repeating: 0)
        current = now
        latestNow = now
        freeHead = Self.freeMark
        count = 0
    }

    /// Adds an entry that is due at `deadline`; one that lies in the past is due at once.
    ///
    /// - Complexity: O(1); amortised where the slab grows.
    public mutating func schedule(_ payload: UInt64, at deadline: UInt64) -> TimerID {
        let index = takeEntry(payload)
        link(index, at: deadline)
        count += 1
        return TimerID(index: index)
    }

    /// Gives a scheduled entry another deadline, earlier or later, under the same id.
    ///
    /// It is then the last of equal deadlines, even if its deadline has not changed.
    ///
    /// - Complexity: O(1).
    public mutating func reschedule(_ id: TimerID, at deadline: UInt64) {
        preconditionScheduled(id)
        unlink(id.index)
        link(id.index, at: deadline)
    }

    /// Takes a scheduled entry out of the wheel; its id must be forgotten.
    ///
    /// - Complexity: O(1).
    public mutating func cancel(_ id: TimerID) {
        preconditionScheduled(id)
        unlink(id.index)
        freeEntry(id.index)
        count -= 1
    }

    /// Removes and returns the next entry that is due at `now`; nil where none is.
    ///
    /// May be called as often as a budget allows, with `schedule`, `reschedule` and `cancel` in
    /// between: what is due by then comes out too. A `now` before an earlier one counts as that.
    ///
    /// - Complexity: amortised O(1): an entry descends at most six levels in its life.
    public mutating func popDue(now: UInt64) -> DueTimer? {
        latestNow = max(latestNow, now)
        while true {
            if occupied[0] != 0 {
                let tick = (current & ~63) | UInt64(occupied[0].trailingZeroBitCount)
                guard tick <= latestNow else { break }
                precondition(tick >= current)
                current = tick
                return popFirst(ofList: Int(tick & 63))
            }
            guard cascade() == .moved else { break }
        }
        current = latestNow
        return nil
    }

    /// When `popDue` can next do work: never after the next deadline; nil while empty.
    ///
    /// Exact for an entry on level 0, else the first tick of the entry's slot. Where it lies in
    /// the past, entries are due already.
    ///
    /// - Complexity: O(1).
    public var nextWake: UInt64? {
        guard occupied[0] == 0 else {
            return (current & ~63) | UInt64(occupied[0].trailingZeroBitCount)
        }
        return nextUpperSlot()?.start
    }

    /// The bytes that the wheel holds on the heap, as the allocator rounded them: not replayable.
    public var bytesReserved: Int { entries.heapBytes }
}
