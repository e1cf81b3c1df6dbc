/// A connection of a loop: its slot, and the generation of the slot.
///
/// A stale id is harmless: every call with the id of an earlier connection is ignored.
public struct StreamID: Hashable, Sendable {
    /// The index of the slot; small and reused, so that an owner may index an array by it.
    public let slot: UInt32
    /// Counts the connections of the slot.
    public let generation: UInt32

    /// An id; for tests of the loop's owners.
    public init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}

/// Why a stream has ended; reported once, then the handler closes the stream.
public enum StreamEnd: Equatable, Sendable {
    /// The peer has sent FIN. Writing is still possible.
    case endOfFile
    /// Reading, or writing a pending remainder, has failed.
    case failed(UVError)
}

/// The result of a write.
public enum WriteOutcome: Equatable, Sendable {
    /// The kernel has accepted all bytes.
    case written
    /// `bytes` of them wait in the loop; `streamDrained` follows, or `streamEnded`.
    case pending(bytes: Int)
    /// The stream is broken: close it. `streamEnded` does not follow.
    case failed(UVError)
}
