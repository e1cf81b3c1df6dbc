import Connections
import PresenceCore
import PresenceXMPP

// Stanzas above the rate limit of their account. A native client gets an error and sends the
// request again; no XMPP client does. So they are carried out later. While a message or a change of
// a relationship waits, the client is read more slowly, like one that sends too many frames. Of
// presences for subscribers the newest counts: reading continues, and the next one replaces the one
// that waits.

extension XMPPClient {
    /// Keeps what was rejected because of the rate limit of the account, to carry it out later.
    /// Returns whether it did.
    func keep(
        _ request: XMPPRequestInProgress, after rejection: Rejection, _ clients: inout Clients
    ) -> Bool {
        // A contact that others ask too often is another reason, which may last.
        guard rejection.reason == .rateLimited, rejection.field == nil else { return false }
        switch request {
        case .presence(let head, let availability):
            paced.presence = (head, availability)
        case .relation(let head, let change):
            guard paced.keep(.change(change, head)) else { return false }
        case .message(let head, let message):
            guard paced.keep(.message(message, head)) else { return false }
        default: return false
        }
        clients.counters.throttled += 1
        retry(afterSeconds: rejection.retryAfterSeconds ?? 1, &clients)
        // What all clients have sent that was not carried out is bounded.
        clients.watchSize(of: slot)
        return true
    }

    /// Nothing is read any more: what waits is not carried out.
    func dropWhatWaits() {
        awaiting = nil
        paced = PacedStanzas()
    }

    private func retry(afterSeconds seconds: Int, _ clients: inout Clients) {
        let time = clients.now().mono.advanced(bySeconds: seconds)
        paced.retryTime = time
        clients.table.remind(slot, at: time)
    }

    /// Carries out what waits, if it is time. (The deadline may be another one.)
    func carryOutPaced(_ clients: inout Clients) {
        guard let time = paced.retryTime, time <= clients.now().mono else { return }
        paced.retryTime = nil
        switch clients.table.phase(of: slot) {
        case .serving, .ending: break
        case .free, .anonymous, .closing: return
        }
        if let request = paced.takeRequest() {
            clients.watchSize(of: slot)
            // It has been waited for.
            awaiting = nil
            switch request {
            case .change(let change, let head): relate(change, head, &clients)
            case .message(let message, let head): write(message, head, &clients)
            }
            if paced.presence != nil { retry(afterSeconds: 1, &clients) }
            return
        }
        guard let presence = paced.presence else { return }
        guard awaiting == nil else { return retry(afterSeconds: 1, &clients) }
        paced.presence = nil
        show(presence.availability, presence.head, &clients)
    }

    /// Has the device of the client presented to its subscribers.
    func show(_ availability: Availability, _ head: StanzaHead, _ clients: inout Clients) {
        guard paced.presence == nil else { return paced.presence = (head, availability) }
        ask(for: .presence(head, availability), &clients) { _ in .show(availability) }
    }

    /// Has a relationship changed.
    func relate(_ change: RelationChange, _ head: StanzaHead, _ clients: inout Clients) {
        ask(for: .relation(head, change), &clients) { texts in
            .relate(account: nil, contact: texts.add(change.account), change.action)
        }
    }
}
