// Messages: those that users have written, receipts and markers are stored, what is of no use later
// is handed to devices that are connected, and all else is dropped.

internal import Containers
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
            return relayed(stanza, head, sender, isError: isError)
        }
        let target = try address(head.to)
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

    /// A message that is not stored. What clients send by themselves needs no error, which some
    /// show to their users.
    private func relayed(
        _ stanza: XMLElement, _ head: StanzaHead, _ sender: StanzaSender, isError: Bool
    ) -> XMPPRequest {
        guard let target = try? address(head.to) else { return .ignore }
        let isChat = stanza.attribute("type")?.isEqual(to: "chat") ?? false
        let isWritten = !isError && stanza.first("body", in: Namespace.client) != nil
        func relay(_ account: [UInt8], _ device: [UInt8]?) -> XMPPRequest {
            .relayMessage(
                RelayedMessage(
                    account: account, device: device, isForAnyDevice: device == nil || isChat,
                    isWritten: isWritten, isCopied: !isError && stanza.isCopied))
        }
        return switch target {
        case .device(let account, let device?): relay(account, device)
        // That of no session, so it is not connected.
        case .device(let account, nil) where isChat: relay(account, nil)
        case .account(let account) where !isError: relay(account, nil)
        case .none where !isError: relay(sender.account, nil)
        case .none, .service, .account, .device: .ignore
        }
    }

    private func written(
        _ stanza: XMLElement, _ kind: StanzaParts<[UInt8]>.Kind, _ head: StanzaHead,
        _ sender: StanzaSender, to account: [UInt8], _ device: [UInt8]
    ) throws(StanzaError) -> XMPPRequest {
        var language = stanza.attribute("lang", in: Namespace.xml) ?? sender.language[...]
        if language.count > Self.languageBytesMax { language = [] }
        // Where there is room for a message, there is for an id of this length.
        let idBytes = max(0, (head.id?.count ?? 0) - limits.refBytesMax)
        var content = MessageContent(bytesMax: limits.messageBytesMax - idBytes)
        for child in stanza.elements where !child.isOfServiceInMessage {
            guard content.append(child) else {
                throw .tooLong(
                    "A message has at most \(limits.messageBytesMax) bytes, with all its elements, "
                        + "and what its id has above \(limits.refBytesMax).")
            }
        }
        // All that it consisted of is left out.
        guard content.body != nil || !content.extra.isEmpty else { throw .elementsTooLarge }
        return .send(
            WrittenMessage(
                account: account, body: content.body ?? [],
                ref: head.id.flatMap { $0.isEmpty ? nil : $0 },
                parts: StanzaParts(
                    kind: kind, language: Array(language), addressed: device,
                    extra: content.extra), isCopied: !stanza.isForOneClient))
    }
}

/// What a message has in it, as it is stored: the text of its body, and all else as XML.
///
/// A body that is more than its text begins the other elements, without the text: `<body
/// xml:lang='de'/>`, or `<body/>` for one that is empty, or that another body follows. So it comes
/// out as it went in.
private struct MessageContent {
    private(set) var body: [UInt8]?
    /// The attributes of the body, as XML; nil: nothing is to be said of it.
    private var bodyTag: [UInt8]?
    private var others: [UInt8] = []
    private let bytesMax: Int

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    var extra: [UInt8] { (bodyTag ?? []) + others }

    private var byteCount: Int { (body?.count ?? 0) + (bodyTag?.count ?? 0) + others.count }

    /// Appends an element. What others may reject is left out. Returns false if that is too much.
    mutating func append(_ child: XMLElement) -> Bool {
        let isBody = child.isNamed("body", in: Namespace.client)
        if isBody, body == nil {
            let text = child.text
            body = text
            let tag = Self.tag(of: child)
            let says = text.isEmpty || !tag.elementsEqual(Self.plainTag)
            if says { bodyTag = tag }
            return byteCount <= bytesMax
        }
        if isBody, bodyTag == nil { bodyTag = Self.plainTag }
        let rest = bytesMax - byteCount
        return rest > 0
            && others.appendXMLIfWhole(child, in: Namespace.client, bytesMax: rest)
    }

    private static let plainTag = Array("<body/>".utf8)

    private static func tag(of body: XMLElement) -> [UInt8] {
        guard let language = body.attribute("lang", in: Namespace.xml) else { return plainTag }
        var tag = Array("<body".utf8)
        tag.appendXML(attribute: "xml:lang", language)
        tag.append(literal: "/>")
        return tag
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

    /// Whether its sender wants no copies of a message for other clients (XEP-0280, section 9).
    fileprivate var isForOneClient: Bool {
        elements.contains {
            $0.isNamed("private", in: Namespace.carbons)
                || $0.isNamed("no-copy", in: Namespace.hints)
        }
    }

    /// Whether copies of a message that is not stored are for other clients (XEP-0280, section 6):
    /// it is of a conversation, and its sender does not want the contrary.
    fileprivate var isCopied: Bool {
        let type = attribute("type") ?? []
        guard !type.isEqual(to: "headline"), !type.isEqual(to: "groupchat") else { return false }
        guard !isForOneClient else { return false }
        return type.isEqual(to: "chat")
            || elements.contains {
                $0.isNamed("body", in: Namespace.client)
                    || $0.namespace.isEqual(to: Namespace.receipts)
                    || $0.namespace.isEqual(to: Namespace.markers)
                    || $0.namespace.isEqual(to: Namespace.chatStates)
            }
    }

    /// Whether it is what only the service may say in a message.
    var isOfServiceInMessage: Bool {
        namespace.isEqual(to: Namespace.delay) || namespace.isEqual(to: Namespace.oldDelay)
            || isNamed("stanza-id", in: Namespace.stanzaIDs)
    }

    /// Whether it is part of a message that is of no use later: that the user is typing (XEP-0085),
    /// and what accompanies that. A receipt or a marker waits as a text does (XEP-0160).
    fileprivate var isSentUnseen: Bool {
        namespace.isEqual(to: Namespace.chatStates)
            || namespace.isEqual(to: "urn:xmpp:hints")
            || namespace.isEqual(to: "urn:xmpp:sid:0")
            || isNamed("thread", in: Namespace.client)
    }
}
