import PresenceCore
import PresenceXMPP

/// What a client wants of its relationship with an account.
struct RelationChange {
    let account: [UInt8]
    let action: ContactAction

    /// Whether the client is sent a result. A word to a contact has none.
    var isAnswered: Bool { if case .say = action { false } else { true } }
}

/// What an XMPP client has sent faster than the rate limit of its account, and is carried out
/// later.
struct PacedStanzas {
    /// A change of a relationship; nothing is read until it is carried out.
    var change: (head: StanzaHead, change: RelationChange)?
    /// The newest presence for its subscribers. Earlier ones that were not sent do not matter.
    var presence: (head: StanzaHead, availability: Availability)?
    /// When it is tried again; nil: nothing waits.
    var retryTime: Mono?
    /// How often the change was rejected.
    private var rejectionCount = 0

    /// After this number of attempts a change is rejected: about half a minute.
    private static let rejectionsMax = 30

    /// Notes that a change is above the rate limit. Returns whether it is tried again.
    mutating func keep(_ change: RelationChange, _ head: StanzaHead) -> Bool {
        rejectionCount += 1
        guard rejectionCount < Self.rejectionsMax else {
            rejectionCount = 0
            return false
        }
        self.change = (head, change)
        return true
    }

    /// The change was carried out, or rejected.
    mutating func changeEnded() { rejectionCount = 0 }
}
