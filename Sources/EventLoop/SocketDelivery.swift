/// What has become of the bytes of a stream. They are counted from the beginning of the connection.
public struct SocketDelivery: Hashable, Sendable {
    /// Bytes that were handed to the kernel.
    public var bytesHanded: UInt64
    /// Those of them that the peer's kernel has acknowledged.
    public var bytesAcknowledged: UInt64
    /// How long ago the peer's kernel last acknowledged something.
    public var millisecondsSince: UInt64

    /// These numbers.
    public init(bytesHanded: UInt64, bytesAcknowledged: UInt64, millisecondsSince: UInt64) {
        self.bytesHanded = bytesHanded
        self.bytesAcknowledged = bytesAcknowledged
        self.millisecondsSince = millisecondsSince
    }
}
