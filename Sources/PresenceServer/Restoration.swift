import PresenceCore
import PresenceStore

// Restores the content of the store into a new engine.

extension Engine {
    /// An engine with everything that is stored and has not expired, and what is known of
    /// passwords and cards, and the number of the database.
    static func restored(
        from store: Store, _ settings: Settings, feed: FeedSwitch = .off,
        passwords: inout StoredPasswords, cards: inout Cards, identity: inout UInt64,
        at now: Moment
    ) throws(StoreFileError) -> Engine {
        var generator = SystemRandomNumberGenerator()
        var reader = EngineReader(
            engine: Engine(settings: settings, at: now, seed: generator.next()), now: now)
        reader.engine.setFeed(feed)
        try store.load(&reader)
        passwords = reader.passwords
        identity = reader.identity
        let summaries = reader.cards
        let engine = reader.finish()
        cards = Cards(stored: summaries, engine, settings, at: now.wall)
        return engine
    }
}

/// Passes rows to an engine as they are read.
struct EngineReader: ~Copyable, StoreReader {
    var engine: Engine
    let now: Moment
    private(set) var passwords = StoredPasswords()
    private(set) var cards: [CardSummary] = []
    /// Distinguishes the database from any other.
    private(set) var identity: UInt64 = 0
    private var subscriber: AccountHandle?
    /// Rows are read in the order of their keys, but needed in the order of the logins.
    private var sessions: [SessionRow] = []

    init(engine: consuming Engine, now: Moment) {
        self.engine = engine
        self.now = now
    }

    mutating func sequence(reservedUpTo end: Int64) {
        engine.restoreSequence(reservedUpTo: UInt64(clamping: end))
    }

    mutating func account(name: Span<UInt8>, value: Int32, lastSeen: Int64) {
        let account = engine.restoreName(name)
        engine.restoreAccount(account, value: value, lastSeen: Wall(milliseconds: lastSeen))
    }

    mutating func session(_ row: SessionRow) {
        sessions.append(row)
    }

    mutating func status(_ row: StatusRow) {
        let account = engine.restoreName(row.account.span)
        engine.restoreStatus(
            of: account, EventType(number: row.type), value: row.value,
            ext: row.ext,
            audience: row.kept ? .everybody : .onlineOnly,
            expires: Wall(milliseconds: row.expires), at: now)
    }

    mutating func visibility(account: Span<UInt8>, value: UInt8) {
        guard let visibility = Visibility(rawValue: value) else { return }
        engine.restoreVisibility(of: engine.restoreName(account), visibility)
    }

    mutating func relation(_ row: RelationRow) {
        engine.restoreRelation(
            of: engine.restoreName(row.owner.span), to: engine.restoreName(row.contact.span),
            PairSide(
                seen: RelationState(rawValue: row.state) ?? .none,
                request: RequestContent(text: row.requestText, extra: row.requestExtra),
                isListed: row.isListed, approvesBefore: row.approvesBefore,
                label: ContactLabel(stored: row.label)),
            at: now)
    }

    mutating func message(_ row: MessageRow) {
        engine.restoreMessage(
            MessageID(number: UInt64(clamping: row.id)), place: row.place,
            for: engine.restoreName(row.account.span),
            of: row.sender.isEmpty ? nil : engine.restoreName(row.sender.span),
            device: row.device.isEmpty ? nil : row.device, byteCount: row.bytes,
            isOfStranger: row.isOfStranger, time: Wall(milliseconds: row.time),
            expires: Wall(milliseconds: row.expires), handOver: HandOver(row), at: now)
    }

    mutating func passwords(count: Int, secret: [UInt8]) {
        passwords = StoredPasswords(count: count, secret: secret)
    }

    mutating func identity(_ number: Int64) { identity = UInt64(bitPattern: number) }

    mutating func card(_ summary: CardSummary) { cards.append(summary) }

    mutating func device(_ row: DeviceRow) {
        engine.restoreDevice(
            of: engine.restoreName(row.account.span), on: row.device,
            DeviceLabels(
                alias: row.alias, storedTags: row.tags, pushAddress: row.pushAddress),
            updated: Wall(milliseconds: row.updated))
    }

    mutating func beginSubscriber(_ name: Span<UInt8>) {
        subscriber = engine.restoreName(name)
    }

    mutating func subscription(
        type: UInt16, publisher: Span<UInt8>, created: Int64, expires: Int64
    ) {
        guard let subscriber, expires > now.wall.milliseconds else { return }
        let publisher = engine.restoreName(publisher)
        engine.restoreSubscription(
            of: subscriber, to: publisher, EventType(number: type),
            created: Wall(milliseconds: created), expires: Wall(milliseconds: expires), at: now)
    }

    /// The engine, with everything that was read.
    consuming func finish() -> Engine {
        restoreSessions()
        return engine
    }

    private mutating func restoreSessions() {
        sessions.sort { $0.ordinal < $1.ordinal }
        for row in sessions {
            engine.restoreSession(
                of: engine.restoreName(row.account.span), on: row.device,
                ClientKind(rawValue: row.client) ?? .other, reach: row.push ? .push : .connection,
                pushUntil: row.pushUntil == 0 ? nil : Wall(milliseconds: row.pushUntil),
                session: SessionID(ordinal: UInt64(clamping: row.ordinal)),
                loggedIn: Wall(milliseconds: row.loggedIn), address: row.address,
                availability: Availability(row.availability), at: now)
        }
        sessions = []
    }
}

extension HandOver {
    /// Nil: it was not handed over.
    fileprivate init?(_ row: MessageRow) {
        guard row.handOver > 0, let reason = UndeliveredReason(rawValue: row.why) else {
            return nil
        }
        self.init(number: UInt64(row.handOver), reason: reason)
    }
}

extension Availability {
    fileprivate init(_ row: AvailabilityRow) {
        self.init(
            show: Show(rawValue: row.show) ?? .available, priority: row.priority, text: row.text,
            language: row.language, extra: row.extra)
    }
}
