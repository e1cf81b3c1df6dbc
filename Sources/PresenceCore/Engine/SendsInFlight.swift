/// Which devices of an account a message is for.
enum MessageTarget {
    /// Whichever takes it first.
    case any
    /// This one alone.
    case only([UInt8])
    /// This one alone while it is sent messages; otherwise whichever takes it first.
    case preferring([UInt8])
}

/// A message that has been checked and recorded, and waits from when it is durable on.
struct PendingSend {
    /// One who is to get it.
    struct Recipient {
        let account: AccountHandle
        let target: MessageTarget
        /// As in `WaitingMessage`.
        let isOfStranger: Bool
        /// Set if no session can be sent it.
        var handOver: HandOver?
    }

    let message: MessageID
    /// The connection that waits for the response.
    let connection: ConnectionID
    let sender: UInt32
    /// When it was requested.
    let requested: Moment
    let expiry: Moment
    /// What it counts for, for each recipient.
    let amount: MessageAmount
    let recipients: [Recipient]
    /// Devices that do not get it, since the boxes of their accounts are full.
    let passedOver: Int
    /// Whether its devices were selected by their labels.
    let isByLabels: Bool
    /// Whether other sessions of the sender are sent copies.
    let isCopied: Bool
    /// Whether the peer may know how many were reached.
    let isOfAppServer: Bool
    let accounts: HeldAccounts

    /// What it counts for, over all recipients.
    var amountInAll: MessageAmount { amount * recipients.count }
}

/// The sends that wait for the store. An account may have several: messages do not depend on each
/// other. Everything is O(1).
struct SendsInFlight {
    /// The most bytes of contents that wait for the store.
    static let byteCountMax = 16 << 20

    /// By the number of the ticket.
    private var sends: [UInt64: PendingSend] = [:]
    /// What their contents count for. They are kept until they are stored.
    private(set) var byteCount = 0
    /// The places that are reserved for them.
    private(set) var reserved = MessageAmount()

    var count: Int { sends.count }

    mutating func add(_ send: PendingSend, _ ticket: Ticket) {
        byteCount += send.amount.byteCount
        reserved = reserved + send.amountInAll
        let earlier = sends.updateValue(send, forKey: ticket.number)
        precondition(earlier == nil, "a ticket twice")
    }

    /// Takes out the send whose outcome is known; nil: the ticket is of something else.
    mutating func take(_ ticket: Ticket) -> PendingSend? {
        guard let send = sends.removeValue(forKey: ticket.number) else { return nil }
        byteCount -= send.amount.byteCount
        reserved = reserved - send.amountInAll
        return send
    }

    /// All of them, in no order. O(sends); for tests.
    var all: [PendingSend] { Array(sends.values) }
}
