// How messages leave their boxes: taken, expired. See `Engine+Discard` for the third way.

import Containers

extension Engine {
    /// Takes a message, and all that this session was sent before it, for its account.
    mutating func take(
        _ message: MessageID, _ client: ClientSession, at now: Moment, into effects: inout Effects
    ) {
        let taken = readers[client.session]?.take(message) ?? []
        let device = strings.bytes(of: sessions[client.session].device)
        let owed = oweOthers(taken, by: client)
        let removed = remove(
            taken, for: client.account, .taken(device: device, now.wall), owed: owed,
            into: &effects)
        messageStats.taken += removed
        if !owed.isEmpty { boundOwed(of: client.account, into: &effects) }
        effects.answer(client.connection, .taken(waiting: waitingCount(for: client.session)))
        if removed > 0 {
            fetchForSessions(of: client.account, into: &effects)
        } else if !taken.isEmpty {
            // Another session has taken them; this one has room again.
            fetch(for: client.session, into: &effects)
        }
    }

    /// Notes which other sessions are still to be sent what a session takes: those that may get it.
    /// Returns the messages that there are any for.
    private mutating func oweOthers(
        _ taken: [WaitingKey], by client: ClientSession
    ) -> Set<WaitingKey> {
        let others = allSessions(of: client.account).filter {
            $0 != client.session && readers[$0] != nil
        }
        guard !others.isEmpty else { return [] }
        var keys: Set<WaitingKey> = []
        for key in taken {
            guard let message = inboxes[client.account][key] else { continue }
            let sessions = others.filter {
                readers[$0]?.wasSent(key) == false && mayGet(message, $0)
            }
            guard !sessions.isEmpty else { continue }
            owed.insert(
                OwedMessage(message: message.sized, sessions: sessions), for: client.account)
            keys.insert(key)
        }
        return keys
    }

    /// Gives up the oldest messages that sessions of an account are still to be sent, if they have
    /// left too many: as many as a box holds, or the window of one session if those of all accounts
    /// have an eighth of the room for messages.
    private mutating func boundOwed(of account: AccountHandle, into effects: inout Effects) {
        let limits = settings.limits
        let isShort = owed.amount.byteCount > limits.messageBytesInAllMax / 8
        var limit = limits.messagesPerAccount
        if isShort { limit.byteCount = min(limit.byteCount, MessageReader.windowBytes) }
        let removed = owed.removeOldest(for: account, beyond: limit)
        guard !removed.isEmpty else { return }
        messageStats.missed += removed.reduce(0) { $0 + $1.sessions.count }
        effects.persist(.removeMessages(removed.map(\.message.key)))
    }

    /// A session was sent messages, or cannot be: what no other is to be sent leaves the store.
    mutating func forgetOwed(
        _ messages: [WaitingKey], _ account: AccountHandle, _ session: UInt32,
        into effects: inout Effects
    ) {
        guard !owed[account].isEmpty else { return }
        let removed = owed.remove(messages, for: account, from: session)
        if !removed.isEmpty { effects.persist(.removeMessages(removed)) }
    }

    /// Has all sessions of an account sent what they may get now: what has left a box may have been
    /// too large for a session, with others behind it.
    private mutating func fetchForSessions(of account: AccountHandle, into effects: inout Effects) {
        guard !readers.isEmpty else { return }
        for session in allSessions(of: account) { fetch(for: session, into: &effects) }
    }

    /// Something may have expired of what waits for an account, or has to be handed over. Also
    /// begins the reads again that have failed.
    mutating func inboxTimerFired(
        of account: AccountHandle, at now: Moment, into effects: inout Effects
    ) {
        inboxes.update(account) { $0.timer = .none }
        let expired = inboxes[account].messages.filter { $0.expires <= now.mono }.map(\.key)
        messageStats.expired += remove(
            expired, for: account, .expired(now.wall), into: &effects)
        handOverUntaken(of: account, at: now, into: &effects)
        let left = inboxes[account].messages.map(\.deadline).min()
        if let left { expectExpiry(ofMessagesFor: account, at: left) }
        for session in allSessions(of: account) { lookAgain(for: session, into: &effects) }
    }

