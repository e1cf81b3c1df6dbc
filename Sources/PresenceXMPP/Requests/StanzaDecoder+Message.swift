// Messages: none is delivered, and their senders learn that.

internal import XML

extension StanzaDecoder {
    func message(
        _ stanza: XMLElement, _ head: StanzaHead
    ) throws(StanzaError) -> XMPPRequest {
        let type = stanza.attribute("type") ?? []
        if type.isEqual(to: "headline") || type.isEqual(to: "error") { return .ignore }
        // What clients send by themselves needs no error, which some show to their users.
        if stanza.elements.allSatisfy(\.isSentUnseen) { return .ignore }
        _ = try address(head.to)
        throw .messagesNotDelivered
    }
}

extension XMLElement {
    /// Whether it is part of a message that a client sends without its user: that the user is
    /// typing (XEP-0085), has received or read something (XEP-0184, XEP-0333), and what
    /// accompanies that.
    fileprivate var isSentUnseen: Bool {
        namespace.isEqual(to: "http://jabber.org/protocol/chatstates")
            || namespace.isEqual(to: "urn:xmpp:receipts")
            || namespace.isEqual(to: "urn:xmpp:chat-markers:0")
            || namespace.isEqual(to: "urn:xmpp:hints")
            || namespace.isEqual(to: "urn:xmpp:sid:0")
            || isNamed("thread", in: Namespace.client)
    }
}
