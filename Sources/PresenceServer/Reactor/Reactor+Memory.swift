import Containers
import Outboxes
import PresenceCore

// Memory that a crowd has left behind goes back to the kernel.

/// What changes whenever memory may have been freed.
struct MemoryActivity: Equatable {
    var requests = 0
    var accepted = 0
    var streams = 0
    var seq: UInt64 = 0
}

extension Reactor {
    private var activity: MemoryActivity {
        MemoryActivity(
            requests: counters.requests, accepted: counters.accepted, streams: loop.streamCount,
            seq: engine.lastSeq)
    }

    /// Sets the time of the next look, if something has happened since the last one. An idle
    /// service does not wake up for it.
    mutating func watchMemory(at now: Mono) {
        guard !isMemoryLookedAfter, activity != memoryActivity else { return }
        isMemoryLookedAfter = true
        _ = deadlines.schedule(
            ConnectionDeadline.memory.payload(0),
            at: now.advanced(byMilliseconds: MemoryWatch.intervalMilliseconds).milliseconds)
    }

    mutating func lookAfterMemory() {
        isMemoryLookedAfter = false
        memoryActivity = activity
        pool.trim()
        guard memory.isWorthReturning(memorySample(resident: loop.memoryBytes)) else { return }
        counters.memoryReturns += 1
        loop.returnFreeMemory()
    }

    /// Bytes that count against the budget.
    mutating func measureMemory(budget: UInt64) -> UInt64 {
        let resident = loop.memoryBytes
        return resident > budget ? memory.used(memorySample(resident: resident)) : resident
    }

    private func memorySample(resident: UInt64) -> MemoryWatch.Sample {
        MemoryWatch.Sample(resident: resident, allocated: loop.allocatedBytes)
    }
}
