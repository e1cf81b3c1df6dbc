extension ByteSlab {
    /// Whether the first string precedes the second, byte by byte.
    func precedes(_ first: SlabRef, _ second: SlabRef) -> Bool {
        let places = (place(of: first), place(of: second))
        guard let first = places.0, let second = places.1 else {
            return places.0 == nil && places.1 != nil
        }
        let firstBytes = arenas[first.arena].chunks[first.chunk].bytes
        let secondBytes = arenas[second.arena].chunks[second.chunk].bytes
        for offset in 0..<min(first.range.count, second.range.count) {
            let left = firstBytes[first.range.lowerBound + offset]
            let right = secondBytes[second.range.lowerBound + offset]
            guard left == right else { return left < right }
        }
        return first.range.count < second.range.count
    }
}
