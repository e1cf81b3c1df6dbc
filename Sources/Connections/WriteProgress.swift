/// The progress of a connection loop's writes. What was handed over before `queued` had a value is
/// written when `written` has reached it, as far as the sockets accept it.
public struct WriteProgress: Equatable, Sendable {
    /// How often an outbox has begun to wait for a write, since the loop began.
    public var queued: Int
    /// How often one of them has been written since.
    public var written: Int

    /// These numbers.
    public init(queued: Int, written: Int) {
        (self.queued, self.written) = (queued, written)
    }
}
