/// Whose a message is, which decides the part of a room that it may fill.
///
/// Messages of clients fill all but a quarter, of which those of strangers fill half of the room at
/// most, in shares by sender. The last quarter is for app servers and the service. What app servers
/// send by labels fills the half of strangers or that quarter: broadcasts are not to fill the room
/// that people need.
enum MessageOrigin: Equatable {
    /// A client that the recipient is not related to.
    case stranger(UInt32)
    /// Another client.
    case related
    /// An app server, by the names of the recipients.
    case appServer
    /// An app server, by labels; the service, or an account in whose name it sends.
    case labels(of: UInt32)
}

/// What waits in a room, with what is reserved, by the parts that it fills.
struct MessageParts: Equatable {
    /// All of it.
    private(set) var all = MessageAmount()
    /// Of accounts: what has a sender.
    private(set) var ofAccounts = MessageAmount()
    /// Of strangers, and by labels.
    private(set) var ofStrangers = MessageAmount()

    mutating func add(_ message: MessageAmount, of sender: UInt32, isOfStranger: Bool) {
        all = all + message
        if sender != none { ofAccounts = ofAccounts + message }
        if isOfStranger { ofStrangers = ofStrangers + message }
    }

    mutating func remove(_ message: MessageAmount, of sender: UInt32, isOfStranger: Bool) {
        all = all - message
        if sender != none { ofAccounts = ofAccounts - message }
        if isOfStranger { ofStrangers = ofStrangers - message }
        precondition(
            all.isValid && ofAccounts.isValid && ofStrangers.isValid, "messages miscounted")
    }

    static func + (lhs: Self, rhs: Self) -> Self {
        var sum = Self()
        sum.all = lhs.all + rhs.all
        sum.ofAccounts = lhs.ofAccounts + rhs.ofAccounts
        sum.ofStrangers = lhs.ofStrangers + rhs.ofStrangers
        return sum
    }

    /// What is left of a limit for messages of an origin; below zero if a limit was lowered.
    func free(for origin: MessageOrigin, limit: MessageAmount) -> MessageAmount {
        let ofAll = limit - all
        let ofAccounts = MessageAmount.min(ofAll, limit.ofAccounts - ofAccounts)
        let ofStrangers = limit.half - ofStrangers
        switch origin {
        case .appServer: return ofAll
        case .related: return ofAccounts
        case .stranger: return .min(ofAccounts, ofStrangers)
        case .labels(none):
            let ofReserve = limit - limit.ofAccounts - (all - self.ofAccounts)
            return .min(ofAll, .max(ofStrangers, ofReserve))
        case .labels: return .min(ofAll, ofStrangers)
        }
    }
}

/// How many messages, and what they count for in the limits on bytes.
struct MessageAmount: Equatable {
    var count = 0
    var byteCount = 0

    static func + (lhs: Self, rhs: Self) -> Self {
        Self(count: lhs.count + rhs.count, byteCount: lhs.byteCount + rhs.byteCount)
    }

    static func - (lhs: Self, rhs: Self) -> Self {
        Self(count: lhs.count - rhs.count, byteCount: lhs.byteCount - rhs.byteCount)
    }

    static func * (lhs: Self, rhs: Int) -> Self {
        Self(count: lhs.count * rhs, byteCount: lhs.byteCount * rhs)
    }

    /// The smaller of both numbers.
    static func min(_ a: Self, _ b: Self) -> Self {
        Self(count: Swift.min(a.count, b.count), byteCount: Swift.min(a.byteCount, b.byteCount))
    }

    /// The greater of both numbers.
    static func max(_ a: Self, _ b: Self) -> Self {
        Self(count: Swift.max(a.count, b.count), byteCount: Swift.max(a.byteCount, b.byteCount))
    }

    /// One of the two numbers.
    enum Part { case count, bytes }

    /// Which number is above that of a limit, the count first; nil: neither is.
    func exceeds(_ limit: Self) -> Part? {
        if count > limit.count { return .count }
        return byteCount > limit.byteCount ? .bytes : nil
    }

    /// The number by which a party with `held` would exceed its share of `free`, the count first;
    /// nil: it may have this.
    func exceeds(_ share: Share, held: Self, free: Self) -> Part? {
        if !share.admits(count, held: held.count, free: free.count) { return .count }
        let hasRoom = share.admits(byteCount, held: held.byteCount, free: free.byteCount)
        return hasRoom ? nil : .bytes
    }

    /// The half of both, of a limit: what strangers may fill.
    var half: Self { Self(count: count / 2, byteCount: byteCount / 2) }

    /// All but a quarter of both, of a limit: what accounts may fill.
    var ofAccounts: Self {
        Self(count: count - count / 4, byteCount: byteCount - byteCount / 4)
    }

    var isValid: Bool { count >= 0 && byteCount >= 0 }
}
