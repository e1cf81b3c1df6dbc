public import PresenceCore

// Contacts: entries of a list, answers and notifications.

extension [UInt8] {
    /// Appends the notification that a contact has said something, or that the list has changed.
    public mutating func appendContactBody(_ notice: ContactNotice, in effects: borrowing Effects) {
        append(#"{"jsonrpc":"2.0","method":"contact","params":{"contact":"#)
        appendContact(notice.contact, EventSource(effects))
        if let word = notice.word {
            append(#","action":""#)
            append(word.action)
            append("\"")
        }
        append("}}")
    }

    mutating func appendContact(_ contact: ContactEntry, _ source: borrowing EventSource) {
        append(#"{"account":"#)
        appendString(contact.account, source)
        append(#","subscription":""#)
        append(contact.subscriptionWord)
        append("\"")
        if contact.seen == .pending { append(#","ask":true"#) }
        if contact.isApprovedBefore { append(#","preapproved":true"#) }
        if !contact.isContact { append(#","listed":false"#) }
        appendLabel(contact.label, source)
        if contact.sees == .pending {
            append(#","request":{"#)
            if let text = contact.requestText {
                append(#""text":"#)
                appendString(text, source)
            }
            append("}")
        }
        append("}")
    }

    private mutating func appendLabel(_ range: ByteRange, _ source: borrowing EventSource) {
        guard range.count > 0 else { return }
        let start = Int(range.start)
        let label = ContactLabel(stored: Array(source.bytes[start..<start + Int(range.count)]))
        if !label.name.isEmpty {
            append(#","name":"#)
            appendString(label.name.span)
        }
        guard !label.groups.isEmpty else { return }
        append(#","groups":["#)
        for (place, group) in label.groups.enumerated() {
            if place > 0 { append(",") }
            appendString(group.span)
        }
        append("]")
    }
}

extension ContactEntry {
    /// Who sees whom, as in RFC 6121, section 2.1.2.5.
    var subscriptionWord: StaticString {
        switch (seen == .active, sees == .active) {
        case (false, false): "none"
        case (true, false): "to"
        case (false, true): "from"
        case (true, true): "both"
        }
    }
}

extension RelationWord {
    /// The word on the wire, as a parameter of `relate`.
    public var action: StaticString {
        switch self {
        case .subscribe: "request"
        case .unsubscribe: "cancel"
        case .subscribed: "accept"
        case .unsubscribed: "deny"
        }
    }
}

extension Visibility {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .open: "open"
        case .approved: "approved"
        case .hidden: "hidden"
        }
    }
}

extension Show {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .available: "available"
        case .chat: "chat"
        case .away: "away"
        case .xa: "xa"
        case .dnd: "dnd"
        }
    }
}
