import Testing

@testable import PresenceCore

@Suite struct `A share of a limit` {
    @Test(arguments: 1...20 as ClosedRange<Int>)
    func `leaves room for newcomers, however many parties there are`(parties: Int) {
        let limit = 10_000
        var held = [Int](repeating: 0, count: parties)
        var free: Int { limit - held.reduce(0, +) }
        var hasGrown = true
        while hasGrown {
            hasGrown = false
            for party in held.indices where Share.half.admits(1, held: held[party], free: free) {
                held[party] += 1
                hasGrown = true
            }
        }
        // Each has 1/(n + 1), and so much is left.
        let part = limit / (parties + 1)
        #expect(held.allSatisfy { abs($0 - part) <= 1 } && abs(free - part) <= parties)
        #expect(Share.half.admits(free, held: 0, free: free))
    }

    @Test func `is of what is left, and never overflows`() {
        #expect(Share.ninth.admits(100, held: 0, free: 800))
        #expect(!Share.ninth.admits(101, held: 0, free: 800))
        #expect(!Share.ninth.admits(1, held: 100, free: 800))
        #expect(!Share.half.admits(1, held: 0, free: 0))
        #expect(!Share.half.admits(1, held: 0, free: -5))
        #expect(!Share.half.admits(.max, held: .max, free: .max))
        #expect(Share(divisor: 0) == .half)
    }
}

@Suite struct `A pace with shares` {
    private let pace = Pace(perSecond: 2, burst: 100)

    private func mono(_ milliseconds: UInt64) -> Mono { Mono(milliseconds: milliseconds) }

    /// How many tokens a party gets in a row.
    private func taken(_ party: Int, _ bucket: inout SharedBucket<Int>, at now: Mono) -> Int {
        var count = 0
        while bucket.take(for: party, pace, at: now) == nil { count += 1 }
        bucket.checkInvariants()
        return count
    }

    @Test func `gives one party half of the burst, and others what it leaves`() {
        var bucket = SharedBucket<Int>()
        #expect(taken(1, &bucket, at: mono(1_000)) == 50)
        #expect((2..<12).allSatisfy { bucket.take(for: $0, pace, at: mono(1_000)) == nil })
    }

    @Test func `gives a party that is alone the whole rate`() {
        var bucket = SharedBucket<Int>()
        _ = taken(1, &bucket, at: mono(1_000))
        var count = 0
        for step in 1...200 as ClosedRange<UInt64> {
            count += taken(1, &bucket, at: mono(1_000 + 500 * step))
        }
        #expect((190...200).contains(count))
    }

    /// With a bucket for each party that refills at the whole rate, these would keep the shared one
    /// empty while they seem to have taken nothing.
    @Test(arguments: [1, 10, 50, 99, 200])
    func `lets a newcomer in at once, or soon, however many others try all the time`(count: Int) {
        var bucket = SharedBucket<Int>()
        for step in 0..<2_000 as Range<UInt64> {
            for party in 0..<count { _ = bucket.take(for: party, pace, at: mono(step * 100)) }
            bucket.checkInvariants()
        }
        var waits = 0
        for newcomer in 1_000..<1_010 {
            var now = mono(200_000 + UInt64(newcomer - 1_000) * 1_000)
            while bucket.take(for: newcomer, pace, at: now) != nil {
                waits += 1
                now = now.advanced(byMilliseconds: 100)
                #expect(waits < 100)
                guard waits < 100 else { return }
            }
            for party in 0..<count { _ = bucket.take(for: party, pace, at: now) }
        }
        #expect(waits <= 10)
    }

    @Test func `tells a wait after which the party may`() throws {
        var bucket = SharedBucket<Int>()
        _ = taken(1, &bucket, at: mono(1_000))
        _ = taken(2, &bucket, at: mono(1_000))
        for party in [1, 2] {
            var copy = bucket
            let waiting = copy.wait(of: party, pace, at: mono(1_000))
            let wait = try #require(waiting)
            #expect(copy.take(for: party, pace, at: mono(1_000 + wait + 1)) == nil)
        }
    }

    @Test func `forgets everybody when it is full, and is bounded`() {
        var bucket = SharedBucket<Int>()
        let wide = Pace(perSecond: 1, burst: 100_000)
        for party in 0..<1_000 {
            #expect(bucket.take(for: party, wide, at: mono(1_000)) == nil)
            #expect(bucket.partyCount <= 256)
        }
        bucket.checkInvariants()
        _ = bucket.wait(of: 1, wide, at: mono(3_000_000))
        #expect(bucket.partyCount == 0)
    }
}
