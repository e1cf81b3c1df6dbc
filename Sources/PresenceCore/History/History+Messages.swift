import Containers

/// The sender or a recipient of a message in the history.
///
/// Of the names, too: the numbers of a handle are few enough that an app server could use them all
/// up, and have an account with the numbers of one that is forgotten.
struct MessageParty: Equatable {
    let number: UInt32
    let generation: UInt16
    let fingerprint: UInt32
}

/// A message for one recipient, and its fate: 56 bytes. Never its text.
struct MessageNote {
    private let number: UInt64
    /// When it was requested.
    let time: Wall
    /// When it left the box; meaningless while it waits.
    private(set) var ended = Wall(milliseconds: 0)
    /// The device that has taken it, in `History.devices`; `SlabRef.none`: none has.
    private(set) var device = SlabRef.none
    private(set) var fate = WhyMessage.Fate.waiting
    private let place: UInt16
    private let senderNumber: UInt32
    private let recipientNumber: UInt32
    private let senderFingerprint: UInt32
    private let recipientFingerprint: UInt32
    private let senderGeneration: UInt16
    private let recipientGeneration: UInt16
    /// How often it was handed to a session since startup; no more than 65,535 are counted.
    private(set) var sentCount: UInt16 = 0
    /// Why it was handed over; nil: it was not.
    private(set) var handedOver: UndeliveredReason?

    /// A message that waits. `sender` is nil for the service.
    init(
        _ key: WaitingKey, from sender: MessageParty?, to recipient: MessageParty, time: Wall
    ) {
        number = key.message.number
        place = key.place
        self.time = time
        senderNumber = sender?.number ?? none
        senderGeneration = sender?.generation ?? 0
        senderFingerprint = sender?.fingerprint ?? 0
        recipientNumber = recipient.number
        recipientGeneration = recipient.generation
        recipientFingerprint = recipient.fingerprint
    }

    var id: MessageID { MessageID(number: number) }
    /// Nil: the service.
    var sender: MessageParty? {
        guard senderNumber != none else { return nil }
        return MessageParty(
            number: senderNumber, generation: senderGeneration, fingerprint: senderFingerprint)
    }
    var recipient: MessageParty {
        MessageParty(
            number: recipientNumber, generation: recipientGeneration,
            fingerprint: recipientFingerprint)
    }

    /// Whether the entry is of an earlier message, or of the same for an earlier recipient.
    func isBefore(_ key: WaitingKey) -> Bool {
        (number, place) < (key.message.number, key.place)
    }

    func isOf(_ key: WaitingKey) -> Bool {
        number == key.message.number && place == key.place
    }

    mutating func noteHandOver(_ reason: UndeliveredReason) { handedOver = reason }

    mutating func noteSent() { sentCount = sentCount == .max ? .max : sentCount + 1 }

    mutating func end(_ fate: WhyMessage.Fate, on device: SlabRef, at time: Wall) {
        self.fate = fate
        self.device = device
        ended = time
    }
}

/// How messages have left the box of an account.
enum MessageEnd {
    /// A device with this name has taken them.
    case taken(device: [UInt8], Wall)
    case expired(Wall)
    case discarded(Wall)
    /// Their contents were missing in the store.
    case lost
}

extension History {
    /// Records a message that waits. Messages become durable in the order of their numbers.
    mutating func note(_ message: MessageNote) {
        if let old = messages.append(message).overwritten, old.device != .none {
            devices.remove(old.device)
        }
    }

    /// Records that a message was handed to a session.
    mutating func noteSent(_ key: WaitingKey) {
        guard let place = place(of: key) else { return }
        messages[place].noteSent()
    }

    /// Records that a message was handed over.
    mutating func noteHandOver(_ reason: UndeliveredReason, of key: WaitingKey) {
        guard let place = place(of: key), messages[place].fate == .waiting else { return }
        messages[place].noteHandOver(reason)
    }

    /// Records how a message has left its box.
    mutating func note(_ end: MessageEnd, of key: WaitingKey) {
        guard let place = place(of: key), messages[place].fate == .waiting else { return }
        switch end {
        case .taken(let name, let time):
            messages[place].end(.taken, on: devices.insert(name.span), at: time)
        case .expired(let time): messages[place].end(.expired, on: .none, at: time)
        case .discarded(let time): messages[place].end(.discarded, on: .none, at: time)
        case .lost: messages[place].end(.lost, on: .none, at: Wall(milliseconds: 0))
        }
    }

    /// The place of a message, if it is still in the ring. O(log d), if d entries are
    /// newer: most messages are taken at once.
    private func place(of key: WaitingKey) -> Int? {
        let places = messages.places
        // From here on, none is before the message.
        var end = places.upperBound
        var step = 1
        while end - step >= places.lowerBound, !messages[end - step].isBefore(key) {
            end -= step
            step *= 2
        }
        let rest = max(places.lowerBound, end - step)..<end
        let place = rest.partitionPoint { messages[$0].isBefore(key) }
        return place < messages.end && messages[place].isOf(key) ? place : nil
    }

    /// Since when all messages are known. Those that waited at startup are among them.
    var messagesSince: Wall { max(begun, messages.oldestLeft?.time ?? begun) }
}
