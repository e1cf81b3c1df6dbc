/// What an allocated array costs besides its elements: object header, count and capacity.
let arrayHeaderBytes = 32

extension Array {
    /// Makes room for `additional` elements, doubling up to `doublingLimit`, then by an eighth.
    ///
    /// By default an array doubles, so that a slab of ten million entries may hold ten
    /// million more that are not used. An eighth wastes at most 12.5 % and costs about eight
    /// moves for each element over its life.
    mutating func reserveGrowth(of additional: Int, doublingLimit: Int) {
        precondition(additional >= 0 && doublingLimit > 0)
        let needed = count + additional
        let present = capacity
        guard needed > present else { return }
        let step = present < doublingLimit ? present : present / 8
        reserveCapacity(Swift.max(needed, present + step))
        precondition(capacity >= needed)
    }

    /// Makes room for one more element, an eighth at a time once there are `countMin`.
    ///
    /// Doubling would leave a third of a large array unused on average.
    @inlinable
    public mutating func reserveEighth(from countMin: Int = 1_024) {
        guard count == capacity, count >= countMin else { return }
        reserveCapacity(count + Swift.max(1, count / 8))
    }

    /// The same elements in memory that has room for them alone.
    ///
    /// `Array(self)` would share the memory. O(count).
    @inlinable
    public func fitted() -> [Element] {
        var fitted: [Element] = []
        fitted.reserveCapacity(count)
        fitted.append(contentsOf: self)
        return fitted
    }

    /// The bytes that this array holds on the heap, unused capacity included.
    ///
    /// A capacity includes what the allocator happened to round up, so this is a figure to be
    /// shown, and not the same in every run: nothing that must replay may depend on it.
    var heapBytes: Int {
        capacity == 0 ? 0 : capacity * MemoryLayout<Element>.stride + arrayHeaderBytes
    }
}
