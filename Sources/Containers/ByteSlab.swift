/// Names one byte string of a `ByteSlab`, until it is removed.
///
/// It carries the length, and the length says the size class, so that the slab itself keeps
/// nothing beside the bytes. Equal references name the same bytes; equal bytes that were inserted
/// twice have two references. Empty strings take no place and all have the same reference.
public struct SlabRef: Equatable, Sendable {
    /// Which unit of the size class.
    let unit: UInt32
    let length: UInt8

    /// The reference of no string.
    public static var none: SlabRef { SlabRef(unit: .max, length: 0) }

    static var empty: SlabRef { SlabRef(unit: 0, length: 0) }
}

/// Short byte strings, 0 to 255 bytes each, by the million.
///
/// Each string lies in a unit of its size class (see `SizeClass`). A class has chunks of units,
/// which never move, and its free units are chained through their own first four bytes. So a string
/// costs its bytes rounded up by at most a quarter, and no allocation of its own. Memory is never
/// given back; it is used again by strings of the same class, the unit freed last first.
public struct ByteSlab: ~Copyable {
    struct Chunk {
        var bytes: [UInt8] = []
    }

    struct Arena {
        /// Units, live or free, as many in each chunk but the last.
        var chunks: [Chunk] = []
        var unitCount = 0
        /// The first free unit, `chainEnd` for none.
        var freeHead = ByteSlab.chainEnd
        var freeCount = 0
    }

    static let chainEnd = UInt32.max
    /// Units of a chunk: 4 to 128 KiB.
    static let chunkUnitBits = 9
    static let chunkUnits = 1 << chunkUnitBits

    /// The most bytes that a string may have.
    public static var byteCountMax: Int { 255 }

    // Not an `InlineArray`: to read one element, all 504 bytes were copied (Swift 6.3.1).
    /// One arena for each size class.
    var arenas: [Arena]

    /// Makes an empty slab.
    public init() {
        arenas = Array(repeating: Arena(), count: SizeClass.count)
    }

    /// Copies a string of at most 255 bytes into the slab.
    ///
    /// - Complexity: O(`bytes.count`); amortised where the class grows.
    public mutating func insert(_ bytes: borrowing Span<UInt8>) -> SlabRef {
        precondition(bytes.count <= Self.byteCountMax, "too long for a byte slab")
        guard !bytes.isEmpty else { return .empty }
        let size = SizeClass(byteCount: bytes.count)
        let unit: UInt32
        if arenas[size.index].freeHead == Self.chainEnd {
            unit = arenas[size.index].addUnit(bytes, unitBytes: size.unitBytes)
        } else {
            unit = arenas[size.index].reuseUnit(bytes, unitBytes: size.unitBytes)
        }
        return SlabRef(unit: unit, length: UInt8(bytes.count))
    }

    /// Gives a string's place back; the reference must be forgotten.
    ///
    /// - Complexity: O(1).
    public mutating func remove(_ ref: SlabRef) {
        guard let place = place(of: ref) else { return }
        let size = SizeClass(byteCount: Int(ref.length))
        arenas[place.arena].freeUnit(ref.unit, unitBytes: size.unitBytes)
    }

    /// Appends a string's bytes to an array.
    ///
    /// - Complexity: O(length).
    public func append(_ ref: SlabRef, to bytes: inout [UInt8]) {
        guard let place = place(of: ref) else { return }
        bytes.append(contentsOf: arenas[place.arena].chunks[place.chunk].bytes[place.range])
    }

    /// Whether a string has exactly these bytes.
    ///
    /// - Complexity: O(length).
    public func equals(_ ref: SlabRef, _ bytes: borrowing Span<UInt8>) -> Bool {
        guard let place = place(of: ref) else { return bytes.isEmpty }
        guard place.range.count == bytes.count else { return false }
        return arenas[place.arena].equals(place, bytes)
    }

    /// How many bytes a string has.
    ///
    /// - Complexity: O(1).
    public func byteCount(of ref: SlabRef) -> Int {
        place(of: ref)?.range.count ?? 0
    }

    /// The bytes that the slab holds on the heap, as the allocator rounded them: not replayable.
    public var bytesReserved: Int {
        var total = arenas.heapBytes
        for arena in arenas {
            total += arena.chunks.reduce(arena.chunks.heapBytes) { $0 + $1.bytes.heapBytes }
        }
        return total
    }

    /// Where a string lies.
    struct Place {
        let arena: Int
        let chunk: Int
        let range: Range<Int>
    }

    /// Where a string lies; nil: it is empty.
    func place(of ref: SlabRef) -> Place? {
        precondition(ref != .none, "no such byte string")
        guard ref.length > 0 else { return nil }
        let size = SizeClass(byteCount: Int(ref.length))
        let unit = Int(ref.unit)
        precondition(unit < arenas[size.index].unitCount, "no such byte string")
        let start = (unit & (Self.chunkUnits - 1)) * size.unitBytes
        return Place(
            arena: size.index, chunk: unit >> Self.chunkUnitBits,
            range: start..<(start + Int(ref.length)))
    }
}
