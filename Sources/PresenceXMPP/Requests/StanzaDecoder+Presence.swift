// Presence (RFC 6121, 3 and 4): show and hide, the words of relationships, probes, and presence for
// one account.

internal import PresenceCore
internal import XML

extension StanzaDecoder {
    /// Bytes of all other content, as it is written again. What does not fit is left out.
    static let extraBytesMax = 4_096
    /// The same of a request, which is kept until it is answered.
    static let requestExtraBytesMax = 1_024
    /// Bytes of a tag of a language. Longer ones are ignored: RFC 5646 recommends room for 35.
    static let languageBytesMax = 35

    func presence(
        _ stanza: XMLElement, _ head: StanzaHead, _ sender: StanzaSender
    ) throws(StanzaError) -> XMPPRequest {
        let target = try address(head.to)
        let type = stanza.attribute("type") ?? []
        if type.isEqual(to: "unavailable") {
            return try shown(stanza, to: target, sender, isAvailable: false)
        }
        if type.isEqual(to: "error") { return .ignore }
        if type.isEqual(to: "probe") {
            guard let account = target.account else { return .ignore }
            return .probe(account: account)
        }
        guard let word = RelationWord(type) else {
            // There is no type for an available device. Some clients write one: `available`,
            // `online`, what it shows, or nothing.
            return try shown(stanza, to: target, sender, isAvailable: true)
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
            let content = word == .subscribe ? requestContent(stanza) : .none
            return .relate(account: account, .say(word, content))
        }
    }

    /// What a request says: the first text, and whatever else there is (RFC 6121, 3.1.3), as far as
    /// there is room.
    private func requestContent(_ stanza: XMLElement) -> RequestContent {
        var content = RequestContent()
        for child in stanza.elements {
            if content.text == nil, child.isNamed("status", in: Namespace.client) {
                let text = child.text.cut(toBytes: limits.requestTextBytesMax)
                content.text = text.isEmpty ? nil : text
            } else {
                content.extra.append(extra: child, bytesMax: Self.requestExtraBytesMax)
            }
        }
        return content
    }

    private func shown(
        _ stanza: XMLElement, to target: StanzaAddress, _ sender: StanzaSender,
        isAvailable: Bool
    ) throws(StanzaError) -> XMPPRequest {
        var availability = availability(stanza, sender)
        if !isAvailable {
            availability.show = .available
            availability.priority = 0
        }
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

    /// What a presence says of its device. A presence is never rejected for its content: its device
    /// would stay offline, and its user would not know. What cannot be kept is left out, and a text
    /// is cut.
    private func availability(_ stanza: XMLElement, _ sender: StanzaSender) -> Availability {
        var availability = Availability()
        var known: Known = []
        for child in stanza.elements {
            if child.isNamed("show", in: Namespace.client) {
                guard !known.contains(.show), let show = Show(child.text) else { continue }
                known.insert(.show)
                availability.show = show
            } else if child.isNamed("priority", in: Namespace.client) {
                guard !known.contains(.priority), let priority = Self.priority(child.text)
                else { continue }
                known.insert(.priority)
                availability.priority = priority
            } else if child.isNamed("status", in: Namespace.client), availability.text == nil {
                read(status: child, of: stanza, sender, into: &availability)
            } else {
                availability.extra.append(extra: child, bytesMax: Self.extraBytesMax)
            }
        }
        if !known.contains(.show), let type = stanza.attribute("type") {
            availability.show = Show(Array(type)) ?? .available
        }
        return availability
    }

    /// What a presence says once. Of several, the first that is valid counts.
    private struct Known: OptionSet {
        let rawValue: UInt8
        static let show = Known(rawValue: 1)
        static let priority = Known(rawValue: 2)
    }

    private func read(
        status: XMLElement, of stanza: XMLElement, _ sender: StanzaSender,
        into availability: inout Availability
    ) {
        let text = status.text.cut(toBytes: limits.availabilityTextBytesMax)
        guard !text.isEmpty else { return }
        availability.text = text
        let language =
            status.attribute("lang", in: Namespace.xml)
            ?? stanza.attribute("lang", in: Namespace.xml) ?? sender.language[...]
        if language.count <= Self.languageBytesMax { availability.language = Array(language) }
    }

    /// A number with white space around it, and at most that of `xs:byte`; nil: none.
    private static func priority(_ text: [UInt8]) -> Int8? {
        var digits = text.withoutWhiteSpaceAround
        let sign = digits.first
        if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { digits.removeFirst() }
        guard !digits.isEmpty,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        // Longer ones are out of range, but for zeros in front.
        let value = Int(String(decoding: digits.drop { $0 == 0x30 }.prefix(4), as: UTF8.self)) ?? 0
        return Int8(clamping: sign == UInt8(ascii: "-") ? -value : value)
    }
}

extension [UInt8] {
    /// Appends an element as it is written again, unless only the service may say it, or the whole
    /// would have more than `bytesMax`.
    fileprivate mutating func append(extra: XMLElement, bytesMax: Int) {
        guard !extra.isOfService else { return }
        _ = appendXML(extra, in: Namespace.client, bytesMax: bytesMax - count)
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

    /// Without a word it is available: go-sendxmpp sends an empty element. Other words are no show.
    fileprivate init?(_ text: [UInt8]) {
        let text = text.withoutWhiteSpaceAround
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
