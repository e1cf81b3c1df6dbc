import Testing

@testable import PresenceCore

/// An engine with a clock, connections and a store that commits when it is told to.
final class World {
    private var engine: Engine
    private var effects = Effects()
    let settings: Settings
    /// Monotonic milliseconds since the beginning of this world.
    private(set) var elapsed: UInt64 = 0
    /// By how much the wall clock is ahead of where it began.
    var wallJump: Int64 = 0
    /// What each connection has seen since it was last asked.
    var seen: [ConnectionID: [Seen]] = [:]
    /// What each connection knows of each topic by now: the newest that it was told.
    private(set) var view: [ConnectionID: [String: State]] = [:]
    /// The highest `seq` that each device has seen of each topic: a client keeps it when it
    /// reconnects, whatever it logs in with.
    private var newest: [String: [String: UInt64]] = [:]
    /// The account and device of each connection.
    private var clients: [ConnectionID: String] = [:]
    /// The `seq` of every event that each connection was handed.
    private(set) var delivered: [ConnectionID: Set<UInt64>] = [:]
    /// Which session logged in on each connection.
    private(set) var sessionIDs: [ConnectionID: SessionID] = [:]
    /// Entries of tables that the engine says it has visited.
    private(set) var visits = 0
    private(set) var stored: [StoredChange] = []
    private(set) var tickets: [Ticket] = []
    /// What is stored of messages.
    var messages = StoredMessages()
    /// Whether contents of messages are read at once or wait for `read()`.
    var readsWait = false
    /// Whether the store commits at once or waits for `commit()`.
    var storeWaits = false
    /// Whether login lists are fetched at once or wait for `continueLists()`.
    var listsWait = false
    /// Whether large fan-outs go on at once or wait for `continueFanOuts()`.
    var fanOutsWait = false
    private var kept: [FanOutID: (State, Event)] = [:]
    /// What the feed has told since it was last asked.
    private(set) var fed: [Fed] = []
    private var lastFed: UInt64 = 0
    private var openSlots: [UInt32: ConnectionID] = [:]
    private var nextGeneration: UInt32 = 1
    private var listing: Set<ConnectionID> = []

    static let start: Int64 = 1_763_700_000_000

    /// A line of the feed.
    struct Fed {
        var state: State
        var seq: UInt64
        var topic: TopicHandle
    }

    func takeFed() -> [Fed] {
        defer { fed = [] }
        return fed
    }

    /// A write in words, in order.
    struct StoredChange: Hashable {
        var words: String
        var isDurable: Bool
    }

    init(_ settings: Settings = Settings()) {
        self.settings = settings
        engine = Engine(
            settings: settings,
            at: Moment(mono: Mono(milliseconds: 1_000), wall: Wall(milliseconds: Self.start)),
            seed: 1)
    }

    var now: Moment {
        Moment(
            mono: Mono(milliseconds: 1_000 + elapsed),
            wall: Wall(milliseconds: Self.start + Int64(elapsed) + wallJump))
    }

    var stats: Stats { engine.currentStats }

    func checkInvariants() { engine.checkInvariants() }

    /// How many entries a body has the engine visit.
    func visits(_ body: () -> Void) -> Int {
        let before = visits
        body()
        return visits - before
    }

    func withEngine<R>(_ body: (inout Engine) -> R) -> R { body(&engine) }

    // MARK: Connections

    func connect() -> ConnectionID {
        var slot: UInt32 = 0
        while openSlots[slot] != nil { slot += 1 }
        let connection = ConnectionID(slot: slot, generation: nextGeneration)
        nextGeneration += 1
        openSlots[slot] = connection
        seen[connection] = []
        return connection
    }

    /// The connection has ended; bytes of it last arrived at `lastHeard`, or now.
    func drop(
        _ connection: ConnectionID, _ end: ConnectionEnd = .lost, lastHeard: UInt64? = nil
    ) {
        guard openSlots[connection.slot] == connection else { return }
        openSlots[connection.slot] = nil
        lose(connection, end, lastHeard: lastHeard)
    }

    /// The engine is told that a connection, or a caller in process, is lost.
    func lose(
        _ connection: ConnectionID, _ end: ConnectionEnd = .lost, lastHeard: UInt64? = nil
    ) {
        engine.connectionLost(
            connection, end, lastHeard: lastHeard.map { Mono(milliseconds: 1_000 + $0) }, at: now,
            into: &effects)
        carryOut()
    }

