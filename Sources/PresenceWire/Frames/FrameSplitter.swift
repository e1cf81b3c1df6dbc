// One connection's bytes, cut into frames.
//
// The chunk that has just been read belongs to somebody else and is used again for the next
// connection, so only what it leaves unfinished is copied: the beginning of a frame whose end
// has not come, or everything behind a frame after which the owner stops for a while. A frame
// that lies wholly in the chunk is read where it lies.
//
// What a length claims is compared with the limit and otherwise believed of nobody: memory is
// taken for bytes that are here.
//
//     var offset = 0
//     while true {
//         switch splitter.next(in: chunk, from: &offset, bodyBytesMax: max) {
//         case .needMore: return
//         case .frame(let body): splitter.withBody(body, in: chunk) { decoder.decode($0, …) }
//             if mustWait { splitter.keep(chunk, from: &offset); return }
//         …

/// What stands next in the bytes of a connection.
public enum FrameOutcome: Hashable, Sendable {
    /// No whole frame; the chunk is used up and its rest is kept.
    case needMore
    /// A frame of length zero.
    case keepAlive
    /// A frame. To be read before the splitter is called again.
    case frame(FrameBody)
    /// The length is over the limit. Nothing behind it can be understood.
    case violation(bytesClaimed: Int)
}

/// Where the body of a frame lies: in the chunk or in what the splitter keeps.
public struct FrameBody: Hashable, Sendable {
    enum Place: UInt8 {
        case chunk, kept
    }

    var place: Place
    var range: Range<Int>

    /// How many bytes the body has.
    public var count: Int { range.count }
}

/// Cuts the bytes of one connection into frames.
public struct FrameSplitter: Sendable {
    /// Bytes in front of every body: its length, big-endian.
    public static let lengthBytes = 4

    private var kept: [UInt8] = []
    /// The bytes of `kept` that have been given out as frames.
    private var given = 0

    /// A splitter that keeps nothing.
    public init() {}

    /// Bytes that have come and are not yet given out.
    ///
    /// After `needMore` they are the beginning of a frame, which must be completed in time.
    public var bytesBuffered: Int { kept.count - given }

    /// Bytes of memory held; zero where there is nothing to keep.
    public var bytesAllocated: Int { kept.capacity }

    /// Takes the next frame, and moves `offset` behind the bytes of the chunk that it took.
    public mutating func next(
        in chunk: RawSpan, from offset: inout Int, bodyBytesMax: Int
    ) -> FrameOutcome {
        precondition(offset >= 0 && offset <= chunk.byteCount)
        guard bytesBuffered > 0 else {
            forget()
            return nextInChunk(chunk, from: &offset, bodyBytesMax: bodyBytesMax)
        }
        return nextInKept(chunk, from: &offset, bodyBytesMax: bodyBytesMax)
    }

    /// Keeps the rest of the chunk, because the owner stops here for a while.
    ///
    /// It goes on with an empty chunk or the next one. Bodies given out before are gone then.
    public mutating func keep(_ chunk: RawSpan, from offset: inout Int) {
        dropGiven()
        pull(chunk.byteCount - offset, of: chunk, from: &offset)
    }

    /// Reads a body that `next` has given out for this chunk.
    public func withBody<Value, Failure: Error>(
        _ body: FrameBody, in chunk: RawSpan, _ read: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch body.place {
        case .chunk: try read(chunk.extracting(body.range))
        case .kept: try unsafe read(kept.span.bytes.extracting(body.range))
        }
    }

    private mutating func nextInChunk(
        _ chunk: RawSpan, from offset: inout Int, bodyBytesMax: Int
    ) -> FrameOutcome {
        let start = offset + Self.lengthBytes
        guard start <= chunk.byteCount else {
            pull(chunk.byteCount - offset, of: chunk, from: &offset)
            return .needMore
        }
        let count = Self.length(in: chunk, at: offset)
        guard count <= bodyBytesMax else { return .violation(bytesClaimed: count) }
        guard count <= chunk.byteCount - start else {
            pull(chunk.byteCount - offset, of: chunk, from: &offset)
            return .needMore
        }
        offset = start + count
        if count == 0 { return .keepAlive }
        return .frame(FrameBody(place: .chunk, range: start..<offset))
    }

    private mutating func nextInKept(
        _ chunk: RawSpan, from offset: inout Int, bodyBytesMax: Int
    ) -> FrameOutcome {
        guard has(Self.lengthBytes, orPullsFrom: chunk, at: &offset) else { return .needMore }
        let count = unsafe Self.length(in: kept.span.bytes, at: given)
        guard count <= bodyBytesMax else { return .violation(bytesClaimed: count) }
        guard has(Self.lengthBytes + count, orPullsFrom: chunk, at: &offset) else {
            return .needMore
        }
        let start = given + Self.lengthBytes
        given = start + count
        if count == 0 {
            if bytesBuffered == 0 { forget() }
            return .keepAlive
        }
        return .frame(FrameBody(place: .kept, range: start..<given))
    }

    /// Whether `count` bytes are kept, if need be with the help of the chunk.
    private mutating func has(
        _ count: Int, orPullsFrom chunk: RawSpan, at offset: inout Int
    ) -> Bool {
        let missing = count - bytesBuffered
        guard missing > 0 else { return true }
        dropGiven()
        pull(min(missing, chunk.byteCount - offset), of: chunk, from: &offset)
        return bytesBuffered >= count
    }

    private mutating func pull(_ count: Int, of chunk: RawSpan, from offset: inout Int) {
        guard count > 0 else { return }
        let part = chunk.extracting(offset..<offset + count)
        unsafe part.withUnsafeBytes { unsafe kept.append(contentsOf: $0) }
        offset += count
    }

    /// Gives back the memory of the frames that were given out.
    private mutating func dropGiven() {
        guard given > 0 else { return }
        kept = given == kept.count ? [] : [UInt8](kept[given...])
        given = 0
    }

    private mutating func forget() {
        guard kept.capacity > 0 else { return }
        kept = []
        given = 0
    }

    private static func length(in bytes: RawSpan, at offset: Int) -> Int {
        precondition(offset >= 0 && bytes.byteCount - offset >= lengthBytes)
        let length = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return Int(UInt32(bigEndian: length))
    }
}
