public import PresenceCore
internal import XML

/// A contact in a roster (RFC 6121, 2.1.2).
public struct RosterItem: Hashable, Sendable {
    /// The account of the contact.
    public var account: [UInt8]
    /// What the owner calls it; empty: nothing.
    public var name: [UInt8]
    /// The owner's groups.
    public var groups: [[UInt8]]
    /// Whether the owner sees the contact.
    public var seen: RelationState
    /// Whether the contact sees the owner.
    public var sees: RelationState
    /// Whether the contact's next request is accepted at once.
    public var isApprovedBefore: Bool

    /// A contact.
    public init(
        account: [UInt8], name: [UInt8] = [], groups: [[UInt8]] = [],
        seen: RelationState = .none, sees: RelationState = .none, isApprovedBefore: Bool = false
    ) {
        self.account = account
        self.name = name
        self.groups = groups
        self.seen = seen
        self.sees = sees
        self.isApprovedBefore = isApprovedBefore
    }

    fileprivate var subscription: StaticString {
        switch (seen == .active, sees == .active) {
        case (false, false): "none"
        case (true, false): "to"
        case (false, true): "from"
        case (true, true): "both"
        }
    }
}

extension [UInt8] {
    /// Appends the answer to a client that lists its contacts, without its items and its end.
    public mutating func appendRosterStart(_ head: StanzaHead, to client: StanzaSender) {
        appendResultStart(head, to: client)
        append(literal: "><query xmlns='jabber:iq:roster'>")
    }

    /// Appends the end of a roster, or of its change.
    public mutating func appendRosterEnd() {
        append(literal: "</query></iq>")
    }

    /// Appends a change of the roster, up to its item; its `id` is this number.
    public mutating func appendRosterPushStart(number: UInt64, to client: StanzaSender) {
        append(literal: "<iq type='set' id='push-")
        append(contentsOf: String(number).utf8)
        append(literal: "' to='")
        appendJID(of: client.account, at: client.domain, device: client.device)
        append(literal: "'><query xmlns='jabber:iq:roster'>")
    }

    /// Appends a contact.
    public mutating func append(_ item: RosterItem, at domain: [UInt8]) {
        append(literal: "<item jid='")
        appendJID(of: item.account, at: domain)
        append(literal: "'")
        if !item.name.isEmpty { appendXML(attribute: "name", item.name) }
        append(literal: " subscription='")
        append(literal: item.subscription)
        append(literal: "'")
        if item.seen == .pending { append(literal: " ask='subscribe'") }
        if item.isApprovedBefore { append(literal: " approved='true'") }
        guard !item.groups.isEmpty else {
            append(literal: "/>")
            return
        }
        append(literal: ">")
        for group in item.groups { appendXML(element: "group", text: group) }
        append(literal: "</item>")
    }

    /// Appends a contact that is none any more.
    public mutating func appendRemovedItem(
        _ account: some Collection<UInt8>, at domain: [UInt8]
    ) {
        append(literal: "<item jid='")
        appendJID(of: account, at: domain)
        append(literal: "' subscription='remove'/>")
    }
}
