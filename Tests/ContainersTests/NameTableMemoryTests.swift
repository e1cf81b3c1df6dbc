import Testing

@testable import Containers

@Suite struct NameTableMemoryTests {
    @Test func `a churn of names reserves nothing more`() {
        var table = NameTable(seed: 2)
        let namesMax = 1_000
        func name(_ number: Int) -> [UInt8] { Array("user-\(1_000_000 + number)".utf8) }
        for number in 0..<namesMax { _ = table.intern(name(number).span) }
        let reserved = table.bytesReserved
        for number in 0..<100_000 {
            table.remove(UInt32(number % namesMax))
            #expect(table.intern(name(namesMax + number).span) == UInt32(number % namesMax))
        }
        table.checkInvariants()
        #expect(table.bytesReserved == reserved)
        #expect(table.handleUpperBound == UInt32(namesMax))
    }

    /// Names of 8 to 16 bytes, 12 on average.
    @Test func `measured: bytes per name for a million names`() {
        let namesMax = 1_000_000
        var table = NameTable(seed: 4)
        var random = SplitMix64(seed: 4)
        var nameBytes = 0
        var name: [UInt8] = []
        for number in 0..<namesMax {
            name.removeAll(keepingCapacity: true)
            // The number makes it unique, in 6 bytes; the rest is its length.
            for shift in 0..<6 { name.append(97 + UInt8(number >> (4 * shift) & 15)) }
            let padding = Int(truncatingIfNeeded: random.next() % 9) + 2
            for _ in 0..<padding { name.append(45) }
            nameBytes += name.count
            _ = table.intern(name.span)
        }
        let count = table.count
        #expect(count == namesMax)
        let perName = Double(table.bytesReserved) / Double(namesMax)
        print("\(perName) bytes a name of \(Double(nameBytes) / Double(namesMax)) bytes")
        #expect(perName <= 40)
    }
}
