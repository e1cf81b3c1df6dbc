/// The connections of a loop that have something to write, in the order in which they began to
/// wait; or those that have something to read (`ResumeQueue`).
///
/// A slot is in it once. If its connection has ended, the place is the next one's.
struct FlushQueue {
    private var slots: [UInt32] = []
    /// Slots at the beginning of `slots` that have been taken.
    private var takenCount = 0
    /// Slots that were taken and forgotten.
    private var forgottenCount = 0

    /// More room than this is given back when nothing waits.
    private static let slotsKeptMax = 1 << 16

    /// How many wait.
    var count: Int { slots.count - takenCount }
    var isEmpty: Bool { count == 0 }
    /// Those that wait, in their order.
    var waiting: ArraySlice<UInt32> { slots[takenCount...] }

    /// How many there were, and how many of them were taken.
    var progress: WriteProgress {
        WriteProgress(
            queued: forgottenCount + slots.count, written: forgottenCount + takenCount)
    }

    /// Adds a slot at the end. O(1).
    mutating func append(_ slot: UInt32) { slots.append(slot) }

    /// Takes the first slot; one must wait. O(1).
    mutating func takeFirst() -> Int {
        defer { takenCount += 1 }
        return Int(slots[takenCount])
    }

    /// Frees the memory of slots that were taken, unless more wait: O(1) for each.
    mutating func compact() {
        guard takenCount >= count else { return }
        forgottenCount += takenCount
        if isEmpty {
            slots.removeAll(keepingCapacity: slots.capacity <= Self.slotsKeptMax)
        } else {
            slots.removeFirst(takenCount)
        }
        takenCount = 0
    }
}
