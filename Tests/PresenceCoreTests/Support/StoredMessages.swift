@testable import PresenceCore

/// What a store has of messages, and what is read of it.
struct StoredMessages {
    /// By message, as long as a recipient is left.
    private(set) var bodies: [MessageID: String] = [:]
    /// Who has still to take each.
    private(set) var rows: [WaitingKey: MessageRecord] = [:]
    /// The account of each row, and the device if it is for one alone.
    private(set) var devices: [WaitingKey: (account: AccountHandle, device: String?)] = [:]
    /// The messages that were stored under tickets.
    private(set) var stored: [Ticket: MessageID] = [:]
    /// Rows that wait no longer, of which sessions are still to be sent the contents.
    private(set) var taken: Set<WaitingKey> = []
    /// The tickets of hand-overs.
    private(set) var handOvers: Set<Ticket> = []
    /// Reads that are still to be answered.
    var reads: [(ConnectionID, [MessageID])] = []
    /// What each connection was sent.
    var handed: [ConnectionID: [MessageID]] = [:]

    mutating func note(_ record: Record, _ ticket: Ticket?, _ effects: Effects) {
        switch record {
        case .handOver: if let ticket { handOvers.insert(ticket) }
        case .putMessage(let message):
            bodies[message.message] = effects.text(message.body)
            if let ticket { stored[ticket] = message.message }
            for (place, recipient) in message.recipients.enumerated() {
                let key = WaitingKey(message: message.message, place: UInt16(place))
                rows[key] = message
                devices[key] = (recipient.account, recipient.device.map { effects.text($0) })
            }
        case .takeMessages(let keys): taken.formUnion(keys)
        case .removeMessages(let keys):
            taken.subtract(keys)
            for key in keys {
                rows[key] = nil
                devices[key] = nil
                if !rows.keys.contains(where: { $0.message == key.message }) {
                    bodies[key.message] = nil
                }
            }
        default: break
        }
    }

    /// The contents of a message are damaged.
    mutating func lose(_ message: MessageID) { bodies[message] = nil }
}
