// Iqs: what the service answers for itself and for accounts, and what it relays to devices.

internal import PresenceCore
internal import XML

extension StanzaDecoder {
    func iq(
        _ stanza: XMLElement, _ head: StanzaHead, _ sender: StanzaSender
    ) throws(StanzaError) -> XMPPRequest {
        let isSet = stanza.attribute("type")?.isEqual(to: "set") ?? false
        let isGet = stanza.attribute("type")?.isEqual(to: "get") ?? false
        guard isSet || isGet || Self.isAnswer(stanza) else {
            throw .badRequest("The type of an iq is get, set, result or error.")
        }
        guard !stanza.isOfIncompleteStanza else { throw .elementsTooLarge }
        let target = try address(head.to)
        guard isSet || isGet else {
            if case .device(let account, let device?) = target {
                return .relayIQ(account: account, device: device, wantsAnswer: false)
            }
            return .answer(isError: stanza.attribute("type")?.isEqual(to: "error") ?? false)
        }
        // Some clients send sets without an id, and wait for no answer.
        guard isSet || head.id != nil else { throw .badRequest("An iq of type get has an id.") }
        var payloads = stanza.elements.makeIterator()
        guard let payload = payloads.next(), payloads.next() == nil else {
            throw .badRequest("An iq of type get or set has exactly one element.")
        }
        if case .device(let account, let device) = target {
            // Not there, like one that is offline.
            guard let device else { throw .serviceUnavailable }
            return .relayIQ(account: account, device: device, wantsAnswer: true)
        }
        return isSet
            ? try set(payload, to: target, sender) : try get(payload, to: target, sender)
    }

    private func isOwn(_ target: StanzaAddress, _ sender: StanzaSender) -> Bool {
        target == .none || target == .account(sender.account)
    }

    /// For what the service answers for itself, and for an account only to the account.
    private func requireOwn(
        _ target: StanzaAddress, _ sender: StanzaSender
    ) throws(StanzaError) {
        guard target == .service || isOwn(target, sender) else { throw .serviceUnavailable }
    }

    // MARK: - get

    private func get(
        _ payload: XMLElement, to target: StanzaAddress, _ sender: StanzaSender
    ) throws(StanzaError) -> XMPPRequest {
        switch payload.namespace {
        case let name where name.isEqual(to: Namespace.roster):
            guard isOwn(target, sender) else { throw .forbidden }
            guard payload.name.isEqual(to: "query") else { throw .serviceUnavailable }
            return .listContacts
        case let name where name.isEqual(to: Namespace.ping):
            try requireOwn(target, sender)
            return .ping
        case let name where name.isEqual(to: Namespace.discoInfo):
            return .discoverFeatures(account: try discovered(payload, target, sender))
        case let name where name.isEqual(to: Namespace.discoItems):
            return .discoverItems(account: try discovered(payload, target, sender))
        case let name where name.isEqual(to: Namespace.last):
            return target == .service
                ? .uptime : .lastSeen(account: target.account ?? sender.account)
        case let name where name.isEqual(to: Namespace.version):
            try requireOwn(target, sender)
            return .version
        case let name where name.isEqual(to: Namespace.time):
            try requireOwn(target, sender)
            return .time
        case let name where name.isEqual(to: Namespace.vcard):
            // The service itself has none.
            guard target != .service else { throw .itemNotFound }
            return .card(account: target.account ?? sender.account)
        case let name where name.isEqual(to: Namespace.register):
            try requireOwn(target, sender)
            return .registrationForm
        default: throw .serviceUnavailable
        }
    }

    /// The account that is asked about; nil: the service. None of them has nodes.
    private func discovered(
        _ payload: XMLElement, _ target: StanzaAddress, _ sender: StanzaSender
    ) throws(StanzaError) -> [UInt8]? {
        guard payload.name.isEqual(to: "query") else { throw .serviceUnavailable }
        guard payload.attribute("node") == nil else { throw .itemNotFound }
        return target == .service ? nil : target.account ?? sender.account
    }

    // MARK: - set

