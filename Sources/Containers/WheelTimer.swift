/// A timer that is set at times: the place of at most one entry of a `TimingWheel`, in four bytes.
///
/// When its entry is popped, its owner calls `fired`.
public struct WheelTimer: Equatable, Sendable {
    fileprivate var id = TimerID.none

    /// A timer that is not set.
    public init() {}

    /// Whether it has an entry in the wheel.
    public var isSet: Bool { id != .none }

    /// Its entry has been popped.
    public mutating func fired() {
        precondition(isSet, "a timer that was not set has fired")
        id = .none
    }
}

extension TimingWheel {
    /// Sets a timer to a deadline, whether it was set before or not.
    ///
    /// `payload` is used if it was not set; otherwise it keeps the one that it has.
    ///
    /// - Complexity: O(1); amortised where the slab grows.
    public mutating func set(_ timer: inout WheelTimer, to deadline: UInt64, payload: UInt64) {
        if timer.isSet {
            reschedule(timer.id, at: deadline)
        } else {
            timer.id = schedule(payload, at: deadline)
        }
    }

    /// Takes the entry of a timer out of the wheel, if it is set.
    ///
    /// - Complexity: O(1).
    public mutating func clear(_ timer: inout WheelTimer) {
        guard timer.isSet else { return }
        cancel(timer.id)
        timer.id = .none
    }
}
