// Splits the bytes of one connection into frames.
//
// A frame that is complete in the chunk is read in place; the rest is kept in `UnreadInput`. The
// claimed length of a frame is compared with the limit and not trusted otherwise.
//
//     var offset = 0
//     while true {
//         switch splitter.next(in: chunk, from: &offset, bodyBytesMax: max) {
//         case .needMore: return
//         case .frame(let body): splitter.withBody(body, in: chunk) { decoder.decode($0, …) }
//             if mustWait { splitter.keep(chunk, from: &offset); return }
//         …

/// What comes next in the bytes of a connection.
public enum FrameOutcome: Hashable, Sendable {
    /// No complete frame; the chunk is consumed and its rest is kept.
    case needMore
    /// A frame of length zero.
    case keepAlive
    /// A frame. Read it before the next call of the splitter.
    case frame(FrameBody)
    /// The length exceeds the limit. Nothing after it can be parsed.
    case violation(bytesClaimed: Int)
}

/// The location of a frame's body: in the chunk or in the bytes that the splitter keeps.
public struct FrameBody: Hashable, Sendable {
    enum Place: UInt8 {
        case chunk, kept
    }

    var place: Place
    var range: Range<Int>

    /// The number of bytes of the body.
    public var count: Int { range.count }
}

/// Splits the bytes of one connection into frames.
public struct FrameSplitter: Sendable {
    /// Bytes before every body: its length, big-endian.
    public static let lengthBytes = 4

    private var unread = UnreadInput()

    /// A splitter that keeps nothing.
    public init() {}

    /// Bytes that have arrived and were not yet returned.
    ///
    /// After `needMore` they are the beginning of a frame that must be completed in time.
    public var bytesBuffered: Int { unread.count }

    /// Bytes of memory in use; zero if there is nothing to keep.
    public var bytesAllocated: Int { unread.bytesAllocated }

    /// Takes the next frame, and advances `offset` past the bytes of the chunk that it took.
    public mutating func next(
        in chunk: RawSpan, from offset: inout Int, bodyBytesMax: Int
    ) -> FrameOutcome {
        precondition(offset >= 0 && offset <= chunk.byteCount)
        guard unread.count > 0 else {
            unread.forgetIfEmpty()
            return nextInChunk(chunk, from: &offset, bodyBytesMax: bodyBytesMax)
        }
        return nextInKept(chunk, from: &offset, bodyBytesMax: bodyBytesMax)
    }

    /// Keeps the rest of the chunk, because the owner pauses here.
    ///
    /// Continue with an empty chunk or the next one. Bodies returned before become invalid.
    public mutating func keep(_ chunk: RawSpan, from offset: inout Int) {
        unread.keep(chunk, from: &offset)
    }

    /// Reads a body that `next` returned for this chunk.
    public func withBody<Value, Failure: Error>(
        _ body: FrameBody, in chunk: RawSpan, _ read: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch body.place {
        case .chunk: try read(chunk.extracting(body.range))
        case .kept: try unread.withBytes(body.range, read)
        }
    }

    /// Frees the memory of a body that was read, unless more has arrived than it.
    mutating func release(_ body: FrameBody) {
        if body.place == .kept { unread.forgetIfEmpty() }
    }

    private mutating func nextInChunk(
        _ chunk: RawSpan, from offset: inout Int, bodyBytesMax: Int
    ) -> FrameOutcome {
        let start = offset + Self.lengthBytes
        guard start <= chunk.byteCount else {
            unread.keep(chunk, from: &offset)
            return .needMore
        }
        let count = Self.length(in: chunk, at: offset)
        guard count <= bodyBytesMax else { return .violation(bytesClaimed: count) }
        guard count <= chunk.byteCount - start else {
            unread.keep(chunk, from: &offset)
            return .needMore
        }
        offset = start + count
        if count == 0 { return .keepAlive }
        return .frame(FrameBody(place: .chunk, range: start..<offset))
    }

    private mutating func nextInKept(
        _ chunk: RawSpan, from offset: inout Int, bodyBytesMax: Int
    ) -> FrameOutcome {
        guard unread.has(Self.lengthBytes, orPullsFrom: chunk, at: &offset) else {
            return .needMore
        }
        let count = unread.withBytes(unread.range) { Self.length(in: $0, at: 0) }
        guard count <= bodyBytesMax else { return .violation(bytesClaimed: count) }
        guard unread.has(Self.lengthBytes + count, orPullsFrom: chunk, at: &offset) else {
            return .needMore
        }
        _ = unread.take(Self.lengthBytes)
        let body = unread.take(count)
        if count == 0 {
            unread.forgetIfEmpty()
            return .keepAlive
        }
        return .frame(FrameBody(place: .kept, range: body))
    }

    private static func length(in bytes: RawSpan, at offset: Int) -> Int {
        precondition(offset >= 0 && bytes.byteCount - offset >= lengthBytes)
        let length = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return Int(UInt32(bigEndian: length))
    }
}
