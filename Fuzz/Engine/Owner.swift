import PresenceCore

/// An engine in the hands of somebody who keeps its rules and checks what it does.
final class Owner {
    var engine: Engine
    var effects = Effects()
    let settings: Settings
    var mono: UInt64 = 1_000
    var wallJump: Int64 = 0
    var storeWaits: Bool
    var listsWait = false
    var fanOutsWait = false

    var open: [UInt32: ConnectionID] = [:]
    private var generation: UInt32 = 0
    /// Connections whose request is under way.
    var awaiting: Set<ConnectionID> = []
    var listing: Set<ConnectionID> = []
    /// Connections that have missed events and are sent none.
    var conflated: Set<ConnectionID> = []
    var kept: [FanOutID: Told] = [:]
    var peers: [ConnectionID: Peer] = [:]

    /// Messages whose contents are to be read, in order.
    var reads: [(ConnectionID, [MessageID])] = []
    /// Messages that were stored, by ticket.
    var stored: [Ticket: MessageID] = [:]
    /// Copies that connections were not sent, and how many they miss with those before.
    var missedCopies: [(Int, ConnectionID)] = []
    /// What each connection was sent last.
    var sent: [ConnectionID: MessageID] = [:]

    var rows = Rows()
    /// What has been written and not been reported, in order.
    var queue: [(ticket: Ticket?, write: RowWrite)] = []
    /// Approvals that ended by what is being reported as stored: the engine first sends what large
    /// fan-outs have from before.
    var approvalsEnded: Set<Rows.PairKey> = []
    var topicsSeen = 0
    var seqMax: UInt64 = 0
    /// The last event of the feed.
    var fedUpTo: UInt64 = 0

    /// What one connection is, and has been told.
    struct Peer {
        /// Of a client that has a whole view: it asked for all states and has kept watching.
        var account: [UInt8]?
        var device: [UInt8] = []
        var isLoggedIn = false
        var isWhole = false
        /// By which leases it is sent events.
        var hears: Leases = .timed
        var view: [Rows.TopicKey: Told] = [:]
    }

    enum Report { case committed, failed }

    init(_ settings: Settings, storeWaits: Bool) {
        self.settings = settings
        self.storeWaits = storeWaits
        engine = Engine(
            settings: settings, at: Self.moment(mono: 1_000, wallJump: 0), seed: 1)
        begin()
    }

    /// The first numbers are reserved, and that is durable, before anybody comes.
    private func begin() {
        engine.setFeed(storeWaits ? .on : .off)
        _ = engine.begin(into: &effects)
        for record in effects.records { rows.carryOut(spell(record)) }
        effects.removeAll()
    }

    static func moment(mono: UInt64, wallJump: Int64) -> Moment {
        Moment(
            mono: Mono(milliseconds: mono),
            wall: Wall(milliseconds: 1_763_700_000_000 + Int64(mono) + wallJump))
    }

    var now: Moment { Self.moment(mono: mono, wallJump: wallJump) }

    var openConnections: [ConnectionID] { open.values.sorted { $0.slot < $1.slot } }

    func checkInvariants() { engine.checkInvariants() }

    func name(_ account: AccountHandle) -> [UInt8] {
        var bytes: [UInt8] = []
        engine.appendName(of: account, to: &bytes)
        return bytes
    }

    func text(_ range: ByteRange) -> [UInt8] {
        Array(effects.bytes[Int(range.start)..<Int(range.start) + Int(range.count)])
    }

    // MARK: What happens

    func connect() -> ConnectionID {
        var slot: UInt32 = 0
        while open[slot] != nil { slot += 1 }
        generation += 1
        let connection = ConnectionID(slot: slot, generation: generation)
        open[slot] = connection
        peers[connection] = Peer()
        return connection
    }

    func give(_ command: Command, _ texts: TextSource, to connection: ConnectionID) {
        request("\(command)", from: connection) {
            engine.handle(command, texts, from: connection, at: now, into: &effects)
        }
    }

    func logIn(_ login: Login, on connection: ConnectionID) {
        request("\(login)", from: connection) {
            if peers[connection]?.isLoggedIn == false {
                peers[connection]?.account = login.account
                peers[connection]?.device = login.device
                peers[connection]?.hears = login.hears
                peers[connection]?.isWhole = login.sync == .all
            }
            engine.logIn(login, from: connection, at: now, into: &effects)
        }
    }

    func logInAppServer(on connection: ConnectionID) {
        request("app server", from: connection) {
            engine.logInAppServer(from: connection, at: now, into: &effects)
        }
    }

    /// Has a request carried out: one at a time on a connection.
    private func request(
        _ words: @autoclosure () -> String, from connection: ConnectionID, _ body: () -> Void
    ) {
        guard !awaiting.contains(connection) else { return }
        trace("\(mono) \(connection.slot): \(words())")
        awaiting.insert(connection)
        body()
        carryOut()
    }

    /// The connection was last heard so long ago that it is taken for lost.
    func fallSilent(_ connection: ConnectionID, heardMillisecondsAgo age: UInt64) {
        trace("\(mono) \(connection.slot): silent")
        forget(connection)
        engine.connectionLost(
            connection, .silent, lastHeard: Mono(milliseconds: mono - min(mono, age)), at: now,
            into: &effects)
        carryOut()
    }

    func drop(_ connection: ConnectionID?) {
        guard let connection else { return }
        trace("\(mono) \(connection.slot): lost")
        forget(connection)
        engine.connectionLost(connection, at: now, into: &effects)
        carryOut()
    }