    func isOpen(_ connection: ConnectionID) -> Bool {
        openSlots[connection.slot] == connection
    }

    // MARK: Commands

    func find(_ name: String) -> AccountHandle? {
        engine.forgetRetired(after: Effects())
        return engine.find(Array(name.utf8).span)
    }

    /// A command that names nobody.
    func handle(_ command: Command, from connection: ConnectionID) {
        handle(from: connection) { _ in command }
    }

    /// A command, made with its names and texts.
    func handle(from connection: ConnectionID, _ make: (inout RequestTexts) -> Command) {
        var texts = RequestTexts()
        let command = make(&texts)
        engine.handle(command, texts.ofLast, from: connection, at: now, into: &effects)
        carryOut()
    }

    /// Changes the settings.
    func apply(_ settings: Settings) {
        engine.apply(settings, into: &effects)
        carryOut()
    }

    /// The newest `seq` of the presence of a publisher that a device was told.
    func newestSeq(of publisher: String, toldTo client: String) -> UInt64? {
        newest[client]?["1/\(publisher)"]
    }

    func logIn(_ login: Login, from connection: ConnectionID) {
        clients[connection] =
            String(decoding: login.account, as: UTF8.self) + "/"
            + String(decoding: login.device, as: UTF8.self)
        engine.logIn(login, from: connection, at: now, into: &effects)
        carryOut()
    }

    func logInAppServer(
        _ rights: AppServerRights = .all, from connection: ConnectionID
    ) {
        engine.logInAppServer(rights, from: connection, at: now, into: &effects)
        carryOut()
    }

    func refresh(_ account: String, until term: TokenTerm, from connection: ConnectionID) {
        engine.refresh(Array(account.utf8), until: term, from: connection, into: &effects)
        carryOut()
    }

    /// Lets so many milliseconds pass, stopping at every deadline on the way.
    func pass(milliseconds: UInt64) {
        let end = elapsed + milliseconds
        while true {
            if let wake = engine.nextWake, wake.milliseconds <= 1_000 + end {
                elapsed = max(elapsed, wake.milliseconds - min(wake.milliseconds, 1_000))
            } else {
                elapsed = end
            }
            advance(dueBy: elapsed)
            guard elapsed < end || (engine.nextWake.map { $0 <= now.mono } ?? false) else { return }
        }
    }

    private func advance(dueBy limit: UInt64) {
        let limit = Mono(milliseconds: 1_000 + limit)
        while engine.advance(to: now, dueBy: limit, deadlinesMax: 3, into: &effects) == .moreIsDue {
            carryOut()
        }
        carryOut()
    }

    /// Lets so many milliseconds pass in which the engine is not called; then, what was due by
    /// `limit` happens.
    func skip(milliseconds: UInt64, dueBy limit: UInt64) {
        elapsed += milliseconds
        advance(dueBy: limit)
    }

    func pass(seconds: Int) { pass(milliseconds: UInt64(seconds) * 1_000) }

    // MARK: The store

    /// The writes since the last call, in words.
    func takeStored() -> [String] {
        defer { stored = [] }
        return stored.map(\.words)
    }

    func commit() { settle { $0.committed($1, at: $2, into: &$3) } }
    func fail() { settle { $0.failed($1, at: $2, into: &$3) } }

    private func settle(
        _ report: (inout Engine, Ticket, Moment, inout Effects) -> Void
    ) {
        guard !tickets.isEmpty else { return }
        report(&engine, tickets.removeFirst(), now, &effects)
        carryOut()
    }

    /// Answers the oldest read of messages.
    func read() {
        guard !messages.reads.isEmpty else { return }
        let (connection, ids) = messages.reads.removeFirst()
        let found = ids.filter { messages.bodies[$0] != nil }
        let handed = engine.handOut(found, to: connection, into: &effects)
        if !handed.isEmpty { show(handed, to: connection) }
        carryOut()
    }

    /// Fails the oldest read of messages.
    func failRead() {
        guard !messages.reads.isEmpty else { return }
        let (connection, _) = messages.reads.removeFirst()
        engine.fetchFailed(for: connection, at: now)
        carryOut()
    }

    private func show(_ ids: [MessageID], to connection: ConnectionID) {
        note(.messages(ids.map { messages.bodies[$0] ?? "?" }), for: connection)
        guard openSlots[connection.slot] == connection else { return }
        messages.handed[connection, default: []] += ids
    }

