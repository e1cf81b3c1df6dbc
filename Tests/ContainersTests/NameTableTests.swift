import Testing

@testable import Containers

@Suite struct NameTableTests {
    private func intern(_ name: String, in table: inout NameTable) -> UInt32 {
        let bytes = Array(name.utf8)
        return table.intern(bytes.span)
    }

    private func find(_ name: String, in table: borrowing NameTable) -> UInt32? {
        let bytes = Array(name.utf8)
        return table.find(bytes.span)
    }

    @Test func `a name keeps its handle and the handle its name`() {
        var table = NameTable(seed: 1)
        let alice = intern("alice", in: &table)
        let bob = intern("bob", in: &table)
        #expect(alice == 0 && bob == 1)
        #expect(intern("alice", in: &table) == alice)
        #expect(find("bob", in: table) == bob)
        #expect(find("carol", in: table) == nil)
        #expect(table.bytes(of: alice) == Array("alice".utf8))
        #expect(table.byteCount(of: bob) == 3)
        var line = Array("<".utf8)
        table.append(bob, to: &line)
        #expect(line == Array("<bob".utf8))
        let name = Array("bob".utf8)
        #expect(table.equals(bob, name.span) == true)
        #expect(table.equals(alice, name.span) == false)
    }

    @Test func `removed handles are given again, the last one first`() {
        var table = NameTable(seed: 1)
        for name in ["a", "b", "c", "d"] { _ = intern(name, in: &table) }
        table.remove(1)
        table.remove(3)
        #expect([1, 2, 4, .max].map { table.contains($0) } == [false, true, false, false])
        #expect(find("b", in: table) == nil)
        #expect(intern("e", in: &table) == 3)
        #expect(intern("f", in: &table) == 1)
        #expect(intern("g", in: &table) == 4)
        #expect(table.handleUpperBound == 5)
        let count = table.count
        #expect(count == 5)
        table.checkInvariants()
    }

    @Test func `names are ordered byte by byte`() {
        let names = ["A", "a", "aa", "ab", "abcdefghij", "abcdefghik", "b", "zz", "é"]
        var table = NameTable(seed: 3)
        let handles = names.reversed().map { intern($0, in: &table) }.reversed()
        for (left, first) in zip(names, handles) {
            for (right, second) in zip(names, handles) {
                let expected = left.utf8.lexicographicallyPrecedes(right.utf8)
                #expect(table.precedes(first, second) == expected, "\(left) \(right)")
            }
        }
    }

    @Test func `names of 1 and of 255 bytes are names, others are not found`() {
        var table = NameTable(seed: 1)
        let shortest: [UInt8] = [0]
        let longest = [UInt8](repeating: 0xff, count: 255)
        let tooLong = [UInt8](repeating: 0xff, count: 256)
        let empty: [UInt8] = []
        #expect(table.find(longest.span) == nil)
        #expect(table.intern(shortest.span) == 0)
        #expect(table.intern(longest.span) == 1)
        #expect(table.bytes(of: 1) == longest)
        #expect(table.find(tooLong.span) == nil)
        #expect(table.find(empty.span) == nil)
        table.checkInvariants()
    }

    @Test func `misuse is rejected`() async {
        await #expect(processExitsWith: .failure) {
            var table = NameTable(seed: 1)
            let empty: [UInt8] = []
            _ = table.intern(empty.span)
        }
        await #expect(processExitsWith: .failure) {
            var table = NameTable(seed: 1)
            let name: [UInt8] = [1]
            let handle = table.intern(name.span)
            table.remove(handle)
            table.remove(handle)
        }
    }
}
