// The header of a frame of RFC 6455, 5.2:
//
//     FIN RSV RSV RSV  opcode(4) | MASK  length(7) | length(16 or 64) | masking key(32)

/// The header of a frame from a client.
struct WebSocketHeader {
    let opcode: Opcode
    /// Whether it is the last fragment of its message.
    let isFinal: Bool
    /// The masking key, in the order of its bytes in memory.
    let mask: UInt32
    let payloadCount: Int
    /// Bytes of the header itself.
    let byteCount: Int

    /// What a frame is.
    enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    /// What the bytes that have arrived are.
    enum Reading {
        case incomplete(bytesNeeded: Int)
        case complete(WebSocketHeader)
        /// No header of a frame that a client may send.
        case invalid
    }

    /// The most bytes of the payload of a control frame.
    static let controlBytesMax = 125

    /// Reads the header with which `bytes` begin.
    static func read(_ bytes: RawSpan) -> Reading {
        guard bytes.byteCount >= 2 else { return .incomplete(bytesNeeded: 2) }
        let (first, second) = (byte(0, of: bytes), byte(1, of: bytes))
        let isFinal = first & 0x80 != 0
        guard first & 0x70 == 0, let opcode = Opcode(rawValue: first & 0x0F), second & 0x80 != 0
        else { return .invalid }
        let shortLength = Int(second & 0x7F)
        guard !opcode.isControl || isFinal && shortLength <= controlBytesMax else {
            return .invalid
        }
        let lengthBytes =
            switch shortLength {
            case 126: 2
            case 127: 8
            default: 0
            }
        let byteCount = 2 + lengthBytes + 4
        guard bytes.byteCount >= byteCount else { return .incomplete(bytesNeeded: byteCount) }
        var count = UInt64(shortLength)
        if lengthBytes > 0 {
            count = (2..<2 + lengthBytes).reduce(0) { $0 << 8 | UInt64(byte($1, of: bytes)) }
            // The shortest form only; and the highest bit is not used.
            guard count > (lengthBytes == 2 ? 125 : 0xFFFF), count >> 63 == 0 else {
                return .invalid
            }
        }
        let mask = unsafe bytes.unsafeLoadUnaligned(
            fromByteOffset: 2 + lengthBytes, as: UInt32.self)
        return .complete(
            WebSocketHeader(
                opcode: opcode, isFinal: isFinal, mask: mask, payloadCount: Int(count),
                byteCount: byteCount))
    }

    private static func byte(_ offset: Int, of bytes: RawSpan) -> UInt8 {
        precondition(offset >= 0 && offset < bytes.byteCount, "a byte that has not arrived")
        return unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}
