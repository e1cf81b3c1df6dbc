import Containers

/// A message that waits for one recipient. Its contents are in the store.
struct WaitingMessage {
    let id: MessageID
    /// When it expires.
    let expires: Mono
    /// The account that wrote it; `none`: the service.
    let sender: UInt32
    /// What it counts for in the limits on bytes.
    let byteCount: UInt32
    /// The recipient's place among those of the message.
    let place: UInt16
    /// Whether it shares the half of the room that is for strangers: the sender is a stranger to
    /// the recipient, or an app server has sent it by labels.
    let isOfStranger: Bool
    /// For the device with this name; `SlabRef.none`: for whichever takes it first.
    let device: SlabRef
    /// Whether it is for whichever takes it first unless that device has a session that is sent
    /// messages. Not kept over a restart, as such a session is not.
    var isPreference = false
    /// When it is handed over, or was.
    var handOver: HandOverState

    /// When it expires or is handed over.
    var deadline: Mono {
        if case .due(let time) = handOver { min(time, expires) } else { expires }
    }

    /// Whether it was handed over.
    var wasHandedOver: Bool { handOver.number != nil }

    var key: WaitingKey { WaitingKey(message: id, place: place) }
    var amount: MessageAmount { MessageAmount(count: 1, byteCount: Int(byteCount)) }

    /// The smallest number of bytes that a message counts for: what its rows take.
    static let byteCountMin = 512
}

/// Whether a message was handed over.
enum HandOverState: Equatable {
    /// It will be then, if no device has taken it.
    case due(Mono)
    /// Its number waits for the store.
    case pending
    /// It was.
    case done(HandOver)

    /// The number of the hand-over, if there was one.
    var number: UInt64? {
        if case .done(let handOver) = self { handOver.number } else { nil }
    }
}

/// What waits for one account, in the order of the messages' numbers, and the places of what is
/// still to be stored. Of one message there may be several, each for another device.
struct Inbox {
    private(set) var messages: [WaitingMessage] = []
    /// All of it, with what is reserved.
    private(set) var parts = MessageParts()
    /// Of the part of strangers, what each has, with what is reserved; not what the service has.
    private(set) var strangers: [UInt32: MessageAmount] = [:]
    /// Fires at the earliest expiry or hand-over, or before.
    var timer = TimerID.none
    /// When it fires; meaningless without a timer.
    var deadline = Mono(milliseconds: 0)

    var isEmpty: Bool { messages.isEmpty && parts.all.count == 0 }

    /// The limit that a message would exceed; nil: it has room.
    func lacks(
        _ message: MessageAmount, _ origin: MessageOrigin, limit: MessageAmount
    ) -> MessageAmount.Part? {
        let free = parts.free(for: origin, limit: limit)
        if let part = message.exceeds(free) { return part }
        guard case .stranger(let sender) = origin else { return nil }
        return message.exceeds(.half, held: strangers[sender] ?? MessageAmount(), free: free)
    }

    /// Keeps a place for a message that is to be stored.
    mutating func reserve(_ message: MessageAmount, of sender: UInt32, isOfStranger: Bool) {
        parts.add(message, of: sender, isOfStranger: isOfStranger)
        guard isOfStranger, sender != none else { return }
        strangers[sender] = (strangers[sender] ?? MessageAmount()) + message
    }

    /// Gives back the place of a message.
    mutating func release(_ message: MessageAmount, of sender: UInt32, isOfStranger: Bool) {
        parts.remove(message, of: sender, isOfStranger: isOfStranger)
        precondition(parts.all.count >= messages.count, "a place that nothing had")
        guard isOfStranger, sender != none else { return }
        let left = (strangers[sender] ?? MessageAmount()) - message
        precondition(left.isValid, "a place that no stranger had")
        strangers[sender] = left.count == 0 ? nil : left
    }

    /// Adds a message that has a place. O(1) for the newest.
    mutating func insert(_ message: WaitingMessage) {
        let place = place(of: message.key)
        precondition(
            place == messages.count || messages[place].key != message.key, "a message twice")
        messages.insert(message, at: place)
        precondition(messages.count <= parts.all.count, "a message without a place")
    }

    /// Removes a message with its place; nil: it does not wait any more. O(messages behind it).
    mutating func remove(_ key: WaitingKey) -> WaitingMessage? {
        guard let place = find(key) else { return nil }
        let message = messages.remove(at: place)
        release(message.amount, of: message.sender, isOfStranger: message.isOfStranger)
        return message
    }

    /// Whether a message waits. O(log n).
    func contains(_ key: WaitingKey) -> Bool { find(key) != nil }

    /// A message; nil: it does not wait. O(log n).
    subscript(key: WaitingKey) -> WaitingMessage? { find(key).map { messages[$0] } }

    /// Notes how far the hand-over of a message is that waits. O(log n).
    mutating func setHandOver(of key: WaitingKey, to state: HandOverState) {
        guard let place = find(key) else { preconditionFailure("no such message") }
        messages[place].handOver = state
    }

    /// How many messages were handed over. O(n).
    var handedOverCount: Int { messages.count(where: \.wasHandedOver) }

    /// Where a message is, or would be.
    private func place(of key: WaitingKey) -> Int { messages.partitionPoint { $0.key < key } }

    private func find(_ key: WaitingKey) -> Int? {
        let place = place(of: key)
        return place < messages.count && messages[place].key == key ? place : nil
    }

    /// Traps unless the sums agree. `reserved` are those of what is being stored.
    func checkInvariants(reserved: MessageSums) {
        var sums = reserved
        for (place, message) in messages.enumerated() {
            precondition(place == 0 || messages[place - 1].key < message.key, "order of messages")
            sums.add(message.amount, of: message.sender, isOfStranger: message.isOfStranger)
            precondition(timer == .none || deadline <= message.deadline, "a deadline too late")
        }
        precondition(sums.parts == parts && sums.strangers == strangers, "a box miscounted")
        precondition(messages.isEmpty || timer != .none, "messages without a deadline")
    }
}

/// Sums over messages, as they are counted again to check those that are kept.
struct MessageSums {
    private(set) var parts = MessageParts()
    /// By sender, of accounts.
    private(set) var senders: [UInt32: MessageAmount] = [:]
    /// Of them as strangers to the recipients.
    private(set) var strangers: [UInt32: MessageAmount] = [:]

    mutating func add(_ message: MessageAmount, of sender: UInt32, isOfStranger: Bool) {
        parts.add(message, of: sender, isOfStranger: isOfStranger)
        guard sender != none else { return }
        senders[sender] = (senders[sender] ?? MessageAmount()) + message
        guard isOfStranger else { return }
        strangers[sender] = (strangers[sender] ?? MessageAmount()) + message
    }
}
