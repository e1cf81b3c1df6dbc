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

/// How many messages, and what they count for in the limits on bytes.
struct MessageAmount: Equatable {
    var count = 0
    var byteCount = 0

    static func + (lhs: Self, rhs: Self) -> Self {
        Self(count: lhs.count + rhs.count, byteCount: lhs.byteCount + rhs.byteCount)
    }

    static func - (lhs: Self, rhs: Self) -> Self {
        Self(count: lhs.count - rhs.count, byteCount: lhs.byteCount - rhs.byteCount)
    }

    static func * (lhs: Self, rhs: Int) -> Self {
        Self(count: lhs.count * rhs, byteCount: lhs.byteCount * rhs)
    }

    /// One of the two numbers.
    enum Part { case count, bytes }

    /// Which number is above that of a limit, the count first; nil: neither is.
    func exceeds(_ limit: Self) -> Part? {
        if count > limit.count { return .count }
        return byteCount > limit.byteCount ? .bytes : nil
    }

    /// The half of both.
    var half: Self { Self(count: count / 2, byteCount: byteCount / 2) }
}

/// What waits for one account, in the order of the messages' numbers, and the places of what is
/// still to be stored. Of one message there may be several, each for another device.
struct Inbox {
    private(set) var messages: [WaitingMessage] = []
    /// All of it, with what is reserved.
    private(set) var amount = MessageAmount()
    /// The part of strangers.
    private(set) var ofStrangers = MessageAmount()
    /// Fires at the earliest expiry or hand-over, or before.
    var timer = TimerID.none
    /// When it fires; meaningless without a timer.
    var deadline = Mono(milliseconds: 0)

    var isEmpty: Bool { messages.isEmpty && amount.count == 0 }

    /// The limit that a message would exceed; nil: it has room. Strangers fill at most half.
    func lacks(
        _ message: MessageAmount, isOfStranger: Bool, limit: MessageAmount
    ) -> MessageAmount.Part? {
        (amount + message).exceeds(limit)
            ?? (isOfStranger ? (ofStrangers + message).exceeds(limit.half) : nil)
    }

    /// Keeps a place for a message that is to be stored.
    mutating func reserve(_ message: MessageAmount, isOfStranger: Bool) {
        amount = amount + message
        if isOfStranger { ofStrangers = ofStrangers + message }
    }

    /// Gives back the place of a message.
    mutating func release(_ message: MessageAmount, isOfStranger: Bool) {
        amount = amount - message
        if isOfStranger { ofStrangers = ofStrangers - message }
        precondition(amount.count >= messages.count, "a place that nothing had")
        precondition(ofStrangers.count >= 0, "a place that no stranger had")
    }

    /// Adds a message that has a place. O(1) for the newest.
    mutating func insert(_ message: WaitingMessage) {
        let place = place(of: message.key)
        precondition(
            place == messages.count || messages[place].key != message.key, "a message twice")
        messages.insert(message, at: place)
        precondition(messages.count <= amount.count, "a message without a place")
    }

    /// Removes a message with its place; nil: it does not wait any more. O(messages behind it).
    mutating func remove(_ key: WaitingKey) -> WaitingMessage? {
        guard let place = find(key) else { return nil }
        let message = messages.remove(at: place)
        release(message.amount, isOfStranger: message.isOfStranger)
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

    func checkInvariants(reserved: MessageAmount, ofStrangers reservedOfStrangers: MessageAmount) {
        var sum = reserved
        var strangers = reservedOfStrangers
        for (place, message) in messages.enumerated() {
            precondition(place == 0 || messages[place - 1].key < message.key, "order of messages")
            sum = sum + message.amount
            if message.isOfStranger { strangers = strangers + message.amount }
            precondition(timer == .none || deadline <= message.deadline, "a deadline too late")
        }
        precondition(sum == amount && strangers == ofStrangers, "a box miscounted")
        precondition(messages.isEmpty || timer != .none, "messages without a deadline")
    }
}
