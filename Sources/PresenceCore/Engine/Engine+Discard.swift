// Messages are discarded by app servers. They leave their boxes at once, so that no session is sent
// one of them any more; the answer follows when their removal is on disk.

import Containers

extension Engine {
    /// The most messages of a sender that one request discards: the rows of a large transaction.
    static let discardedOfSenderMax = 1_000

    /// Forgets what waits for an account, or what waits of a sender, for an account or for all.
    mutating func discard(
        _ name: ByteRange?, from senderName: ByteRange?, _ texts: TextSource,
        for connection: ConnectionID, at now: Moment, into effects: inout Effects
    ) {
        let account = name.flatMap { find($0, texts) }
        guard let senderName else {
            let (keys, count) =
                account.map { discardAll(for: $0, at: now, into: &effects) } ?? ([], 0)
            return remove(keys, .discarded(count, hasMore: nil), for: connection, into: &effects)
        }
        var keys: [WaitingKey] = []
        var hasMore = false
        if let sender = find(senderName, texts) {
            let boxes =
                name == nil
                ? boxes(withMessagesOf: sender, into: &effects) : account.map { [$0] } ?? []
            for account in boxes where !hasMore {
                let room = Self.discardedOfSenderMax - keys.count
                let messages = inboxes[account].messages.filter { $0.sender == sender.index }
                effects.visit(inboxes[account].messages.count)
                hasMore = messages.count > room
                keys += takeOut(
                    messages.prefix(room).map(\.key), for: account, .discarded(now.wall),
                    into: &effects)
            }
        }
        remove(
            keys, .discarded(keys.count, hasMore: hasMore), for: connection, into: &effects)
        messageStats.discarded += keys.count
    }

    /// Takes out all that waits for an account, and what its sessions are still to be sent of what
    /// others have taken. Returns their keys, and how many waited.
    private mutating func discardAll(
        for account: AccountHandle, at now: Moment, into effects: inout Effects
    ) -> (keys: [WaitingKey], count: Int) {
        let waiting = takeOut(
            inboxes[account].messages.map(\.key), for: account, .discarded(now.wall),
            into: &effects)
        messageStats.discarded += waiting.count
        let keys = waiting + owed.removeAll(for: account).map(\.message.key)
        return (keys, waiting.count)
    }

    /// The accounts for which messages of a sender wait. O(messages that wait), if there are any.
    private func boxes(
        withMessagesOf sender: AccountHandle, into effects: inout Effects
    ) -> [AccountHandle] {
        guard inboxes.sent(by: sender).count > 0 else { return [] }
        effects.visit(inboxes.parts.all.count)
        return inboxes.boxes.entries
            .filter { $0.value.messages.contains { $0.sender == sender.index } }
            .map(\.key).sorted().map { AccountHandle(index: $0) }
    }

    /// Has messages removed from the store, and the answer sent when that is on disk, with all that
    /// was removed before: also if there are none.
    private mutating func remove(
        _ keys: [WaitingKey], _ answer: Answer, for connection: ConnectionID,
        into effects: inout Effects
    ) {
        let ticket = inFlight.nextTicket()
        discards.add(PendingDiscard(connection: connection, keys: keys, answer: answer), ticket)
        effects.persist(.removeMessages(keys), ticket: ticket)
    }

    /// The removal could not be stored. The messages wait no longer in this run, and are removed
    /// from the store when it can be written again.
    mutating func failed(_ discard: PendingDiscard, into effects: inout Effects) {
        if !discard.keys.isEmpty { effects.persist(.removeMessages(discard.keys)) }
        effects.items.append(.reject(discard.connection, Rejection(.storeUnavailable)))
    }
}
