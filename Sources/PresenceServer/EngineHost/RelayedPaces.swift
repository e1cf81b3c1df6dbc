import PresenceCore

/// The rate limits of what XMPP clients are sent of each other, by the receiver's slot.
///
/// What contacts send has a limit of its own, so that strangers cannot use that up. Of both limits
/// each sender has a share.
struct RelayedPaces {
    private var ofContacts = Self.buckets
    private var ofStrangers = Self.buckets

    /// As many as there are receivers that were sent something recently.
    private static var buckets: SharedTokenBuckets<UInt32, AccountHandle> {
        SharedTokenBuckets(countMax: 1 << 20)
    }

    /// With at most 8 KB each, 80 KB a second. Contacts were accepted, and can be removed.
    private static let ofContacts = Pace(perSecond: 10, burst: 500)
    /// With at most 8 KB each, 16 KB a second, and first 1.6 MB: a slow line takes that.
    private static let ofStrangers = Pace(perSecond: 2, burst: 200)

    /// Takes a token for one more stanza of an account to a client and returns nil; or returns the
    /// wait in milliseconds.
    mutating func take(
        for slot: UInt32, of sender: AccountHandle, isContact: Bool, at now: Mono
    ) -> UInt64? {
        isContact
            ? ofContacts.take(of: slot, for: sender, Self.ofContacts, at: now)
            : ofStrangers.take(of: slot, for: sender, Self.ofStrangers, at: now)
    }

    /// The connection in a slot is closed.
    mutating func remove(_ slot: UInt32) {
        ofContacts.remove(slot)
        ofStrangers.remove(slot)
    }
}
