import XML

// Messages that are stored: what an XMPP client sends, and what it is sent.
//
// It has taken what it was sent when it has answered the ping behind it, and the service has
// carried that out when something is answered that the client has sent later. Before its first
// answer has arrived, the service may take what its kernel has acknowledged, and not ask.

/// What an XMPP client knows of the messages for it.
struct SimulatedMail {
    /// What it was sent since it was asked last whether it has that.
    var untaken: [String] = []
    var order = SentOrder()
    /// When its stream began, by the ledger.
    var opened = 0
    /// What it has said that it has, after so many stanzas that it has sent.
    var takings: [(after: Int, bodies: [String])] = []
    /// Whether the service certainly knows that it answers: it asks about what it sends from then
    /// on.
    var isKnownToAnswer = false
}

extension SimulatedXMPPClient {
    /// Whether it has asked to be shown or hidden, and does not know that it is.
    private var isChangingItself: Bool { asked.contains { $0.isShow || $0.isHide } }

    /// The priority of its device, if it has been told that it is shown as it has shown itself
    /// last. One that shows itself too often is shown so later.
    var certainPriority: Int? {
        guard !isChangingItself, let shown, var told = sight.devices[account]?[device] else {
            return nil
        }
        told.value = nil
        return told == shown ? shown.priority : nil
    }

    /// Whether it certainly is sent nothing but what is for its device.
    private var takesOwnMessagesOnly: Bool {
        !isChangingItself && hasHidden || certainPriority.map { $0 < 0 } == true
    }

    /// Writes to an account, or to one of its devices.
    func write(_ body: String, to account: String, _ device: String?) -> [UInt8] {
        let id = ask(.write(body))
        let type = body.utf8.count.isMultiple(of: 2) ? " type='chat'" : ""
        let to = "\(account)@\(domain)\(device.map { "/\($0)" } ?? "")"
        return Array("<message to='\(to)' id='\(id)'\(type)><body>\(body)</body></message>".utf8)
    }

    /// A message that was stored for its account.
    func hearMessage(_ message: XMLElement) {
        meet("message")
        let text = message.first("body", in: "jabber:client")?.text ?? []
        let body = String(decoding: text, as: UTF8.self)
        let id = message.first("stanza-id", in: "urn:xmpp:sid:0")?.text("id") ?? ""
        let fault = messages.fault(body, id: id, to: account, device, opened: mail.opened)
        if let fault { violations.append(fault) }
        let entry = messages.entries[body]
        let disorder = mail.order.fault(id, entry, on: device, takesAll: false)
        if let disorder { violations.append(disorder) }
        noteSent(body)
        mail.untaken.append(body)
        if !usesWebSocket, !mail.isKnownToAnswer { messages.noteAsked([body], by: account) }
        guard let entry else { return }
        checkAddress(message.text("to"), of: body, entry)
        if takesOwnMessagesOnly, !entry.isMeant(for: device) {
            violations.append("\(body) is for all, and its priority is negative")
        }
        if let preferred = entry.preferred {
            meet("message for \(preferred == device ? "its device" : "another device")")
        }
        if takesOwnMessagesOnly { meet("message while its priority is negative") }
    }

    /// The address stays as it was written.
    private func checkAddress(_ to: String?, of body: String, _ entry: MessageLedger.Entry) {
        guard entry.device == nil else { return }
        let address = entry.preferred.map { "\(bareJID)/\($0)" } ?? bareJID
        if to != address { violations.append("\(body) is to \(to ?? "nobody"), not \(address)") }
    }

    /// It answers that it has what it was sent.
    func noteTaking() {
        // The answer takes them, if it arrives.
        messages.noteAsked(mail.untaken, by: account)
        mail.takings.append((after: lastID, bodies: mail.untaken))
        mail.untaken = []
    }

    /// Something that it has sent is answered: what it has sent before is carried out.
    func noteTaken(beforeAnswerTo number: Int) {
        while let first = mail.takings.first, first.after < number {
            messages.noteDone(first.bodies, by: account)
            mail.isKnownToAnswer = true
            mail.takings.removeFirst()
        }
    }
}
