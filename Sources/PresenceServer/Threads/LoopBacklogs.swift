import PresenceCore

/// How far the connection loops are behind the engine host, and what follows from that.
///
/// A loop that is full keeps the engine host from taking input: so the engine does not run ahead of
/// the writes, as on one thread. A full loop that has released nothing for a while stands still. It
/// is not waited for until it has released everything: its connections miss events meanwhile, and
/// it gets no new connections.
struct LoopBacklogs {
    /// From here on a loop is full.
    static let turnsMax = 64
    static let bytesMax = 4 << 20
    /// With more turns, large fan-outs wait: their slices stand between requests and responses.
    static let turnsBesideFanOuts = 2
    /// A full loop that has released nothing for so long stands still. A turn of a loop writes at
    /// most `LoopDriver.outputBytesPerTurn`, which takes less than 100 ms.
    static let standstillMilliseconds: UInt64 = 500

    private struct State {
        var unreleased = LinkBox.Load()
        var releasedTurns = 0
        /// When it became full, or was full and released something.
        var fullSince: Mono?
        var isStill = false
    }

    private var loops: [State]
    /// The loops that stand still, a bit for each.
    private(set) var still: UInt64 = 0

    init(loops count: Int) {
        loops = Array(repeating: State(), count: count)
    }

    /// Notes what a loop has not released now. Returns whether it has begun or ceased to stand
    /// still.
    mutating func note(
        _ unreleased: LinkBox.Load, releasedTurns: Int, of index: Int, at now: Mono
    ) -> Bool {
        let hasReleased = releasedTurns != loops[index].releasedTurns
        loops[index].unreleased = unreleased
        loops[index].releasedTurns = releasedTurns
        let isFull = unreleased.turns >= Self.turnsMax || unreleased.bytes >= Self.bytesMax
        if loops[index].isStill {
            guard unreleased.turns == 0 else { return false }
            loops[index] = State(releasedTurns: releasedTurns)
            still &= ~(1 << UInt64(index))
            return true
        }
        guard isFull else {
            loops[index].fullSince = nil
            return false
        }
        guard let since = loops[index].fullSince, !hasReleased else {
            loops[index].fullSince = now
            return false
        }
        guard since.advanced(byMilliseconds: Self.standstillMilliseconds) <= now else {
            return false
        }
        loops[index].isStill = true
        still |= 1 << UInt64(index)
        return true
    }

    /// By loop: what it had released when it was measured.
    var releasedTurns: [Int] { loops.map(\.releasedTurns) }

    /// Whether the engine host may take input.
    var mayTakeInput: Bool { loops.allSatisfy { $0.fullSince == nil || $0.isStill } }

    /// Whether slices of large fan-outs may follow.
    var mayContinueFanOuts: Bool {
        loops.allSatisfy { $0.isStill || $0.unreleased.turns <= Self.turnsBesideFanOuts }
    }

    /// When a full loop may have to be counted as standing still.
    var nextDeadline: Mono? {
        loops.compactMap { $0.isStill ? nil : $0.fullSince }.min()?
            .advanced(byMilliseconds: Self.standstillMilliseconds)
    }
}
