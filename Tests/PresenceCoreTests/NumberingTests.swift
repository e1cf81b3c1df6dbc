import Testing

@testable import PresenceCore

@Suite struct `The numbers of the service` {
    private func moment(_ milliseconds: UInt64, wall: Int64 = 0) -> Moment {
        Moment(mono: Mono(milliseconds: milliseconds), wall: Wall(milliseconds: wall))
    }

    /// One that serves clients: its first block is on disk.
    private func numbering(
        after used: UInt64 = 0, wall: Int64 = 1_795_259_714_269, seed: UInt64 = 1
    ) -> Numbering {
        var numbering = Numbering(at: moment(1_000, wall: wall), seed: seed)
        numbering.restore(reservedUpTo: used)
        _ = numbering.blockToReserve(lastTicket: 0)
        return numbering
    }

    @Test func `begin with the time, or after the last block if that is more`() {
        #expect(numbering().first == 1_795_259_714_269_000)
        #expect(numbering(after: 5 << 32).first == 1_795_259_714_269_000)
        #expect(numbering(after: 1 << 52).first == 1 << 52 + 1)
        // A clock that is wrong does not use them up.
        #expect(numbering(wall: .max).first == 1 << 52)
        #expect(numbering(wall: .min).first == 1)
    }

    @Test func `rise with time, whatever was numbered in between`() {
        var quiet = numbering()
        var busy = numbering()
        var time: UInt64 = 1_000
        for round in 0..<1_000 {
            time += 7
            for _ in 0..<(round % 3) {
                busy.note(Mono(milliseconds: time))
                _ = busy.next()
            }
            time += 5
            quiet.note(Mono(milliseconds: time))
            busy.note(Mono(milliseconds: time))
            let (one, other) = (quiet.next(), busy.next())
            #expect(one / 1_000 == other / 1_000)
            #expect(one / 1_000 == (quiet.first + (time - 1_000) * 1_000) / 1_000)
        }
    }

    @Test func `end in digits that tell nothing`() {
        var numbering = numbering()
        var digits: Set<UInt64> = []
        for time in 1..<1_000 as Range<UInt64> {
            numbering.note(Mono(milliseconds: 1_000 + time * 10))
            digits.insert((numbering.next() - numbering.first) % 1_000)
        }
        #expect(digits.count > 500)
    }

    @Test func `rise if the time does not, and are what was expected`() {
        var numbering = numbering()
        var last = numbering.last
        for step in 0..<10_000 as Range<UInt64> {
            numbering.note(Mono(milliseconds: 1_000 + step / 5_000))
            let expected = numbering.upcoming
            let next = numbering.next()
            #expect(next > last && next == expected)
            last = next
        }
    }

    @Test func `are reserved before they are used, and rise with time in what is on disk`() {
        var numbering = numbering()
        var (durable, requested) = (numbering.reserved, 0 as UInt64)
        for minute in 1...300 as ClosedRange<UInt64> {
            numbering.note(Mono(milliseconds: 1_000 + minute * 60_000))
            let next = numbering.next()
            #expect(next <= durable)
            #expect(next / 1_000 == (numbering.first + minute * 60_000_000) / 1_000)
            guard numbering.blockToReserve(lastTicket: requested) != nil else { continue }
            requested += 1
            numbering.noteCommit(ofTicket: requested)
            durable = numbering.reserved
        }
        // One for 18 minutes.
        #expect((15...17).contains(requested))
    }

    @Test func `are counted, far below the end of what is on disk, while nothing is written`() {
        var numbering = numbering()
        let durable = numbering.reserved
        var last = numbering.last
        for hour in 1...1_000 as ClosedRange<UInt64> {
            numbering.note(Mono(milliseconds: 1_000 + hour * 3_600_000))
            let next = numbering.next()
            #expect(next > last && next <= durable - 1 << 30)
            last = next
            _ = numbering.blockToReserve(lastTicket: 7)
            // An older change is on disk, which does not tell whether the block is.
            numbering.noteCommit(ofTicket: 7)
        }
        numbering.note(Mono(milliseconds: 1_000 + 1_001 * 3_600_000))
        #expect(numbering.next() == last + 1)
        numbering.noteCommit(ofTicket: 8)
        numbering.note(Mono(milliseconds: 1_001 + 1_001 * 3_600_000))
        let next = numbering.next()
        #expect(next > last + 1_000_000 && next <= numbering.reserved)
    }

    @Test func `go on above after a crash, whatever the clock says then`() {
        var numbering = numbering()
        for step in 1..<100 as Range<UInt64> {
            numbering.note(Mono(milliseconds: 1_000 + step * 60_000))
            _ = numbering.next()
            _ = numbering.blockToReserve(lastTicket: step)
            numbering.noteCommit(ofTicket: step + 1)
        }
        for wall in [0, 1_795_259_714_269, 1_795_259_714_269 + 100 * 60_000] as [Int64] {
            var later = Numbering(at: moment(5, wall: wall), seed: 2)
            later.restore(reservedUpTo: numbering.reserved)
            #expect(later.next() > numbering.last)
        }
    }
}
