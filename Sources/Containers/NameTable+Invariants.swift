extension NameTable {
    /// Traps where the table contradicts itself: for tests.
    ///
    /// - Complexity: O(n), and it hashes every name.
    public func checkInvariants() {
        slab.checkInvariants()
        precondition(slab.liveCount() == count)
        var filled = 0
        for (number, part) in parts.enumerated() {
            precondition(part.slots.count * 7 >= part.count * 8, "a part is too full")
            let before = filled
            for index in part.slots.indices where part.slots[index].handle != Slot.vacant {
                filled += 1
                checkSlot(at: index, of: number)
            }
            precondition(filled - before == part.count, "a part miscounted")
        }
        precondition(filled == count)
        var live = 0
        for ref in entries where ref.length > 0 { live += 1 }
        precondition(live == count)
        precondition(live + freeCount() == entries.count, "a handle is lost")
    }

    private func checkSlot(at index: Int, of number: Int) {
        let slots = parts[number].slots
        let slot = slots[index]
        precondition(part(of: slot.hash) == number, "a name in the part of another")
        precondition(contains(slot.handle))
        precondition(slot.hash == hash(of: ref(of: slot.handle)))
        // Nothing vacant may lie between a name's home and its slot.
        var probe = Self.home(of: slot.hash, capacity: slots.count, bits: bitsOfPart)
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
