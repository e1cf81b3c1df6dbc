import Containers
import PresenceCore
import PresenceXMPP

// Stanzas above the rate limit of their account. A native client is told to wait, and asks again;
// no XMPP client does. So they are carried out later: a change of a relationship has the client
// read more slowly, as one that sends too many frames. Of presences for subscribers the newest
// counts: the client is read on, and what it sends next takes the place of the one that waits.

extension ConnectionLoop where Link: ~Copyable {
    /// Keeps what was refused because of the rate limit of the account, to carry it out later.
    /// Returns whether it did.
    mutating func keep(
        _ request: XMPPRequestInProgress, after refusal: Refusal, of client: XMPPConnection,
        in slot: Int
    ) -> Bool {
        // A contact that others ask too often is another reason, which may last.
        guard refusal.reason == .rateLimited, refusal.field == nil else { return false }
        switch request {
        case .presence(let head, let availability):
            client.paced.presence = (head, availability)
        case .relation(let head, let change):
            guard client.paced.keep(change, head) else { return false }
        default: return false
        }
        counters.throttled += 1
        retry(afterSeconds: refusal.retryAfterSeconds ?? 1, client, in: slot)
        return true
    }

    private mutating func retry(
        afterSeconds seconds: Int, _ client: XMPPConnection, in slot: Int
    ) {
        let time = now().mono.advanced(bySeconds: seconds)
        client.paced.retryTime = time
        _ = deadlines.schedule(
            ConnectionDeadline.throttle.payload(slot), at: time.milliseconds)
    }

    /// Carries out what waits, if it is time. (The deadline may be another one.)
    mutating func carryOutPaced(in slot: Int) {
        guard let client = xmpp?[slot], let time = client.paced.retryTime, time <= now().mono
        else { return }
        client.paced.retryTime = nil
        guard connections[slot].phase == .serving || connections[slot].phase == .ending else {
            return
        }
        if let (head, change) = client.paced.change {
            client.paced.change = nil
            relate(change, head, in: slot)
            if client.paced.presence != nil { retry(afterSeconds: 1, client, in: slot) }
            return
        }
        guard let presence = client.paced.presence else { return }
        guard connections[slot].input.awaiting == nil else {
            return retry(afterSeconds: 1, client, in: slot)
        }
        client.paced.presence = nil
        show(presence.availability, presence.head, in: slot)
    }

    /// Has the device of a client presented to its subscribers.
    mutating func show(_ availability: Availability, _ head: StanzaHead, in slot: Int) {
        guard let client = xmpp?[slot] else { return }
        guard client.paced.presence == nil else {
            return client.paced.presence = (head, availability)
        }
        ask(slot, for: .presence(head, availability)) { _ in .show(availability) }
    }

    /// Has a relationship changed.
    mutating func relate(_ change: RelationChange, _ head: StanzaHead, in slot: Int) {
        ask(slot, for: .relation(head, change)) { texts in
            .relate(account: nil, contact: texts.add(change.account), change.action)
        }
    }
}
