// Encoders append bodies: a body is one message, whatever carries it. A framing turns bodies into
// what a native connection carries; `InputSplitter` is its counterpart for input.
//
// A header is written after its body, when the length is known: `begin` leaves room for it. A
// framing whose header may have another length than the room moves the body in `end`.

/// How a connection marks where messages begin and end.
public enum Framing: UInt8, CaseIterable, Sendable {
    /// The length of the body in four bytes, big-endian, then the body. A length of zero is a
    /// keep-alive. `FrameSplitter` reads it.
    case native
    /// A text message of a WebSocket, in one frame (RFC 6455). An empty one is a keep-alive.
    case webSocket

    /// The most bytes that a frame has in addition to its body.
    @inlinable public var headerBytesMax: Int {
        switch self {
        case .native: FrameSplitter.lengthBytes
        case .webSocket: 10
        }
    }

    /// The room for a header: what most frames need.
    private var roomBytes: Int {
        switch self {
        case .native: FrameSplitter.lengthBytes
        case .webSocket: 4
        }
    }

    /// Appends the body that `write` appends, framed; nothing if it appends nothing.
    @inlinable public func append<Result>(
        to bytes: inout [UInt8], _ write: (inout [UInt8]) -> Result
    ) -> Result {
        let start = begin(in: &bytes)
        let result = write(&bytes)
        end(start, in: &bytes)
        return result
    }

    /// Appends what shows a client that the connection lives, and says nothing.
    public func appendKeepAlive(to bytes: inout [UInt8]) {
        switch self {
        case .native: bytes.append(contentsOf: repeatElement(0, count: FrameSplitter.lengthBytes))
        case .webSocket: bytes.appendControl(.text, [])
        }
    }

    /// Appends what a client answers without its program's help, if there is such a thing. The
    /// answer has the same payload.
    public func appendPing(_ payload: [UInt8] = [], to bytes: inout [UInt8]) {
        switch self {
        case .native: break
        case .webSocket: bytes.appendControl(.ping, payload)
        }
    }

    /// Appends the answer to a ping.
    public func appendPong(_ payload: [UInt8], to bytes: inout [UInt8]) {
        switch self {
        case .native: break
        case .webSocket: bytes.appendControl(.pong, payload)
        }
    }

    /// Appends what the protocol itself has last on a connection, if it has that: nothing may
    /// follow. Without a code, none is sent.
    public func appendEnd(code: Int?, _ word: StaticString, to bytes: inout [UInt8]) {
        switch self {
        case .native: break
        case .webSocket:
            var payload: [UInt8] = []
            if let code {
                payload = [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)]
                payload.append(word)
            }
            bytes.appendControl(.close, payload)
        }
    }

    /// Begins a message: leaves room for its header. Its body is to be appended, then `end` called
    /// with the position that this returns.
    public func begin(in bytes: inout [UInt8]) -> Int {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: roomBytes))
        return start
    }

    /// Writes the header of the message that began at `start` and ends with the buffer; removes the
    /// room for it if there is no body. (An empty body would be a keep-alive.)
    public func end(_ start: Int, in bytes: inout [UInt8]) {
        let count = bytes.count - start - roomBytes
        precondition(count >= 0, "an encoder has removed what is not its own")
        guard count > 0 else { return bytes.removeLast(roomBytes) }
        switch self {
        case .native:
            guard let length = UInt32(exactly: count) else {
                preconditionFailure("a body longer than a frame can be")
            }
            for index in 0..<FrameSplitter.lengthBytes {
                bytes[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index))
            }
        case .webSocket:
            bytes.writeTextHeader(at: start, bodyCount: count)
        }
    }
}
