import PresenceCore

/// How far the connection loops are behind the engine host, and what follows from that.
///
/// A loop that is full keeps the engine host from taking input: so the engine does not run ahead of
/// the writes, as on one thread. A loop that has something to release and has ended no turn for a
/// while is stuck: large fan-outs do not wait for it any longer. If it is full, too, it is stalled:
/// nothing waits for it until it has caught up, and its connections miss events. A loop that is
/// stuck or stalled gets no new connections.
struct LoopBacklogs {
    /// From here on a loop is full.
    static let turnsMax = 64
    static let bytesMax = 4 << 20
    /// With more turns, large fan-outs wait: their slices stand between requests and responses. One
    /// slice is carried out while the next one waits.
    static let turnsBesideFanOuts = 1
    /// A loop that has ended no turn for this time is stuck. With 20,000 connections that all have
    /// something to write, a turn takes 20 ms.
    static let stallMilliseconds: UInt64 = 500
    /// If the engine host measures later than that by this time, it may not have run either: the
    /// whole process was suspended, and the loop is given the same time again, once.
    static let lateMilliseconds: UInt64 = 100

    private struct State {
        var backlog = LinkBox.Backlog()
        /// Since when it has had something to release and has ended no turn.
        var waitingSince: Mono?
        /// Whether it was given the time again, because the process was suspended.
        var hadMoreTime = false
        var isStuck = false
        var isStalled = false

        private var unreleased: LinkBox.Amount { backlog.unreleased }

        var isFull: Bool { unreleased.turns >= turnsMax || unreleased.bytes >= bytesMax }

        var holdsFanOuts: Bool { unreleased.turns > turnsBesideFanOuts }

        /// Whether a stalled loop has made up for it. It is not waited for until it has
        /// released everything, since under load that may never be.
        var hasCaughtUp: Bool {
            unreleased.turns <= turnsMax / 2 && unreleased.bytes <= bytesMax / 2
        }

        mutating func note(_ new: LinkBox.Backlog, at now: Mono) {
            let hasWorked = new.endedTurns != backlog.endedTurns
            backlog = new
            if unreleased.turns == 0 {
                waitingSince = nil
            } else if hasWorked || waitingSince == nil {
                (waitingSince, hadMoreTime) = (now, false)
            } else if !hadMoreTime, !isStuck, isMeasuredLate(at: now) {
                (waitingSince, hadMoreTime) = (now, true)
            }
            isStuck = stuckFrom.map { $0 <= now } ?? false
        }

        private func isMeasuredLate(at now: Mono) -> Bool {
            guard let stuckFrom else { return false }
            return stuckFrom.advanced(byMilliseconds: lateMilliseconds) <= now
        }

        var stuckFrom: Mono? {
            waitingSince?.advanced(byMilliseconds: stallMilliseconds)
        }
    }

    private var loops: [State]
    private(set) var stalled: LoopSet = []
    /// Loops that are stuck or stalled: they get no new connections.
    private(set) var unresponsive: LoopSet = []

    init(loops count: Int) {
        loops = Array(repeating: State(), count: count)
    }

    /// Notes how far a loop is behind now. Returns whether it became stalled, or is so no longer.
    mutating func note(_ backlog: LinkBox.Backlog, of index: Int, at now: Mono) -> Bool {
        loops[index].note(backlog, at: now)
        let state = loops[index]
        let changes =
            state.isStalled ? !state.isStuck && state.hasCaughtUp : state.isStuck && state.isFull
        if changes {
            loops[index].isStalled.toggle()
            if loops[index].isStalled { stalled.insert(index) } else { stalled.remove(index) }
        }
        let isUnresponsive = loops[index].isStuck || loops[index].isStalled
        if isUnresponsive { unresponsive.insert(index) } else { unresponsive.remove(index) }
        return changes
    }

    /// By loop: what it had released when it was measured.
    var releasedTurns: [Int] { loops.map(\.backlog.releasedTurns) }

    /// Whether the engine host may take input.
    var mayTakeInput: Bool { loops.allSatisfy { !$0.isFull || $0.isStalled } }

    /// Whether slices of large fan-outs may follow. Those for a loop that is stuck make it full in
    /// the end, and then it is stalled: so what waits for it is bounded.
    var mayContinueFanOuts: Bool {
        loops.allSatisfy { $0.isStalled || $0.isStuck || !$0.holdsFanOuts }
    }

    /// When a loop that is waited for may have to be counted as stuck.
    func nextDeadline(holdingFanOuts: Bool) -> Mono? {
        loops.filter {
            !$0.isStalled && !$0.isStuck && ($0.isFull || holdingFanOuts && $0.holdsFanOuts)
        }.compactMap(\.stuckFrom).min()
    }
}
