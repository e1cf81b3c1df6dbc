import Containers

/// The messages that wait, by recipient and by sender. Only accounts with mail use memory.
struct Inboxes {
    private(set) var boxes = PartedDictionary<UInt32, Inbox>()
    /// What waits by its sender, with what is reserved; not what the service has sent.
    private var senders = PartedDictionary<UInt32, MessageAmount>()
    /// All of it, with what is reserved.
    private(set) var parts = MessageParts()

    /// Whether there is anything of or for an account. O(1).
    @inline(__always)
    func mention(_ account: UInt32) -> Bool {
        parts.all.count > 0 && (boxes[account] != nil || senders[account] != nil)
    }

    /// The box of an account.
    subscript(account: AccountHandle) -> Inbox { boxes[account.index] ?? Inbox() }

    /// What waits of an account.
    func sent(by account: AccountHandle) -> MessageAmount {
        senders[account.index] ?? MessageAmount()
    }

    /// The accounts of which most bytes wait, the greatest first. O(senders).
    func greatestSenders(_ count: Int) -> [(account: UInt32, amount: MessageAmount)] {
        Self.greatest(count, of: senders.entries.lazy.map { (account: $0.key, amount: $0.value) })
    }

    /// The accounts for which most bytes wait, the greatest first. O(boxes).
    func fullest(_ count: Int) -> [(account: UInt32, amount: MessageAmount)] {
        Self.greatest(
            count, of: boxes.entries.lazy.map { (account: $0.key, amount: $0.value.parts.all) })
    }

    private static func greatest(
        _ count: Int, of amounts: some Sequence<(account: UInt32, amount: MessageAmount)>
    ) -> [(account: UInt32, amount: MessageAmount)] {
        amounts.greatest(count) { one, other in
            (one.amount.byteCount, one.amount.count, other.account)
                < (other.amount.byteCount, other.amount.count, one.account)
        }
    }

    /// Keeps places for a message of `sender` (`none`: the service).
    mutating func reserve(
        _ message: MessageAmount, for account: AccountHandle, of sender: UInt32,
        isOfStranger: Bool
    ) {
        boxes[account.index, default: Inbox()]
            .reserve(message, of: sender, isOfStranger: isOfStranger)
        parts.add(message, of: sender, isOfStranger: isOfStranger)
        guard sender != none else { return }
        senders[sender, default: MessageAmount()] = sent(by: AccountHandle(index: sender)) + message
    }

    /// Gives back the places of a message that is not stored.
    mutating func release(
        _ message: MessageAmount, for account: AccountHandle, of sender: UInt32,
        isOfStranger: Bool
    ) {
        update(account) { $0.release(message, of: sender, isOfStranger: isOfStranger) }
        deduct(message, of: sender, isOfStranger: isOfStranger)
    }

    /// Adds a message that has places.
    mutating func insert(_ message: WaitingMessage, for account: AccountHandle) {
        update(account) { $0.insert(message) }
    }

    /// Removes a message with its places; nil: it does not wait any more.
    mutating func remove(_ key: WaitingKey, for account: AccountHandle) -> WaitingMessage? {
        guard let message = update(account, { $0.remove(key) }) else { return nil }
        deduct(message.amount, of: message.sender, isOfStranger: message.isOfStranger)
        return message
    }

    /// A message that was handed over with this number; nil: it waits no longer. O(log n).
    func find(_ entry: UndeliveredOrder.Entry) -> WaitingMessage? {
        guard let message = boxes[entry.account]?[entry.key],
            message.handOver.number == entry.number
        else { return nil }
        return message
    }

    /// Notes how far the hand-over of messages is that wait.
    mutating func setHandOver(
        of messages: [WaitingKey], for account: AccountHandle, to state: HandOverState
    ) {
        update(account) { box in
            for message in messages { box.setHandOver(of: message, to: state) }
        }
    }

    /// Changes a box in place; one that is empty afterwards uses no memory.
    @discardableResult
    mutating func update<Result>(
        _ account: AccountHandle, _ body: (inout Inbox) -> Result
    ) -> Result {
        let result = body(&boxes[account.index, default: Inbox()])
        if boxes[account.index]?.isEmpty == true, boxes[account.index]?.timer == TimerID.none {
            boxes[account.index] = nil
        }
        return result
    }

    private mutating func deduct(
        _ message: MessageAmount, of sender: UInt32, isOfStranger: Bool
    ) {
        parts.remove(message, of: sender, isOfStranger: isOfStranger)
        guard sender != none else { return }
        let left = sent(by: AccountHandle(index: sender)) - message
        precondition(left.isValid, "a sender's messages miscounted")
        senders[sender] = left.count == 0 ? nil : left
    }

    /// Traps unless the sums agree. `pending` are the sends that are being stored.
    func checkInvariants(_ pending: [PendingSend]) {
        var reserved: [UInt32: MessageSums] = [:]
        var sums = MessageSums()
        for send in pending {
            for recipient in send.recipients {
                reserved[recipient.account.index, default: MessageSums()].add(
                    send.amount, of: send.sender, isOfStranger: recipient.isOfStranger)
                sums.add(send.amount, of: send.sender, isOfStranger: recipient.isOfStranger)
            }
        }
        for (account, box) in boxes.entries {
            box.checkInvariants(reserved: reserved[account] ?? MessageSums())
            precondition(
                !box.isEmpty || box.timer != .none, "a box of an account without mail")
            for message in box.messages {
                sums.add(message.amount, of: message.sender, isOfStranger: message.isOfStranger)
            }
        }
        precondition(reserved.keys.allSatisfy { boxes[$0] != nil }, "a place in no box")
        precondition(sums.parts == parts, "messages miscounted")
        precondition(
            sums.senders.count == senders.count
                && sums.senders.allSatisfy { senders[$0.key] == $0.value }, "senders miscounted")
        precondition(
            boxes.values.reduce(MessageParts()) { $0 + $1.parts } == parts, "boxes miscounted")
    }
}
