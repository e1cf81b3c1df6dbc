import Containers
import Outboxes
import PresenceCore

/// What a connection has to be sent: its outbox, and what its socket has not accepted yet.
struct OutputState {
    var outbox = Outbox()
    /// Bytes that were added to the outbox while the socket was blocked. They count until they are
    /// handed to the socket.
    private(set) var bytesHeldBack = 0
    /// The last write, while the socket has not accepted all of it.
    var blocked: BlockedWrite?
    /// Whether it is in the queue of connections to write to.
    private(set) var isDirty = false

    /// Whether the socket has not accepted all of the last write.
    var isBlocked: Bool { blocked != nil }

    /// Bytes of the last write that were pending when they were last looked at.
    var bytesPending: Int { blocked?.bytesPending ?? 0 }

    /// Bytes that the peer has not been sent.
    var bytesUnsent: Int { outbox.count + bytesPending }

    /// Notes that it is to be written. Returns whether it has to be added to the queue.
    @discardableResult mutating func markDirty() -> Bool {
        guard !isDirty else { return false }
        isDirty = true
        return true
    }

    /// It has been taken from the queue.
    mutating func unmarkDirty() { isDirty = false }

    /// Notes that bytes were added to the outbox of a socket that is blocked.
    mutating func holdBack(_ count: Int) {
        precondition(isBlocked, "bytes held back from a socket that accepts them")
        bytesHeldBack += count
    }

    /// The outbox is handed to the socket, or dropped. Returns the bytes that were held back.
    mutating func releaseHeldBack() -> Int {
        defer { bytesHeldBack = 0 }
        return bytesHeldBack
    }
}

/// A write that a socket has not accepted completely.
struct BlockedWrite {
    /// Bytes that were pending when they were last looked at.
    var bytesPending: Int
    /// The connection's place among the slow ones of its loop.
    var slowPlace: UInt32
    /// When some of the bytes must have been read.
    private var deadline = WheelTimer()

    init(bytesPending: Int, slowPlace: UInt32) {
        self.bytesPending = bytesPending
        self.slowPlace = slowPlace
    }

    /// Sets the deadline for the connection in a slot, unless it is set.
    mutating func watch(_ slot: Int, until time: Mono, in deadlines: inout TimingWheel) {
        guard !deadline.isSet else { return }
        deadlines.set(&deadline, .progress, of: slot, to: time)
    }

    /// Clears the deadline.
    mutating func unwatch(in deadlines: inout TimingWheel) { deadlines.clear(&deadline) }

    /// The deadline has passed.
    mutating func fired() { deadline.fired() }
}
