extension RandomAccessCollection {
    /// The index of the first element that does not belong to the beginning; `endIndex` if all do.
    ///
    /// All elements that belong to it must precede those that do not. It can be inlined into other
    /// modules, where it costs as much as a loop.
    /// - Complexity: O(log n)
    @inlinable
    public func partitionPoint(where belongsToBeginning: (Element) -> Bool) -> Index {
        var low = startIndex
        var rest = count
        while rest > 0 {
            let half = rest / 2
            let middle = index(low, offsetBy: half)
            if belongsToBeginning(self[middle]) {
                low = index(after: middle)
                rest -= half + 1
            } else {
                rest = half
            }
        }
        return low
    }
}
