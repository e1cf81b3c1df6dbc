import Containers
import Outboxes
import PresenceCore

// Returns memory to the kernel that a reconnect storm has left free.

/// Counters that change whenever memory may have been freed.
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

    /// Schedules the next measurement if the service was active since the last one. An idle
    /// service does not wake up for it.
    mutating func scheduleMemoryCheck(at now: Mono) {
        guard !isMemoryCheckScheduled, activity != memoryActivity else { return }
        isMemoryCheckScheduled = true
        _ = deadlines.schedule(
            ConnectionDeadline.memory.payload(0),
            at: now.advanced(byMilliseconds: MemoryWatch.intervalMilliseconds).milliseconds)
    }

    mutating func returnUnusedMemory() {
        isMemoryCheckScheduled = false
        memoryActivity = activity
        pool.trim()
        guard memory.isWorthReturning(memorySample(resident: loop.memoryBytes)) else { return }
        counters.memoryReturns += 1
        loop.returnFreeMemory()
    }

    /// The bytes that count against the memory budget.
    mutating func measureMemory(budget: UInt64) -> UInt64 {
        let resident = loop.memoryBytes
        return resident > budget ? memory.used(memorySample(resident: resident)) : resident
    }

    private func memorySample(resident: UInt64) -> MemoryWatch.Sample {
        MemoryWatch.Sample(resident: resident, allocated: loop.allocatedBytes)
    }
}
