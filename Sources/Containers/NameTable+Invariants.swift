extension NameTable {
    /// Traps where the table contradicts itself: for tests.
    ///
    /// - Complexity: O(n), and it hashes every name.
    public func checkInvariants() {
        slab.checkInvariants()
        precondition(slab.liveCount() == count)
        precondition(slots.count * 7 >= count * 8, "the table is too full")
        var filled = 0
        for index in slots.indices where slots[index].handle != Slot.vacant {
            filled += 1
            checkSlot(at: index)
        }
        precondition(filled == count)
        var live = 0
        for ref in entries where ref.length > 0 { live += 1 }
        precondition(live == count)
        precondition(live + freeCount() == entries.count, "a handle is lost")
    }

    private func checkSlot(at index: Int) {
        let slot = slots[index]
        precondition(contains(slot.handle))
        precondition(slot.hash == hash(of: ref(of: slot.handle)))
        // Nothing vacant may lie between a name's home and its slot.
        var probe = Self.home(of: slot.hash, capacity: slots.count)
        while probe != index {
            precondition(slots[probe].handle != Slot.vacant, "a name cannot be found")
            probe = probe + 1 == slots.count ? 0 : probe + 1
        }
    }

    private func freeCount() -> Int {
        var length = 0
        var handle = freeHead
        while handle != Slot.vacant {
            precondition(!contains(handle) && length < entries.count)
            length += 1
            handle = entries[Int(handle)].unit
        }
        return length
    }
}
