public import PresenceCore
internal import XML

/// A contact in a roster (RFC 6121, 2.1.2).
public struct RosterItem: Hashable, Sendable {
    /// The account of the contact.
    public var account: [UInt8]
    /// What the owner calls it.
    public var label: ContactLabel
    /// Whether the owner sees the contact.
    public var seen: RelationState
    /// Whether the contact sees the owner.
    public var sees: RelationState
    /// Whether the contact's next request is accepted at once.
    public var isApprovedBefore: Bool

    /// A contact.
    public init(
        account: [UInt8], label: ContactLabel = .none, seen: RelationState = .none,
        sees: RelationState = .none, isApprovedBefore: Bool = false
    ) {
        self.account = account
        self.label = label
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
        let name = item.label.name
        if !name.isEmpty { appendXML(attribute: "name", name) }
        append(literal: " subscription='")
        append(literal: item.subscription)
        append(literal: "'")
        if item.seen == .pending { append(literal: " ask='subscribe'") }
        if item.isApprovedBefore { append(literal: " approved='true'") }
        let groups = item.label.groups
        guard !groups.isEmpty else {
            append(literal: "/>")
            return
        }
        append(literal: ">")
        for group in groups { appendXML(element: "group", text: group) }
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
