public import PresenceStore
public import PresenceWire
import Synchronization

/// The positions of the readers within this process, webhooks and Web Push. They are rows of the
/// database, so that they are those of what is read, also after a restore elsewhere.
///
/// Any thread. The engine knows nothing of them.
public final class StoredReaders: Sendable {
    private struct State {
        var rows: [[UInt8]: ReaderRow]
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var ticketCount: UInt64 = 0
        var isClosed = false
    }

    /// The position of a reader of what is undelivered that begins with this start of the service.
    public let newest: FeedCursor
    private let store: Store
    private let state: Mutex<State>

    /// The readers of a store that is not started.
    init(_ store: Store) throws(StoreFileError) {
        let (rows, identity, sequence) = try store.readers()
        self.store = store
        newest = FeedCursor(
            epoch: UInt64(bitPattern: identity), seq: UInt64(clamping: sequence))
        state = Mutex(State(rows: Dictionary(rows.map { ($0.name, $0) }) { $1 }))
    }

    /// The names of the readers that were stored at the start and have not been taken.
    public var names: [[UInt8]] { state.withLock { Array($0.rows.keys) } }

    /// Takes what was stored of a reader at the start; nil: nothing was.
    public func take(_ name: [UInt8]) -> ReaderRow? {
        state.withLock { $0.rows.removeValue(forKey: name) }
    }

    /// Moves a reader. Returns whether that is durable; otherwise nothing of it has changed.
    public func move(_ move: ReaderMove) async -> Bool {
        await write(.moveReader(move))
    }

    /// Forgets a reader. Returns whether that is durable.
    public func remove(_ name: [UInt8]) async -> Bool {
        await write(.removeReader(name: name))
    }

    private func write(_ write: Write) async -> Bool {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                guard !state.isClosed else { return true }
                state.ticketCount += 1
                state.waiting[state.ticketCount] = continuation
                let ticket = StoreTicket(state.ticketCount, of: .reader)
                store.submit([Submission(ticket: ticket, write: write)])
                return false
            }
            if isClosed { continuation.resume(returning: false) }
        }
    }

    /// Takes the outcomes of its writes. Returns the others.
    func take(_ outcomes: [Outcome]) -> [Outcome] {
        guard outcomes.contains(where: { $0.ticket.kind == .reader }) else { return outcomes }
        for outcome in outcomes where outcome.ticket.kind == .reader {
            let continuation = state.withLock {
                $0.waiting.removeValue(forKey: outcome.ticket.number)
            }
            continuation?.resume(returning: outcome.result == .committed)
        }
        return outcomes.filter { $0.ticket.kind != .reader }
    }

    /// The store is about to stop: nothing moves any longer. What was asked is still reported.
    func close() { state.withLock { $0.isClosed = true } }
}
