// Where an entry belongs, and how it moves between the lists and the free list.

extension TimingWheel {
    static let levelCount = 6
    static let slotBits = 6
    static let listCount = levelCount << slotBits
    /// The deadlines that share the bits above these with `current` have a place on a level.
    static let horizonBits = UInt64(levelCount * slotBits)
    /// Slot 0 of the top level: deadlines beyond the horizon.
    static let parkedList = (levelCount - 1) << slotBits

    enum CascadeOutcome {
        case moved
        case nothingDue
    }

    /// The list, level × 64 + slot, that an entry belongs to while the wheel is at `current`.
    static func list(of deadline: UInt64, from current: UInt64) -> Int {
        let difference = deadline ^ current
        guard difference >> horizonBits == 0 else { return parkedList }
        let highestBit = 63 - (difference | 63).leadingZeroBitCount
        let level = highestBit / slotBits
        let slot = Int(truncatingIfNeeded: deadline &>> UInt64(level * slotBits)) & 63
        return level << slotBits | slot
    }

    func preconditionScheduled(_ id: TimerID) {
        let index = Int(id.index)
        precondition(
            index >= Self.listCount && index < entries.count
                && entries[index].previous != Self.freeMark, "no such timer")
    }

    mutating func takeEntry(_ payload: UInt64) -> UInt32 {
        let index = freeHead
        guard index == Self.freeMark else {
            freeHead = entries[Int(index)].next
            entries[Int(index)].payload = payload
            return index
        }
        let added = entries.count
        precondition(added < Int(Self.freeMark), "the timing wheel is full")
        if added == entries.capacity {
            entries.reserveGrowth(of: 1, doublingLimit: Self.entriesDoublingLimit)
        }
        entries.append(Entry(payload: payload, deadline: 0, next: 0, previous: 0))
        return UInt32(added)
    }

    mutating func freeEntry(_ index: UInt32) {
        entries[Int(index)].previous = Self.freeMark
        entries[Int(index)].next = freeHead
        freeHead = index
    }

    /// Puts an entry that is in no list at the end of the list of `deadline`.
    mutating func link(_ index: UInt32, at deadline: UInt64) {
        let deadline = max(deadline, current)
        let list = Self.list(of: deadline, from: current)
        occupied[list >> Self.slotBits] |= 1 &<< UInt64(list & 63)
        var entries = entries.mutableSpan
        let last = entries[list].previous
        entries[list].previous = index
        entries[Int(last)].next = index
        entries[Int(index)].deadline = deadline
        entries[Int(index)].previous = last
        entries[Int(index)].next = UInt32(truncatingIfNeeded: list)
    }

    /// Takes an entry out of its list, and clears the slot's bit if it was the only one.
    mutating func unlink(_ index: UInt32) {
        var entries = entries.mutableSpan
        let next = entries[Int(index)].next
        let previous = entries[Int(index)].previous
        entries[Int(next)].previous = previous
        entries[Int(previous)].next = next
        // Both neighbours are one only where it is the head, whose index names the slot.
        guard next == previous else { return }
        let list = Int(next)
        precondition(list < Self.listCount, "a timer was its own neighbour")
        occupied[list >> Self.slotBits] &= ~(1 &<< UInt64(list & 63))
    }

    mutating func popFirst(ofList list: Int) -> DueTimer {
        let index = entries[list].next
        precondition(Int(index) >= Self.listCount, "an occupied slot is empty")
        let entry = entries[Int(index)]
        unlink(index)
        freeEntry(index)
        count -= 1
        return DueTimer(payload: entry.payload, deadline: entry.deadline)
    }

    /// The earliest occupied slot above level 0: its list and its first tick.
    func nextUpperSlot() -> (list: Int, start: UInt64)? {
        let top = Self.levelCount - 1
        for level in 1...top {
            let slots = level == top ? occupied[top] & ~1 : occupied[level]
            guard slots != 0 else { continue }
            let slot = slots.trailingZeroBitCount
            let shift = UInt64(level * Self.slotBits)
            let turnShift = shift + UInt64(Self.slotBits)
            let turn = (current >> turnShift) << turnShift
            return (level << Self.slotBits | slot, turn | UInt64(slot) << shift)
        }
        guard occupied[top] != 0 else { return nil }
        // What is parked is due after this turn of the top level, so there is a next turn.
        let nextTurn = (current >> Self.horizonBits) + 1
        return (Self.parkedList, nextTurn << Self.horizonBits)
    }

    /// Goes to the earliest occupied slot above level 0 and spreads it over the levels below.
    mutating func cascade() -> CascadeOutcome {
        guard let slot = nextUpperSlot(), slot.start <= latestNow else { return .nothingDue }
        var start = slot.start
        if slot.list == Self.parkedList {
            // Whole turns may be empty: go to the first that is not.
            let turn = earliestDeadline(inList: slot.list) >> Self.horizonBits
            start = turn << Self.horizonBits
            guard start <= latestNow else { return .nothingDue }
        }
        precondition(start > current)
        current = start
        spread(slot.list)
        return .moved
    }

    private func earliestDeadline(inList list: Int) -> UInt64 {
        var earliest = UInt64.max
        var index = Int(entries[list].next)
        while index != list {
            earliest = min(earliest, entries[index].deadline)
            index = Int(entries[index].next)
        }
        return earliest
    }

    /// Empties a list and places its entries again, in their order.
    private mutating func spread(_ list: Int) {
        var index = entries[list].next
        let last = entries[list].previous
        entries[list].next = UInt32(list)
        entries[list].previous = UInt32(list)
        occupied[list >> Self.slotBits] &= ~(1 &<< UInt64(list & 63))
        while true {
            // Parked entries may return to the same list: it ends with `last`.
            let next = entries[Int(index)].next
            link(index, at: entries[Int(index)].deadline)
            guard index != last else { return }
            index = next
        }
    }
}
