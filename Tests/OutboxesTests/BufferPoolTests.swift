import Testing

@testable import Outboxes

@Suite struct `A pool of buffers` {
    private func buffers(_ count: Int) -> [Outbox] {
        (0..<count).map { _ in
            var outbox = Outbox()
            outbox.bytes.reserveCapacity(1_000)
            return outbox
        }
    }

    @Test func `frees what was not lent since it was trimmed last`() {
        var pool = BufferPool()
        for var outbox in buffers(10) { pool.giveBack(&outbox) }
        let all = pool.bytesIdle
        // They have just come back.
        pool.trim()
        #expect(pool.bytesIdle == all)
        // Three are used.
        var used = [Outbox](repeating: Outbox(), count: 3)
        for place in used.indices { pool.lend(to: &used[place]) }
        for place in used.indices { pool.giveBack(&used[place]) }
        pool.trim()
        #expect((all / 10 * 2...all / 10 * 4).contains(pool.bytesIdle))
        pool.trim()
        #expect(pool.bytesIdle == 0)
        pool.trim()
        var outbox = Outbox()
        pool.lend(to: &outbox)
        #expect(outbox.bytes.capacity == 0)
    }
}
