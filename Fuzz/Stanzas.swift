// Stanzas of a bound stream, and names: what is decoded is within its bounds and the same when
// decoded twice; what is written of it is XML that says the same; and accounts and local parts of
// JIDs are mapped one to one.
//
// The first byte of the input says which of them the rest is.

import PresenceCore
import XML

@testable import PresenceXMPP

// SAFETY: libFuzzer runs one input at a time, on one thread.
nonisolated(unsafe) private let reader = XMLReader(hashSalt: 1)
private let domain = Array("example.org".utf8)
private let decoder = StanzaDecoder(domains: [domain], limits: Limits())
private let sender = StanzaSender(
    account: Array("Alice <é>".utf8), device: Array("a&'b".utf8), domain: domain)

private func lowered(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
}

// MARK: - Names

private func checkAccount(_ account: [UInt8]) {
    let localpart = Localpart.localpart(of: account)
    require(localpart == lowered(localpart), "a local part with a capital letter")
    require(
        Localpart.account(of: localpart) == (NameSyntax.admits(account) ? account : nil),
        "the local part of an account names another")
    guard NameSyntax.admits(account) else { return }
    let isWhole = String(validating: localpart, as: UTF8.self) != nil
    require(isWhole && localpart.count <= 1_023, "a local part that is none")
    let forbidden = Array("\"&'/:<>@ ".utf8)
    require(!localpart.contains { forbidden.contains($0) }, "a character that JIDs do not have")
    guard let jid = JID(localpart + [UInt8(ascii: "@")] + domain) else {
        return require(false, "a JID that is not read")
    }
    require(jid.localpart == localpart && jid.domain == domain, "a JID with other parts")
}

private func checkLocalpart(_ localpart: [UInt8]) {
    guard let account = Localpart.account(of: localpart) else { return }
    require(NameSyntax.admits(account), "an account that is none")
    require(Localpart.localpart(of: account) == lowered(localpart), "two of one account")
}

private func checkDevice(_ device: [UInt8]) {
    let resource = Resource.resource(of: device)
    require(
        Resource.device(of: resource) == (NameSyntax.admits(device) ? device : nil),
        "the resource of a device names another")
    guard let other = Resource.device(of: device) else { return }
    require(Resource.resource(of: other) == device, "two resources of one device")
}

private func checkJID(_ text: [UInt8]) {
    guard let jid = JID(text) else { return }
    var again: [UInt8] = []
    if let localpart = jid.localpart { again += localpart + [UInt8(ascii: "@")] }
    again += jid.domain
    if let resource = jid.resource { again += [UInt8(ascii: "/")] + resource }
    require(JID(again) == jid, "a JID that changes")
}

// MARK: - Stanzas

/// Decodes a stanza with a tree of its own, so that it can be kept.
private func decoded(_ bytes: [UInt8]) -> DecodedStanza? {
    guard let element = try? reader.readStanza(bytes.span.bytes, in: .standard),
        let kind = Stanza.Kind.allCases.first(where: {
            element.isNamed($0.name, in: "jabber:client")
        })
    else { return nil }
    return decoder.decode(Stanza(kind: kind, element: element), from: sender)
}

/// What was written is one element.
private func checkIsRead(_ bytes: [UInt8]) {
    do throws(XMLError) {
        _ = try reader.readStanza(bytes.span.bytes, in: .standard)
    } catch {
        require(false, "what is written is rejected: \(error)")
    }
}

private func checkShown(_ availability: Availability, isAvailable: Bool) {
    require((availability.text?.count ?? 0) <= 1_024, "a status too long")
    require(availability.extra.count <= 4_096, "too much of the rest")
    var bytes: [UInt8] = []
    bytes.append(literal: "<presence a='")
    if isAvailable {
        bytes.appendPresenceRest(availability)
    } else {
        bytes.appendUnavailableRest(availability)
    }
    switch decoded(bytes) {
    case .request(.show(let again), _): require(again == availability, "shown is another")
    case .request(.hide(let again), _):
        require(again.text == availability.text, "another text of a farewell")
        require(again.extra == availability.extra, "another rest of a farewell")
    default: require(false, "a presence is not one when written")
    }
}

private func checkContact(_ account: [UInt8], _ label: ContactLabel) {
    require(NameSyntax.admits(account), "a contact that is no account")
    var bytes = Array("<iq type='set'><query xmlns='jabber:iq:roster'>".utf8)
    bytes.append(RosterItem(account: account, label: label), at: domain)
    bytes.appendRosterEnd()
    guard case .request(let again, _) = decoded(bytes) else {
        return require(false, "a contact is rejected when written")
    }
    require(
        again == .relate(account: account, .describe(label)), "another contact")
}

private func checkRelayed(_ bytes: [UInt8]) {
    guard let element = try? reader.readStanza(bytes.span.bytes, in: .standard) else { return }
    var template = StanzaTemplate()
    guard template.appendRelayed(element, from: sender, bytesMax: 65_536) else {
        return require(template.isEmpty, "something is written of what is too long")
    }
    require(template.whole.byteCount <= 65_536, "relayed above the limit")
    var relayed: [UInt8] = []
    template.append(to: [], at: domain, into: &relayed)
    do throws(XMLError) {
        let again = try reader.readStanza(relayed.span.bytes, in: .standard)
        let from = again.attribute("from").flatMap { JID($0) }
        require(
            from?.resource.flatMap { Resource.device(of: $0) } == sender.device,
            "relayed from another device")
        require(
            from?.localpart.flatMap { Localpart.account(of: $0) } == sender.account,
            "relayed from another account")
    } catch {
        // Each namespace is declared where it is used, which may be more than the stanza did.
        if case .limit = error { return }
        require(false, "what is relayed is rejected: \(error)")
    }
}

private func checkStanza(_ bytes: [UInt8]) {
    guard let outcome = decoded(bytes) else { return }
    require(decoded(bytes) == outcome, "decoded twice is not the same")
    switch outcome {
    case .invalidFrom: break
    case .rejected(let error, let head):
        var all: [UInt8] = []
        all.append(error, head, to: sender)
        checkIsRead(all)
        require(decoded(all) != nil, "an error that is no stanza")
    case .request(let request, let head):
        var all: [UInt8] = []
        all.appendResult(head, to: sender)
        checkIsRead(all)
        checkRelayed(bytes)
        switch request {
        case .show(let availability): checkShown(availability, isAvailable: true)
        case .hide(let availability): checkShown(availability, isAvailable: false)
        case .direct(let account, _, let presentation):
            require(NameSyntax.admits(account), "a presence for what is no account")
            var isAvailable = false
            if case .available = presentation { isAvailable = true }
            checkShown(presentation.availability, isAvailable: isAvailable)
        case .relate(let account, .describe(let label)): checkContact(account, label)
        case .relate(let account, .say(let word, let content)):
            require(NameSyntax.admits(account), "a relationship with what is no account")
            var all: [UInt8] = []
            all.appendWord(word, from: sender.account, to: account, at: domain, content)
            checkIsRead(all)
        default: break
        }
    }
}

/// Reads one input in the way that its first byte says.
func fuzzStanzas(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let kind = input.below(6)
    let bytes = input.remainder()
    switch kind {
    case 0: checkAccount(bytes)
    case 1: checkLocalpart(bytes)
    case 2:
        checkJID(bytes)
        checkDevice(bytes)
    default: checkStanza(bytes)
    }
}
