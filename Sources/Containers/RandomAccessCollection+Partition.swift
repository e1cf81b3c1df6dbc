extension RandomAccessCollection {
    /// The first place whose element does not belong to the beginning; `endIndex`: all do.
    ///
    /// Those that belong to it must all stand before those that do not. May be inlined into other
    /// rooms, where it costs what a loop that is written out there does.
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
