extension Array {
    /// Removes all elements and keeps the memory.
    ///
    /// For buffers that are cleared often and mostly empty: `removeAll(keepingCapacity:)` looks up
    /// who owns the buffer, and replaces its elements, also if there are none.
    @inlinable
    public mutating func clear() {
        guard !isEmpty else { return }
        removeAll(keepingCapacity: true)
    }
}
