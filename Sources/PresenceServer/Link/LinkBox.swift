import Synchronization

/// What crosses between the engine host and a loop on another thread.
///
/// Each direction is a list behind a lock, taken as a whole, and a wake-up when it was empty. What
/// is handed over is never changed afterwards, and stays in order.
final class LinkBox: Sendable {
    private struct Direction<Turn: Sendable>: Sendable {
        var waiting: [Turn] = []
        /// Nobody takes anything any more.
        var isClosed = false

        /// Adds a turn; nil if the direction is closed, else whether its reader must be woken.
        mutating func add(_ turn: consuming Turn) -> Bool? {
            guard !isClosed else { return nil }
            waiting.append(turn)
            return waiting.count == 1
        }

        mutating func take() -> [Turn] {
            defer { waiting = [] }
            return waiting
        }
    }

    /// The index among all loops of the engine host.
    let loop: Int
    private let up = Mutex(Direction<Inbound>())
    private let down = Mutex(Direction<Outbound>())
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

    /// Takes what there is for the loop, in order.
    func takeOutbound() -> [Outbound] { down.withLock { $0.take() } }

    // MARK: The engine host's thread

    /// Takes what the loop has handed over, in order.
    func takeInbound() -> [Inbound] { up.withLock { $0.take() } }

    /// Hands over what there is for the loop.
    func hand(_ outbound: Outbound) {
        if down.withLock({ $0.add(outbound) }) == true { wakeLoop() }
    }

    /// The engine host has ended: takes nothing more. What it has handed over can still be taken.
    func close() {
        up.withLock { $0 = Direction(isClosed: true) }
        wakeLoop()
    }
}
