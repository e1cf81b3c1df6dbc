import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `Reads of messages` {
    private var fetches = MessageFetches()

    private func fetch(_ slot: UInt32) -> MessageFetches.Fetch {
        MessageFetches.Fetch(
            connection: ConnectionID(slot: slot, generation: 1),
            messages: [MessageID(number: UInt64(slot))])
    }

    @Test mutating func `begin in order, so many at a time`() {
        let max = UInt32(MessageFetches.inProgressMax)
        for slot in 0..<max + 2 { fetches.add(fetch(slot)) }
        for slot in 0..<max { #expect(fetches.next() == fetch(slot)) }
        #expect(fetches.next() == nil)
        #expect(fetches.count == Int(max) + 2)
        fetches.end()
        #expect(fetches.next() == fetch(max))
        #expect(fetches.next() == nil)
    }

    @Test mutating func `of connections that have ended are left out, and forgotten`() {
        for slot: UInt32 in 0..<64 { fetches.add(fetch(slot)) }
        while fetches.next() != nil {}
        for slot: UInt32 in 100..<10_000 {
            fetches.add(fetch(slot))
            fetches.remove(fetch(slot).connection)
        }
        fetches.add(fetch(1))
        #expect(fetches.count == 65)
        #expect(fetches.orderCount <= 67)
        fetches.end()
        #expect(fetches.next() == fetch(1))
        #expect(fetches.next() == nil)
    }
}
