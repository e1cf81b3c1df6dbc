/// What the process has in memory, and whether some of it could go back to the kernel.
///
/// After a crowd has come and gone, most of what was allocated is free, and stays resident: glibc
/// returns it only from the end of a heap.
struct MemoryWatch {
    /// What is looked at.
    struct Sample: Equatable {
        /// Bytes that are resident.
        var resident: UInt64
        /// Bytes that are allocated and not freed.
        var allocated: UInt64

        /// Bytes that are resident and not allocated: free memory, code and stacks.
        var excess: UInt64 { resident > allocated ? resident - allocated : 0 }
    }

    /// How often it is looked at, while there is something to do.
    static let intervalMilliseconds: UInt64 = 4_000
    /// What is worth a walk through all heaps.
    static let worthBytes: UInt64 = 16 << 20

    /// What could not be returned when that was tried last.
    private var excessMin: UInt64?

    /// Whether free memory is to be returned. `Sample`s are taken one interval apart, so what an
    /// earlier call has returned is gone by the next.
    mutating func isWorthReturning(_ sample: Sample) -> Bool {
        guard let known = excessMin else {
            excessMin = sample.excess
            return false
        }
        guard sample.excess > known + Self.worthBytes else {
            excessMin = min(known, sample.excess)
            return false
        }
        // If it stays that high, it is in pieces that are too small: it is not tried again and
        // again.
        excessMin = sample.excess
        return true
    }

    /// Bytes that count against the budget: what is resident, without what could be returned.
    func used(_ sample: Sample) -> UInt64 {
        guard let excessMin, sample.excess > excessMin else { return sample.resident }
        return sample.resident - (sample.excess - excessMin)
    }
}
