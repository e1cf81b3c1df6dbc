import Testing

@testable import Containers

/// Every level's edges, from nows that lie differently within the levels.
@Suite struct TimingWheelLevelTests {
    static let edges: [UInt64] = (0...7).flatMap { level -> [UInt64] in
        let span = UInt64(1) << UInt64(6 * level)
        return [span - 1, span, span + 1]
    }

    static let nows: [UInt64] = [
        0, 1, 63, 64, 4_095, 4_096, 262_143, 1_763_700_000_123, (1 << 36) - 1, 1 << 36,
        (1 << 48) - 1,
    ]

    @Test(arguments: nows)
    func `an entry pops at its deadline and not a tick before`(now: UInt64) {
        for edge in Self.edges {
            var wheel = TimingWheel(now: now)
            _ = wheel.schedule(edge, at: now + edge)
            if edge > 0 {
                let early = wheel.popDue(now: now + edge - 1)
                #expect(early == nil, "\(edge) ticks after \(now)")
            }
            wheel.checkInvariants()
            let due = wheel.popDue(now: now + edge)
            #expect(due == DueTimer(payload: edge, deadline: now + edge))
            let count = wheel.count
            #expect(count == 0)
            wheel.checkInvariants()
        }
    }

    @Test(arguments: nows)
    func `following nextWake reaches the deadline in few steps`(now: UInt64) {
        for edge in Self.edges {
            var wheel = TimingWheel(now: now)
            _ = wheel.schedule(edge, at: now + edge)
            var steps = 0
            var popped: DueTimer?
            while popped == nil, let wake = wheel.nextWake {
                #expect(wake <= now + edge, "\(edge) ticks after \(now)")
                popped = wheel.popDue(now: wake)
                steps += 1
            }
            #expect(popped?.deadline == now + edge)
            // One step a level, and one for each empty turn of the top level.
            #expect(steps <= 7 + Int(edge >> 36), "\(edge) ticks after \(now)")
        }
    }

    @Test func `all edges together come out in order after one jump`() {
        for now in Self.nows {
            var wheel = TimingWheel(now: now)
            for edge in Self.edges.reversed() { _ = wheel.schedule(edge, at: now + edge) }
            wheel.checkInvariants()
            var popped: [UInt64] = []
            while let due = wheel.popDue(now: .max) { popped.append(due.payload) }
            #expect(popped == Self.edges.sorted(), "from \(now)")
        }
    }

    @Test func `the last tick of all is a deadline like any other`() {
        var wheel = TimingWheel(now: 5)
        _ = wheel.schedule(1, at: .max)
        _ = wheel.schedule(2, at: .max - 1)
        let early = wheel.popDue(now: .max - 2)
        let first = wheel.popDue(now: .max - 1)
        let second = wheel.popDue(now: .max)
        #expect(early == nil)
        #expect(first?.payload == 2)
        #expect(second?.payload == 1)
        let third = wheel.popDue(now: .max)
        #expect(third == nil)
    }

    @Test func `a level's place follows the highest digit that differs`() {
        for level in 0..<6 {
            let span = UInt64(1) << UInt64(6 * level)
            #expect(TimingWheel.list(of: span, from: 0) == level * 64 + 1)
            #expect(TimingWheel.list(of: span * 63, from: 0) == level * 64 + 63)
        }
        #expect(TimingWheel.list(of: 1 << 36, from: 0) == TimingWheel.parkedList)
        #expect(TimingWheel.list(of: 64, from: 63) == 64 + 1)
    }
}
