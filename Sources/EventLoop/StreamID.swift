/// A connection of a loop: the slot it sits in, and which of the slot's tenants it is.
///
/// An id outlives its connection harmlessly: every call with an id of an earlier tenant is ignored.
public struct StreamID: Hashable, Sendable {
    /// The index of the slot; small and reused, so that an owner may index an array by it.
    public let slot: UInt32
    /// Counts the slot's tenants.
    public let generation: UInt32

    /// An id as the loop gives them out; for owners' tests.
    public init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}

/// Why a stream is over; told once, then the handler closes the stream.
public enum StreamEnd: Equatable, Sendable {
    /// The peer has sent FIN. Writing is still possible.
    case endOfFile
    /// Reading, or writing a pending remainder, has failed.
    case failed(UVError)
}

/// What became of a write.
public enum WriteOutcome: Equatable, Sendable {
    /// All bytes are with the kernel.
    case written
    /// `bytes` of them wait in the loop; `streamDrained` follows, or `streamEnded`.
    case pending(bytes: Int)
    /// The stream is broken: close it. `streamEnded` does not follow.
    case failed(UVError)
}
