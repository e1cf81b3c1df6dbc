import Containers

/// A custom status in force.
struct Status {
    /// Its topic.
    var topic: UInt32
    /// The app's value.
    var value: Int32
    /// The app's text.
    var ext: [UInt8]?
    /// Whether it is durable.
    var audience: Audience
    /// When it expires.
    var deadline: Mono
    /// Its entry in the wheel.
    var timer: TimerID
}

/// The custom statuses in force, by stable numbers.
struct Statuses {
    private var entries = Slab<Status>()
    /// Of all texts.
    private var textBytes = 0

    /// How many there are.
    var count: Int { entries.count }

    /// The memory that they use, about. O(1).
    var byteCount: Int { count * MemoryLayout<Status>.stride + textBytes }

    /// One of them. O(1).
    subscript(number: UInt32) -> Status { entries[number] }

    /// Inserts a status and returns its number. O(1).
    mutating func insert(_ status: Status) -> UInt32 {
        textBytes += status.byteCount
        return entries.insert(status)
    }

    /// Sets the timer of a new one. O(1).
    mutating func setTimer(_ timer: TimerID, of number: UInt32) {
        entries[number].timer = timer
    }

    /// Replaces what a status says; its topic and its timer stay. O(1).
    mutating func replace(
        _ number: UInt32, value: Int32, ext: [UInt8]?, audience: Audience, deadline: Mono
    ) {
        textBytes -= entries[number].byteCount
        entries[number].value = value
        entries[number].ext = ext
        entries[number].audience = audience
        entries[number].deadline = deadline
        textBytes += entries[number].byteCount
    }

    /// Removes a status; its number may be reused. O(1).
    mutating func remove(_ number: UInt32) {
        textBytes -= entries[number].byteCount
        entries[number].ext = nil
        entries.remove(number)
    }

    /// Traps unless the bytes are those of these statuses, which must be all. For tests.
    func checkInvariants(inForce numbers: [UInt32]) {
        precondition(numbers.count == count, "a status that is in force nowhere")
        let bytes = numbers.reduce(0) { $0 + entries[$1].byteCount }
        precondition(bytes == textBytes, "miscounted bytes of statuses")
    }
}

extension Status {
    /// Of its text.
    fileprivate var byteCount: Int { ext?.count ?? 0 }
}
