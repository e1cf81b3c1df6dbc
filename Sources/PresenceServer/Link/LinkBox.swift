import Connections
import EventLoop

/// What crosses between the engine host and a loop on another thread.
///
/// Each direction is a list behind a lock, taken as a whole, and a wake-up when it was empty. What
/// is handed over is never changed afterwards, and stays in order.
///
/// The box also knows how much of what was handed to the loop has not been written: a loop releases
/// what it has taken when it has written what follows from it.
final class LinkBox: Sendable {
    /// An amount of output.
    struct Amount: Equatable, Sendable {
        var turns = 0
        var bytes = 0

        static func += (amount: inout Self, other: Self) {
            amount.turns += other.turns
            amount.bytes += other.bytes
        }

        static func -= (amount: inout Self, other: Self) {
            amount.turns -= other.turns
            amount.bytes -= other.bytes
        }
    }

    /// How far a loop is behind, and what it has done so far.
    struct Backlog: Equatable, Sendable {
        /// Handed over and not released.
        var unreleased = Amount()
        /// Turns of the engine host that it has released.
        var releasedTurns = 0
        /// Turns of its own that it has ended.
        var endedTurns = 0
    }

    /// From the loop to the engine host.
    private struct Up: Sendable {
        var waiting: [Inbound] = []
        /// The engine host has ended, and takes nothing more.
        var isClosed = false

        /// Adds a turn; nil if the direction is closed, else whether its reader must be woken.
        mutating func add(_ turn: consuming Inbound) -> Bool? {
            guard !isClosed else { return nil }
            waiting.append(turn)
            return waiting.count == 1
        }

        mutating func take() -> [Inbound] {
            defer { waiting = [] }
            return waiting
        }
    }

    /// From the engine host to the loop.
    private struct Down: Sendable {
        var waiting: [(turn: SealedOutbound, bytes: Int)] = []
        var backlog = Backlog()
        /// Taken in this turn of the loop.
        var taken = Amount()
        /// Taken in earlier turns and not released, in order, and when each is written.
        var unwritten: [(amount: Amount, writtenAt: Int)] = []
        /// The engine host is woken by the next release.
        var isHostWaiting = false

        /// Takes turns until they have as many bytes, at least one.
        mutating func take(bytesMax: Int) -> [SealedOutbound] {
            var amount = Amount()
            while amount.turns < waiting.count, amount.turns == 0 || amount.bytes < bytesMax {
                amount += Amount(turns: 1, bytes: waiting[amount.turns].bytes)
            }
            taken += amount
            let turns = waiting[..<amount.turns].map { $0.turn }
            waiting.removeFirst(amount.turns)
            return turns
        }

        /// Releases what was taken and has been written. Returns whether the engine host must be
        /// woken.
        mutating func release(_ progress: WriteProgress) -> Bool {
            if taken.turns > 0 { unwritten.append((taken, writtenAt: progress.queued)) }
            taken = Amount()
            let written = unwritten.prefix { $0.writtenAt <= progress.written }
            guard !written.isEmpty else { return false }
            for (amount, _) in written {
                backlog.unreleased -= amount
                backlog.releasedTurns += amount.turns
            }
            unwritten.removeFirst(written.count)
            defer { isHostWaiting = false }
            return isHostWaiting
        }
    }

    /// The index among all loops of the engine host.
    let loop: Int
    private let up = Guarded(Up())
    private let down = Guarded(Down())
    private let wakeHost: @Sendable () -> Void
    private let wakeLoop: @Sendable () -> Void

    /// The wake-ups are called by any thread, outside the locks. Several calls may become one.
    init(
        loop: Int, wakeHost: @escaping @Sendable () -> Void,
        wakeLoop: @escaping @Sendable () -> Void
    ) {
        self.loop = loop
        self.wakeHost = wakeHost
        self.wakeLoop = wakeLoop
    }

    // MARK: The loop's thread

    /// Hands over what the loop has, and empties the buffer. False: the engine host has ended.
    @discardableResult
    func hand(_ inbound: inout Inbound) -> Bool {
        guard !inbound.isEmpty else { return true }
        let turn = inbound
        inbound = Inbound()
        guard let isFirst = up.withLock({ $0.add(turn) }) else { return false }
        if isFirst { wakeHost() }
        return true
    }

    /// Whether the engine host has ended. What it has handed over can still be taken.
    var isClosed: Bool { up.withLock { $0.isClosed } }

    /// Takes the pending output for the loop, in order, and releases it.
    func takeAndReleaseOutbound() -> [SealedOutbound] {
        let nothingQueued = WriteProgress(queued: 0, written: 0)
        let (turns, isHostWaiting) = down.withLock {
            ($0.take(bytesMax: .max), $0.release(nothingQueued))
        }
        if isHostWaiting { wakeHost() }
        return turns
    }

    /// Takes turns for the loop until they have as many bytes, in order; `release` follows. When
    /// more is left, the loop is woken again.
    func takeOutbound(bytesMax: Int) -> [SealedOutbound] {
        let (turns, isMore) = down.withLock { down in
            let turns = down.take(bytesMax: bytesMax)
            return (turns, !down.waiting.isEmpty)
        }
        if isMore { wakeLoop() }
        return turns
    }

    /// The loop's turn has ended: what it has taken is written when what is queued now is.
    func release(_ progress: WriteProgress) {
        let isHostWaiting = down.withLock { down in
            down.backlog.endedTurns += 1
            return down.release(progress)
        }
        if isHostWaiting { wakeHost() }
    }

    // MARK: The engine host's thread

    /// Takes what the loop has handed over, in order.
    func takeInbound() -> [Inbound] { up.withLock { $0.take() } }

    /// Hands output to the loop.
    func hand(_ outbound: SealedOutbound) {
        let bytes = outbound.byteCount
        let isFirst = down.withLock { down in
            down.waiting.append((outbound, bytes))
            down.backlog.unreleased += Amount(turns: 1, bytes: bytes)
            return down.waiting.count == 1
        }
        if isFirst { wakeLoop() }
    }

    /// How far the loop is behind now.
    func backlog() -> Backlog { down.withLock { $0.backlog } }

    /// Has the engine host woken by the next release. Returns false if the loop has released more
    /// than `releasedTurns` by now: that release is not waited for.
    func awaitRelease(after releasedTurns: Int) -> Bool {
        down.withLock { down in
            guard down.backlog.releasedTurns == releasedTurns else { return false }
            down.isHostWaiting = true
            return true
        }
    }

    /// The engine host has ended: takes nothing more. What it has handed over can still be taken.
    func close() {
        up.withLock { $0 = Up(isClosed: true) }
        wakeLoop()
    }
}