    private func set(
        _ payload: XMLElement, to target: StanzaAddress, _ sender: StanzaSender
    ) throws(StanzaError) -> XMPPRequest {
        switch payload.namespace {
        case let name where name.isEqual(to: Namespace.roster):
            guard isOwn(target, sender) else { throw .forbidden }
            return try setContact(payload, sender)
        case let name where name.isEqual(to: Namespace.register):
            try requireOwn(target, sender)
            return try register(payload, sender)
        case let name where name.isEqual(to: Namespace.vcard):
            guard isOwn(target, sender) else { throw .forbidden }
            return .setCard(try card(payload))
        case let name where name.isEqual(to: Namespace.carbons):
            try requireOwn(target, sender)
            let isOn = payload.name.isEqual(to: "enable")
            guard isOn || payload.name.isEqual(to: "disable") else {
                throw .badRequest("The element in the namespace of carbons is enable or disable.")
            }
            return .setCarbons(isOn: isOn)
        default: throw .serviceUnavailable
        }
    }

    /// The card as others are sent it. An element without content removes it.
    private func card(_ payload: XMLElement) throws(StanzaError) -> [UInt8] {
        guard payload.name.isEqual(to: "vCard") else {
            throw .badRequest("The element in the namespace of vCards is `vCard`.")
        }
        guard !payload.isEmpty else { return [] }
        var content: [UInt8] = []
        let bytesMax = Limits.cardBytesMax
        guard content.appendXML(payload, in: Namespace.client, bytesMax: bytesMax) else {
            throw .tooLong(
                "A vCard has at most \(bytesMax) bytes as the service writes it, and names of "
                    + "namespaces in it are URIs without brackets and percent signs.")
        }
        return content
    }

    /// A stream registers an account before its login; after it, an account changes itself.
    private func register(
        _ query: XMLElement, _ sender: StanzaSender
    ) throws(StanzaError) -> XMPPRequest {
        if query.first("remove", in: Namespace.register) != nil { return .unregister }
        guard let username = query.first("username", in: Namespace.register)?.text,
            let password = query.first("password", in: Namespace.register)?.text,
            !username.isEmpty, !password.isEmpty
        else { throw .notAcceptable("A registration needs `username` and `password`.") }
        guard Localpart.account(of: username) == sender.account else { throw .notAllowed }
        return .changePassword(password)
    }

    // MARK: - Roster

    private func setContact(
        _ query: XMLElement, _ sender: StanzaSender
    ) throws(StanzaError) -> XMPPRequest {
        guard query.name.isEqual(to: "query") else { throw .serviceUnavailable }
        var items = query.elements.makeIterator()
        guard let item = items.next(), items.next() == nil,
            item.isNamed("item", in: Namespace.roster)
        else { throw .badRequest("A change of the roster has exactly one item.") }
        guard let jid = item.attribute("jid") else {
            throw .badRequest("An item has a `jid`.")
        }
        let account = try account(Array(jid))
        guard account != sender.account else {
            throw .badRequest("An account has no relationship with itself.")
        }
        if item.attribute("subscription")?.isEqual(to: "remove") ?? false {
            return .relate(account: account, .remove)
        }
        return .relate(account: account, .describe(try label(item)))
    }

    /// The name and the groups; line breaks and tabs in them are spaces.
    private func label(_ item: XMLElement) throws(StanzaError) -> ContactLabel {
        let name = item.attribute("name").map { Array($0).onOneLine } ?? []
        let texts = item.elements.filter { $0.isNamed("group", in: Namespace.roster) }.map(\.text)
        guard Set(texts).count == texts.count else {
            throw .badRequest("A group is given twice.")
        }
        var known: Set<[UInt8]> = []
        let groups = texts.map(\.onOneLine).filter { known.insert($0).inserted }
        guard let label = ContactLabel(name: name, groups: groups) else {
            throw .notAcceptable(
                "The name and each group have at most \(ContactLabel.nameBytesMax) bytes, all "
                    + "together \(ContactLabel.bytesMax), with one more for each group; no group "
                    + "is empty.")
        }
        return label
    }
}
