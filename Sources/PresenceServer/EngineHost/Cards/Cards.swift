import PresenceCore
import PresenceStore

/// What an XMPP client wants of a card.
enum CardRequest: Sendable {
    /// That of this account.
    case read(account: [UInt8])
    /// To replace its own by this content; empty: to have none.
    case replace([UInt8])
}

/// What has become of the request of an XMPP client for a card, if it was not rejected.
enum CardAnswer: Sendable {
    case content([UInt8])
    /// The account has none, or the client may not read it: it cannot distinguish these.
    case none
    /// Its own is replaced.
    case replaced
    /// All cards have as many bytes as they may have.
    case full
}

/// The sizes of all cards, and the reads and writes in progress. Contents are not kept.
///
/// A connection has one request at a time. What is read and not yet in an outbox is bounded by the
/// reads in progress; what is to be written, by its bytes.
struct Cards {
    /// Bytes of cards that are being stored.
    static let writingBytesMax = 16 << 20
    /// How often an account reads cards, over all its clients: at once, one for each contact that
    /// it may have.
    static let readPace = Pace(perSecond: 50, burst: 2_000)
    /// What a card counts for at least, so that the sizes take little memory.
    static let countedBytesMin = 512

    private enum Work {
        case read(ConnectionID)
        /// What it counts for; 0: it is removed.
        case write(ConnectionID, account: [UInt8], bytes: Int)
    }

    /// What the card of each account counts for.
    private var sizes: [[UInt8]: Int]
    /// What all cards count for.
    private(set) var byteCount: Int
    private var works: [UInt64: Work] = [:]
    private var lastNumber: UInt64 = 0
    /// Of the cards of these accounts.
    private var reads = StoreReads<[UInt8]>()
    private var writingBytes = 0
    private(set) var counters = Counters()

    struct Counters: Sendable {
        /// Cards read and sent.
        var read = 0
        /// Cards set or removed.
        var written = 0
        /// Sets rejected because there are too many bytes of cards.
        var rejected = 0
    }

    /// At the start, the accounts of cards that are to be removed: those that the engine does not
    /// know, since no client of theirs was ever available, and whose card is older than the time
    /// for which an unused account is remembered.
    private var abandoned: [[UInt8]] = []

    /// Without any.
    init() {
        sizes = [:]
        byteCount = 0
    }

    /// With those that are stored.
    init(
        stored: [CardSummary], _ engine: borrowing Engine, _ settings: Settings, at now: Wall
    ) {
        self.init()
        let rememberMilliseconds = Int64(settings.rememberSeconds) * 1_000
        for card in stored {
            sizes[card.account] = Self.counted(card.byteCount)
            byteCount += Self.counted(card.byteCount)
            let age = now.milliseconds.subtractingReportingOverflow(card.updated).partialValue
            if age > rememberMilliseconds, !engine.knows(card.account) {
                abandoned.append(card.account)
            }
        }
    }

    /// The accounts of cards that are to be removed at the start.
    mutating func takeAbandoned() -> [[UInt8]] {
        defer { abandoned = [] }
        return abandoned
    }

    /// How many there are.
    var count: Int { sizes.count }

    func has(_ account: [UInt8]) -> Bool { sizes[account] != nil }

    private static func counted(_ bytes: Int) -> Int { max(bytes, countedBytesMin) }

    // MARK: Reading

    /// Has a card read as soon as there is room for it.
    mutating func read(of account: [UInt8], for connection: ConnectionID) {
        reads.add(account, for: connection)
    }

    /// A connection has ended: no card is read for it any more.
    mutating func remove(_ connection: ConnectionID) { reads.remove(connection) }

    /// The next read to begin; nil: none waits, or enough are in progress.
    mutating func nextRead() -> (number: UInt64, account: [UInt8])? {
        guard let (connection, account) = reads.next() else { return nil }
        return (add(.read(connection)), account)
    }

    /// A read has ended. Returns the connection that it is for, which may have ended meanwhile.
    mutating func endRead(_ number: UInt64, wasFound: Bool) -> ConnectionID {
        guard case .read(let connection) = works.removeValue(forKey: number) else {
            preconditionFailure("the answer to no read of a card")
        }
        reads.end()
        if wasFound { counters.read += 1 }
        return connection
    }

    // MARK: Writing

    /// Why a card cannot be replaced now.
    enum NoRoom {
        /// There is no room for its bytes among those of all cards.
        case inAll
        /// Too many bytes are being stored.
        case inProgress
    }

    /// Whether there is room for another content of the card of an account; nil: there is.
    ///
    /// What is being stored counts in full beside what is stored, so that the maximum holds
    /// whichever of several writes fails. Each account has a share of what is left, so that small
    /// cards find room when there is none for large ones.
    mutating func lack(
        ofRoomFor bytes: Int, of account: [UInt8], bytesInAllMax: Int
    ) -> NoRoom? {
        guard bytes > 0 else { return nil }
        let before = sizes[account] ?? 0
        let free = bytesInAllMax - (byteCount - before + writingBytes)
        guard Share.ninth.admits(Self.counted(bytes), held: 0, free: free) else {
            counters.rejected += 1
            return .inAll
        }
        return writingBytes + bytes <= Self.writingBytesMax ? nil : .inProgress
    }

    /// Begins to store a card; 0 bytes: to remove it. Returns its number.
    mutating func beginWrite(
        of account: [UInt8], bytes: Int, for connection: ConnectionID
    ) -> UInt64 {
        let counted = bytes == 0 ? 0 : Self.counted(bytes)
        writingBytes += counted
        return add(.write(connection, account: account, bytes: counted))
    }

    /// A card is stored, or could not be. Returns the connection that waits for it, which may have
    /// ended meanwhile.
    mutating func endWrite(_ number: UInt64, isStored: Bool) -> ConnectionID {
        guard
            case .write(let connection, let account, let bytes) =
                works.removeValue(forKey: number)
        else { preconditionFailure("the outcome of no write of a card") }
        writingBytes -= bytes
        guard isStored else { return connection }
        counters.written += 1
        forget(account)
        guard bytes > 0 else { return connection }
        sizes[account] = bytes
        byteCount += bytes
        return connection
    }

    /// The card of an account is no more. Returns whether it had one.
    @discardableResult
    mutating func forget(_ account: [UInt8]) -> Bool {
        guard let bytes = sizes.removeValue(forKey: account) else { return false }
        byteCount -= bytes
        return true
    }

    private mutating func add(_ work: Work) -> UInt64 {
        lastNumber += 1
        works[lastNumber] = work
        return lastNumber
    }
}
