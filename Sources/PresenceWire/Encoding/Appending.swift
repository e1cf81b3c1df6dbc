internal import PresenceCore

// The pieces of which answers and notifications are made. Unlike events they go to one
// connection each, so that they are written piece by piece.

extension [UInt8] {
    /// Appends bytes of ours.
    mutating func append(_ literal: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(
                start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    mutating func append(_ value: Int) {
        append(bytesMax: 20) { $0.integer(value) }
    }

    mutating func append(_ time: Wall) {
        append(bytesMax: 20) { $0.time(time) }
    }

    mutating func append(_ flag: Bool) {
        append(flag ? "true" : "false")
    }

    /// Appends a key with what stands around it, as it is, and a number.
    mutating func append(_ key: StaticString, _ value: Int) {
        append(key)
        append(value)
    }

    mutating func append(_ key: StaticString, _ time: Wall) {
        append(key)
        append(time)
    }

    /// Appends a quoted text.
    mutating func appendString(_ text: Span<UInt8>) {
        append(bytesMax: JSONWriter.escapedBytes(of: text) + 2) { $0.string(text) }
    }

    mutating func appendString(_ range: ByteRange, _ source: borrowing EventSource) {
        append(bytesMax: source.stringBytes(range)) { $0.string(range, source) }
    }

    /// Appends the quoted base32 of a number: an opaque text to the world.
    mutating func appendBase32(_ value: UInt64) {
        append(bytesMax: Base32.characters + 2) { $0.base32(value) }
    }

    /// Appends an `id`.
    mutating func append(_ id: RequestID) {
        switch id {
        case .none, .unknown: append("null")
        case .integer(let value): append(Int(value))
        case .text(let text): appendString(text.span)
        }
    }

    /// Appends room for a frame's length and gives its place.
    mutating func beginFrame() -> Int {
        let start = count
        append("\0\0\0\0")
        return start
    }

    /// Writes the length of the frame that began at `start`.
    mutating func endFrame(_ start: Int) {
        let length = UInt32(clamping: count - start - FrameSplitter.lengthBytes)
        for index in 0..<FrameSplitter.lengthBytes {
            self[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index))
        }
    }

    /// Appends a frame of length zero.
    public mutating func appendKeepAliveFrame() {
        endFrame(beginFrame())
    }
}
