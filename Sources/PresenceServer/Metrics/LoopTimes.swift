import Containers
import PresenceCore

/// How well the loop keeps up.
struct LoopTimes {
    /// Timer lag.
    var lag = DurationHistogram()
    /// Duration of turns, from the first event to the last write.
    var turns = DurationHistogram()
    /// When the current turn began, in nanoseconds; nil before its first event.
    var turnBegan: UInt64?
    /// The deadline for which the loop's timer was set.
    var awaited: Mono?
}
