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

/// What the next deadline of memory is for.
enum MemoryCheck {
    /// There is none.
    case none
    /// A measurement begins. To: `measuring`.
    case scheduled
    /// A measurement is read. To: `none`.
    case measuring
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
        guard case .none = memoryCheck, activity != memoryActivity else { return }
        memoryCheck = .scheduled
        scheduleMemory(at: now.advanced(byMilliseconds: MemoryWatch.intervalMilliseconds))
    }

    /// Begins a measurement, or returns free memory if the one that was begun says so.
    mutating func checkFreeMemory(at now: Mono) {
        switch memoryCheck {
        case .none:
            preconditionFailure("a deadline of memory that was not scheduled")
        case .scheduled:
            memoryActivity = activity
            pool.trim()
            loop.measureMemory()
            memoryCheck = .measuring
            scheduleMemory(at: now.advanced(byMilliseconds: MemoryWatch.measuringMilliseconds))
        case .measuring:
            memoryCheck = .none
            guard let sample = loop.measuredMemory, memory.isWorthReturning(sample) else { return }
            counters.memoryReturns += 1
            loop.returnFreeMemory()
        }
    }

    /// The bytes that count against the memory budget.
    mutating func measureMemory() -> UInt64 {
        memory.used(resident: loop.memoryBytes, loop.measuredMemory)
    }

    private mutating func scheduleMemory(at deadline: Mono) {
        _ = deadlines.schedule(
            ConnectionDeadline.memory.payload(0), at: deadline.milliseconds)
    }
}
