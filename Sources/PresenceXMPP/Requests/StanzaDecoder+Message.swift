// Messages: those that users have written are stored, what clients send by themselves is handed to
// a device that is connected, and all else is dropped.

internal import PresenceCore
internal import XML

extension StanzaDecoder {
    func message(
        _ stanza: XMLElement, _ head: StanzaHead, _ sender: StanzaSender
    ) throws(StanzaError) -> XMPPRequest {
        let type = stanza.attribute("type") ?? []
        if type.isEqual(to: "groupchat") { throw .serviceUnavailable }
        let isError = type.isEqual(to: "error")
        guard !isError, !type.isEqual(to: "headline"), stanza.isStored else {
            // What clients send by themselves needs no error, which some show to their users.
            guard let target = try? address(head.to), !stanza.isOfIncompleteStanza else {
                return .ignore
            }
            return switch target {
            case .device(let account, let device?): .relayMessage(account: account, device: device)
            case .account(let account) where !isError: .relayMessage(account: account, device: nil)
            case .none where !isError: .relayMessage(account: sender.account, device: nil)
            case .none, .service, .account, .device: .ignore
            }
        }
        let target = try address(head.to)
        guard !stanza.isOfIncompleteStanza else { throw .elementsTooLarge }
        let kind: StanzaParts<[UInt8]>.Kind = type.isEqual(to: "chat") ? .chat : .normal
        switch target {
        case .service: return .ignore
        case .none: return try written(stanza, kind, head, sender, to: sender.account, [])
        case .account(let account):
            return try written(stanza, kind, head, sender, to: account, [])
        case .device(let account, let device):
            return try written(stanza, kind, head, sender, to: account, device ?? [])
        }
    }

    private func written(
        _ stanza: XMLElement, _ kind: StanzaParts<[UInt8]>.Kind, _ head: StanzaHead,
        _ sender: StanzaSender, to account: [UInt8], _ device: [UInt8]
    ) throws(StanzaError) -> XMPPRequest {
        var language = stanza.attribute("lang", in: Namespace.xml) ?? sender.language[...]
        if language.count > Self.languageBytesMax { language = [] }
        let bytesMax = limits.messageBytesMax
        let error = StanzaError.tooLong(
            "A message has at most \(bytesMax) bytes, with all its elements.")
        var (body, extra): ([UInt8]?, [UInt8]) = (nil, [])
        for child in stanza.elements where !child.isOfServiceInMessage {
            if body == nil, child.isNamed("body", in: Namespace.client) {
                body = child.text
                continue
            }
            let rest = bytesMax - extra.count - (body?.count ?? 0)
            guard rest > 0, extra.appendXML(child, in: Namespace.client, bytesMax: rest) else {
                throw error
            }
        }
        guard extra.count + (body?.count ?? 0) <= bytesMax else { throw error }
        let ref = head.id.flatMap { 1...limits.refBytesMax ~= $0.count ? $0 : nil }
        return .send(
            WrittenMessage(
                account: account, body: body ?? [], ref: ref,
                parts: StanzaParts(
                    kind: kind, language: Array(language), addressed: device, extra: extra)))
    }
}

extension XMLElement {
    /// Whether a message is stored: its user has written it, and does not want the contrary
    /// (XEP-0334).
    fileprivate var isStored: Bool {
        !elements.allSatisfy { $0.isSentUnseen || $0.isOfServiceInMessage }
            && !elements.contains {
                $0.isNamed("no-store", in: Namespace.hints)
                    || $0.isNamed("no-permanent-store", in: Namespace.hints)
            }
    }

    /// Whether it is what only the service may say in a message.
    var isOfServiceInMessage: Bool {
        namespace.isEqual(to: Namespace.delay) || namespace.isEqual(to: Namespace.oldDelay)
            || isNamed("stanza-id", in: Namespace.stanzaIDs)
    }

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
