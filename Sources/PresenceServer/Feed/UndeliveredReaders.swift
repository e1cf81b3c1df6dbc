import PresenceCore
import PresenceStore
import PresenceWire

/// The readers of what is undelivered. Each is a position in the order of the hand-overs, which the
/// engine keeps; so one that is slow, or not connected, costs nothing.
struct UndeliveredReaders {
    /// A reader.
    struct Reader {
        let connection: ConnectionID
        /// It has been sent what is undelivered up to this number.
        var number: UInt64
        /// Whether its connection has written everything.
        var isReady: Bool
        /// The messages whose contents are being read for it, and the number of that read.
        var reading: (number: UInt64, share: UndeliveredShare)?
    }

    /// Distinguishes the database from any other.
    let identity: UInt64
    /// In no order; there are a few dozen at most.
    private(set) var readers: [Reader] = []
    private var readCount: UInt64 = 0
    /// Until when nothing is read, since the store has failed.
    private var pausedUntil: Mono?

    /// No readers of a database.
    init(identity: UInt64) { self.identity = identity }

    /// The index in `readers` of the reader on a connection.
    func place(of connection: ConnectionID) -> Int? {
        readers.firstIndex { $0.connection == connection }
    }

    /// Makes a connection a reader, in place of the one that it was. Returns its position: that of
    /// the cursor, or the beginning if the cursor is of another database, or beyond all numbers.
    /// `isReady`: the connection has written everything.
    mutating func begin(
        _ connection: ConnectionID, after cursor: FeedCursor?, isReady: Bool, last: UInt64
    ) -> FeedCursor {
        end(connection)
        let isKnown = cursor.map { $0.epoch == identity && $0.seq <= last } ?? false
        let number = isKnown ? cursor?.seq ?? 0 : 0
        readers.append(Reader(connection: connection, number: number, isReady: isReady))
        return FeedCursor(epoch: identity, seq: number)
    }

    /// A connection reads no longer.
    mutating func end(_ connection: ConnectionID) {
        guard let place = place(of: connection) else { return }
        readers.swapAt(place, readers.count - 1)
        readers.removeLast()
    }

    /// No connection reads any longer: the service ends.
    mutating func endAll() { readers = [] }

    /// The connection of a reader has written everything.
    mutating func drained(_ place: Int) { readers[place].isReady = true }

    /// Whether a reader is to be sent what is newer than it has, up to a number.
    func isDue(_ place: Int, upTo last: UInt64, at now: Mono) -> Bool {
        let reader = readers[place]
        return reader.isReady && reader.reading == nil && reader.number < last
            && pausedUntil.map { $0 <= now } ?? true
    }

    /// When readers may be due again that are not now; nil: whenever there is something new.
    func nextDeadline(after now: Mono) -> Mono? {
        guard let pausedUntil, pausedUntil > now, !readers.isEmpty else { return nil }
        return pausedUntil
    }

    /// Nothing of a share is to be read.
    mutating func pass(_ place: Int, upTo number: UInt64) { readers[place].number = number }

    /// Begins to read contents for a reader. Returns the number of the read.
    mutating func read(_ share: UndeliveredShare, for place: Int) -> UInt64 {
        precondition(readers[place].reading == nil, "two reads for a reader")
        pausedUntil = nil
        readCount += 1
        readers[place].reading = (readCount, share)
        return readCount
    }

    /// Ends a read. Returns whose it was, and of what; nil: it reads no longer.
    mutating func endRead(_ number: UInt64) -> (place: Int, share: UndeliveredShare)? {
        guard let place = readers.firstIndex(where: { $0.reading?.number == number }),
            let share = readers[place].reading?.share
        else { return nil }
        readers[place].reading = nil
        return (place, share)
    }

    /// A reader is sent what is undelivered up to a number.
    mutating func sent(upTo number: UInt64, to place: Int) {
        readers[place].number = number
        readers[place].isReady = false
    }

    /// Nothing is read until then: the store has failed.
    mutating func pause(until time: Mono) { pausedUntil = time }
}
