/// A set of connection loops, by their indices, which are below 64.
struct LoopSet: Equatable, Sendable, ExpressibleByArrayLiteral {
    private var bits: UInt64 = 0

    init() {}

    init(_ loops: some Sequence<Int>) {
        for loop in loops { insert(loop) }
    }

    init(arrayLiteral loops: Int...) {
        self.init(loops)
    }

    var isEmpty: Bool { bits == 0 }
    var count: Int { bits.nonzeroBitCount }

    /// Whether a loop is in it; never one in process, whose index may be 64 or more.
    @inline(__always)
    func contains(_ loop: Int) -> Bool { bits & 1 << UInt64(loop) != 0 }

    mutating func insert(_ loop: Int) {
        precondition((0..<64).contains(loop), "a loop with the index \(loop)")
        bits |= 1 << UInt64(loop)
    }

    mutating func remove(_ loop: Int) { bits &= ~(1 << UInt64(loop)) }

    func union(_ other: LoopSet) -> LoopSet {
        var both = self
        both.bits |= other.bits
        return both
    }
}
