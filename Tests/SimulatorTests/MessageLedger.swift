/// What clients have sent to accounts and taken, so that what is delivered can be compared with it.
/// Every body is sent once.
final class MessageLedger {
    /// A message, as its sender knows it.
    struct Entry {
        let recipients: Set<String>
        /// The account that it is of; nil: of the service.
        var sender: String?
        /// The only device that it is for.
        var device: String?
        /// The device of an XMPP client that it was addressed to.
        var preferred: String?
        /// By the clock of the network, which runs over restarts. It may expire earlier, if the
        /// wall clock jumps.
        let expires: UInt64
        /// Until when it waits by the wall clock, as its sender was answered.
        var answeredExpiry: Int64?
        /// When its sender has sent it.
        var asked = 0
        var outcome = Outcome.unknown
        /// The recipients that certainly had no session when it was accepted.
        var away: Set<String> = []
        /// Clients that would have been sent it at once, if they were still there.
        var present: [Presence] = []
        /// The accounts that have certainly taken it, or for which it was certainly discarded, and
        /// when that was, among all that the ledger has noted.
        var done: [String: Int] = [:]
        /// Those of them for which that is known to be durable.
        var durablyDone: Set<String> = []
        /// The accounts that have perhaps.
        var perhapsDone: Set<String> = []

        /// Whether it is for a device, or was addressed to it.
        func isMeant(for name: String) -> Bool {
            device == name || preferred == name
        }
    }

    enum Outcome: Equatable {
        /// No answer has come.
        case unknown
        case accepted(id: String)
        /// It was stored; its sender is not told the id.
        case stored
        case rejected

        var isStored: Bool { self != .unknown && self != .rejected }
    }

    /// A client that reads when a message is sent, and since when its session does.
    struct Presence {
        let peer: SimulatedPeer
        let since: Int
        /// When it was last asked to change its availability.
        let shown: Int
        let account: String
    }

    /// What an app server has asked to discard: what waits for an account, or what a sender has
    /// left for it, or for all.
    struct Discard {
        var account: String?
        var sender: String?

        func covers(_ entry: Entry, for recipient: String) -> Bool {
            entry.recipients.contains(recipient) && (account == nil || account == recipient)
                && (sender == nil || sender == entry.sender)
        }
    }

    /// A message that a device was sent though it was addressed to another.
    struct Detour {
        let body: String
        let account: String
        let device: String
    }

    /// By body.
    private(set) var entries: [String: Entry] = [:]
    /// By body: the id with which it was delivered first.
    private var ids: [String: String] = [:]
    /// What app servers have asked to discard since the last quiet time. A request may still be on
    /// its way, so it may be about messages that are sent only now.
    private var discarding: [Discard] = []
    /// The accounts that certainly have no session.
    private var away: Set<String> = []
    /// Those of which it is not known yet whether they were accepted.
    private var undecided: Set<String> = []
    /// Those that were sent since the last quiet time.
    private(set) var recent: [String] = []
    /// Since the last quiet time.
    private(set) var detours: [Detour] = []
    /// What was done before this is durable, and was known to the service when it sent what
    /// arrived since.
    private(set) var durableUpTo = 0
    /// The wall clock at that time, if it has never jumped.
    private var restedAt: Int64?
    /// By the number of the last hand-over in it: when the first share was made for a reader.
    private var shares: [String: Int] = [:]
    private var clock = 0
    private var lastBody = 0

    /// A number that rises: what was noted before has a lower one.
    func tick() -> Int {
        clock += 1
        return clock
    }

    /// The body of another message.
    func nextBody() -> String {
        lastBody += 1
        return "m\(lastBody)"
    }

    func note(_ body: String, _ entry: Entry) {
        var entry = entry
        entry.asked = tick()
        entry.perhapsDone = entry.recipients.filter { isDiscarding(entry, for: $0) }
        entry.away = entry.recipients.intersection(away)
        entries[body] = entry
        undecided.insert(body)
        recent.append(body)
    }

    func note(_ outcome: Outcome, of body: String, expires: Int64? = nil) {
        entries[body]?.outcome = outcome
        entries[body]?.answeredExpiry = expires
        undecided.remove(body)
    }

    /// No session of these accounts is connected or may return: the service has just begun.
    func noteAllAway(_ accounts: [String]) { away = Set(accounts) }

    /// A client of an account connects.
    func noteConnecting(_ account: String) {
        guard away.remove(account) != nil else { return }
        for body in undecided { entries[body]?.away.remove(account) }
    }

    /// An app server asks to discard messages. Returns those that certainly wait no longer once
    /// that is answered, with their recipients: those that their senders know to be stored.
    func noteDiscarding(_ discard: Discard) -> [(body: String, recipient: String)] {
        discarding.append(discard)
        var certain: [(body: String, recipient: String)] = []
        for (body, entry) in entries {
            for recipient in entry.recipients where discard.covers(entry, for: recipient) {
                noteAsked([body], by: recipient)
                if entry.outcome.isStored { certain.append((body, recipient)) }
            }
        }
        return certain
    }

