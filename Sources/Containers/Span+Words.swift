// Eight bytes at a time, without leaving bounds checks behind: once the piece has exactly eight
// bytes, the compiler drops the checks of the single bytes and merges their loads into one.

extension Span<UInt8> {
    /// Eight bytes as a little-endian number.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        let piece = extracting(offset..<(offset &+ 8))
        let low = UInt64(piece[0]) | UInt64(piece[1]) << 8 | UInt64(piece[2]) << 16
        let middle = UInt64(piece[3]) << 24 | UInt64(piece[4]) << 32 | UInt64(piece[5]) << 40
        return low | middle | UInt64(piece[6]) << 48 | UInt64(piece[7]) << 56
    }

    /// The bytes from `offset` on, at most seven, as a little-endian number.
    @inline(__always)
    func lastWord(from offset: Int) -> UInt64 {
        let rest = count &- offset
        // If eight bytes are left they are read at once, and those that were read before are
        // shifted out.
        if count >= 8 && rest > 0 { return word(at: count &- 8) &>> UInt64(8 &* (8 &- rest)) }
        var word: UInt64 = 0
        var shift: UInt64 = 0
        for index in offset..<count {
            word |= UInt64(self[index]) &<< shift
            shift &+= 8
        }
        return word
    }

    /// Whether two spans have the same bytes.
    @inline(__always)
    func equals(_ other: borrowing Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var offset = 0
        while count &- offset >= 8 {
            guard word(at: offset) == other.word(at: offset) else { return false }
            offset &+= 8
        }
        return lastWord(from: offset) == other.lastWord(from: offset)
    }
}
