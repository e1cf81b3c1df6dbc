extension TimingWheel {
    /// Traps where the wheel contradicts itself: for tests.
    ///
    /// - Complexity: O(n).
    public func checkInvariants() {
        precondition(MemoryLayout<Entry>.stride <= 32)
        precondition(current <= latestNow)
        var live = 0
        for list in 0..<Self.listCount {
            let length = checkList(list)
            let bit = occupied[list >> Self.slotBits] >> UInt64(list & 63) & 1
            precondition((length > 0) == (bit == 1), "an occupancy bit is wrong")
            live += length
        }
        precondition(live == count)
        precondition(Self.listCount + live + freeCount() == entries.count, "an entry is lost")
    }

    private func checkList(_ list: Int) -> Int {
        var length = 0
        var previous = list
        var index = Int(entries[list].next)
        while index != list {
            let entry = entries[index]
            precondition(index >= Self.listCount && length < entries.count)
            precondition(Int(entry.previous) == previous, "a list is torn")
            precondition(entry.deadline >= current, "a deadline was stepped over")
            precondition(Self.list(of: entry.deadline, from: current) == list)
            length += 1
            previous = index
            index = Int(entry.next)
        }
        precondition(Int(entries[list].previous) == previous, "a list is torn")
        return length
    }

    private func freeCount() -> Int {
        var length = 0
        var index = freeHead
        while index != Self.freeMark {
            precondition(Int(index) >= Self.listCount && length < entries.count)
            precondition(entries[Int(index)].previous == Self.freeMark)
            length += 1
            index = entries[Int(index)].next
        }
        return length
    }
}
