/// The unit sizes of a slab: 8 bytes, then four sizes to each doubling, up to 256 bytes.
///
/// 8 · 10 12 14 16 · 20 24 28 32 · 40 48 56 64 · 80 96 112 128 · 160 192 224 256: at most a
/// quarter is wasted, on average a tenth (jemalloc spaces its classes in the same way).
struct SizeClass {
    let index: Int
    let unitBytes: Int

    static let count = 21

    /// The smallest class for 1 to 256 bytes.
    @inline(__always)
    init(byteCount: Int) {
        guard byteCount > 8 else {
            index = 0
            unitBytes = 8
            return
        }
        // The highest bit of the last byte's offset says the doubling, the next two the quarter.
        let last = byteCount &- 1
        let doubling = 63 &- last.leadingZeroBitCount
        let quarterBits = doubling &- 2
        let quarters = last &>> quarterBits
        index = (doubling &- 3) &* 4 &+ (quarters &- 4) &+ 1
        unitBytes = (quarters &+ 1) &<< quarterBits
    }
}

extension ByteSlab.Chunk {
    /// Appends a unit that begins with `content`.
    mutating func append(_ content: borrowing Span<UInt8>, unitBytes: Int) {
        for index in content.indices { bytes.append(content[index]) }
        for _ in content.count..<unitBytes { bytes.append(0) }
    }

    /// Replaces bytes from `start` on.
    mutating func write(_ content: borrowing Span<UInt8>, at start: Int) {
        var bytes = bytes.mutableSpan
        for index in content.indices { bytes[start + index] = content[index] }
    }

    func equals(_ range: Range<Int>, _ other: borrowing Span<UInt8>) -> Bool {
        bytes.span.extracting(range).equals(other)
    }

    func hash(_ range: Range<Int>, by hasher: SipHash13) -> UInt64 {
        hasher.hash(bytes.span.extracting(range))
    }
}

extension ByteSlab.Arena {
    func equals(_ place: ByteSlab.Place, _ other: borrowing Span<UInt8>) -> Bool {
        chunks[place.chunk].equals(place.range, other)
    }

    func hash(_ place: ByteSlab.Place, by hasher: SipHash13) -> UInt64 {
        chunks[place.chunk].hash(place.range, by: hasher)
    }

    /// Appends a unit that begins with `content`.
    mutating func addUnit(_ content: borrowing Span<UInt8>, unitBytes: Int) -> UInt32 {
        let unit = unitCount
        precondition(unit < Int(ByteSlab.chainEnd), "a size class is full")
        let chunk = unit >> ByteSlab.chunkUnitBits
        if chunk == chunks.count {
            var new = ByteSlab.Chunk()
            // A class with few strings takes little memory.
            if chunk > 0 { new.bytes.reserveCapacity(ByteSlab.chunkUnits * unitBytes) }
            chunks.append(new)
        }
        chunks[chunk].append(content, unitBytes: unitBytes)
        unitCount += 1
        return UInt32(unit)
    }

    /// Takes the unit that was freed last and lets it begin with `content`.
    mutating func reuseUnit(_ content: borrowing Span<UInt8>, unitBytes: Int) -> UInt32 {
        let unit = freeHead
        freeHead = nextFree(after: unit, unitBytes: unitBytes)
        freeCount -= 1
        let (chunk, start) = Self.place(of: unit, unitBytes: unitBytes)
        chunks[chunk].write(content, at: start)
        return unit
    }

    /// Chains a unit in front of the free ones.
    mutating func freeUnit(_ unit: UInt32, unitBytes: Int) {
        precondition(unit != freeHead, "a byte string was removed twice")
        let (chunk, start) = Self.place(of: unit, unitBytes: unitBytes)
        for index in 0..<4 {
            chunks[chunk].bytes[start + index] = UInt8(
                truncatingIfNeeded: freeHead &>> UInt32(8 * index))
        }
        freeHead = unit
        freeCount += 1
    }

    func nextFree(after unit: UInt32, unitBytes: Int) -> UInt32 {
        let (chunk, start) = Self.place(of: unit, unitBytes: unitBytes)
        var next: UInt32 = 0
        for index in 0..<4 {
            next |= UInt32(chunks[chunk].bytes[start + index]) &<< UInt32(8 * index)
        }
        return next
    }

    private static func place(of unit: UInt32, unitBytes: Int) -> (chunk: Int, start: Int) {
        let unit = Int(unit)
        return (
            unit >> ByteSlab.chunkUnitBits, (unit & (ByteSlab.chunkUnits - 1)) * unitBytes
        )
    }
}
