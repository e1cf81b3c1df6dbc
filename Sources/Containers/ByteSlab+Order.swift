extension ByteSlab {
    /// Whether the first string precedes the second, byte by byte.
    func precedes(_ first: SlabRef, _ second: SlabRef) -> Bool {
        let firstRange = range(of: first)
        let secondRange = range(of: second)
        let shorter = min(firstRange.count, secondRange.count)
        guard shorter > 0 else { return firstRange.count < secondRange.count }
        let firstBytes = arenas[SizeClass(byteCount: firstRange.count).index].bytes
        let secondBytes = arenas[SizeClass(byteCount: secondRange.count).index].bytes
        for offset in 0..<shorter {
            let left = firstBytes[firstRange.lowerBound + offset]
            let right = secondBytes[secondRange.lowerBound + offset]
            guard left == right else { return left < right }
        }
        return firstRange.count < secondRange.count
    }
}