    /// Removes those that wait of these, from the store as well, but the contents of those in
    /// `owed`. Returns how many.
    mutating func remove(
        _ messages: [WaitingKey], for account: AccountHandle, _ end: MessageEnd,
        owed: Set<WaitingKey> = [], into effects: inout Effects
    ) -> Int {
        let removed = takeOut(messages, for: account, end, into: &effects)
        let keys = removed.filter { !owed.contains($0) }
        if !keys.isEmpty { effects.persist(.removeMessages(keys)) }
        if !owed.isEmpty { effects.persist(.takeMessages(owed.sorted())) }
        return removed.count
    }

    /// Removes those that wait of these from the box, but not from the store. Returns them.
    mutating func takeOut(
        _ messages: [WaitingKey], for account: AccountHandle, _ end: MessageEnd,
        into effects: inout Effects
    ) -> [WaitingKey] {
        var removed: [WaitingMessage] = []
        for key in messages {
            guard let message = inboxes.remove(key, for: account) else { continue }
            removed.append(message)
            history.note(end, of: message.key)
            if message.device != .none { strings.remove(message.device) }
            if message.sender != none { retired.append(message.sender) }
        }
        // Each moves those behind it.
        effects.visit(removed.count * (1 + inboxes[account].messages.count))
        guard !removed.isEmpty else { return [] }
        noteGone(removed)
        if inboxes[account].messages.isEmpty {
            cancelInboxTimer(of: account)
            retired.append(account.index)
        }
        return removed.map(\.key)
    }

    /// Has the box of an account looked at then, or before.
    mutating func expectExpiry(ofMessagesFor account: AccountHandle, at deadline: Mono) {
        let box = inboxes[account]
        guard box.timer == .none || deadline < box.deadline else { return }
        var timer = box.timer
        if timer == .none {
            timer = wheel.schedule(
                Deadline.inbox(account.index).payload, at: deadline.milliseconds)
        } else {
            wheel.reschedule(timer, at: deadline.milliseconds)
        }
        inboxes.update(account) { ($0.timer, $0.deadline) = (timer, deadline) }
    }

    mutating func cancelInboxTimer(of account: AccountHandle) {
        let timer = inboxes[account].timer
        guard timer != .none else { return }
        wheel.cancel(timer)
        inboxes.update(account) { $0.timer = .none }
    }

    // MARK: At a start

    /// Restores a message, in the order of the numbers; one that has expired is left out. One that
    /// was not handed over is when the restart grace ends.
    public mutating func restoreMessage(
        _ id: MessageID, place: UInt16, for account: AccountHandle, of sender: AccountHandle?,
        device: [UInt8]?, byteCount: Int, isOfStranger: Bool, time: Wall, expires: Wall,
        handOver: HandOver? = nil, at now: Moment
    ) {
        let key = WaitingKey(message: id, place: place)
        guard now.wall < expires, !inboxes[account].contains(key) else { return }
        let message = WaitingMessage(
            id: id,
            expires: deadline(
                at: expires, secondsMax: settings.limits.messageExpirySecondsMax, now),
            sender: sender?.index ?? none, byteCount: UInt32(clamping: max(0, byteCount)),
            place: place, isOfStranger: isOfStranger,
            device: device.map { strings.insert($0.span) } ?? .none,
            handOver: handOver.map { .done($0) }
                ?? .due(now.mono.advanced(bySeconds: settings.restartGraceSeconds)))
        inboxes.reserve(
            message.amount, for: account, of: message.sender, isOfStranger: isOfStranger)
        inboxes.insert(message, for: account)
        note(message, for: account, at: time)
        if let handOver { restore(handOver, of: message.key, for: account) }
        expectExpiry(ofMessagesFor: account, at: message.deadline)
    }

    /// Counters of messages.
    public var messages: MessageStats {
        var stats = messageStats
        let waiting = inboxes.parts.all - sendsInFlight.reserved
        stats.waiting = waiting.count
        stats.waitingBytes = waiting.byteCount
        stats.bytesOfAccounts = inboxes.parts.ofAccounts.byteCount
        stats.bytesOfStrangers = inboxes.parts.ofStrangers.byteCount
        stats.inboxes = inboxes.boxes.count
        stats.owed = owed.amount.count
        stats.owedBytes = owed.amount.byteCount
        return stats
    }
}
