import PresenceCore

/// How far the connection loops are behind the engine host, and what follows from that.
///
/// A loop that is full keeps the engine host from taking input: so the engine does not run ahead of
/// the writes, as on one thread. A loop that the engine host waits for and that has ended no turn
/// for a while is *stalled*: nothing waits for it until it has caught up, it gets no new
/// connections, and its connections miss events. Messages that must not be lost are handed to it
/// all the same, as many as a client that does not read may have in its outbox; a connection for
/// which there are more is given up.
struct StalledLoops: Sendable {
    /// From here on a loop is full.
    static let turnsMax = 64
    static let bytesMax = 4 << 20
    /// With more turns, large fan-outs wait, since their slices delay responses. One slice is
    /// carried out while the next one waits.
    static let turnsBesideFanOuts = 1
    /// A loop that has ended no turn for this time is stalled if it is waited for. With 20,000
    /// connections that all have something to write, a turn takes 20 ms.
    static let stallMilliseconds: UInt64 = 500

    /// The most bytes that wait for a stalled loop.
    struct Limits {
        let perConnection: Int
        let perLoop: Int
    }

    /// What becomes of a message that must not be lost.
    enum Verdict {
        case waits
        /// There is too much: the connection is to be closed.
        case closes
        /// The connection is to be closed already.
        case dropped
    }

    private struct State: Sendable {
        var backlog = LinkBox.Backlog()
        /// Since when it has had something to release and has ended no turn.
        var waitingSince: Mono?
        /// What waits for its connections while it is stalled, in all and of each; nil: the
        /// connection is to be closed.
        var bytesKept = 0
        var bytesKeptByConnection: [ConnectionID: Int?] = [:]

        private var unreleased: LinkBox.Amount { backlog.unreleased }

        var isFull: Bool { unreleased.turns >= turnsMax || unreleased.bytes >= bytesMax }

        func isWaitedFor(holdingFanOuts: Bool) -> Bool {
            isFull || holdingFanOuts && unreleased.turns > turnsBesideFanOuts
        }

        /// Whether a stalled loop has made up for it. It is not waited for until it has
        /// released everything, since under load that may never be.
        var hasCaughtUp: Bool {
            unreleased.turns <= turnsMax / 2 && unreleased.bytes <= bytesMax / 2
        }

        var stallsFrom: Mono? { waitingSince?.advanced(byMilliseconds: stallMilliseconds) }

        mutating func note(_ new: LinkBox.Backlog, at now: Mono) {
            let hasWorked = new.endedTurns != backlog.endedTurns
            backlog = new
            if unreleased.turns == 0 {
                waitingSince = nil
            } else if hasWorked || waitingSince == nil {
                waitingSince = now
            }
        }
    }

    private var states: [State]
    /// The stalled loops.
    private(set) var loops: LoopSet = []
    /// Whether large fan-outs are in progress that have to wait for loops.
    var isHoldingFanOuts = false

    init(loops count: Int) {
        states = Array(repeating: State(), count: count)
    }

    /// Notes how far a loop is behind now. Returns whether it became stalled, or is so no longer.
    mutating func note(_ backlog: LinkBox.Backlog, of index: Int, at now: Mono) -> Bool {
        states[index].note(backlog, at: now)
        let state = states[index]
        let isSilent = state.stallsFrom.map { $0 <= now } ?? false
        if loops.contains(index) {
            guard !isSilent, state.hasCaughtUp else { return false }
            loops.remove(index)
            (states[index].bytesKept, states[index].bytesKeptByConnection) = (0, [:])
        } else {
            guard isSilent, state.isWaitedFor(holdingFanOuts: isHoldingFanOuts) else {
                return false
            }
            loops.insert(index)
        }
        return true
    }

    /// Does not count this time, in which the process may have been suspended.
    mutating func skip(milliseconds: UInt64) {
        for index in states.indices where !loops.contains(index) {
            states[index].waitingSince = states[index].waitingSince?.advanced(
                byMilliseconds: milliseconds)
        }
    }

    /// Adds a message for a connection of a stalled loop, with `byteCount` bytes in its outbox.
    mutating func keep(
        _ byteCount: Int, for connection: ConnectionID, ofLoop loop: Int, within limits: Limits
    ) -> Verdict {
        precondition(loops.contains(loop), "bytes for a loop that is not stalled")
        let known: Int? = states[loop].bytesKeptByConnection[connection] ?? .some(0)
        guard let before = known else { return .dropped }
        let inLoop = states[loop].bytesKept + byteCount
        guard before + byteCount <= limits.perConnection, inLoop <= limits.perLoop else {
            states[loop].bytesKeptByConnection[connection] = .some(nil)
            return .closes
        }
        states[loop].bytesKeptByConnection[connection] = before + byteCount
        states[loop].bytesKept = inLoop
        return .waits
    }

    /// By loop: what it had released when it was measured.
    var releasedTurns: [Int] { states.map(\.backlog.releasedTurns) }

    /// Whether the engine host may take input.
    var mayTakeInput: Bool { areReleased { $0.isFull } }

    /// Whether slices of large fan-outs may follow.
    var mayContinueFanOuts: Bool { areReleased { $0.isWaitedFor(holdingFanOuts: true) } }

    private func areReleased(_ isWaitedFor: (State) -> Bool) -> Bool {
        states.indices.allSatisfy { !isWaitedFor(states[$0]) || loops.contains($0) }
    }

    /// When a loop that is waited for may become stalled.
    var nextDeadline: Mono? {
        states.indices.filter {
            !loops.contains($0) && states[$0].isWaitedFor(holdingFanOuts: isHoldingFanOuts)
        }.compactMap { states[$0].stallsFrom }.min()
    }
}
