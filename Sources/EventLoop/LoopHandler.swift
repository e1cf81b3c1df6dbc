/// Receives everything that happens on a loop, on the loop's thread.
///
/// Every method may call every method of the loop, except `run` and `close()`. None of those calls
/// the handler before it returns.
public protocol LoopHandler: AnyObject {
    /// A connection was accepted, and is not a stream yet. Returns whether the handler has taken
    /// its socket, perhaps for another loop; if not, `streamAccepted` follows.
    func socketAccepted(_ socket: CInt, listener: Int) -> Bool
    /// A connection was accepted. Reading has not started: call `startReading` or `close`.
    func streamAccepted(_ id: StreamID)
    /// The same, with the number of the listener, for handlers of several.
    func streamAccepted(_ id: StreamID, listener: Int)
    /// A connection begun with `connect` was established. Reading has not started.
    func streamConnected(_ id: StreamID)
    /// Bytes have arrived; they are valid only during the call and never empty.
    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer)
    /// The peer has finished, or the stream is broken: called once, then call `close`.
    func streamEnded(_ id: StreamID, _ reason: StreamEnd)
    /// The kernel has accepted the whole remainder; `write` may be called again.
    func streamDrained(_ id: StreamID)
    /// The id is invalid from now on and its slot is free: the last call for it, exactly once.
    func streamClosed(_ id: StreamID)
    /// A connection could not be accepted; accepting resumes by itself.
    func acceptFailed(_ error: UVError)
    /// The deadline given to `armTimer` is reached; the timer is not armed any more.
    func timerFired()
    /// `Wakeup.wake()` was called, once or more, since the last call of this.
    func wokenUp()
    /// The process received one of the watched signals, once or more.
    func signalReceived(_ signal: CInt)
    /// All events of the turn have been passed on and the loop is about to wait: flush, arm the
    /// timer.
    func turnEnded()
}

extension LoopHandler {
    /// Ignores which listener it was.
    public func streamAccepted(_ id: StreamID, listener: Int) { streamAccepted(id) }

    /// Leaves every socket to its loop.
    public func socketAccepted(_ socket: CInt, listener: Int) -> Bool { false }

    /// No-op, for handlers that do not connect.
    public func streamConnected(_ id: StreamID) {}
}
