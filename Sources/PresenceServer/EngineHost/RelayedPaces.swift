import PresenceCore

/// The rate limits of what XMPP clients are sent of each other, by the receiver's slot.
///
/// What contacts send has a limit of its own, so that strangers cannot use that up.
struct RelayedPaces {
    private struct Buckets {
        var ofContacts = TokenBucket()
        var ofStrangers = TokenBucket()
    }

    /// Only of clients that were sent something.
    private var buckets: [UInt32: Buckets] = [:]

    /// With at most 8 KB each, 80 KB a second. Contacts were accepted, and can be removed.
    private static let ofContacts = Pace(perSecond: 10, burst: 500)
    /// With at most 8 KB each, 16 KB a second, and first 1.6 MB: a slow line takes that.
    private static let ofStrangers = Pace(perSecond: 2, burst: 200)

    /// Takes a token for one more stanza to a client and returns nil; or returns the wait in
    /// milliseconds.
    mutating func take(for slot: UInt32, ofContact: Bool, at now: Mono) -> UInt64? {
        ofContact
            ? buckets[slot, default: Buckets()].ofContacts.take(Self.ofContacts, at: now)
            : buckets[slot, default: Buckets()].ofStrangers.take(Self.ofStrangers, at: now)
    }

    /// The connection in a slot is closed.
    mutating func remove(_ slot: UInt32) {
        if !buckets.isEmpty { buckets[slot] = nil }
    }
}
