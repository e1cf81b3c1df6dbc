// Frames that the service sends: not masked, and a message is one frame (RFC 6455, 5.1 and 5.4).

extension [UInt8] {
    private static let final: UInt8 = 0x80

    /// Appends a frame that is complete and short: a control frame, or an empty message.
    mutating func appendControl(_ opcode: WebSocketHeader.Opcode, _ payload: [UInt8]) {
        precondition(payload.count <= WebSocketHeader.controlBytesMax, "a control frame too long")
        append(Self.final | opcode.rawValue)
        append(UInt8(payload.count))
        append(contentsOf: payload)
    }

    /// Writes the header of a text message whose body begins four bytes after `start` and ends with
    /// the buffer. Four bytes are the header of bodies from 126 to 65,535 bytes: all events, and
    /// nearly all else. Other bodies are moved.
    mutating func writeTextHeader(at start: Int, bodyCount: Int) {
        self[start] = Self.final | WebSocketHeader.Opcode.text.rawValue
        switch bodyCount {
        case ...125:
            removeSubrange(start + 2..<start + 4)
            self[start + 1] = UInt8(bodyCount)
        case ...0xFFFF:
            self[start + 1] = 126
            self[start + 2] = UInt8(bodyCount >> 8)
            self[start + 3] = UInt8(truncatingIfNeeded: bodyCount)
        default:
            insert(contentsOf: repeatElement(0, count: 6), at: start + 4)
            self[start + 1] = 127
            for index in 0..<8 {
                self[start + 2 + index] = UInt8(truncatingIfNeeded: bodyCount >> (56 - 8 * index))
            }
        }
    }
}
