/// Many names in two allocations: their bytes end to end, and where each one ends.
///
/// A request names up to 100 publishers; an array of arrays would cost an allocation
/// for each of them. Iterating gives the range of each name within `bytes`.
public struct PackedNames: Sendable, Equatable {
    /// The bytes of all names, one after the other, with nothing between them.
    public private(set) var bytes: [UInt8] = []
    private var ends: [UInt32] = []

    /// Creates an empty list.
    public init() {}

    /// Creates an empty list with room for `nameCount` names of `byteCount` bytes in all.
    public init(reservingNames nameCount: Int, bytes byteCount: Int) {
        bytes.reserveCapacity(byteCount)
        ends.reserveCapacity(nameCount)
    }

    /// Creates a list of the names given.
    public init(_ names: some Sequence<[UInt8]>) {
        for name in names {
            append(name)
        }
    }

    /// Appends one name.
    public mutating func append(_ name: [UInt8]) {
        bytes.append(contentsOf: name)
        close()
    }

    /// Appends one name.
    public mutating func append(_ name: ArraySlice<UInt8>) {
        bytes.append(contentsOf: name)
        close()
    }

    /// Appends one name.
    public mutating func append(_ name: Span<UInt8>) {
        unsafe name.withUnsafeBufferPointer { buffer in
            unsafe bytes.append(contentsOf: buffer)
        }
        close()
    }

    /// Returns all names, and keeps the memory for the next ones.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    private mutating func close() {
        precondition(bytes.count <= Int(UInt32.max), "a name list holds at most 4 GiB")
        ends.append(UInt32(bytes.count))
    }
}

extension PackedNames: RandomAccessCollection {
    /// The index of the first name: 0.
    public var startIndex: Int { 0 }

    /// The number of names.
    public var endIndex: Int { ends.count }

    /// The range within `bytes` of the name at `index`.
    public subscript(index: Int) -> Range<Int> {
        let start = index == 0 ? 0 : Int(ends[index - 1])
        return start..<Int(ends[index])
    }
}
