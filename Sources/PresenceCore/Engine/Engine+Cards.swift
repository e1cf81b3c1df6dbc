// Cards (vCards): whose a client may read and set. What they say is not the engine's to keep.

extension Engine {
    /// The account of a client that sets its card, which counts towards the rate limit of
    /// publishes.
    public mutating func ownerOfNewCard(
        from connection: ConnectionID, at now: Moment
    ) throws(Rejection) -> [UInt8] {
        let owner = try account(of: connection)
        try checkPublishPace(of: owner, at: now)
        return name(of: owner)
    }

    /// The account of a client that reads a card.
    public func readerOfCard(from connection: ConnectionID) throws(Rejection) -> [UInt8] {
        name(of: try account(of: connection))
    }

    /// Whether a client may read the card of an account: of its own; of one whose visibility admits
    /// it, or that it has a relationship with; and of one that has asked to see it, so that a
    /// request shows a name.
    public func mayReadCard(
        of account: [UInt8], from connection: ConnectionID
    ) throws(Rejection) -> Bool {
        let reader = try self.account(of: connection)
        // One whose clients were never available, which it need not be to set a card.
        guard let account = find(account.span) else { return settings.visibility == .open }
        return mayAsk(account, reader) || areRelated(account, reader)
            || relations.relation(of: account, to: reader)?.seen == .pending
    }

    /// Whether anything is known of an account with this name.
    public func knows(_ account: [UInt8]) -> Bool { find(account.span) != nil }
}
