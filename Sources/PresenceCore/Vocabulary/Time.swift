// Two clocks, two types: mixing them does not compile.
//
// Deadlines use the monotonic clock, so that a jump of the wall clock neither expires nor revives
// anything. What is stored and shown is wall time. Nothing in this module reads either: every input
// has the `Moment` at which it happened.

/// A point on the monotonic clock, in milliseconds since an arbitrary start.
public struct Mono: Comparable, Hashable, Sendable {
    /// Milliseconds since the clock's start.
    public let milliseconds: UInt64

    /// The point `milliseconds` after the clock's start.
    public init(milliseconds: UInt64) {
        self.milliseconds = milliseconds
    }

    /// Whether `lhs` comes before `rhs`.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.milliseconds < rhs.milliseconds
    }

    /// The point this number of milliseconds later; saturates instead of overflowing.
    public func advanced(byMilliseconds duration: UInt64) -> Self {
        let (sum, overflow) = milliseconds.addingReportingOverflow(duration)
        return Self(milliseconds: overflow ? .max : sum)
    }

    /// The point this number of seconds later.
    public func advanced(bySeconds duration: Int) -> Self {
        advanced(byMilliseconds: UInt64(max(0, duration)) * 1_000)
    }
}

/// A point on the wall clock, in milliseconds since 1970 UTC.
public struct Wall: Comparable, Hashable, Sendable {
    /// Milliseconds since 1970 UTC.
    public let milliseconds: Int64

    /// The point `milliseconds` after the beginning of 1970 UTC.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Whether `lhs` comes before `rhs`.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.milliseconds < rhs.milliseconds
    }
}

/// The time on both clocks when something happened.
///
/// Consecutive moments given to the engine never decrease in `mono`; `wall` may jump.
public struct Moment: Hashable, Sendable {
    /// The time for deadlines.
    public let mono: Mono
    /// The time that is stored and shown.
    public let wall: Wall

    /// A moment of both clocks.
    public init(mono: Mono, wall: Wall) {
        self.mono = mono
        self.wall = wall
    }

    /// The time on the wall clock at `point`, if it does not jump.
    public func wall(at point: Mono) -> Wall {
        let distance = Int64(clamping: point.milliseconds)
            .subtractingReportingOverflow(Int64(clamping: mono.milliseconds)).partialValue
        let (sum, overflow) = wall.milliseconds.addingReportingOverflow(distance)
        return Wall(milliseconds: overflow ? .max : sum)
    }

    /// When the monotonic clock will reach the wall time `point`; now, if that is in the past.
    public func mono(at point: Wall) -> Mono {
        let (distance, overflow) = point.milliseconds
            .subtractingReportingOverflow(wall.milliseconds)
        guard !overflow else { return Mono(milliseconds: .max) }
        return mono.advanced(byMilliseconds: UInt64(max(0, distance)))
    }
    /// The moment after this number of seconds, if the wall clock does not jump.
    func expiry(afterSeconds seconds: Int) -> Moment {
        let end = mono.advanced(bySeconds: seconds)
        return Moment(mono: end, wall: wall(at: end))
    }
}
