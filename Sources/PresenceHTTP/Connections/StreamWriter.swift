import NIOCore

/// Writes a response without a known end. For one task, on the event loop.
struct StreamWriter: Sendable {
    private let connection: NIOLoopBound<HTTPConnection>

    init(_ connection: NIOLoopBound<HTTPConnection>) {
        self.connection = connection
    }

    /// Writes a part, and waits until the client can be sent the next one. Throws when the
    /// connection has ended.
    func write(_ part: ByteBuffer) async throws {
        guard !connection.value.writePart(part) else { return }
        try await withCheckedThrowingContinuation { continuation in
            connection.value.onceWritable { continuation.resume(with: $0) }
        }
    }
}
