import NIOCore
import PresenceWire

/// A response with a known length, and how much of it has been written.
struct OutgoingResponse {
    let framing: ResponseFraming
    private let body: Response.Body
    private var offset = 0

    private static let partBytesMax = 1 << 15

    init(_ body: Response.Body, _ framing: ResponseFraming) {
        self.body = body
        self.framing = framing
    }

    /// The next part; nil if all of it has been written.
    mutating func next() -> ByteBuffer? {
        guard framing.hasBody, let byteCount = body.byteCount, offset < byteCount else {
            return nil
        }
        let range = offset..<min(byteCount, offset + Self.partBytesMax)
        precondition(!range.isEmpty, "an empty part would end a body in chunks")
        offset = range.upperBound
        switch body {
        case .buffer(let buffer):
            return buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count)
        case .result(let result): return ByteBuffer(bytes: result.bytes[range])
        case .stream: return nil
        }
    }
}
