import EventLoop
import Testing

@testable import PresenceServer

@Suite struct `Memory that is free` {
    private func sample(_ resident: UInt64, _ allocated: UInt64) -> MeasuredMemory {
        MeasuredMemory(resident: resident << 20, allocated: allocated << 20)
    }

    @Test func `is returned after a crowd, and not again and again`() {
        var memory = MemoryWatch()
        let samples: [(UInt64, UInt64, Bool)] = [
            (50, 25, false),
            // In use: there is nothing to return.
            (390, 370, false),
            // Free: 340 of the 390.
            (390, 50, true), (76, 50, false),
            // Another crowd.
            (390, 370, false), (390, 50, true),
            // This time it cannot be returned.
            (380, 50, false), (381, 50, false), (400, 50, true),
        ]
        for (place, (resident, allocated, expected)) in samples.enumerated() {
            let isWorth = memory.isWorthReturning(sample(resident, allocated))
            #expect(isWorth == expected, "sample \(place)")
        }
    }

    @Test func `does not count against the budget`() {
        var memory = MemoryWatch()
        #expect(memory.used(resident: 390 << 20, nil) == 390 << 20)
        #expect(memory.used(resident: 390 << 20, sample(390, 50)) == 390 << 20)
        _ = memory.isWorthReturning(sample(50, 25))
        #expect(memory.used(resident: 390 << 20, sample(390, 50)) == 75 << 20)
        #expect(memory.used(resident: 390 << 20, sample(390, 380)) == 390 << 20)
        // Less is resident than when that was measured.
        #expect(memory.used(resident: 100 << 20, sample(390, 50)) == 0)
    }
}
