public import EventLoop

/// The sockets that a `ConnectionTable` reads from and writes to, by the ids of their streams.
///
/// No method may call its caller before it returns. A stale id is ignored.
///
/// It is not restricted to classes, although sockets are one: a table that holds a value of an
/// unknown type stays where it is. Else each question to a table copies all of it, which was done
/// five times for each write.
public protocol Sockets {
    /// Has what the peer sends arrive.
    func startReading(_ id: StreamID)
    /// Leaves what the peer sends in the kernel.
    func stopReading(_ id: StreamID)
    /// Writes bytes, which are copied if the kernel does not accept them now.
    func write(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) -> WriteOutcome
    /// Bytes that were written and that the kernel has not accepted.
    func bytesPending(_ id: StreamID) -> Int
    /// How long ago bytes of the peer last arrived in the kernel; nil if that is not known.
    func millisecondsSinceReceived(_ id: StreamID) -> UInt64?
    /// What has become of the bytes of a stream; nil if that is not known.
    func delivery(_ id: StreamID) -> SocketDelivery?
    /// Closes the stream at once.
    func close(_ id: StreamID)
    /// Closes the stream when everything has been written.
    func closeAfterWrites(_ id: StreamID)
}
