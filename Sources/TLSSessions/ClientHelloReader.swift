/// Collects the first message of a TLS client, before anything of OpenSSL exists for it.
///
/// Half a ClientHello costs OpenSSL 73 KB, and its sender nothing. Here it costs the bytes that
/// have arrived. Only the outer form is read: the headers of records and of the handshake message.
/// The content is OpenSSL's to check.
public struct ClientHelloReader: Sendable {
    /// The most bytes that a ClientHello may have, with the headers of its records and with
    /// whatever arrives before the response to it.
    public static let bytesMax = 16_384

    /// What has arrived so far.
    public enum Outcome: Hashable, Sendable {
        /// The beginning of a ClientHello.
        case needMore
        /// A whole ClientHello, perhaps with bytes after it.
        case complete
        /// Not a ClientHello, or one above the limit.
        case rejected(TLSError)
    }

    /// Everything that has arrived; empty after `rejected`.
    public private(set) var bytes: [UInt8] = []

    private var outcome = Outcome.needMore
    /// Bytes of the current record's header that were read; five of them make a header.
    private var headerBytes = 0
    /// Bytes of the current record that are still to come.
    private var recordBytesLeft = 0
    /// Bytes of the handshake message that were read, with its header.
    private var messageBytes = 0
    /// The length of the handshake message without its header, as far as it was read.
    private var bodyBytes = 0

    private static let recordHeaderBytes = 5
    private static let messageHeaderBytes = 4

    /// A reader that has read nothing.
    public init() {}

    /// Reads bytes that have arrived.
    ///
    /// After `complete`, further bytes are only kept. After `rejected`, nothing is kept.
    public mutating func receive(_ chunk: RawSpan) -> Outcome {
        if case .rejected = outcome { return outcome }
        guard chunk.byteCount <= Self.bytesMax - bytes.count else { return reject(.helloTooLong) }
        var offset = bytes.count
        unsafe chunk.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        while offset < bytes.count, outcome == .needMore {
            if let error = read(bytes[offset]) { return reject(error) }
            offset += 1
        }
        return outcome
    }

    private mutating func reject(_ error: TLSError) -> Outcome {
        bytes = []
        outcome = .rejected(error)
        return outcome
    }

    /// Reads the next byte; returns why this is not a ClientHello.
    private mutating func read(_ byte: UInt8) -> TLSError? {
        if headerBytes < Self.recordHeaderBytes { return readRecordHeader(byte) }
        recordBytesLeft -= 1
        if recordBytesLeft == 0 { headerBytes = 0 }
        return readMessage(byte)
    }

    private mutating func readRecordHeader(_ byte: UInt8) -> TLSError? {
        // Type 22 is a handshake. The version is 3.1 or 3.3 in practice; its second byte is
        // legacy, and ignored (RFC 8446, 5.1).
        switch headerBytes {
        case 0 where byte != 22, 1 where byte != 3: return messageBytes == 0 ? .notTLS : .malformed
        case 3: recordBytesLeft = Int(byte) << 8
        case 4: recordBytesLeft |= Int(byte)
        default: break
        }
        headerBytes += 1
        guard headerBytes == Self.recordHeaderBytes else { return nil }
        // An empty record of a handshake is not allowed: it would be free to repeat.
        return (1...Self.bytesMax).contains(recordBytesLeft) ? nil : .malformed
    }

    private mutating func readMessage(_ byte: UInt8) -> TLSError? {
        messageBytes += 1
        switch messageBytes {
        case 1: if byte != 1 { return .malformed }
        case 2...Self.messageHeaderBytes: bodyBytes = bodyBytes << 8 | Int(byte)
        default: break
        }
        guard messageBytes >= Self.messageHeaderBytes else { return nil }
        let needed = Self.messageHeaderBytes + bodyBytes
        guard needed <= Self.bytesMax else { return .helloTooLong }
        if messageBytes == needed { outcome = .complete }
        return nil
    }
}
