/// An array in chunks that never move, so that no growth takes long, however long it is.
///
/// A Swift array that is full is copied as a whole: 141 ms for 1.5 million elements of 88 bytes,
/// for which everything else waits. Here an element that is appended moves none but those of the
/// first chunk, while it is the only one. Access costs one more load.
public struct ChunkedArray<Element>: RandomAccessCollection, MutableCollection {
    @usableFromInline var chunks: [[Element]] = []
    @usableFromInline var total = 0

    /// The elements of a chunk: a power of two.
    @inlinable static var chunkCount: Int { 1 << chunkBits }
    @inlinable static var chunkBits: Int { 10 }

    /// An array without elements.
    @inlinable public init() {}

    /// The number of elements.
    @inlinable public var count: Int { total }
    /// The first index.
    @inlinable public var startIndex: Int { 0 }
    /// The index after the last one.
    @inlinable public var endIndex: Int { total }

    /// The element at an index, which must be valid.
    @inlinable public subscript(index: Int) -> Element {
        get { chunks[index &>> Self.chunkBits][index & (Self.chunkCount - 1)] }
        _modify { yield &chunks[index &>> Self.chunkBits][index & (Self.chunkCount - 1)] }
    }

    /// Adds an element at the end. O(1); while there is one chunk, amortised.
    @inlinable public mutating func append(_ element: Element) {
        let chunk = total >> Self.chunkBits
        if chunk == chunks.count {
            var new: [Element] = []
            // A table with few elements takes little memory.
            if chunk > 0 { new.reserveCapacity(Self.chunkCount) }
            chunks.append(new)
        }
        chunks[chunk].append(element)
        total += 1
    }

    /// Removes the last element; nil if it is empty. Its memory is used again. O(1).
    @inlinable public mutating func popLast() -> Element? {
        guard total > 0 else { return nil }
        total -= 1
        return chunks[total >> Self.chunkBits].removeLast()
    }

    /// The bytes that the array holds on the heap, as the allocator rounded them: not replayable.
    ///
    /// - Complexity: O(chunks).
    public var bytesReserved: Int {
        chunks.reduce(chunks.heapBytes) { $0 + $1.heapBytes }
    }
}

extension ChunkedArray: Sendable where Element: Sendable {}
