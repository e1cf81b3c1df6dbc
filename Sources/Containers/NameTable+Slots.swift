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
        guard let place = slab.place(of: ref) else { preconditionFailure("an empty name") }
        return UInt32(truncatingIfNeeded: slab.arenas[place.arena].hash(place, by: hasher))
    }

    func ref(of handle: UInt32) -> SlabRef {
        precondition(contains(handle), "no such name")
        return entries[Int(handle)]
    }

    /// The part of a hash.
    @inline(__always)
    func part(of hash: UInt32) -> Int {
        Int(truncatingIfNeeded: UInt64(hash) &>> UInt64(32 &- bitsOfPart))
    }

    /// The slot of a part at which the search for a hash begins. `bits` of the hash say the part.
    @inline(__always)
    static func home(of hash: UInt32, capacity: Int, bits: UInt32 = 0) -> Int {
        Int(truncatingIfNeeded: (UInt64(hash &<< bits) &* UInt64(capacity)) &>> 32)
    }

    func find(_ bytes: borrowing Span<UInt8>, hash: UInt32) -> UInt32? {
        let part = part(of: hash)
        let capacity = parts[part].slots.count
        guard capacity > 0 else { return nil }
        var index = Self.home(of: hash, capacity: capacity, bits: bitsOfPart)
        while let slot = parts[part].firstSlot(of: hash, from: index) {
            let handle = parts[part].slots[slot].handle
            if slab.equals(entries[Int(handle)], bytes) { return handle }
            index = slot + 1 == capacity ? 0 : slot + 1
        }
        return nil
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
        entries.append(ref)
        return UInt32(added)
    }

    /// Keeps at most four slots in five of a part filled, after one more name.
    ///
    /// Without success a search then takes 13 probes, which is two cache lines; at 7/8 it would
    /// be 32, for one byte less a name.
    mutating func growIfFull(for hash: UInt32) {
        let part = part(of: hash)
        let present = parts[part].slots.count
        guard (parts[part].count + 1) * 5 > present * 4 else { return }
        movedMax = max(movedMax, parts[part].count)
        if bitsOfPart == 0, present >= Self.slotsInOneMax { return divide() }
        let doubles = bitsOfPart == 0 || present < Self.slotsDoublingLimit
        let capacity = present + (doubles ? max(present, 16) : present / 4)
        let former = parts[part]
        parts[part] = Part(capacity: capacity)
        for slot in former.slots where slot.handle != Slot.vacant { occupy(slot) }
    }

    /// Puts the slots into parts. Done once.
    private mutating func divide() {
        let former = parts[0]
        bitsOfPart = Self.partBits
        let capacity = 2 * former.slots.count >> Int(Self.partBits)
        parts = (0..<1 << Int(Self.partBits)).map { _ in Part(capacity: capacity) }
        for slot in former.slots where slot.handle != Slot.vacant {
            growIfFull(for: slot.hash)
            occupy(slot)
        }
    }

    /// Puts a slot's content, which must be new, into the first vacant slot from its home.
    mutating func occupy(_ content: Slot) {
        let bits = bitsOfPart
        let part = part(of: content.hash)
        parts[part].count += 1
        var slots = parts[part].slots.mutableSpan
        var index = Self.home(of: content.hash, capacity: slots.count, bits: bits)
        while slots[index].handle != Slot.vacant {
            index += 1
            if index == slots.count { index = 0 }
        }
        slots[index] = content
    }

    /// Vacates a handle's slot, and moves up those behind it that could not be found then.
    mutating func vacate(_ handle: UInt32, hash: UInt32) {
        let bits = bitsOfPart
        let part = part(of: hash)
        parts[part].count -= 1
        var slots = parts[part].slots.mutableSpan
        let capacity = slots.count
        var hole = Self.home(of: hash, capacity: capacity, bits: bits)
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
            let home = Self.home(of: content.hash, capacity: capacity, bits: bits)
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

extension NameTable.Part {
    /// The first slot of a hash, from one on and up to a vacant one; nil if no slot has it.
    func firstSlot(of hash: UInt32, from start: Int) -> Int? {
        let slots = slots.span
        var index = start
        while slots[index].handle != NameTable.Slot.vacant {
            if slots[index].hash == hash { return index }
            index += 1
            if index == slots.count { index = 0 }
        }
        return nil
    }

    /// A part of vacant slots.
    init(capacity: Int) {
        slots = Array(
            repeating: NameTable.Slot(hash: 0, handle: NameTable.Slot.vacant), count: capacity)
    }
}
