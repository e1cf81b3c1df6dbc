/// Decides when free memory is returned to the kernel.
///
/// After a reconnect storm most of the memory that was allocated is free but stays resident: glibc
/// returns it only from the end of a heap.
struct MemoryWatch {
    /// A measurement.
    struct Sample: Equatable {
        /// Resident bytes.
        var resident: UInt64
        /// Bytes allocated and not freed.
        var allocated: UInt64

        /// Bytes resident and not allocated: free memory, code and stacks.
        var excess: UInt64 { resident > allocated ? resident - allocated : 0 }
    }

    /// The interval of measurements while the service is not idle.
    static let intervalMilliseconds: UInt64 = 4_000
    /// The least that is worth a walk through all heaps.
    static let worthBytes: UInt64 = 16 << 20

    /// The excess that the last return left.
    private var excessMin: UInt64?

    /// Whether to return free memory now. Samples are one interval apart, so a return is complete
    /// when the next one is taken.
    mutating func isWorthReturning(_ sample: Sample) -> Bool {
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

    /// The bytes that count against the budget: resident memory without what could be returned.
    func used(_ sample: Sample) -> UInt64 {
        guard let excessMin, sample.excess > excessMin else { return sample.resident }
        return sample.resident - (sample.excess - excessMin)
    }
}
