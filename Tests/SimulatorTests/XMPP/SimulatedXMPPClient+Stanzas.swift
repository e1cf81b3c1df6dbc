import XML

// What an XMPP client is told once its device is bound.

extension SimulatedXMPPClient {
    func hearStanza(_ stanza: XMLElement, _ name: String) {
        let isError = stanza.text("type") == "error"
        if name == "iq", stanza.text("id") == "bind" { return hearBound(stanza, isError: isError) }
        if name == "iq", stanza.text("id") == "register" {
            return hearRegistered(stanza, isError: isError)
        }
        guard isLoggedIn else { return violations.append("\(name) while \(phase)") }
        switch name {
        case "presence" where !isError: hearPresence(stanza)
        case "message" where stanza.first("stanza-id", in: "urn:xmpp:sid:0") != nil:
            hearMessage(stanza)
        case "iq" where stanza.text("type") == "get": hearQuestion(stanza)
        case "iq" where stanza.text("type") == "set": hearPush(stanza)
        default: hearAnswer(stanza, name, isError: isError)
        }
    }

    /// The account and device of a JID of its own domain.
    private func party(_ jid: String?) -> (account: String, device: String?)? {
        guard let parts = jid?.split(separator: "@", maxSplits: 1), parts.count == 2 else {
            return nil
        }
        let rest = parts[1].split(separator: "/", maxSplits: 1).map { String($0) }
        guard rest.first == domain else { return nil }
        return (String(parts[0]), rest.count > 1 ? rest[1] : nil)
    }

    // MARK: Answers

    private func hearAnswer(_ stanza: XMLElement, _ name: String, isError: Bool) {
        guard let id = stanza.text("id") else {
            return violations.append("\(name) without an id")
        }
        // The answer of another device, at any time; perhaps to a former connection of this one,
        // which may have been another client's, and on another domain.
        if !isError, relayed.remove(id) != nil { return meet("relay answered") }
        if !isError, !id.hasPrefix(idPrefix) { return meet("relay answered late") }
        guard stanza.text("to") == fullJID else {
            return violations.append("\(name) to \(stanza.text("to") ?? "nobody")")
        }
        guard let asked = answered(id, error: isError ? stanza.nameOfError : nil) else {
            return violations.append("an answer to \(id), which was not asked, or answered before")
        }
        if isError {
            relayed.remove(id)
            return meet("\(name) \(stanza.nameOfError)")
        }
        guard asked.isAnswered else { return violations.append("an answer to \(id)") }
        switch asked.kind {
        case .roster: learnRoster(stanza)
        case .changePassword(let password): hearChanged(password)
        default: break
        }
    }

    private func learnRoster(_ result: XMLElement) {
        guard let query = result.first("query", in: "jabber:iq:roster") else {
            return violations.append("a roster without a query")
        }
        meet("roster")
        roster = [:]
        for item in query.elements { learn(item) }
    }

    private func learn(_ item: XMLElement) {
        guard let contact = party(item.text("jid")), contact.device == nil else {
            return violations.append("a contact \(item.text("jid") ?? "")")
        }
        let isRemoved = item.text("subscription") == "remove"
        roster?[contact.account] = isRemoved ? nil : SimulatedContact(item)
        if roster?[contact.account]?.isSeen == true { everSeen.insert(contact.account) }
    }

    // MARK: Questions

    private func hearPush(_ iq: XMLElement) {
        guard let query = iq.first("query", in: "jabber:iq:roster") else {
            return hearRelayed(iq)
        }
        guard roster != nil else { return violations.append("a push, unasked") }
        noteNumber(iq.text("id"), after: "push-")
        meet("push")
        for item in query.elements { learn(item) }
        if pushNumber.isMultiple(of: 2), let id = iq.text("id") {
            reply("<iq type='result' id='\(id)'/>")
        }
    }

    private func hearQuestion(_ iq: XMLElement) {
        guard iq.text("from") == domain else { return hearRelayed(iq) }
        if iq.text("id")?.hasPrefix("taken-") == true {
            noteNumber(iq.text("id"), after: "taken-")
        } else {
            noteNumber(iq.text("id"), after: "ping-")
        }
        noteTaking()
        meet("pinged")
        if let id = iq.text("id") { reply("<iq type='result' id='\(id)' to='\(domain)'/>") }
    }

    /// The numbers of pushes and pings of the service rise.
    private func noteNumber(_ id: String?, after prefix: String) {
        let number = id.flatMap { $0.hasPrefix(prefix) ? Int($0.dropFirst(prefix.count)) : nil }
        guard let number, number > pushNumber else {
            return violations.append("\(id ?? "no id") after number \(pushNumber)")
        }
        pushNumber = number
    }

    /// The question of another device, perhaps with another domain.
    private func hearRelayed(_ iq: XMLElement) {
        guard let from = iq.text("from"), let id = iq.text("id"), from.contains("@"),
            from.contains("/"), iq.text("to")?.hasPrefix("\(account)@") == true,
            iq.text("to")?.hasSuffix("/\(device)") == true
        else { return violations.append("an iq that is not for it") }
        meet("relayed")
        reply("<iq type='result' id='\(id)' to='\(from)'/>")
    }

    // MARK: Presence

    private func hearPresence(_ presence: XMLElement) {
        let to = presence.text("to")
        guard let from = party(presence.text("from")), to == bareJID || to == fullJID else {
            return violations.append("a presence from \(presence.text("from") ?? "nobody")")
        }
        let device = ShownDevice(presence)
        switch (presence.text("type"), from.device) {
        case (nil, let name?):
            if let entry = ledger.entry(device.number) {
                return hearDirected(entry, of: "\(from.account)/\(name)", to: to, device)
            }
            checkSight(of: from.account)
            checkIsBare(to)
            meet("presence")
            directed.supersede("\(from.account)/\(name)")
            note(sight.noteAvailable(from.account, name, device))
            presenceCounts["\(from.account)/\(name)", default: 0] += 1
        case (nil, nil): violations.append("\(from.account) is available without a device")
        case ("unavailable", let name?): hearEnd(of: from.account, name, to: to, device)
        case ("unavailable", nil):
            checkIsShown("\(from.account) is unavailable")
            checkIsBare(to)
            meet("unavailable")
            note(sight.noteUnavailable(from.account, nil, device))
        case (let word?, _):
            checkIsBare(to)
            hear(word, of: from.account)
        }
    }

    /// All but presence for one address is addressed to accounts.
    private func checkIsBare(_ to: String?) {
        if to != bareJID { violations.append("a presence to \(to ?? "nobody")") }
    }

    private func note(_ violation: String?) {
        if let violation { violations.append(violation) }
    }

    /// What may be received of an account, as far as a client knows that: its roster changes before
    /// what follows from the change. `checkPresences` knows its visibility, too.
    private func checkSight(of other: String) {
        checkIsShown("\(other) is available")
        guard other != account, let roster, roster[other]?.isSeen != true else { return }
        violations.append("\(other) is available, which is not seen")
    }

    /// While its device is not shown, a client is told of nobody.
    func checkIsShown(_ what: String) {
        guard shown == nil, !asked.contains(where: \.isShow) else { return }
        violations.append("\(what), and it has not shown itself")
    }

    private func hear(_ word: String, of contact: String) {
        guard ["subscribe", "subscribed", "unsubscribe", "unsubscribed"].contains(word) else {
            return violations.append("a presence of type \(word)")
        }
        meet("told \(word)")
        if word == "subscribe" { asking.insert(contact) } else { asking.remove(contact) }
    }
}
