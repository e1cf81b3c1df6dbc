import Containers
import PresenceCore
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
    /// How many addresses of devices that are not pushed to, by reason. Of the first host only: the
    /// readers of the others read the same.
    let passedOver: [PushRejection: Int]

    init(
        _ messages: FeedEvents, _ cursor: FeedCursor, of place: Int, among hosts: PushHosts
    ) {
        end = cursor.seq
        var passedOver: [PushRejection: Int] = [:]
        pushes = messages.undelivered.flatMap { entry -> [Push] in
            let message = PushMessage(entry)
            // Otherwise there is nothing to show: it is a receipt, for example.
            let hasText = message.body != nil || message.ext != nil || message.isCut
            guard hasText else { return [] }
            // The tabs of a browser are devices of their own with the address of the browser.
            var known: Set<PushEndpoint> = []
            return message.devices.compactMap { device -> Push? in
                guard let address = device.pushAddress else { return nil }
                let subscription: PushSubscription
                do throws(PushRejection) {
                    subscription = try PushSubscription(address)
                } catch {
                    passedOver[error, default: 0] += 1
                    return nil
                }
                guard let host = hosts.place(of: subscription.endpoint) else {
                    passedOver[.hostNotAllowed, default: 0] += 1
                    return nil
                }
                guard host == place, known.insert(subscription.endpoint).inserted else {
                    return nil
                }
                let id = PushID(number: entry.number, device: ExactText(device.device))
                return Push(
                    id: id, message: message, address: address, subscription: subscription)
            }
        }
        self.passedOver = place == 0 ? passedOver : [:]
    }
}
