/// Memory for what outboxes own, lent for as long as bytes wait.
public struct BufferPool {
    /// Buffers kept at most; others are freed when they are returned.
    static let bufferCountMax = 1_024
    /// A buffer that has grown beyond this is freed when it is returned.
    static let bufferBytesMax = 1 << 16

    private var buffers: [[UInt8]] = []
    /// The fewest buffers that there were since the last `trim`: these were of no use.
    private var countMin = 0

    /// A pool that holds nothing yet.
    public init() {}

    /// Gives a connection's outbox memory, if it has none.
    public mutating func lend(to outbox: inout Outbox) {
        guard outbox.bytes.capacity == 0, let buffer = buffers.popLast() else { return }
        outbox.bytes = buffer
        countMin = min(countMin, buffers.count)
    }

    /// Frees the buffers that were not lent since the last call.
    public mutating func trim() {
        buffers.removeFirst(countMin)
        if buffers.isEmpty { buffers = [] }
        countMin = buffers.count
    }

    /// Reclaims the memory of an outbox that has been written.
    public mutating func giveBack(_ outbox: inout Outbox) {
        guard outbox.bytes.capacity > 0 else { return }
        var buffer: [UInt8] = []
        swap(&buffer, &outbox.bytes)
        guard buffer.capacity <= Self.bufferBytesMax, buffers.count < Self.bufferCountMax
        else { return }
        buffer.removeAll(keepingCapacity: true)
        buffers.append(buffer)
    }

    /// Bytes in buffers that are not in use.
    public var bytesIdle: Int { buffers.reduce(0) { $0 + $1.capacity } }
}