    // MARK: Connections that do not keep up

    /// The last event that was delivered.
    private(set) var lastDelivered: (topic: TopicHandle, seq: UInt64)?

    /// Connections that take no events now.
    var missesEvents: Set<ConnectionID> = []
    private var missed: [(TopicHandle, UInt64, ConnectionID)] = []
    private var missedCopies: [(count: Int, ConnectionID)] = []
    private var caughtUp: Set<ConnectionID> = []

    /// Whether a connection has been told that it has caught up.
    func isCaughtUp(_ connection: ConnectionID) -> Bool { caughtUp.contains(connection) }

    /// A connection has not taken the last event.
    func missLast(_ connection: ConnectionID) {
        guard let last = lastDelivered else {
            Issue.record("no event")
            return
        }
        miss(last.topic, seq: last.seq, connection)
    }

    func miss(_ topic: TopicHandle, seq: UInt64, _ connection: ConnectionID) {
        engine.missed(topic, seq: seq, by: connection, at: now.wall)
    }

    /// A connection has written everything.
    func drain(_ connection: ConnectionID) {
        engine.drained(connection, at: now, into: &effects)
        carryOut()
    }

    /// A connection has written everything, again and again, until it has caught up.
    func drainAll(_ connection: ConnectionID) {
        caughtUp.remove(connection)
        for _ in 0..<1_000 where !caughtUp.contains(connection) { drain(connection) }
        #expect(caughtUp.contains(connection))
    }

    // MARK: Login lists

    func continueLists() {
        for connection in listing.sorted(by: { $0.slot < $1.slot }) {
            engine.drained(connection, at: now, into: &effects)
            carryOut()
        }
    }

    /// Gives large fan-outs a turn, as small as can be.
    func continueFanOuts() {
        engine.continueFanOuts(subscribersMax: 1, receiversMax: 1, into: &effects)
        carryOut()
    }

    // MARK: Effects

    private func carryOut() {
        var batch = Effects()
        swap(&batch, &effects)
        for item in batch.items { carryOut(item, batch) }
        for (topic, seq, connection) in missed { miss(topic, seq: seq, connection) }
        missed = []
        visits += batch.takeVisits()
        for (count, connection) in missedCopies { engine.missedCopies(count, by: connection) }
        missedCopies = []
        batch.removeAll()
        if effects.items.isEmpty { swap(&batch, &effects) }
        while !storeWaits, !tickets.isEmpty { commit() }
        while !readsWait, !messages.reads.isEmpty { read() }
        while !fanOutsWait, engine.currentStats.fanOuts > 0 { continueFanOuts() }
        if !listsWait, !listing.isEmpty { continueLists() }
    }

    private func carryOut(_ item: Effect, _ batch: Effects) {
        switch item {
        case .answer(let connection, let index):
            let answer = batch.answers[index]
            if case .loggedIn(let login) = answer {
                listing.insert(connection)
                sessionIDs[connection] = login.session
            }
            if case .shown(.begins) = answer { listing.insert(connection) }
            note(batch.seen(answer), for: connection)
            if case .subscribed(_, _, let states?) = answer {
                for event in batch.events[states] { learn(batch.state(event), event, connection) }
            }
        case .reject(let connection, let rejection):
            note(.rejected(rejection.reason), for: connection)
        case .deliver(let event, let topic, let receivers):
            let event = batch.events[event]
            lastDelivered = (topic, event.seq)
            deliver(batch.state(event), event, of: topic, to: batch.receivers[receivers])
        case .keep(let id, let event):
            kept[id] = (batch.state(batch.events[event]), batch.events[event])
        case .deliverKept(let id, let topic, let receivers):
            guard let (state, event) = kept[id] else {
                Issue.record("an event that was not kept")
                return
            }
            deliver(state, event, of: topic, to: batch.receivers[receivers])
        case .drop(let id):
            #expect(kept.removeValue(forKey: id) != nil)
        case .feed(let event, let topic):
            let event = batch.events[event]
            #expect(event.seq > lastFed, "the feed is in order")
            lastFed = event.seq
            fed.append(Fed(state: batch.state(event), seq: event.seq, topic: topic))
        case .states(let connection, let range, _):
            note(.states(batch.states(range)), for: connection)
            for event in batch.events[range] { learn(batch.state(event), event, connection) }
        case .synced(let connection, let count):
            listing.remove(connection)
            note(.synced(count), for: connection)
        case .caughtUp(let connection): caughtUp.insert(connection)
        case .expired(let type, let cause, let names, let receivers):
            for slot in batch.receivers[receivers] {
                guard let connection = openSlots[slot] else { continue }
                let publishers = batch.names[names].map(batch.text).sorted()
                note(
                    .expired(type: Int(type.number), publishers: publishers, cause: cause),
                    for: connection)
            }
        case .contact(let notice, let receivers):
            tell(batch.notices[notice], to: batch.receivers[receivers], batch)
        case .direct(let index, let receivers):
            present(batch.seen(batch.directed[index]), to: batch.receivers[receivers])
        case .persist(let ticket, let index):
            stored.append(
                StoredChange(
                    words: words(batch.records[index], batch), isDurable: ticket != nil))
            if let ticket { tickets.append(ticket) }
            messages.note(batch.records[index], ticket, batch)
        case .message(let ticket, let receivers):
            handOut(ticket, to: batch.receivers[receivers])
        case .copy(let ticket, let index, let receivers):
            copy(batch.copies[index], of: ticket, to: batch.receivers[receivers], batch)
        case .fetch(let connection, let range):
            messages.reads.append((connection, Array(batch.messages[range])))
        case .close(let connection, let reason):
            note(.closed(reason), for: connection)
            listing.remove(connection)
            if openSlots[connection.slot] == connection { openSlots[connection.slot] = nil }
        }
    }

