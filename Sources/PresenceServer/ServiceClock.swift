import EventLoop
import PresenceCore
import Synchronization

/// Turns the machine's two clocks into moments.
///
/// The wall clock is the monotonic one plus an offset, which is corrected only when the two differ
/// by half a second: the displayed time of a deadline stays the same to the millisecond while the
/// machine's clock is slewed, and follows the clock when it is set.
struct ServiceClock {
    /// The difference to the wall clock from which the offset is corrected, in milliseconds.
    static let driftMillisecondsMax: Int64 = 500

    private var offset: Int64

    private let shift: ClockShift?

    /// A clock that shows `wall` when the monotonic one shows `mono`.
    init(mono: UInt64, wall: Int64, shift: ClockShift? = nil) {
        offset = wall - Int64(clamping: mono)
        self.shift = shift
    }

    /// What our monotonic clock shows when the machine's shows `mono`.
    func shifted(_ mono: UInt64) -> UInt64 { mono + (shift?.current.mono ?? 0) }

    /// What the machine's monotonic clock shows when ours shows `mono`.
    func unshifted(_ mono: UInt64) -> UInt64 {
        let ahead = shift?.current.mono ?? 0
        return mono - min(mono, ahead)
    }

    /// What both clocks show when the machine's show this.
    mutating func moment(mono: UInt64, wall: Int64) -> Moment {
        let ahead = shift?.current ?? (mono: 0, wall: 0)
        let mono = mono + ahead.mono
        let wall = wall + ahead.wall
        let shown = Int64(clamping: mono) + offset
        if abs(wall - shown) > Self.driftMillisecondsMax {
            offset = wall - Int64(clamping: mono)
        }
        return Moment(
            mono: Mono(milliseconds: mono),
            wall: Wall(milliseconds: Int64(clamping: mono) + offset))
    }
}

/// How far a service's clocks are ahead of the machine's, so that hours can pass in a test.
public final class ClockShift: Sendable {
    private let shift = Mutex<(mono: UInt64, wall: Int64)>((0, 0))

    /// No shift.
    public init() {}

    /// Moves both clocks forward.
    public func pass(milliseconds: UInt64) {
        shift.withLock {
            $0.mono += milliseconds
            $0.wall += Int64(clamping: milliseconds)
        }
    }

    var current: (mono: UInt64, wall: Int64) { shift.withLock { $0 } }
}
