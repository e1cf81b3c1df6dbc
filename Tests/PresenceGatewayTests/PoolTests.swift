import Testing

@testable import PresenceGateway

/// The decisions of the pool: without sockets, tasks or time.
@Suite struct `A pool` {
    @Test func `lends the connection that was used last`() {
        let fake = FakePool(connectionsMax: 3)
        let (first, second) = (fake.newConnection(), fake.newConnection())
        #expect([fake.borrow(), fake.borrow()] == ["open", "open"])
        #expect(fake.giveBack(first) == nil)
        #expect(fake.giveBack(second) == nil)
        #expect(fake.now == [0, 2, 0])
        #expect([fake.borrow(), fake.borrow(), fake.borrow()] == ["take 2", "take 1", "open"])
        #expect(fake.now == [3, 0, 0] && fake.totals == [3, 0])
    }

    @Test func `does not lend a connection that has ended`() {
        let fake = FakePool(connectionsMax: 2)
        let (first, second) = (fake.newConnection(), fake.newConnection())
        #expect([fake.borrow(), fake.borrow()] == ["open", "open"])
        #expect(fake.giveBack(first) == nil)
        #expect(fake.giveBack(second) == nil)
        second.close()
        #expect(fake.borrow() == "take 1")
        first.close()
        #expect(fake.giveBack(first) == nil)
        #expect(fake.now == [0, 0, 0])
        #expect(fake.borrow() == "open")
    }

    @Test func `lets requests wait in order, and refuses those beyond the limit`() {
        let fake = FakePool(connectionsMax: 1, waitersMax: 2)
        let connection = fake.newConnection()
        #expect(fake.borrow() == "open")
        #expect([fake.borrow(), fake.borrow(), fake.borrow()] == ["wait 1", "wait 2", "refused"])
        #expect(fake.now == [1, 0, 2] && fake.outcomes.isEmpty)
        #expect(fake.giveBack(connection) == nil)
        #expect(fake.outcomes == [1: "take 1"] && fake.now == [1, 0, 1])
        #expect(fake.borrow() == "wait 3")
        #expect(fake.giveBack(connection) == nil)
        #expect(fake.giveBack(connection) == nil)
        #expect(fake.outcomes == [1: "take 1", 2: "take 1", 3: "take 1"])
        #expect(fake.giveBack(connection) == nil)
        #expect(fake.now == [0, 1, 0] && fake.totals == [1, 1])
    }

    @Test func `gives the right to open one for a connection that has ended`() {
        let fake = FakePool(connectionsMax: 1, waitersMax: 2)
        let connection = fake.newConnection()
        #expect([fake.borrow(), fake.borrow(), fake.borrow()] == ["open", "wait 1", "wait 2"])
        connection.close()
        #expect(fake.giveBack(connection) == nil)
        #expect(fake.outcomes == [1: "open"])
        // It could not be opened.
        #expect(fake.giveBack(nil) == nil)
        #expect(fake.outcomes == [1: "open", 2: "open"])
        #expect(fake.now == [1, 0, 0] && fake.totals == [3, 0])
    }

    @Test func `lets a request leave the queue, once and with a reason`() {
        let fake = FakePool(connectionsMax: 1, waitersMax: 3)
        let connection = fake.newConnection()
        #expect(fake.borrow() == "open")
        #expect([fake.borrow(), fake.borrow(), fake.borrow()] == ["wait 1", "wait 2", "wait 3"])
        fake.pool.leave(2, GatewayError.overloaded)
        fake.pool.leave(2, GatewayError.overloaded)
        #expect(fake.outcomes == [2: "overloaded"] && fake.now == [1, 0, 2])
        #expect(fake.giveBack(connection) == nil)
        // Its grant is on its way.
        fake.pool.leave(1, CancellationError())
        fake.pool.leave(3, CancellationError())
        #expect(fake.outcomes == [1: "take 1", 2: "overloaded", 3: "CancellationError()"])
        #expect(fake.now == [1, 0, 0])
    }

    @Test func `removes connections that were unused for a whole interval`() {
        let fake = FakePool(connectionsMax: 2)
        let (first, second) = (fake.newConnection(), fake.newConnection())
        #expect([fake.borrow(), fake.borrow()] == ["open", "open"])
        #expect(fake.giveBack(first) == nil)
        #expect(fake.sweep() == [])
        #expect(fake.giveBack(second) == nil)
        #expect(fake.sweep() == [1])
        // Used again, it stays.
        #expect(fake.borrow() == "take 2")
        #expect(fake.giveBack(second) == nil)
        #expect(fake.sweep() == [])
        #expect(fake.sweep() == [2])
        #expect(fake.now == [0, 0, 0])
    }

    @Test func `ends what waits when it is closed, and later what is lent`() {
        let fake = FakePool(connectionsMax: 2, waitersMax: 1)
        let (first, second) = (fake.newConnection(), fake.newConnection())
        #expect([fake.borrow(), fake.borrow(), fake.borrow()] == ["open", "open", "wait 1"])
        fake.pool.leave(1, CancellationError())
        #expect(fake.giveBack(first) == nil)
        #expect(fake.close() == [1])
        #expect(fake.borrow() == "closed")
        #expect(fake.giveBack(second) == 2)
        #expect(fake.now == [0, 0, 0] && fake.close() == [])

        let full = FakePool(connectionsMax: 1, waitersMax: 1)
        #expect([full.borrow(), full.borrow()] == ["open", "wait 1"])
        #expect(full.close() == [])
        #expect(full.outcomes == [1: "ended"])
        #expect(full.giveBack(nil) == nil)
        #expect(full.now == [0, 0, 0])
    }

    @Test func `counts requests without a response in time`() {
        let fake = FakePool(connectionsMax: 1)
        fake.pool.countTimeout()
        #expect(fake.pool.counters.timedOut == 1)
    }
}
