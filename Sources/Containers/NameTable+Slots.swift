// How names are found, placed and taken out: linear probing without tombstones.

extension SipHash13 {
    /// Makes a 128-bit key from one seed: two numbers of a SplitMix64 sequence.
    init(seed: UInt64) {
        func mixed(_ number: UInt64) -> UInt64 {
            var mixed = (number ^ (number >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
        let step: UInt64 = 0x9e37_79b9_7f4a_7c15
        self.init(key0: mixed(seed &+ step), key1: mixed(seed &+ step &+ step))
    }
}

extension NameTable {
    func hash(of bytes: borrowing Span<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: hasher.hash(bytes))
    }

    func hash(of ref: SlabRef) -> UInt32 {
        let range = slab.range(of: ref)
        let arena = SizeClass(byteCount: range.count).index
        return UInt32(truncatingIfNeeded: slab.arenas[arena].hash(range, by: hasher))
    }

    func ref(of handle: UInt32) -> SlabRef {
        precondition(contains(handle), "no such name")
        return entries[Int(handle)]
    }

    /// The slot at which the search for a hash begins.
    static func home(of hash: UInt32, capacity: Int) -> Int {
        Int(truncatingIfNeeded: (UInt64(hash) &* UInt64(capacity)) &>> 32)
    }

    func find(_ bytes: borrowing Span<UInt8>, hash: UInt32) -> UInt32? {
        let slots = slots.span
        guard slots.count > 0 else { return nil }
        var index = Self.home(of: hash, capacity: slots.count)
        while true {
            let slot = slots[index]
            guard slot.handle != Slot.vacant else { return nil }
            if slot.hash == hash && slab.equals(entries[Int(slot.handle)], bytes) {
                return slot.handle
            }
            index += 1
            if index == slots.count { index = 0 }
        }
    }

    mutating func addEntry(_ ref: SlabRef) -> UInt32 {
        let handle = freeHead
        guard handle == Slot.vacant else {
            freeHead = entries[Int(handle)].unit
            entries[Int(handle)] = ref
            return handle
        }
        let added = entries.count
        precondition(added < Int(Slot.vacant), "the name table is full")
        entries.reserveGrowth(of: 1, doublingLimit: Self.entriesDoublingLimit)
        entries.append(ref)
        return UInt32(added)
    }

    /// Keeps at most four slots in five filled, after one more name.
    ///
    /// Without success a search then takes 13 probes, which is two cache lines; at 7/8 it would
    /// be 32, for one byte less a name.
    mutating func growIfFull() {
        guard (count + 1) * 5 > slots.count * 4 else { return }
        let present = slots.count
        let step = present < Self.slotsDoublingLimit ? max(present, 16) : present / 4
        let former = slots
        slots = []
        slots.reserveCapacity(present + step)
        for _ in 0..<(present + step) { slots.append(Slot(hash: 0, handle: Slot.vacant)) }
        for slot in former where slot.handle != Slot.vacant { occupy(slot) }
    }

    /// Puts a slot's content, which must be new, into the first vacant slot from its home.
    mutating func occupy(_ content: Slot) {
        var slots = slots.mutableSpan
        var index = Self.home(of: content.hash, capacity: slots.count)
        while slots[index].handle != Slot.vacant {
            index += 1
            if index == slots.count { index = 0 }
        }
        slots[index] = content
    }

    /// Vacates a handle's slot, and moves up those behind it that could not be found then.
    mutating func vacate(_ handle: UInt32, hash: UInt32) {
        var slots = slots.mutableSpan
        let capacity = slots.count
        var hole = Self.home(of: hash, capacity: capacity)
        while slots[hole].handle != handle {
            precondition(slots[hole].handle != Slot.vacant, "a name lost its slot")
            hole = hole + 1 == capacity ? 0 : hole + 1
        }
        var index = hole
        while true {
            index = index + 1 == capacity ? 0 : index + 1
            let content = slots[index]
            guard content.handle != Slot.vacant else { break }
            // It may move to the hole only if its home is not behind the hole.
            let home = Self.home(of: content.hash, capacity: capacity)
            let fromHome = index >= home ? index - home : index - home + capacity
            let fromHole = index >= hole ? index - hole : index - hole + capacity
            if fromHome >= fromHole {
                slots[hole] = content
                hole = index
            }
        }
        slots[hole] = Slot(hash: 0, handle: Slot.vacant)
    }
}
