import Containers
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `Reads of the store` {
    private var reads = StoreReads<UInt32>()

    private func connection(_ slot: UInt32) -> ConnectionID {
        ConnectionID(slot: slot, generation: 1)
    }

    private mutating func add(_ slot: UInt32) { reads.add(slot, for: connection(slot)) }

    /// The question that is asked next, if it is asked for its connection.
    private mutating func next() -> UInt32? {
        guard let (connection, question) = reads.next() else { return nil }
        return connection == self.connection(question) ? question : nil
    }

    @Test mutating func `begin in order, so many at a time`() {
        let max = UInt32(StoreReads<UInt32>.inProgressMax)
        for slot in 0..<max + 2 { add(slot) }
        for slot in 0..<max { #expect(next() == slot) }
        #expect(next() == nil)
        #expect(reads.count == Int(max) + 2)
        reads.end()
        #expect(next() == max)
        #expect(next() == nil)
    }

    @Test mutating func `for connections that have ended are left out, and forgotten`() {
        for slot: UInt32 in 0..<64 { add(slot) }
        while next() != nil {}
        for slot: UInt32 in 100..<10_000 {
            add(slot)
            reads.remove(connection(slot))
        }
        add(1)
        #expect(reads.count == 65)
        #expect(reads.order.waiting.count <= 67)
        reads.end()
        #expect(next() == 1)
        #expect(next() == nil)
    }
}
