extension Sequence {
    /// The `count` greatest elements of those that are wanted, the greatest first; of equal ones
    /// those that come first.
    ///
    /// Holds `count` elements at a time, and asks only of the greatest whether they are wanted.
    /// O(n) unless many are greater than nearly all before them.
    @inlinable
    public func greatest(
        _ count: Int, where isWanted: (Element) -> Bool = { _ in true },
        by isLess: (Element, Element) -> Bool
    ) -> [Element] {
        var kept: [Element] = []
        guard count > 0 else { return kept }
        for element in self {
            if kept.count == count, !isLess(kept[count - 1], element) { continue }
            guard isWanted(element) else { continue }
            if kept.count == count { kept.removeLast() }
            kept.insert(element, at: kept.partitionPoint { !isLess($0, element) })
        }
        return kept
    }
}
