/// What is known of a card without its content.
public struct CardSummary: Sendable, Equatable {
    /// The account.
    public var account: [UInt8]
    /// The bytes of its content.
    public var byteCount: Int
    /// When it was set, in milliseconds since 1970.
    public var updated: Int64

    /// Creates a summary.
    public init(account: [UInt8], byteCount: Int, updated: Int64) {
        self.account = account
        self.byteCount = byteCount
        self.updated = updated
    }
}

/// The card of an account. The store does not look into it.
public struct CardRow: Sendable, Equatable {
    /// The account.
    public var account: [UInt8]
    /// What it says, as XML.
    public var content: [UInt8]
    /// When it was set, in milliseconds since 1970.
    public var updated: Int64

    /// Creates a row.
    public init(account: [UInt8], content: [UInt8], updated: Int64) {
        self.account = account
        self.content = content
        self.updated = updated
    }
}
