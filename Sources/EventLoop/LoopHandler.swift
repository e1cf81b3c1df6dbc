/// Receives everything that happens on a loop, on the loop's thread.
///
/// Every method may call every method of the loop, except `run` and `close()`. None of those calls
/// the handler before it returns.
public protocol LoopHandler: AnyObject {
    /// A connection is there. Reading has not started: call `startReading` or `close`.
    func streamAccepted(_ id: StreamID)
    /// A connection begun with `connect` has come about. Reading has not started.
    func streamConnected(_ id: StreamID)
    /// Bytes have come; they are valid only during the call and never empty.
    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer)
    /// The peer has finished, or the stream is broken: told once, then call `close`.
    func streamEnded(_ id: StreamID, _ reason: StreamEnd)
    /// The remainder of a pending write is wholly with the kernel; `write` may be called again.
    func streamDrained(_ id: StreamID)
    /// The id is dead and its slot free: the last call for it, exactly once.
    func streamClosed(_ id: StreamID)
    /// A connection could not be accepted; accepting goes on by itself after a pause.
    func acceptFailed(_ error: UVError)
    /// The deadline given to `armTimer` is reached; the timer is not armed any more.
    func timerFired()
    /// Somebody called `Wakeup.wake()`, once or many times, since the last call of this.
    func wokenUp()
    /// The process got one of the signals watched, once or many times.
    func signalReceived(_ signal: CInt)
    /// The turn's events are all told and the loop is about to wait: flush, arm the timer.
    func turnEnded()
}

extension LoopHandler {
    /// Nothing, for those who connect to nobody.
    public func streamConnected(_ id: StreamID) {}
}
