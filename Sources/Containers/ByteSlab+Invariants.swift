extension ByteSlab {
    /// Traps where the slab contradicts itself: for tests.
    ///
    /// - Complexity: O(free units).
    public func checkInvariants() {
        precondition(MemoryLayout<SlabRef>.stride <= 8)
        precondition(arenas.count == SizeClass.count)
        var unitBytesBefore = 0
        for byteCount in 1...Self.byteCountMax {
            let size = SizeClass(byteCount: byteCount)
            precondition(size.unitBytes >= byteCount)
            guard size.unitBytes != unitBytesBefore else { continue }
            unitBytesBefore = size.unitBytes
            checkFreeUnits(size)
        }
    }

    /// How many strings that are not empty the slab holds.
    func liveCount() -> Int {
        var live = 0
        var indexBefore = -1
        for byteCount in 1...Self.byteCountMax {
            let size = SizeClass(byteCount: byteCount)
            guard size.index != indexBefore else { continue }
            indexBefore = size.index
            live += arenas[size.index].unitCount - arenas[size.index].freeCount
        }
        return live
    }

    private func checkFreeUnits(_ size: SizeClass) {
        let arena = arenas[size.index]
        let units = arena.unitCount
        for (number, chunk) in arena.chunks.enumerated() {
            let unitsHere = min(Self.chunkUnits, units - number * Self.chunkUnits)
            precondition(chunk.bytes.count == unitsHere * size.unitBytes, "a chunk of another size")
        }
        var length = 0
        var unit = arena.freeHead
        while unit != Self.chainEnd {
            precondition(Int(unit) < units, "a chain of free units leaves the arena")
            length += 1
            precondition(length <= arena.freeCount, "a chain of free units is a ring")
            unit = arena.nextFree(after: unit, unitBytes: size.unitBytes)
        }
        precondition(length == arena.freeCount, "a free unit is lost")
    }
}
