// Presence (RFC 6121, 3 and 4): show and hide, the words of relationships, probes, and presence for
// one account.

internal import PresenceCore
internal import XML

extension StanzaDecoder {
    /// Bytes of all other content, as it is written again.
    static let extraBytesMax = 4_096
    /// The same of a request, which is kept until it is answered.
    static let requestExtraBytesMax = 1_024
    /// Bytes of a tag of a language. Longer ones are ignored: RFC 5646 recommends room for 35.
    private static let languageBytesMax = 35

    func presence(
        _ stanza: XMLElement, _ head: StanzaHead, _ sender: StanzaSender
    ) throws(StanzaError) -> XMPPRequest {
        let target = try address(head.to)
        guard let type = stanza.attribute("type") else {
            return try shown(stanza, to: target, sender, isAvailable: true)
        }
        if type.isEqual(to: "unavailable") {
            return try shown(stanza, to: target, sender, isAvailable: false)
        }
        if type.isEqual(to: "error") { return .ignore }
        if type.isEqual(to: "probe") {
            guard let account = target.account else { return .ignore }
            return .probe(account: account)
        }
        guard let word = RelationWord(type) else {
            throw .badRequest("The type of a presence is not known.")
        }
        return try relate(word, stanza, to: target, sender)
    }

    private func relate(
        _ word: RelationWord, _ stanza: XMLElement, to target: StanzaAddress,
        _ sender: StanzaSender
    ) throws(StanzaError) -> XMPPRequest {
        switch target {
        case .none: throw .badRequest("A subscription needs an address.")
        // A service has no presence.
        case .service: throw .serviceUnavailable
        case .account(let account), .device(let account, _):
            guard account != sender.account else {
                throw .badRequest("An account has no relationship with itself.")
            }
            let content = word == .subscribe ? try requestContent(stanza) : .none
            return .relate(account: account, .say(word, content))
        }
    }

    /// What a request says: the first text, and whatever else there is (RFC 6121, 3.1.3).
    private func requestContent(_ stanza: XMLElement) throws(StanzaError) -> RequestContent {
        var content = RequestContent()
        for child in stanza.elements where !child.isOfService {
            if content.text == nil, child.isNamed("status", in: Namespace.client) {
                content.text = child.text
                continue
            }
            let rest = Self.requestExtraBytesMax - content.extra.count
            guard content.extra.appendXML(child, in: Namespace.client, bytesMax: rest) else {
                throw .tooLong("The other elements of a request have more than 1,024 bytes.")
            }
        }
        guard (content.text?.count ?? 0) <= limits.requestTextBytesMax else {
            throw .tooLong("The status of a request is too long.")
        }
        if content.text?.isEmpty == true { content.text = nil }
        return content
    }

    private func shown(
        _ stanza: XMLElement, to target: StanzaAddress, _ sender: StanzaSender,
        isAvailable: Bool
    ) throws(StanzaError) -> XMPPRequest {
        let availability =
            isAvailable ? try availability(stanza, sender) : farewell(stanza, sender)
        let presentation =
            isAvailable
            ? Presentation.available(availability) : .unavailable(farewell: availability)
        return switch target {
        case .none: isAvailable ? .show(availability) : .hide(availability)
        case .service: .ignore
        case .account(let account): .direct(account: account, device: nil, presentation)
        case .device(let account, let device?):
            .direct(account: account, device: device, presentation)
        case .device(_, nil): .ignore
        }
    }

    /// What a device says as it leaves. What is too long is left out: others would go on seeing a
    /// device whose farewell is refused.
    private func farewell(_ stanza: XMLElement, _ sender: StanzaSender) -> Availability {
        var farewell = Availability()
        var hasStatus = false
        for child in stanza.elements {
            if child.isNamed("status", in: Namespace.client), !hasStatus {
                hasStatus = true
                try? read(status: child, of: stanza, sender, into: &farewell)
            } else if !child.isNamed("show", in: Namespace.client),
                !child.isNamed("priority", in: Namespace.client)
            {
                try? read(extra: child, into: &farewell)
            }
        }
        return farewell
    }

