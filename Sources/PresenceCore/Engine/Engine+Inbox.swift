// How messages leave their boxes: taken, expired, discarded.

import Containers

extension Engine {
    /// Takes a message, and all that this session was sent before it, for its account.
    mutating func take(
        _ message: MessageID, _ client: ClientSession, at now: Moment, into effects: inout Effects
    ) {
        let taken = readers[client.session]?.take(message) ?? []
        let device = strings.bytes(of: sessions[client.session].device)
        let removed = remove(
            taken, for: client.account, .taken(device: device, now.wall), into: &effects)
        messageStats.taken += removed
        effects.answer(client.connection, .taken(waiting: waitingCount(for: client.session)))
        if removed > 0 {
            fetchForSessions(of: client.account, into: &effects)
        } else if !taken.isEmpty {
            // Another session has taken them; this one has room again.
            fetch(for: client.session, into: &effects)
        }
    }

    /// Has all sessions of an account sent what they may get now: what has left a box may have been
    /// too large for a session, with others behind it.
    private mutating func fetchForSessions(of account: AccountHandle, into effects: inout Effects) {
        guard !readers.isEmpty else { return }
        for session in allSessions(of: account) { fetch(for: session, into: &effects) }
    }

    /// Forgets what waits for an account.
    mutating func discard(
        _ account: AccountHandle?, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        let messages = account.map { inboxes[$0].messages.map(\.key) } ?? []
        let count =
            account.map { remove(messages, for: $0, .discarded(now.wall), into: &effects) } ?? 0
        messageStats.discarded += count
        effects.answer(connection, .discarded(count))
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
        fetchForSessions(of: account, into: &effects)
    }

    /// Removes those that wait of these, from the store as well. Returns how many.
    mutating func remove(
        _ messages: [WaitingKey], for account: AccountHandle, _ end: MessageEnd,
        into effects: inout Effects
    ) -> Int {
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
        guard !removed.isEmpty else { return 0 }
        noteGone(removed)
        effects.persist(.removeMessages(removed.map(\.key)))
        if inboxes[account].messages.isEmpty {
            cancelInboxTimer(of: account)
            retired.append(account.index)
        }
        return removed.count
    }

    /// Has the box of an account looked at then, or before.
    mutating func expectExpiry(ofMessagesFor account: AccountHandle, at deadline: Mono) {
        let box = inboxes[account]
        precondition(!box.messages.isEmpty, "a deadline of no message")
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

    private mutating func cancelInboxTimer(of account: AccountHandle) {
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
        let waiting = inboxes.amount - sendsInFlight.reserved
        stats.waiting = waiting.count
        stats.waitingBytes = waiting.byteCount
        stats.inboxes = inboxes.boxes.count
        return stats
    }
}
