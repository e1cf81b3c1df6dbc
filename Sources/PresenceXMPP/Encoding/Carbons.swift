internal import XML

/// Why a client is sent a copy of a message (XEP-0280).
public enum Carbon: Hashable, Sendable {
    /// Another client of its account has sent it.
    case sent
    /// Another client of its account is sent it.
    case received
}

extension StanzaTemplate {
    /// Appends a message as a copy for a receiver that fills the gaps: the copy is from its own
    /// account.
    public mutating func appendCopy(
        _ carbon: Carbon, of message: borrowing StanzaTemplate, isChat: Bool
    ) {
        let name: StaticString = carbon == .sent ? "sent" : "received"
        bytes.append(literal: "<message from='")
        appendGap(for: .receiver)
        bytes.append(literal: "' to='")
        appendGap(for: .receiver)
        bytes.append(literal: "'")
        if isChat { bytes.append(literal: " type='chat'") }
        bytes.append(literal: "><")
        bytes.append(literal: name)
        bytes.append(literal: " xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>")
        // Around it, another namespace is the default one.
        bytes.append(literal: "<message xmlns='jabber:client'")
        append(message.rest(after: "<message"), of: message)
        bytes.append(literal: "</forwarded></")
        bytes.append(literal: name)
        bytes.append(literal: "></message>")
    }
}
