import Containers
import PresenceWire
import WebPush

/// One push: a message that was handed over, by the number of that, and a device.
struct PushID: Hashable {
    var number: UInt64
    /// By its bytes, as everywhere in the service.
    var device: ExactText
}

/// A push that may be sent.
struct Push: Sendable {
    var id: PushID
    var message: PushMessage
    var address: String
    var subscription: PushSubscription
}

/// What a reader has of a share: the pushes to its host, in order.
struct PushShare {
    /// The position after it.
    let end: UInt64
    let pushes: [Push]

    /// Nil: the share has no form that is known.
    init?(
        _ messages: FeedEvents, _ cursor: FeedCursor, of place: Int, among hosts: PushHosts
    ) {
        guard let entries = PushMessage.list(messages.bytes),
            entries.count == messages.numbers.count
        else { return nil }
        end = cursor.seq
        pushes = zip(messages.numbers, entries).flatMap { number, message -> [Push] in
            // Otherwise there is nothing to show: it is a receipt, for example.
            let hasText = message.body != nil || message.ext != nil || message.cut == true
            guard hasText else { return [] }
            // The tabs of a browser are devices of their own with the address of the browser.
            var known: Set<PushEndpoint> = []
            return message.devices.compactMap { device -> Push? in
                guard let address = device.pushAddress,
                    let subscription = PushSubscription(address),
                    hosts.place(of: subscription.endpoint) == place,
                    known.insert(subscription.endpoint).inserted
                else { return nil }
                let id = PushID(number: number, device: ExactText(device.device))
                return Push(
                    id: id, message: message, address: address, subscription: subscription)
            }
        }
    }
}
