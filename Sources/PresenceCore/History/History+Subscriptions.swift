/// A beginning or end of subscriptions: 40 bytes.
struct SubscriptionNote {
    /// The last number assigned when it happened.
    let seq: UInt64
    let time: Wall
    /// When the subscription was created, as in its listing.
    let created: Wall
    private let subscriberNumber: UInt32
    private let publisherNumber: UInt32
    private let subscriberGeneration: UInt16
    private let publisherGeneration: UInt16
    let type: EventType
    let change: Change

    /// What happened.
    enum Change: UInt8 {
        /// New subscriptions of a request, all with this `created`, began to deliver. Their
        /// publishers are not recorded: the subscriptions have the time of their creation.
        case began
        case expired
        case endedByAccount
        case endedByAppServer
    }

    init(
        _ change: Change, of subscriber: HistoryAccount, to publisher: HistoryAccount?,
        _ type: EventType, created: Wall, seq: UInt64, time: Wall
    ) {
        self.change = change
        self.seq = seq
        self.time = time
        self.created = created
        self.type = type
        subscriberNumber = subscriber.number
        subscriberGeneration = subscriber.generation & 0x3FF
        publisherNumber = publisher?.number ?? none
        publisherGeneration = (publisher?.generation ?? 0) & 0x3FF
    }

    var subscriber: HistoryAccount {
        HistoryAccount(number: subscriberNumber, generation: subscriberGeneration)
    }
    var publisher: HistoryAccount {
        HistoryAccount(number: publisherNumber, generation: publisherGeneration)
    }
}

extension History {
    /// Since when all beginnings and ends of subscriptions are known.
    var subscriptionsSince: Wall { subscriptions.oldestLeft?.time ?? begun }
}
