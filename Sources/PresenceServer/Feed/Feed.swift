import PresenceCore
import PresenceWire

/// The feed while it is on: its ring, its readers, and when it is looked after.
struct Feed {
    var log: FeedLog
    /// In no order; there are a few dozen at most.
    private(set) var readers: [FeedReader] = []
    /// When `check` is to be called next.
    private(set) var checkAt: Mono
    /// When the last reader left; out of date while there are readers.
    private var unreadSince: Mono

    init(_ log: FeedLog, at now: Mono) {
        self.log = log
        unreadSince = now
        checkAt = now
        scheduleCheck(after: now)
    }

    // MARK: Readers

    /// The index in `readers` of the reader on a connection.
    func place(of connection: ConnectionID) -> Int? {
        readers.firstIndex { $0.connection == connection }
    }

    /// Makes a connection a reader, in place of the one that it was. It continues after its cursor
    /// if the ring still has what follows. Returns the position that it continues after; nil: it
    /// begins with a snapshot. `isReady`: the connection has written everything.
    mutating func begin(
        _ connection: ConnectionID, from beginning: FeedBeginning, isReady: Bool, at now: Mono
    ) -> FeedCursor? {
        end(connection, at: now)
        log.trim(at: now)
        var reader = FeedReader(connection: connection, seq: log.head, isReady: isReady)
        defer { readers.append(reader) }
        switch beginning {
        case .now: return FeedCursor(epoch: log.epoch, seq: log.head)
        case .after(let cursor) where cursor.epoch == log.epoch && log.canGoOn(from: cursor.seq):
            reader.seq = cursor.seq
            return cursor
        case .after, .snapshot:
            reader.cursor = .start
            return nil
        }
    }

    /// A connection reads no longer.
    mutating func end(_ connection: ConnectionID, at now: Mono) {
        guard let place = place(of: connection) else { return }
        readers.swapAt(place, readers.count - 1)
        readers.removeLast()
        if readers.isEmpty { unreadSince = now }
    }

    /// No connection reads any longer: the service ends.
    mutating func endAll() { readers = [] }

    // MARK: Shares

    /// What a reader is sent next.
    enum Step {
        /// Its position is no longer in the ring.
        case reset
        /// Changes after its position.
        case changes
        /// The next part of its snapshot.
        case states
    }

    /// What a reader is to be sent; nil while its connection has something to write, or there is
    /// nothing new.
    func step(forReader place: Int) -> Step? {
        let reader = readers[place]
        guard reader.isReady, reader.seq != log.head || !reader.cursor.isComplete else {
            return nil
        }
        if reader.seq < log.floor { return .reset }
        return reader.seq < log.head ? .changes : .states
    }

    /// Whether a reader that is ready waits for something.
    var hasMoreForReadyReaders: Bool {
        readers.indices.contains { step(forReader: $0) != nil }
    }

    /// The connection of a reader has written everything.
    mutating func drained(_ place: Int) { readers[place].isReady = true }

    /// A reader begins again, with a snapshot.
    mutating func reset(_ place: Int) {
        readers[place] = FeedReader(
            connection: readers[place].connection, seq: log.head, cursor: .start)
    }

    /// A reader has been sent changes; none, if all of them are of topics that its snapshot has
    /// still to come to.
    mutating func sent(_ changes: FeedLog.Share, toReader place: Int) {
        readers[place].seq = changes.seq
        if changes.count > 0 { readers[place].isReady = false }
    }

    /// The snapshot of a reader has advanced to `cursor`; whether states were sent.
    mutating func cameTo(_ cursor: ListCursor, sendingStates: Bool, toReader place: Int) {
        readers[place].cursor = cursor
        if sendingStates || cursor.isComplete { readers[place].isReady = false }
    }

    // MARK: Time

    /// Drops what is too old. Returns false if the feed is to be switched off, since it has had no
    /// reader for as long.
    mutating func check(at now: Mono) -> Bool {
        log.trim(at: now)
        scheduleCheck(after: now)
        return !readers.isEmpty || unreadSince.advanced(byMilliseconds: log.milliseconds) > now
    }

    private mutating func scheduleCheck(after now: Mono) {
        checkAt = now.advanced(bySeconds: min(60, max(1, Int(log.milliseconds / 8_000))))
    }

    /// The age of the oldest retained event.
    func oldestSeconds(at now: Mono) -> Int { log.oldest.map { $0.seconds(until: now) } ?? 0 }

    /// The age of the oldest event that a reader has not been sent yet.
    func lagSeconds(at now: Mono) -> Int {
        readers.compactMap { log.time(after: max($0.seq, log.floor)) }
            .map { $0.seconds(until: now) }.max() ?? 0
    }
}

/// A feed reader: a position in the ring.
struct FeedReader {
    let connection: ConnectionID
    /// It has been sent everything up to here, as far as its cursor covers it.
    var seq: UInt64
    /// The progress of its snapshot.
    var cursor = ListCursor.complete
    /// Whether its connection has written everything: it is sent the next share when there is one.
    var isReady = false
}

extension Mono {
    /// Whole seconds until a later time; 0 until an earlier one.
    fileprivate func seconds(until later: Mono) -> Int {
        Int((later.milliseconds - min(later.milliseconds, milliseconds)) / 1_000)
    }
}