    private func handOut(_ ticket: Ticket, to slots: ArraySlice<UInt32>) {
        guard let message = messages.stored[ticket] else {
            Issue.record("a message that was not stored")
            return
        }
        for slot in slots {
            guard let connection = openSlots[slot] else {
                Issue.record("a message for a slot that is closed")
                continue
            }
            show([message], to: connection)
        }
    }

    private func copy(
        _ copy: MessageCopy, of ticket: Ticket, to slots: ArraySlice<UInt32>, _ batch: Effects
    ) {
        let seen = Seen.copy(
            messages.stored[ticket].flatMap { messages.bodies[$0] } ?? "?",
            to: copy.recipients.map { batch.names[$0].map { batch.text($0) } },
            device: copy.device.map { batch.text($0) }, missed: copy.missedCount)
        for slot in slots {
            guard let connection = openSlots[slot] else {
                Issue.record("a copy for a slot that is closed")
                continue
            }
            if missesEvents.contains(connection) {
                missedCopies.append((copy.missedCount + 1, connection))
            } else {
                note(seen, for: connection)
            }
        }
    }

    private func deliver(
        _ state: State, _ event: Event, of topic: TopicHandle, to slots: ArraySlice<UInt32>
    ) {
        for slot in slots {
            guard let connection = openSlots[slot] else {
                Issue.record("delivered to a slot that is closed")
                continue
            }
            if missesEvents.contains(connection) {
                missed.append((topic, event.seq, connection))
                continue
            }
            note(.event(state), for: connection)
            delivered[connection, default: []].insert(event.seq)
            learn(state, event, connection)
        }
    }

    private func tell(_ notice: ContactNotice, to slots: ArraySlice<UInt32>, _ batch: Effects) {
        for slot in slots {
            guard let connection = openSlots[slot] else { continue }
            note(.contact(batch.line(notice.contact), notice.word), for: connection)
        }
    }

    private func present(_ presence: Seen, to slots: ArraySlice<UInt32>) {
        for slot in slots {
            guard let connection = openSlots[slot] else {
                Issue.record("a presence for a slot that is closed")
                continue
            }
            note(presence, for: connection)
        }
    }

    private func note(_ what: Seen, for connection: ConnectionID) {
        guard openSlots[connection.slot] == connection else { return }
        seen[connection, default: []].append(what)
    }

    /// A connection is never told something older than what it knows.
    private func learn(_ state: State, _ event: Event, _ connection: ConnectionID) {
        guard openSlots[connection.slot] == connection else { return }
        let topic = "\(state.type)/\(state.publisher)"
        let client = clients[connection] ?? ""
        let before = newest[client]?[topic] ?? 0
        #expect(event.seq >= before, "seq fell for \(topic)")
        newest[client, default: [:]][topic] = event.seq
        view[connection, default: [:]][topic] = state
    }

    func name(_ account: AccountHandle) -> String {
        var bytes: [UInt8] = []
        engine.appendName(of: account, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