    /// That was answered: they do not come back, not even after a crash.
    func noteDiscarded(_ messages: [(body: String, recipient: String)]) {
        for (body, recipient) in messages {
            if entries[body]?.done[recipient] == nil { noteDone([body], by: recipient) }
            entries[body]?.durablyDone.insert(recipient)
        }
    }

    /// Whether an app server has asked to discard a message since the last quiet time.
    func isDiscarding(_ entry: Entry, for recipient: String) -> Bool {
        discarding.contains { $0.covers(entry, for: recipient) }
    }

    /// An account has asked to take them, or an app server to discard them.
    func noteAsked(_ bodies: some Sequence<String>, by account: String) {
        for body in bodies { entries[body]?.perhapsDone.insert(account) }
    }

    /// That was answered.
    func noteDone(_ bodies: some Sequence<String>, by account: String) {
        for body in bodies { entries[body]?.done[account] = tick() }
    }

    /// What is wrong with a message that a connection is sent which was opened at `opened`.
    func fault(
        _ body: String, id: String, to account: String, _ device: String, opened: Int
    ) -> String? {
        if let fault = fault(body, id: id, of: account, since: opened, by: .session) {
            return fault
        }
        guard let entry = entries[body] else { return nil }
        guard entry.device == nil || entry.device == device else { return "\(body): the device" }
        if let preferred = entry.preferred, preferred != device {
            detours.append(Detour(body: body, account: account, device: device))
        }
        return nil
    }

    /// What a message is for: a session that was there when it was taken may still be sent it.
    enum Listener { case session, pusher }

    /// What is wrong with a message that waits for an account, as somebody is told who has begun to
    /// listen at `begun`.
    func fault(
        _ body: String, id: String, of account: String, since begun: Int, by listener: Listener
    ) -> String? {
        guard let entry = entries[body] else { return "\(body) was never sent" }
        guard entry.recipients.contains(account) else { return "\(body) is for others" }
        guard entry.outcome != .rejected else { return "\(body) was rejected" }
        if case .accepted(let accepted) = entry.outcome, accepted != id {
            return "\(body) was accepted as \(accepted) and is \(id)"
        }
        if let before = ids[body], before != id { return "\(body) was \(before) and is \(id)" }
        ids[body] = id
        // What was on its way to a connection when another took it may still arrive.
        if let done = entry.done[account] {
            let known = listener == .session ? begun : max(begun, durableUpTo)
            guard done < known else { return nil }
            return "\(body) was taken"
        }
        if let restedAt, let expires = entry.answeredExpiry, expires < restedAt {
            return "\(body) has expired"
        }
        return nil
    }

    /// A share was made for a reader.
    func noteUndelivered(upTo number: String, at time: Int) {
        if shares[number] == nil { shares[number] = time }
    }

    /// When a share was made at the earliest that ends with a number.
    func madeShare(upTo number: String) -> Int { shares[number] ?? 0 }

    /// Everything is durable, and nothing is on its way. `wall`: the time, if the clock has never
    /// jumped.
    func rest(wall: Int64?) {
        durableUpTo = tick()
        restedAt = wall
        discarding = []
        detours = []
        recent = []
    }

    /// The wall clock has jumped: nothing can be said of what expires.
    func noteJump() { restedAt = nil }

    /// The service has crashed: what was done lately may be undone.
    func crash() {
        for (body, entry) in entries {
            entries[body]?.done = entry.done.filter {
                $0.value <= durableUpTo || entry.durablyDone.contains($0.key)
            }
        }
    }
}

/// The order in which a connection is sent messages. Ids are compared as texts, which have one
/// length.
struct SentOrder {
    private var last = ""
    private var lastForAll = ""
    private var lastForDevice = ""

    /// What is wrong with the place of a message. `takesAll`: the session has always been sent
    /// what is for any device.
    ///
    /// What was addressed to another device may come late: when that one has gone.
    mutating func fault(
        _ id: String, _ entry: MessageLedger.Entry?, on device: String, takesAll: Bool
    ) -> String? {
        guard let entry, entry.preferred == nil || entry.preferred == device else { return nil }
        var isInOrder = true
        if takesAll { isInOrder = Self.advance(&last, to: id) }
        if entry.device != nil {
            isInOrder = Self.advance(&lastForDevice, to: id) && isInOrder
        } else if entry.preferred == nil {
            isInOrder = Self.advance(&lastForAll, to: id) && isInOrder
        }
        return isInOrder ? nil : "\(id) is out of order"
    }

    private static func advance(_ last: inout String, to id: String) -> Bool {
        defer { last = id }
        return last < id
    }
}
