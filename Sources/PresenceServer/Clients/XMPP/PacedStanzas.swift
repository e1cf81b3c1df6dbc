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
    /// A message, or a change of a relationship; nothing is read until it is carried out.
    private(set) var request: PacedRequest?
    /// The newest presence for its subscribers. Earlier ones that were not sent do not matter.
    var presence: (head: StanzaHead, availability: Availability)?
    /// When it is tried again; nil: nothing waits.
    var retryTime: Mono?
    /// How often the request was rejected.
    private var rejectionCount = 0

    /// After this number of attempts a request is rejected: about half a minute.
    private static let rejectionsMax = 30

    /// Bytes of the message that waits, which the client has sent.
    var byteCount: Int {
        guard case .message(let message, _) = request else { return 0 }
        return message.body.count + message.parts.extra.count
    }

    /// Notes that a request is above the rate limit. Returns whether it is tried again.
    mutating func keep(_ request: PacedRequest) -> Bool {
        rejectionCount += 1
        guard rejectionCount < Self.rejectionsMax else {
            rejectionCount = 0
            return false
        }
        self.request = request
        return true
    }

    /// Takes the request, to try it again.
    mutating func takeRequest() -> PacedRequest? {
        defer { request = nil }
        return request
    }

    /// The request was carried out, or rejected.
    mutating func requestEnded() { rejectionCount = 0 }
}

/// What a client waits for that is tried again.
enum PacedRequest {
    case change(RelationChange, StanzaHead)
    case message(WrittenMessage, StanzaHead)
}
