// Splits the bytes of a connection into the parts of a stream, as `StanzaBoundaryFinder` finds
// them.
//
// The chunk that was just read belongs to the loop and is reused for the next connection. So only
// its rest is copied: the beginning of an incomplete part, or everything after a part at which the
// owner pauses. Memory is allocated only for bytes that have arrived.

/// What comes next in the bytes of a stream.
public enum StreamPart: Hashable, Sendable {
    /// No complete part; the chunk is consumed and its rest is kept.
    case needMore
    /// White space between stanzas: a keep-alive.
    case whiteSpace
    /// The header of the stream. Read it before the next call of the splitter.
    case header(StreamPartBytes)
    /// A stanza. Read it before the next call of the splitter.
    case stanza(StreamPartBytes)
    /// The end of the stream. Nothing after it is read.
    case streamEnd
    /// Nothing after it can be read.
    case rejected(XMLError)
}

/// The place of a part's bytes.
public enum StreamPartBytes: Hashable, Sendable {
    /// In the chunk.
    case inChunk(Range<Int>)
    /// In the splitter.
    case kept(Range<Int>)
}

/// Splits the bytes of one stream into its parts.
public struct StanzaSplitter: Sendable {
    private var finder = StanzaBoundaryFinder()
    private var kept: [UInt8] = []
    /// The bytes of `kept` that were returned, and those that the finder has read.
    private var returned = 0
    private var read = 0

    /// A splitter of a stream of which nothing has arrived.
    public init() {}

    /// Bytes that have arrived and were not yet returned.
    public var bytesBuffered: Int { kept.count - returned }

    /// Bytes of memory in use.
    public var bytesAllocated: Int { kept.capacity }

    /// Whether a part has begun that is not complete.
    public var isInPart: Bool { finder.isInPart }

    /// Takes the next part, and advances `offset` past the bytes of the chunk that it took.
    public mutating func next(
        in chunk: RawSpan, from offset: inout Int, bytesMax: Int
    ) -> StreamPart {
        precondition(offset >= 0 && offset <= chunk.byteCount)
        forgetIfReturned()
        if read < kept.count {
            let end = findInKept(bytesMax)
            if end != .needMore {
                defer { returned = read }
                return part(end, .kept(returned..<read))
            }
        }
        let start = offset
        let end = finder.next(in: chunk, from: &offset, bytesMax: bytesMax)
        if end != .needMore, bytesBuffered == 0 { return part(end, .inChunk(start..<offset)) }
        if case .rejected = end { return part(end, .kept(0..<0)) }
        append(chunk, start..<offset)
        read = kept.count
        guard end != .needMore else { return .needMore }
        defer { returned = read }
        return part(end, .kept(returned..<read))
    }

    /// Keeps the rest of the chunk, because the owner pauses here.
    public mutating func keep(_ chunk: RawSpan, from offset: inout Int) {
        precondition(offset >= 0 && offset <= chunk.byteCount)
        forgetIfReturned()
        append(chunk, offset..<chunk.byteCount)
        offset = chunk.byteCount
    }

    /// Another stream begins with the bytes that were not yet returned.
    public mutating func restart() {
        precondition(!finder.isInPart, "a stream that begins within a stanza")
        finder = StanzaBoundaryFinder()
        read = returned
    }

    /// Reads the bytes of a part that `next` returned for this chunk.
    public func withBytes<Value, Failure: Error>(
        of part: StreamPartBytes, in chunk: RawSpan,
        _ read: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch part {
        case .inChunk(let range): try read(chunk.extracting(range))
        case .kept(let range): try unsafe read(kept.span.bytes.extracting(range))
        }
    }

    private mutating func findInKept(_ bytesMax: Int) -> StanzaBoundary {
        var finder = finder
        var place = read
        let end = unsafe finder.next(in: kept.span.bytes, from: &place, bytesMax: bytesMax)
        self.finder = finder
        read = place
        return end
    }

    private func part(_ end: StanzaBoundary, _ bytes: StreamPartBytes) -> StreamPart {
        switch end {
        case .needMore: .needMore
        case .whiteSpace: .whiteSpace
        case .header: .header(bytes)
        case .stanza: .stanza(bytes)
        case .streamEnd: .streamEnd
        case .rejected(let error): .rejected(error)
        }
    }

    private mutating func append(_ chunk: RawSpan, _ range: Range<Int>) {
        dropReturned()
        guard !range.isEmpty else { return }
        unsafe chunk.extracting(range).withUnsafeBytes { unsafe kept.append(contentsOf: $0) }
    }

    /// Frees the memory of what was returned.
    private mutating func dropReturned() {
        guard returned > 0 else { return }
        precondition(returned <= read && read <= kept.count, "a part of bytes that are not there")
        kept = returned == kept.count ? [] : [UInt8](kept[returned...])
        read -= returned
        returned = 0
    }

    /// Frees the memory of parts that were read, unless more has arrived than they.
    public mutating func forgetIfReturned() {
        if returned == kept.count { dropReturned() }
    }
}
