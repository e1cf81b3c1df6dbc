/// How much a loop reads in a turn.
///
/// libuv reads a socket up to 32 times in a turn, as long as it fills the buffer: 2 MiB of each
/// client that sends fast, while the others wait. So once the turn's bytes are read, each socket
/// that is ready is read once more at most, and little of it. The rest stays in the kernel until
/// the next turn, in which a socket that has more is ready again.
public struct ReadBudget: Sendable {
    /// Bytes that are read in a turn before reads become small.
    public static let bytesPerTurn = 1 << 20
    /// The most bytes of a small read. A read of fewer bytes has emptied its socket.
    public static let smallReadBytes = 4_096
    /// The most bytes of a read.
    public static let readBytesMax = 65_536

    private var bytesLeft = Self.bytesPerTurn
    /// The slot that was read last, once reads are small. libuv reads a socket again before the
    /// next one.
    private var lastSlot: UInt32?

    /// A budget of a turn that begins.
    public init() {}

    /// Begins a turn.
    public mutating func beginTurn() { self = Self() }

    /// The most bytes that are to be read of a socket now; 0: no more in this turn.
    public mutating func room(of slot: UInt32) -> Int {
        guard bytesLeft <= 0 else { return Self.readBytesMax }
        guard slot != lastSlot else { return 0 }
        lastSlot = slot
        return Self.smallReadBytes
    }

    /// Bytes were read.
    public mutating func spend(_ byteCount: Int) { bytesLeft -= byteCount }
}
