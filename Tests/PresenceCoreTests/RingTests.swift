import Testing

@testable import PresenceCore

@Suite struct RingTests {
    @Test(arguments: [1, 2, 3, 7])
    func `the newest stay, each at its place`(countMax: Int) {
        var ring = Ring<Int>(countMax: countMax)
        for number in 0..<25 {
            let (place, overwritten) = ring.append(number)
            #expect(place == number)
            #expect(overwritten == (number >= countMax ? number - countMax : nil))
            #expect(ring.places == max(0, number + 1 - countMax)..<number + 1)
            #expect(ring.places.map { ring[$0] } == Array(ring.places))
            #expect(ring.oldestLeft == (number >= countMax ? ring.places.lowerBound : nil))
        }
        ring[24] = -1
        #expect(ring[24] == -1)
    }

    @Test func `one of no size keeps nothing`() {
        var ring = Ring<Int>(countMax: 0)
        #expect(ring.append(1).overwritten == nil)
        #expect(ring.places.isEmpty)
        #expect(ring.oldestLeft == nil)
        #expect(ring.bytesReserved == 0)
    }

    @Test func `notes are as small as the page says`() {
        #expect(MemoryLayout<EventNote>.stride == 32)
        #expect(MemoryLayout<SubscriptionNote>.stride == 40)
        #expect(MemoryLayout<ConnectionNote>.stride == 72)
        #expect(MemoryLayout<DelayNote>.stride == 40)
    }
}