    func forget(_ connection: ConnectionID) {
        open[connection.slot] = nil
        awaiting.remove(connection)
        listing.remove(connection)
        conflated.remove(connection)
        peers[connection] = nil
        sent[connection] = nil
    }

    func pass(milliseconds: UInt64) {
        mono += milliseconds
        trace("\(mono)")
        let dueBy = now.mono
        while engine.advance(to: now, dueBy: dueBy, deadlinesMax: 2, into: &effects) == .moreIsDue {
            carryOut()
        }
        if let wake = engine.nextWake {
            require(now.mono < wake, "due at \(wake) and not done at \(now.mono)")
        }
        carryOut()
    }

    func settle(_ report: Report) {
        guard let place = queue.firstIndex(where: { $0.ticket != nil }) else { return }
        for (ticket, write) in queue[...place] where ticket == nil || report == .committed {
            noteEnded(write)
            rows.carryOut(write)
            loseSight(write)
        }
        guard let ticket = queue[place].ticket else { return }
        queue.removeFirst(place + 1)
        trace("\(mono) \(report) \(ticket.number)")
        switch report {
        case .committed: engine.committed(ticket, at: now, into: &effects)
        case .failed: engine.failed(ticket, at: now, into: &effects)
        }
        carryOut()
        approvalsEnded = []
    }

    private func noteEnded(_ write: RowWrite) {
        guard case .putRelations(let pairs) = write else { return }
        for (pair, relation) in pairs
        where relation?.seen != .active && rows.relations[pair]?.seen == .active {
            approvalsEnded.insert(pair)
        }
    }

    /// What an account does not watch any more it need not be told of.
    private func loseSight(_ write: RowWrite) {
        let account: [UInt8]?
        switch write {
        case .removeEdges(let keys): account = keys.first?.subscriber
        case .removeAllEdges(let subscriber, _): account = subscriber
        case .putRelations(let pairs):
            for (pair, relation) in pairs where relation?.seen != .active {
                loseSight(pair.owner)
            }
            return
        default: return
        }
        account.map(loseSight)
    }

    private func loseSight(_ account: [UInt8]) {
        for (connection, peer) in peers where peer.account == account {
            peers[connection]?.isWhole = false
        }
    }

    func continueList(of connection: ConnectionID?) {
        guard let connection, listing.contains(connection) else { return }
        drained(connection)
    }

    func drained(_ connection: ConnectionID) {
        engine.drained(connection, at: now, into: &effects)
        carryOut()
    }

    func continueFanOuts() {
        engine.continueFanOuts(subscribersMax: 1, receiversMax: 1, into: &effects)
        carryOut()
    }

    /// The contents of messages have been read, or could not be.
    func read(_ report: Report) {
        guard !reads.isEmpty else { return }
        let (connection, ids) = reads.removeFirst()
        trace("\(mono) \(connection.slot): read \(ids) \(report)")
        switch report {
        case .committed:
            let stored = Set(rows.messages.keys.map(\.message))
            let handed = engine.handOut(
                ids.filter { stored.contains($0) }, to: connection, into: &effects)
            for id in handed { note(id, for: connection) }
        case .failed: engine.fetchFailed(for: connection, at: now)
        }
        carryOut()
    }

    /// A connection is sent a message that is for it.
    func note(_ id: MessageID, for connection: ConnectionID) {
        guard let peer = peers[connection], open[connection.slot] == connection else {
            return require(false, "a message for nobody")
        }
        let row = rows.messages.first { $0.key.message == id && $0.value.account == peer.account }
        require(row != nil, "a message that does not wait")
        if let device = row?.value.device { require(device == peer.device, "another device's") }
        sent[connection] = id
    }

    /// The connection has not taken an event.
    func missed(_ topic: TopicHandle, by connection: ConnectionID) {
        trace("\(mono) \(connection.slot): missed \(topic.index)")
        engine.missed(topic, seq: seqMax, by: connection, at: now.wall)
        if engine.topicsMissed(by: connection) > 0 {
            conflated.insert(connection)
        } else {
            // Nothing that it has missed matters to it any more.
            conflated.remove(connection)
        }
    }

    /// The process dies; of what the store had not yet reported, some is on disk.
    func crash(keepingWrites count: Int) {
        trace("\(mono) crash")
        for (_, write) in queue.prefix(count) { rows.carryOut(write) }
        queue = []
        open = [:]
        awaiting = []
        listing = []
        conflated = []
        kept = [:]
        peers = [:]
        reads = []
        sent = [:]
        stored = [:]
        missedCopies = []
        topicsSeen = 0
        mono = 5_000
        engine = Engine.restored(from: rows, settings, at: now)
        // Rows that have run out are as good as gone; the others end by the new clock.
        let now = now
        rows.edges = rows.edges.filter { now.wall < $0.value.expires }.mapValues {
            Rows.Edge(
                created: $0.created, expires: $0.expires,
                deadline: min(now.mono(at: $0.expires), now.mono.advanced(bySeconds: 2_592_000)))
        }
        rows.statuses = rows.statuses.filter { now.wall < $0.value.expires }
        rows.messages = rows.messages.filter { now.wall < $0.value.expires }
        rows.statuses = rows.statuses.mapValues {
            var row = $0
            row.deadline = min(
                now.mono(at: row.expires), now.mono.advanced(bySeconds: 604_800))
            return row
        }
        begin()
        engine.checkInvariants()
    }
}
