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
                #expect(table.parts[0].slots.count == 16)
                if table.parts[0].slots[0].handle != NameTable.Slot.vacant,
                    NameTable.home(of: table.parts[0].slots[0].hash, capacity: 16) > 8
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
        for number in 0..<90_000 {
            let name = Array("user-\(number)".utf8)
            #expect(table.intern(name.span) == UInt32(number))
        }
        table.checkInvariants()
        let partCount = table.parts.count
        #expect(partCount == 1_024)
        for number in stride(from: 0, to: 90_000, by: 97) {
            let name = Array("user-\(number)".utf8)
            #expect(table.find(name.span) == UInt32(number))
        }
        for number in stride(from: 0, to: 90_000, by: 3) { table.remove(UInt32(number)) }
        table.checkInvariants()
        for number in 0..<90_000 {
            let name = Array("user-\(number)".utf8)
            let expected = number.isMultiple(of: 3) ? nil : UInt32(number)
            #expect(table.find(name.span) == expected)
        }
    }

    @Test func `no call moves more than some names of millions`() {
        var table = NameTable(seed: 6)
        var name: [UInt8] = []
        for number in 0..<2_000_000 as Range<UInt32> {
            name.removeAll(keepingCapacity: true)
            for shift in 0..<6 { name.append(97 + UInt8(number >> (4 * UInt32(shift)) & 15)) }
            _ = table.intern(name.span)
        }
        let (count, moved) = (table.count, table.movedMax)
        #expect(count == 2_000_000)
        // When the slots were divided, once.
        #expect(moved < NameTable.slotsInOneMax)
        // A part.
        let largest = table.parts.reduce(0) { max($0, $1.count) }
        #expect(largest < 2_600)
    }
}
