// Reads the head of an HTTP request, as it arrives, up to its empty line.
//
// What can be seen in a single byte is rejected at that byte: so the result is the same however the
// bytes are cut up, and a peer that speaks something else is answered at once and not after the
// login timeout. The head is kept until it is complete; nothing is allocated for what has not
// arrived.

/// What comes next in the bytes of a connection that has begun an HTTP request.
public enum UpgradeOutcome: Hashable, Sendable {
    /// The head is not complete; the chunk is consumed.
    case needMore
    /// A valid request for a WebSocket. What follows it is frames, once it has been answered.
    case request(UpgradeRequest)
    /// Nothing after it is read.
    case rejected(UpgradeError)
}

/// Reads a request for a WebSocket.
public struct UpgradeReader: Sendable {
    /// The most bytes of a head, with its empty line.
    public static let headBytesMax = 8_192
    /// The most fields of a head.
    public static let fieldsMax = 64
    /// The first byte of every request that is read.
    public static let firstByte = UInt8(ascii: "G")
    private static let method = Array("GET ".utf8)

    private var head: [UInt8] = []
    /// Where the line that is not complete begins in `head`.
    private var lineStart = 0

    /// A reader of a request of which nothing has arrived.
    public init() {}

    /// Bytes that have arrived.
    public var bytesBuffered: Int { head.count }

    /// Bytes of memory in use.
    public var bytesAllocated: Int { head.capacity }

    /// What the request is for, as far as its first line has arrived; nil: not known, or no path
    /// of the service.
    public var target: UpgradeRequest.Target? {
        guard let end = head.firstIndex(of: UInt8(ascii: "\r")) else { return nil }
        return UpgradeRequest.Target(of: head[..<end])
    }

    /// Reads on, and advances `offset` past the bytes of the chunk that belong to the head.
    public mutating func next(in chunk: RawSpan, from offset: inout Int) -> UpgradeOutcome {
        precondition(offset >= 0 && offset <= chunk.byteCount)
        while offset < chunk.byteCount {
            let byte = unsafe chunk.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            offset += 1
            do throws(UpgradeError) {
                guard try take(byte) else { continue }
                return .request(try UpgradeRequest(head[...]))
            } catch {
                return .rejected(error)
            }
        }
        return .needMore
    }

    /// Takes one byte; whether it completes the head.
    private mutating func take(_ byte: UInt8) throws(UpgradeError) -> Bool {
        let position = head.count
        if position < Self.method.count, byte != Self.method[position] { throw .method }
        guard position < Self.headBytesMax else { throw .tooLarge }
        let followsReturn = head.last == UInt8(ascii: "\r")
        guard (byte == UInt8(ascii: "\n")) == followsReturn else { throw .malformed }
        switch byte {
        case UInt8(ascii: "\n"):
            let isEmpty = position - 1 == lineStart
            head.append(byte)
            lineStart = head.count
            return isEmpty
        case UInt8(ascii: "\r"), UInt8(ascii: "\t"), 0x20..<0x7F, 0x80...0xFF:
            head.append(byte)
            return false
        default:
            throw .malformed
        }
    }
}
