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

extension ByteSlab.Arena {
    func equals(_ range: Range<Int>, _ other: borrowing Span<UInt8>) -> Bool {
        bytes.span.extracting(range).equals(other)
    }

    func hash(_ range: Range<Int>, by hasher: SipHash13) -> UInt64 {
        hasher.hash(bytes.span.extracting(range))
    }

    /// Appends a unit that begins with `content`.
    mutating func addUnit(_ content: borrowing Span<UInt8>, unitBytes: Int) -> UInt32 {
        let unit = bytes.count / unitBytes
        precondition(unit < Int(ByteSlab.chainEnd), "a size class is full")
        bytes.reserveGrowth(of: unitBytes, doublingLimit: ByteSlab.arenaDoublingLimit)
        for index in content.indices { bytes.append(content[index]) }
        for _ in content.count..<unitBytes { bytes.append(0) }
        return UInt32(unit)
    }

    /// Takes the unit that was freed last and lets it begin with `content`.
    mutating func reuseUnit(_ content: borrowing Span<UInt8>, unitBytes: Int) -> UInt32 {
        let unit = freeHead
        freeHead = nextFree(after: unit, unitBytes: unitBytes)
        freeCount -= 1
        let start = Int(unit) * unitBytes
        var bytes = bytes.mutableSpan
        for index in content.indices { bytes[start + index] = content[index] }
        return unit
    }

    /// Chains a unit in front of the free ones.
    mutating func freeUnit(_ unit: UInt32, unitBytes: Int) {
        precondition(unit != freeHead, "a byte string was removed twice")
        let start = Int(unit) * unitBytes
        for index in 0..<4 {
            bytes[start + index] = UInt8(truncatingIfNeeded: freeHead &>> UInt32(8 * index))
        }
        freeHead = unit
        freeCount += 1
    }

    func nextFree(after unit: UInt32, unitBytes: Int) -> UInt32 {
        let start = Int(unit) * unitBytes
        var next: UInt32 = 0
        for index in 0..<4 { next |= UInt32(bytes[start + index]) &<< UInt32(8 * index) }
        return next
    }
}
