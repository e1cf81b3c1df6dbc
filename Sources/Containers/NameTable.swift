// Theory of operation.
//
// Three tables. `slab` has the bytes. `entries` is indexed by handle and has the reference of the
// name's bytes, 8 bytes a name; free entries are chained through it, the one freed last first.
// `parts` find a handle by name: open addressing with linear probing, 8 bytes a slot, which are
// the handle and 32 bits of the name's hash.
//
// No call moves more than a bounded number of names: the entries are in chunks, and the slots in
// one part until there are 16,384, and then in 1,024 parts by the highest bits of the hash, which
// grow one by one.
//
// The slot contains the hash so that a probe touches neither entries nor bytes until the right name
// is almost certainly found (a wrong one agrees in 32 bits once in four thousand million), and so
// that growing and removing never read a name again.
//
// A name's home in its part is hash × capacity / 2³²: it needs no power of two, so a part grows by
// a quarter and stays well filled, and it keeps the order of the hashes, so that growing walks
// through both tables from front to back.
//
// Handles are given by the sequence of calls alone; the seed decides where a name lies in
// `slots`, and nothing that can be seen from outside.

/// Byte strings of 1 to 255 bytes as dense 32-bit handles, and back.
///
/// Made for millions of account names: about 20 bytes for a name and its bytes.
/// A handle that was removed is the next one given.
public struct NameTable: ~Copyable {
    struct Slot {
        var hash: UInt32
        /// `Slot.vacant` where the slot is empty.
        var handle: UInt32

        static let vacant = UInt32.max
    }

    /// A part of the slots, with the names whose hashes have the same highest bits.
    struct Part {
        var slots: [Slot] = []
        /// How many of them are filled.
        var count = 0
    }

    static let partBits: UInt32 = 10
    /// Slots above which they are in parts.
    static let slotsInOneMax = 16 * 1_024
    /// Slots up to which one of many parts doubles; the only one doubles until it is divided.
    static let slotsDoublingLimit = 64

    /// By handle; a free entry has length 0, and the next free handle for its unit.
    var entries = ChunkedArray<SlabRef>()
    var parts = [Part()]
    /// How many of the highest bits of a hash say its part.
    var bitsOfPart: UInt32 = 0
    /// The most names that a call has moved; for tests.
    var movedMax = 0
    var slab: ByteSlab
    var freeHead: UInt32
    let hasher: SipHash13

    /// How many names there are.
    public internal(set) var count: Int

    /// The most bytes that a name may have.
    public static var byteCountMax: Int { ByteSlab.byteCountMax }

    /// Makes an empty table; `seed` should be secret if clients choose the names.
    public init(seed: UInt64) {
        slab = ByteSlab()
        freeHead = Slot.vacant
        hasher = SipHash13(seed: seed)
        count = 0
    }

    /// The handle of a name of 1 to 255 bytes, which is added if it is new.
    ///
    /// - Complexity: O(1), amortised where the table grows.
    public mutating func intern(_ bytes: borrowing Span<UInt8>) -> UInt32 {
        precondition(!bytes.isEmpty && bytes.count <= Self.byteCountMax, "not a name's length")
        let hash = hash(of: bytes)
        if let handle = find(bytes, hash: hash) { return handle }
        growIfFull(for: hash)
        let handle = addEntry(slab.insert(bytes))
        occupy(Slot(hash: hash, handle: handle))
        count += 1
        return handle
    }

    /// The handle of a name; nil where it is not there, whatever its length.
    ///
    /// - Complexity: O(1).
    public func find(_ bytes: borrowing Span<UInt8>) -> UInt32? {
        guard !bytes.isEmpty && bytes.count <= Self.byteCountMax else { return nil }
        return find(bytes, hash: hash(of: bytes))
    }

    /// Forgets a name; its handle will be given to another.
    ///
    /// - Complexity: O(1).
    public mutating func remove(_ handle: UInt32) {
        let ref = ref(of: handle)
        vacate(handle, hash: hash(of: ref))
        slab.remove(ref)
        entries[Int(handle)] = SlabRef(unit: freeHead, length: 0)
        freeHead = handle
        count -= 1
    }

    /// Appends a name's bytes to an array.
    public func append(_ handle: UInt32, to bytes: inout [UInt8]) {
        slab.append(ref(of: handle), to: &bytes)
    }

    /// A name's bytes in an array of their own: allocates, so not for hot paths.
    public func bytes(of handle: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        append(handle, to: &bytes)
        return bytes
    }

    /// How many bytes a name has.
    public func byteCount(of handle: UInt32) -> Int {
        Int(ref(of: handle).length)
    }

    /// Whether a handle names something at present; any number may be asked.
    public func contains(_ handle: UInt32) -> Bool {
        Int(handle) < entries.count && entries[Int(handle)].length > 0
    }

    /// Whether a name has exactly these bytes.
    public func equals(_ handle: UInt32, _ bytes: borrowing Span<UInt8>) -> Bool {
        slab.equals(ref(of: handle), bytes)
    }

    /// A number that two names have in common once in four billion times: 32 bits of a hash that is
    /// keyed by the seed.
    ///
    /// - Complexity: O(length).
    public func fingerprint(of handle: UInt32) -> UInt32 {
        hash(of: ref(of: handle))
    }

    /// The same of a name that may have no handle.
    public func fingerprint(of name: borrowing Span<UInt8>) -> UInt32 { hash(of: name) }

    /// Whether the first name precedes the second, byte by byte.
    public func precedes(_ first: UInt32, _ second: UInt32) -> Bool {
        slab.precedes(ref(of: first), ref(of: second))
    }

    /// All handles, past and present, are below this.
    public var handleUpperBound: UInt32 { UInt32(entries.count) }

    /// The bytes that the table holds on the heap, as the allocator rounded them: not replayable.
    public var bytesReserved: Int {
        entries.bytesReserved + slab.bytesReserved
            + parts.reduce(parts.heapBytes) { $0 + $1.slots.heapBytes }
    }
}
