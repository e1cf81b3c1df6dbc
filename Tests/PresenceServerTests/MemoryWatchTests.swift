import EventLoop
import PresenceCore
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

    @Test func `that is taken again counts at the next look`() {
        let process = Process()
        var memory = MemoryReturn()
        var limits = AdmissionLimits()
        limits.memoryBytesMax = 64 << 20
        var now = Mono(milliseconds: 10_000)
        func isAbove() -> Bool {
            now = now.advanced(byMilliseconds: MemoryWatch.lookMilliseconds)
            return memory.isShort(limits, process, at: now)
        }
        // What a service has that has just started, and what a crowd leaves.
        process.allocatedBytes = 25 << 20
        process.memoryBytes = 50 << 20
        memory.noteActivity()
        memory.schedule(at: now, lastSeq: 0)
        while let due = memory.nextDeadline { _ = memory.look(process, at: due) }
        process.memoryBytes = 80 << 20
        process.measureMemory()
        #expect(!isAbove())
        // The next crowd takes what is free: the process does not grow.
        process.allocatedBytes = 79 << 20
        #expect(!isAbove())
        #expect(isAbove())
    }

    @Test func `is short above most of the limit on the process, which may change`() {
        let process = Process()
        var memory = MemoryReturn()
        let begun = Mono(milliseconds: 10_000)
        func isShort(afterSeconds seconds: UInt64) -> Bool {
            memory.isShort(AdmissionLimits(), process, at: begun.advanced(bySeconds: Int(seconds)))
        }
        process.memoryBytes = 107_374_182
        process.limitBytes = 128 << 20
        #expect(!isShort(afterSeconds: 0))
        process.memoryBytes = 107_374_183
        #expect(isShort(afterSeconds: 1))
        // Read again after a minute, or when the settings are.
        process.limitBytes = 129 << 20
        #expect(isShort(afterSeconds: 59))
        #expect(!isShort(afterSeconds: 60))
        process.limitBytes = 128 << 20
        #expect(!isShort(afterSeconds: 61))
        memory.forgetLimit()
        #expect(isShort(afterSeconds: 62))
        var limits = AdmissionLimits()
        limits.memoryBytesMax = 1 << 30
        let isShortOfSetting = memory.isShort(limits, process, at: begun.advanced(bySeconds: 63))
        #expect(!isShortOfSetting)
    }
}

/// A process of which the measurements are at once there.
private final class Process: ProcessResources {
    var memoryBytes: UInt64 = 0
    var allocatedBytes: UInt64 = 0
    var limitBytes: UInt64 = 1 << 40
    var memoryLimit: MemoryLimit { MemoryLimit(bytes: limitBytes, source: .machine) }
    var processorMicroseconds: UInt64 { 0 }
    private(set) var measuredMemory: MeasuredMemory?

    func measureMemory() {
        measuredMemory = MeasuredMemory(resident: memoryBytes, allocated: allocatedBytes)
    }

    func returnFreeMemory() {}
}
