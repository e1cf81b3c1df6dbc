import Containers

/// A message of an account, and what it counts for in limits on bytes.
struct SizedMessage {
    let key: WaitingKey
    let byteCount: UInt32

    var amount: MessageAmount { MessageAmount(count: 1, byteCount: Int(byteCount)) }
}

extension WaitingMessage {
    var sized: SizedMessage { SizedMessage(key: key, byteCount: byteCount) }
}

/// A message that a session has taken, and other sessions that were there are still to be sent.
struct OwedMessage {
    let message: SizedMessage
    /// At least one.
    var sessions: [UInt32]
}

/// The messages that were taken and are still to be sent to other sessions of their account.
///
/// They wait for no login and count for no box and no sender. Their contents stay in the store
/// until each of the sessions was sent them or has ended, and are left out at a start. Only
/// accounts with a session that is behind use memory.
struct OwedMessages {
    /// By account, in the order of the keys.
    private var messages: [UInt32: [OwedMessage]] = [:]
    /// All of them.
    private(set) var amount = MessageAmount()

    /// What sessions of an account are still to be sent.
    subscript(account: AccountHandle) -> [OwedMessage] {
        messages.isEmpty ? [] : messages[account.index] ?? []
    }

    /// Adds a message that was taken.
    mutating func insert(_ owed: OwedMessage, for account: AccountHandle) {
        precondition(!owed.sessions.isEmpty, "a message that no session is to be sent")
        let key = owed.message.key
        let place = self[account].partitionPoint { $0.message.key < key }
        messages[account.index, default: []].insert(owed, at: place)
        amount = amount + owed.message.amount
    }

    /// A message that a session is still to be sent; nil: it is not. O(log n).
    func find(_ key: WaitingKey, for account: AccountHandle, to session: UInt32) -> SizedMessage? {
        let owed = self[account]
        let place = owed.partitionPoint { $0.message.key < key }
        guard place < owed.count, owed[place].message.key == key,
            owed[place].sessions.contains(session)
        else { return nil }
        return owed[place].message
    }

    /// A session was sent these messages, or cannot be. Returns those that no other is to be sent.
    mutating func remove(
        _ keys: [WaitingKey], for account: AccountHandle, from session: UInt32
    ) -> [WaitingKey] {
        guard !keys.isEmpty else { return [] }
        let keys = Set(keys)
        return remove(for: account, from: session) { keys.contains($0) }
    }

    /// A session has ended. Returns the messages that no other is to be sent.
    mutating func removeAll(for account: AccountHandle, from session: UInt32) -> [WaitingKey] {
        remove(for: account, from: session) { _ in true }
    }

    private mutating func remove(
        for account: AccountHandle, from session: UInt32, _ isGone: (WaitingKey) -> Bool
    ) -> [WaitingKey] {
        guard var owed = messages.removeValue(forKey: account.index) else { return [] }
        for place in owed.indices where isGone(owed[place].message.key) {
            owed[place].sessions.removeAll { $0 == session }
        }
        let removed = owed.filter(\.sessions.isEmpty)
        owed.removeAll(where: \.sessions.isEmpty)
        for message in removed { amount = amount - message.message.amount }
        if !owed.isEmpty { messages[account.index] = owed }
        return removed.map(\.message.key)
    }

    /// Removes the oldest of an account, until the others are within a limit.
    mutating func removeOldest(
        for account: AccountHandle, beyond limit: MessageAmount
    ) -> [OwedMessage] {
        guard let owed = messages[account.index] else { return [] }
        var left = owed.reduce(MessageAmount()) { $0 + $1.message.amount }
        var count = 0
        while count < owed.count, left.exceeds(limit) != nil {
            left = left - owed[count].message.amount
            amount = amount - owed[count].message.amount
            count += 1
        }
        messages[account.index] = count == owed.count ? nil : Array(owed[count...])
        return Array(owed[..<count])
    }

    /// Removes all of an account.
    mutating func removeAll(for account: AccountHandle) -> [OwedMessage] {
        removeOldest(for: account, beyond: MessageAmount())
    }

    /// Traps unless the sum is right and every message is to be sent to a session of its account
    /// that reads.
    func checkInvariants(_ isReader: (_ session: UInt32, _ account: UInt32) -> Bool) {
        var sum = MessageAmount()
        for (account, owed) in messages {
            precondition(!owed.isEmpty, "memory for nothing")
            for (place, message) in owed.enumerated() {
                precondition(
                    place == 0 || owed[place - 1].message.key < message.message.key,
                    "order of messages")
                precondition(!message.sessions.isEmpty, "a message that no session is to be sent")
                precondition(
                    message.sessions.allSatisfy { isReader($0, account) },
                    "a message for a session that does not read")
                sum = sum + message.message.amount
            }
        }
        precondition(sum == amount, "messages miscounted")
    }
}
