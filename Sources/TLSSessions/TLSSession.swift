import COpenSSL

/// One connection's TLS: bytes in, bytes out; no socket, no clock, no thread.
///
/// One thread at a time may have a session, and each thread has a wire of its own. Whatever the
/// peer sends, a session ends with an error and never traps.
@safe public struct TLSSession: ~Copyable {
    /// Where a session is.
    public enum Phase: Hashable, Sendable {
        case handshaking
        /// Data flows both ways.
        case open
        /// The peer sends no more; it still receives.
        case peerEnded
        /// Nothing more can be sent or received. An alert may be on the wire.
        case failed(TLSError)
    }

    /// Where the session is.
    public private(set) var phase = Phase.handshaking

    let ssl: OpaquePointer
    /// Keeps the context: OpenSSL's callbacks refer to it.
    private let owner: any TLSContextOwner
    /// Messages besides application data that are still allowed, both ways together.
    private var messagesLeft = Self.messagesMax
    /// Records that may still be sent with the present key.
    private var recordsLeft: Int
    private var hasEnded = false

    /// Messages besides application data in the life of a connection: a handshake needs a dozen,
    /// and a client may change its key a thousand times. A change of key costs OpenSSL some
    /// microseconds and its sender 27 bytes, and no rate limit counts it.
    static let messagesMax: Int64 = 1_100
    /// Records for one key in TLS 1.3: a third of what RFC 8446 (5.5) allows for AES-GCM.
    static let recordsPerKey = 1 << 23
    private static let recordBytesMax = 16_384

    /// The server's side of a connection. Nil if memory is short.
    public init?(_ context: TLSContext) {
        guard let ssl = unsafe Self.create(context.defaultContext) else { return nil }
        unsafe SSL_set_accept_state(ssl)
        unsafe self.init(ssl, context)
    }

    /// A new session of OpenSSL with its BIO.
    static func create(_ context: OpaquePointer) -> OpaquePointer? {
        defer { ErrorQueue.clear() }
        guard let ssl = unsafe SSL_new(context) else { return nil }
        guard let bio = unsafe cssl_bio() else {
            unsafe SSL_free(ssl)
            return nil
        }
        // One for both directions; the session takes over the only reference.
        unsafe SSL_set_bio(ssl, bio, bio)
        return unsafe ssl
    }

    init(_ ssl: OpaquePointer, _ owner: any TLSContextOwner) {
        unsafe self.ssl = ssl
        self.owner = owner
        recordsLeft = owner.recordsPerKey
    }

    deinit {
        // A connection that was only lost can be continued; OpenSSL would forbid it.
        if phase == .open || phase == .peerEnded {
            unsafe SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        }
        unsafe SSL_free(ssl)
        ErrorQueue.clear()
    }

    // MARK: - Handshake

    /// Continues the handshake, and advances `offset` past the bytes that it read.
    ///
    /// When it returns `open`, bytes after `offset` are for `receive`.
    public mutating func handshake(
        _ ciphertext: RawSpan, from offset: inout Int, through wire: TLSWire
    ) -> Phase {
        precondition(offset >= 0 && offset <= ciphertext.byteCount)
        guard phase == .handshaking else { return phase }
        let rest = ciphertext.extracting(offset..<ciphertext.byteCount)
        let ssl = unsafe ssl
        var result: CInt = 0
        var error = SSL_ERROR_NONE
        let unread = unsafe wire.run(ssl, reading: rest, messagesLeft: &messagesLeft) {
            result = unsafe SSL_do_handshake(ssl)
            error = unsafe SSL_get_error(ssl, result)
        }
        precondition(unread <= rest.byteCount, "more bytes unread than there were")
        offset = ciphertext.byteCount - unread
        if result == 1 {
            phase = .open
            ErrorQueue.clear()
        } else {
            settle(error)
        }
        return phase
    }

    // MARK: - Data