    /// What a presence says of its device.
    func availability(
        _ stanza: XMLElement, _ sender: StanzaSender
    ) throws(StanzaError) -> Availability {
        var availability = Availability()
        var known: Known = []
        for child in stanza.elements {
            if child.isNamed("show", in: Namespace.client) {
                guard known.insert(.show).inserted, let show = Show(child.text) else {
                    throw .badRequest("`show` is one of chat, away, xa and dnd, or absent.")
                }
                availability.show = show
            } else if child.isNamed("priority", in: Namespace.client) {
                guard known.insert(.priority).inserted, let priority = Self.priority(child.text)
                else { throw .badRequest("`priority` is a number from -128 to 127.") }
                availability.priority = priority
            } else if child.isNamed("status", in: Namespace.client),
                known.insert(.status).inserted
            {
                try read(status: child, of: stanza, sender, into: &availability)
            } else {
                try read(extra: child, into: &availability)
            }
        }
        return availability
    }

    private struct Known: OptionSet {
        let rawValue: UInt8
        static let show = Known(rawValue: 1)
        static let priority = Known(rawValue: 2)
        static let status = Known(rawValue: 4)
    }

    private func read(
        status: XMLElement, of stanza: XMLElement, _ sender: StanzaSender,
        into availability: inout Availability
    ) throws(StanzaError) {
        let text = status.text
        guard text.count <= limits.availabilityTextBytesMax else {
            throw .tooLong("The status is too long.")
        }
        guard !text.isEmpty else { return }
        availability.text = text
        let language =
            status.attribute("lang", in: Namespace.xml)
            ?? stanza.attribute("lang", in: Namespace.xml) ?? sender.language[...]
        if language.count <= Self.languageBytesMax { availability.language = Array(language) }
    }

    /// Whatever else there is goes through, but for what only the service may say.
    private func read(
        extra: XMLElement, into availability: inout Availability
    ) throws(StanzaError) {
        guard !extra.isOfService else { return }
        let rest = Self.extraBytesMax - availability.extra.count
        guard availability.extra.appendXML(extra, in: Namespace.client, bytesMax: rest) else {
            throw .tooLong("The other elements of the presence have more than 4,096 bytes.")
        }
    }

    /// A number as `xs:byte` has it, with white space around it.
    private static func priority(_ text: [UInt8]) -> Int8? {
        let white: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        let start = text.firstIndex { !white.contains($0) } ?? text.endIndex
        let end = text.lastIndex { !white.contains($0) }.map { $0 + 1 } ?? start
        guard end - start <= 8 else { return nil }
        return Int8(String(decoding: text[start..<end], as: UTF8.self))
    }
}

extension XMLElement {
    /// Whether it is what only the service may say in a presence.
    var isOfService: Bool {
        namespace.isEqual(to: Namespace.status) || namespace.isEqual(to: Namespace.delay)
            || namespace.isEqual(to: Namespace.oldDelay)
    }
}

extension StanzaAddress {
    /// The account, whatever device is addressed.
    var account: [UInt8]? {
        switch self {
        case .none, .service: nil
        case .account(let account), .device(let account, _): account
        }
    }
}

extension Show {
    /// The word of RFC 6121; nil for `available`, which has none.
    var word: StaticString? {
        switch self {
        case .available: nil
        case .chat: "chat"
        case .away: "away"
        case .xa: "xa"
        case .dnd: "dnd"
        }
    }

    /// Without a word it is available: go-sendxmpp sends an empty element.
    fileprivate init?(_ text: [UInt8]) {
        guard let show = Self.allCases.first(where: { text.isEqual(to: $0.word ?? "") }) else {
            return nil
        }
        self = show
    }
}

extension RelationWord {
    /// The type of its presence.
    var word: StaticString {
        switch self {
        case .subscribe: "subscribe"
        case .unsubscribe: "unsubscribe"
        case .subscribed: "subscribed"
        case .unsubscribed: "unsubscribed"
        }
    }

    fileprivate init?(_ text: ArraySlice<UInt8>) {
        guard let word = Self.allCases.first(where: { text.isEqual(to: $0.word) }) else {
            return nil
        }
        self = word
    }
}
