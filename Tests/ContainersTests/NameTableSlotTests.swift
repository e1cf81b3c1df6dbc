import Testing

@testable import Containers

/// Names that want the same slots: the seed arranges them, so many seeds are many arrangements.
@Suite struct NameTableSlotTests {
    static let names = (0..<12).map { Array("name-\($0)".utf8) }

    @Test func `a full table loses no name when another is removed`() {
        var wrapped = 0
        for seed in UInt64(0)..<200 {
            for removed in Self.names.indices {
                var table = NameTable(seed: seed)
                for name in Self.names { _ = table.intern(name.span) }
                #expect(table.slots.count == 16)
                if table.slots[0].handle != NameTable.Slot.vacant,
                    NameTable.home(of: table.slots[0].hash, capacity: 16) > 8
                {
                    wrapped += 1
                }
                table.remove(UInt32(removed))
                table.checkInvariants()
                for (handle, name) in Self.names.enumerated() {
                    let expected = handle == removed ? nil : UInt32(handle)
                    #expect(table.find(name.span) == expected, "seed \(seed)")
                }
            }
        }
        #expect(wrapped > 100, "names that wrap around the end were never met")
    }

    @Test func `a table can be emptied in any order`() {
        for seed in UInt64(0)..<200 {
            var random = SplitMix64(seed: seed)
            var table = NameTable(seed: seed)
            for name in Self.names { _ = table.intern(name.span) }
            for handle in Self.names.indices.shuffled(using: &random) {
                table.remove(UInt32(handle))
                table.checkInvariants()
            }
            let count = table.count
            #expect(count == 0, "seed \(seed)")
        }
    }

    @Test func `names with one home are all found and removed`() {
        let seed: UInt64 = 11
        let hasher = NameTable(seed: seed).hasher
        var colliding: [[UInt8]] = []
        var number = 0
        while colliding.count < 12 {
            let name = Array("n\(number)".utf8)
            number += 1
            let hash = UInt32(truncatingIfNeeded: hasher.hash(name.span))
            if NameTable.home(of: hash, capacity: 16) == 13 { colliding.append(name) }
        }
        var table = NameTable(seed: seed)
        for name in colliding { _ = table.intern(name.span) }
        table.checkInvariants()
        for (handle, name) in colliding.enumerated() {
            #expect(table.find(name.span) == UInt32(handle))
            table.remove(UInt32(handle))
            table.checkInvariants()
            #expect(table.find(name.span) == nil)
        }
    }

    @Test func `the table grows and keeps every handle`() {
        var table = NameTable(seed: 5)
        var capacities: Set<Int> = []
        for number in 0..<90_000 {
            let name = Array("user-\(number)".utf8)
            #expect(table.intern(name.span) == UInt32(number))
            capacities.insert(table.slots.count)
        }
        table.checkInvariants()
        #expect(capacities.max() == 65_536 * 5 / 4 * 5 / 4 * 5 / 4)
        for number in stride(from: 0, to: 90_000, by: 97) {
            let name = Array("user-\(number)".utf8)
            #expect(table.find(name.span) == UInt32(number))
        }
    }
}
