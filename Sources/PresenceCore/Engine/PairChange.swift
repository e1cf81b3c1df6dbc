// What an action does to a pair of accounts: the whole of RFC 6121's subscription states.
//
// The nine states of its appendix A are two directions of three states each. Both ends of a pair
// are here, so each of its cells "outbound" is the same transition as one "inbound".

/// One side of a pair of accounts: what it keeps of the other.
public struct PairSide: Hashable, Sendable {
    /// Whether it sees the other.
    public var seen: RelationState
    /// What its request says, while that is pending.
    public var request: RequestContent
    /// Whether the other is on its list, whatever the states.
    public var isListed: Bool
    /// Whether it accepts the other's next request at once (RFC 6121, section 3.4).
    public var approvesBefore: Bool
    /// What it calls the other.
    public var label: ContactLabel

    /// One side; by default, it keeps nothing.
    public init(
        seen: RelationState = .none, request: RequestContent = .none, isListed: Bool = false,
        approvesBefore: Bool = false, label: ContactLabel = .none
    ) {
        self.seen = seen
        self.request = request
        self.isListed = isListed
        self.approvesBefore = approvesBefore
        self.label = label
    }

    /// Whether nothing is kept.
    var isEmpty: Bool { self == PairSide() }
}

/// Two accounts: the one that acts, and the other.
struct Pair: Hashable {
    var own: PairSide
    var other: PairSide
}

/// What an action changes.
struct PairChange: Hashable {
    /// The pair afterwards.
    var pair: Pair
    /// What the other is sent, in order.
    var sent: [RelationWord] = []
    /// Whether the actor is answered `subscribed`: it sees the other now, or did before.
    var isAnswered = false

    /// The words by which a direction has changed. A request that was accepted before it was made
    /// is an acceptance.
    func words(from before: Pair) -> [RelationWord] {
        let isAccepted = isAnswered && before.own.seen == .none
        return isAccepted ? sent + [.subscribed] : sent
    }

    /// What `action` does to a pair.
    init(_ pair: Pair, _ action: ContactAction) {
        self.pair = pair
        switch action {
        case .say(.subscribe, let content): subscribe(content)
        case .say(.unsubscribe, _): unsubscribe()
        case .say(.subscribed, _): subscribed()
        case .say(.unsubscribed, _): unsubscribed()
        case .describe(let label):
            self.pair.own.isListed = true
            self.pair.own.label = label
        case .remove:
            unsubscribe()
            unsubscribed()
            self.pair.own.isListed = false
            self.pair.own.label = .none
        }
    }

    private mutating func subscribe(_ content: RequestContent) {
        pair.own.isListed = true
        switch pair.own.seen {
        case .none where pair.other.approvesBefore:
            pair.other.approvesBefore = false
            pair.other.isListed = true
            pair.own.seen = .active
            isAnswered = true
        case .none:
            pair.own.seen = .pending
            pair.own.request = content
            sent.append(.subscribe)
        // Requests must not pile up: the first one is kept.
        case .pending: break
        // Repairs a client that has lost what it knew.
        case .active: isAnswered = true
        }
    }

    private mutating func unsubscribe() {
        guard pair.own.seen != .none else { return }
        pair.own.seen = .none
        pair.own.request = .none
        sent.append(.unsubscribe)
    }

    private mutating func subscribed() {
        switch pair.other.seen {
        case .none:
            pair.own.approvesBefore = true
            pair.own.isListed = true
        case .pending:
            pair.other.seen = .active
            pair.other.request = .none
            pair.own.isListed = true
            sent.append(.subscribed)
        case .active: break
        }
    }

    private mutating func unsubscribed() {
        pair.own.approvesBefore = false
        guard pair.other.seen != .none else { return }
        pair.other.seen = .none
        pair.other.request = .none
        sent.append(.unsubscribed)
    }
}