    /// Decrypts everything that has arrived; the plaintext is then on the wire.
    ///
    /// An incomplete record is kept by OpenSSL. What follows the peer's end is ignored.
    public mutating func receive(_ ciphertext: RawSpan, through wire: TLSWire) -> Phase {
        guard phase == .open else { return phase }
        let ssl = unsafe ssl
        var error = SSL_ERROR_NONE
        _ = unsafe wire.run(ssl, reading: ciphertext, messagesLeft: &messagesLeft) {
            while unsafe !wire.isRead || SSL_pending(ssl) > 0 {
                let isData = unsafe wire.appendPlaintext { room in
                    var count = 0
                    let result = unsafe SSL_read_ex(ssl, room.baseAddress, room.count, &count)
                    if result == 1 { return count }
                    error = unsafe SSL_get_error(ssl, result)
                    return nil
                }
                guard isData else { break }
            }
        }
        settle(error)
        return phase
    }

    /// Encrypts `plaintext` into as many records as it takes. A no-op before `open` and after
    /// `end`.
    public mutating func send(_ plaintext: RawSpan, through wire: TLSWire) -> Phase {
        guard phase == .open || phase == .peerEnded, !hasEnded, plaintext.byteCount > 0 else {
            return phase
        }
        let ssl = unsafe ssl
        countRecords(plaintext.byteCount)
        var error = SSL_ERROR_NONE
        _ = unsafe wire.run(ssl, reading: RawSpan(), messagesLeft: &messagesLeft) {
            unsafe plaintext.withUnsafeBytes { bytes in
                var count = 0
                let result = unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
                if result != 1 { error = unsafe SSL_get_error(ssl, result) }
            }
        }
        // A wire takes everything, so a write never waits; and one that succeeds leaves no errors,
        // which the tests check. To look for them costs 200 instructions.
        if error != SSL_ERROR_NONE { fail(error) }
        return phase
    }

    /// Sends close_notify, once. A no-op during the handshake and after an error.
    public mutating func end(through wire: TLSWire) {
        guard phase == .open || phase == .peerEnded, !hasEnded else { return }
        hasEnded = true
        let ssl = unsafe ssl
        _ = unsafe wire.run(ssl, reading: RawSpan(), messagesLeft: &messagesLeft) {
            _ = unsafe SSL_shutdown(ssl)
        }
        ErrorQueue.clear()
    }

    // MARK: - Properties

    /// Whether the handshake continued an earlier session.
    public var isResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

    /// The version of the protocol, such as `TLSv1.3`.
    public var version: String { unsafe String(cString: SSL_get_version(ssl)) }

    // MARK: - Inside

    /// Makes OpenSSL change the key with the next write when this one has served long enough.
    private mutating func countRecords(_ byteCount: Int) {
        recordsLeft -= 1 + (byteCount - 1) / Self.recordBytesMax
        guard recordsLeft < 0, unsafe SSL_version(ssl) == TLS1_3_VERSION else { return }
        recordsLeft = owner.recordsPerKey
        // The peer's keys are its own concern. A message of this side must not use up its
        // allowance.
        if unsafe SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 { messagesLeft += 1 }
        ErrorQueue.clear()
    }

    /// Takes over the result of a read.
    private mutating func settle(_ error: CInt) {
        switch error {
        case SSL_ERROR_NONE, SSL_ERROR_WANT_READ: ErrorQueue.clear()
        case SSL_ERROR_ZERO_RETURN:
            ErrorQueue.clear()
            phase = .peerEnded
        default: fail(error)
        }
    }

    private mutating func fail(_ error: CInt) {
        if messagesLeft < 0 {
            ErrorQueue.clear()
            phase = .failed(.tooManyMessages)
        } else {
            // Not from the queue: the wire itself has failed, for want of memory.
            phase = .failed(error == SSL_ERROR_SYSCALL ? .outOfMemory : ErrorQueue.takeError())
            ErrorQueue.clear()
        }
    }
}

/// What a session keeps for as long as it exists.
protocol TLSContextOwner: AnyObject {
    var recordsPerKey: Int { get }
}
