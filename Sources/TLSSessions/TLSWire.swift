import COpenSSL

/// What all sessions of a thread share: the bytes of the call that is in progress.
///
/// A session owns no buffer while it waits. Each call of a session reads ciphertext in place,
/// appends ciphertext to be sent to this wire, and, if it receives, appends plaintext. The caller
/// takes both before it calls another session.
@safe public final class TLSWire {
    let ends: UnsafeMutablePointer<cssl_wire>
    private var room: UnsafeMutableRawBufferPointer
    private var plaintextBytes = 0

    /// More than one read of a loop has, so that the buffer rarely grows.
    private static let roomBytes = 65_536
    /// The most that one call of OpenSSL returns: the content of a record.
    private static let recordBytesMax = 16_384

    /// A wire with nothing on it.
    public init() {
        unsafe ends = .allocate(capacity: 1)
        unsafe ends.initialize(to: cssl_wire())
        unsafe room = .allocate(byteCount: Self.roomBytes, alignment: 16)
    }

    deinit {
        unsafe free(ends.pointee.out)
        unsafe ends.deallocate()
        unsafe room.deallocate()
    }

    /// Bytes that are to be sent.
    public var ciphertextCount: Int { unsafe ends.pointee.out_count }

    /// Reads what is to be sent.
    public func withCiphertext<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        unsafe body(
            UnsafeRawBufferPointer(start: ends.pointee.out, count: ends.pointee.out_count))
    }

    /// Bytes that the peer has sent.
    public var plaintextCount: Int { plaintextBytes }

    /// Reads what the peer has sent.
    public func withPlaintext<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        unsafe body(UnsafeRawBufferPointer(rebasing: room[..<plaintextBytes]))
    }

    /// Forgets what was to be sent, because it has been.
    public func dropCiphertext() {
        unsafe ends.pointee.out_count = 0
        guard unsafe ends.pointee.out_capacity > 4 * Self.roomBytes else { return }
        unsafe free(ends.pointee.out)
        unsafe ends.pointee.out = nil
        unsafe ends.pointee.out_capacity = 0
    }

    /// Forgets what the peer has sent, because it has been read.
    public func dropPlaintext() {
        plaintextBytes = 0
        if unsafe room.count > 4 * Self.roomBytes { replaceRoom(byteCount: Self.roomBytes) }
    }

    // MARK: - For sessions

    /// Appends what `read` returns; false if it returns nothing.
    func appendPlaintext(_ read: (UnsafeMutableRawBufferPointer) -> Int?) -> Bool {
        if unsafe room.count - plaintextBytes < Self.recordBytesMax {
            unsafe replaceRoom(byteCount: 2 * room.count)
        }
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[plaintextBytes...])
        guard let count = unsafe read(rest) else { return false }
        precondition(count > 0 && count <= rest.count)
        plaintextBytes += count
        return true
    }

    /// Runs calls of OpenSSL for one session: `ciphertext` is what they read.
    ///
    /// Returns the number of bytes that they have left unread.
    func run(
        _ ssl: OpaquePointer, reading ciphertext: RawSpan, messagesLeft: inout Int64,
        _ body: () -> Void
    ) -> Int {
        // One session at a time: OpenSSL would read the bytes of another.
        precondition(unsafe ends.pointee.in == nil, "a call within a call")
        return unsafe ciphertext.withUnsafeBytes { bytes in
            unsafe ends.pointee.in = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe ends.pointee.in_count = bytes.count
            unsafe ends.pointee.messages_left = messagesLeft
            unsafe cssl_attach(ssl, ends)
            body()
            unsafe cssl_attach(ssl, nil)
            messagesLeft = unsafe ends.pointee.messages_left
            let unread = unsafe ends.pointee.in_count
            unsafe ends.pointee.in = nil
            unsafe ends.pointee.in_count = 0
            return unread
        }
    }

    /// Whether the ciphertext of this call has been read completely.
    var isRead: Bool { unsafe ends.pointee.in_count == 0 }

    private func replaceRoom(byteCount: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: room[..<plaintextBytes]))
        unsafe room.deallocate()
        unsafe room = larger
    }
}
