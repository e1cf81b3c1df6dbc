// Input that has arrived and was not yet returned as a message.
//
// The chunk that was just read belongs to the loop and is reused for the next connection. So only
// its rest is copied: the beginning of an incomplete frame, or everything after a frame at which
// the owner pauses. Memory is allocated only for bytes that have arrived.

/// The bytes of one connection that were not yet returned as messages.
struct UnreadInput: Sendable {
    private var kept: [UInt8] = []
    /// The bytes of `kept` that were returned.
    private var start = 0

    /// Bytes that have arrived and were not yet returned.
    var count: Int { kept.count - start }

    /// Bytes of memory in use; zero if there is nothing to keep.
    var bytesAllocated: Int { kept.capacity }

    /// Reads bytes that were returned since the last pull, or were not returned yet.
    func withBytes<Value, Failure: Error>(
        _ range: Range<Int>, _ read: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe read(kept.span.bytes.extracting(range))
    }

    /// The place of the bytes that were not yet returned.
    var range: Range<Int> { start..<kept.count }

    /// Returns the next `count` bytes; their place.
    mutating func take(_ count: Int) -> Range<Int> {
        precondition(count >= 0 && count <= self.count, "bytes that have not arrived")
        start += count
        return start - count..<start
    }

    /// Whether `count` bytes are kept, if necessary after taking bytes from the chunk.
    mutating func has(_ count: Int, orPullsFrom chunk: RawSpan, at offset: inout Int) -> Bool {
        let missing = count - self.count
        guard missing > 0 else { return true }
        pull(min(missing, chunk.byteCount - offset), of: chunk, from: &offset)
        return self.count >= count
    }

    /// Keeps the rest of a chunk. Places that were returned before become invalid.
    mutating func keep(_ chunk: RawSpan, from offset: inout Int) {
        pull(chunk.byteCount - offset, of: chunk, from: &offset)
    }

    /// Frees the memory if everything was returned.
    mutating func forgetIfEmpty() {
        guard count == 0, kept.capacity > 0 else { return }
        kept = []
        start = 0
    }

    private mutating func pull(_ count: Int, of chunk: RawSpan, from offset: inout Int) {
        precondition(offset >= 0 && offset <= chunk.byteCount, "a place beyond the chunk")
        dropReturned()
        guard count > 0 else { return }
        let part = chunk.extracting(offset..<offset + count)
        unsafe part.withUnsafeBytes { unsafe kept.append(contentsOf: $0) }
        offset += count
    }

    /// Frees the memory of what was returned.
    private mutating func dropReturned() {
        guard start > 0 else { return }
        kept = start == kept.count ? [] : [UInt8](kept[start...])
        start = 0
    }
}
