import EventLoop

/// Decides when free memory is returned to the kernel.
///
/// After a reconnect storm most of the memory that was allocated is free but stays resident: glibc
/// returns it only from the end of a heap.
struct MemoryWatch {
    /// The interval of measurements while the service is not idle.
    static let intervalMilliseconds: UInt64 = 4_000
    /// How long after it was begun a measurement is read.
    static let measuringMilliseconds: UInt64 = 200
    /// The interval of looks at the memory in use, while there are requests that take some.
    static let lookMilliseconds: UInt64 = 50
    /// The interval at which the limit on memory is read again, while there are such requests.
    static let limitMilliseconds: UInt64 = 60_000
    /// The least that is worth a walk through all heaps.
    static let worthBytes: UInt64 = 16 << 20

    /// The excess that the last return left.
    private var excessMin: UInt64?

    /// Whether to return free memory now. Samples are one interval apart, so a return is complete
    /// when the next one is taken.
    mutating func isWorthReturning(_ sample: MeasuredMemory) -> Bool {
        guard let known = excessMin else {
            excessMin = sample.excess
            return false
        }
        guard sample.excess > known + Self.worthBytes else {
            excessMin = min(known, sample.excess)
            return false
        }
        // If the excess stays that high, the free memory is fragmented: do not try again until it
        // has grown.
        excessMin = sample.excess
        return true
    }

    /// The bytes of `resident` that count against the budget: without what could be returned by
    /// the last measurement.
    func used(resident: UInt64, _ sample: MeasuredMemory?) -> UInt64 {
        guard let sample, let excessMin, sample.excess > excessMin else { return resident }
        return resident - min(resident, sample.excess - excessMin)
    }
}
