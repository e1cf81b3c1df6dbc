import EventLoop
import PresenceCore

/// Measures the memory of the process, for the limit on it, and has free memory returned to the
/// kernel that a reconnect storm has left.
///
/// A measurement begins `MemoryWatch.intervalMilliseconds` after the service was active, and is
/// read a moment later. An idle service does not wake up for it.
struct MemoryReturn {
    private var watch = MemoryWatch()
    private var phase = Phase.idle
    /// Requests and connections that have ended, since the last measurement; events count by their
    /// numbers.
    private var activity = 0
    private var lastSeq: UInt64 = 0
    /// The memory in use when it was last looked at, and when it is looked at next.
    private var bytes: UInt64 = 0
    private var bytesDue = Mono(milliseconds: 0)
    /// The limit on the memory of the process, and when it is read again; nil: not read.
    private var limit: (bytes: MemoryLimit, due: Mono)?
    /// How many times free memory was returned.
    private(set) var returnCount = 0

    private enum Phase {
        /// To: `scheduled`.
        case idle
        /// Buffers are given back then. To: `trimming`.
        case scheduled(Mono)
        /// A measurement begins then. To: `measuring`.
        case trimming(Mono)
        /// A measurement is read then. To: `idle`.
        case measuring(Mono)
    }

    /// When `look` has something to do.
    var nextDeadline: Mono? {
        switch phase {
        case .idle: nil
        case .scheduled(let time), .trimming(let time), .measuring(let time): time
        }
    }

    /// Whether no measurement is scheduled.
    var isIdle: Bool {
        if case .idle = phase { true } else { false }
    }

    /// Something has happened after which memory may be free.
    mutating func noteActivity() { activity += 1 }

    /// Schedules the next measurement if the service was active since the last one.
    mutating func schedule(at now: Mono, lastSeq: UInt64) {
        guard isIdle, activity > 0 || lastSeq != self.lastSeq else { return }
        self.lastSeq = lastSeq
        phase = .scheduled(now.advanced(byMilliseconds: MemoryWatch.intervalMilliseconds))
    }

    /// Takes the next step: buffers are released, a measurement begins, or memory is returned as
    /// the measurement requires. Returns whether buffers are to be released.
    mutating func look(_ resources: some ProcessResources, at now: Mono) -> Bool {
        switch phase {
        case .idle: return false
        case .scheduled:
            activity = 0
            phase = .trimming(now.advanced(byMilliseconds: 1))
            return true
        case .trimming:
            resources.measureMemory()
            phase = .measuring(now.advanced(byMilliseconds: MemoryWatch.measuringMilliseconds))
            return false
        case .measuring:
            phase = .idle
            if let sample = resources.measuredMemory, watch.isWorthReturning(sample) {
                returnCount += 1
                resources.returnFreeMemory()
            }
            return false
        }
    }

    /// Has the limit on memory read again at the next look.
    mutating func forgetLimit() { limit = nil }

    /// Bytes above which memory is short. The limit that the machine or a control group sets is
    /// read once a minute at most: that of a container may change.
    private mutating func bytesMax(
        _ limits: AdmissionLimits, _ resources: some ProcessResources, at now: Mono
    ) -> UInt64 {
        if let max = limits.memoryBytesMax { return max }
        if let limit, now < limit.due { return limits.memoryBytesMax(within: limit.bytes) }
        let bytes = resources.memoryLimit
        limit = (bytes, now.advanced(byMilliseconds: MemoryWatch.limitMilliseconds))
        return limits.memoryBytesMax(within: bytes)
    }

    /// Whether more memory is in use than the limits allow. Looked up twenty times a second at
    /// most: three system calls.
    mutating func isShort(
        _ limits: AdmissionLimits, _ resources: some ProcessResources, at now: Mono
    ) -> Bool {
        let max = bytesMax(limits, resources, at: now)
        if now >= bytesDue {
            let resident = resources.memoryBytes
            bytes = watch.used(resident: resident, resources.measuredMemory)
            bytesDue = now.advanced(byMilliseconds: MemoryWatch.lookMilliseconds)
            // Free memory is taken again while the resident bytes stay as they are. Where it
            // decides how much is free, this must not be a measurement of four seconds ago.
            if resident > max { resources.measureMemory() }
        }
        return bytes > max
    }
}
