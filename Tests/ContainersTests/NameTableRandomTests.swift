import Testing

@testable import Containers

@Suite struct NameTableRandomTests {
    /// A name out of about `range`, of 1 to 255 bytes, mostly short.
    private static func name(_ random: inout SplitMix64, range: Int) -> [UInt8] {
        let number = Int.random(in: 0..<range, using: &random)
        let name = Array(String(number, radix: 36).utf8)
        return number.isMultiple(of: 16) ? name + Array(repeating: 46, count: 251) : name
    }

    @Test(arguments: [(UInt64(1), 40), (2, 3_000), (3, 60_000)])
    func `random calls give what a dictionary gives`(seed: UInt64, range: Int) {
        var random = SplitMix64(seed: seed)
        var table = NameTable(seed: random.next())
        var oracle: [[UInt8]: UInt32] = [:]
        for operation in 0..<40_000 {
            let name = Self.name(&random, range: range)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let handle = table.intern(name.span)
                let known = oracle.updateValue(handle, forKey: name)
                #expect(known == nil || known == handle, "seed \(seed) op \(operation)")
            case 5..<7:
                #expect(table.find(name.span) == oracle[name], "seed \(seed) op \(operation)")
            default:
                if let handle = oracle.removeValue(forKey: name) { table.remove(handle) }
            }
            if operation % 2_048 == 0 { table.checkInvariants() }
        }
        table.checkInvariants()
        #expect(Set(oracle.values).count == oracle.count)
        let count = table.count
        #expect(count == oracle.count)
        for (name, handle) in oracle { #expect(table.bytes(of: handle) == name) }
    }

    @Test func `handles do not depend on the seed`() {
        var first = NameTable(seed: 1)
        var second = NameTable(seed: 0xdead_beef)
        var random = SplitMix64(seed: 9)
        for operation in 0..<20_000 {
            let name = Self.name(&random, range: 2_000)
            if let handle = first.find(name.span), Bool.random(using: &random) {
                first.remove(handle)
                second.remove(handle)
            } else {
                let isEqual = first.intern(name.span) == second.intern(name.span)
                #expect(isEqual, "operation \(operation)")
            }
        }
        let upperBound = first.handleUpperBound
        #expect(second.handleUpperBound == upperBound)
    }
}
