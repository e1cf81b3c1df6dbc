import XML

// Presence for one address (RFC 6121, section 4.6): what an XMPP client sends, what it may be
// rejected, and what it is told of others.

extension SimulatedXMPPClient {
    /// To how many addresses a session presents itself at most.
    static let addressesMax = 32

    // MARK: Sending

    /// Presents its device to an address.
    func direct(_ device: ShownDevice, to address: SimulatedAddress) -> [UInt8] {
        let number = device.number ?? 0
        ledger.note(
            number, .init(sender: name, kind: .available(address), device: device))
        let id = ask(.direct(address, number))
        return presence("", to: address, id, device)
    }

    /// Withdraws its device from an address.
    func withdraw(_ farewell: ShownDevice, from address: SimulatedAddress) -> [UInt8] {
        ledger.note(
            farewell.number ?? 0,
            .init(sender: name, kind: .withdrawal(address), device: farewell))
        return presence(" type='unavailable'", to: address, ask(.withdraw(address)), farewell)
    }

    private func presence(
        _ type: String, to address: SimulatedAddress, _ id: String, _ device: ShownDevice
    ) -> [UInt8] {
        let to = address.device.map { "/\($0)" } ?? ""
        return Array(
            """
            <presence\(type) to='\(address.account)@\(domain)\(to)' id='\(id)'>\
            \(device.children)</presence>
            """.utf8)
    }

    // MARK: Rejections

    /// A stanza of it was rejected.
    func rejected(_ stanza: Asked, _ condition: String) {
        rejectionCount += 1
        switch stanza.kind {
        case .direct(let address, _):
            let isKnown = addresses[address] != nil
            if isKnown || !inherits && addresses.count < Self.addressesMax,
                condition == "resource-constraint"
            {
                violations.append("rejected \(address) beside \(addresses.count) addresses")
            }
            checkCondition(condition, "resource-constraint")
        case .withdraw(let address):
            if addresses[address] != nil, condition == "policy-violation" {
                violations.append("a withdrawal was rejected by \(address)")
            }
            checkCondition(condition)
        case .changePassword: hearNotChanged(condition)
        case .write(let body): messages.note(.rejected, of: body)
        case .question, .roster, .other, .show, .hide: break
        }
    }

    private func checkCondition(_ condition: String, _ quota: String? = nil) {
        guard condition != quota else { return meet("directed quota") }
        guard !["policy-violation", "internal-server-error"].contains(condition) else { return }
        violations.append("rejected a presence for an address: \(condition)")
    }

    // MARK: Hearing

    /// A device is available for this client.
    func hearDirected(
        _ entry: DirectedLedger.Entry, of sender: String, to: String?, _ device: ShownDevice
    ) {
        guard case .available(let address) = entry.kind, isMeant(by: address, to),
            entry.sender == sender, entry.device == device
        else { return violations.append("\(sender) is \(device), and sent \(entry)") }
        meet(address.device == nil ? "directed to account" : "directed to device")
        if address.device == nil { checkIsShown("\(sender) is available for its account") }
        let isNew = directed.begin(
            sender, byDevice: address.device != nil, device.number ?? 0)
        if !isNew { violations.append("\(sender): presence for it is old: \(device)") }
    }

    /// Whether what was sent to an address is for this client, and addressed so.
    private func isMeant(by address: SimulatedAddress, _ to: String?) -> Bool {
        guard address.account == account else { return false }
        guard let device = address.device else { return to == bareJID }
        return device == self.device && to == fullJID
    }

    /// A device is not available any more, for all that see it or for this client.
    func hearEnd(of account: String, _ device: String, to: String?, _ farewell: ShownDevice) {
        meet("unavailable")
        let sender = "\(account)/\(device)"
        let entry = ledger.entry(farewell.number)
        if !farewell.text.isEmpty, entry?.sender != sender || entry?.device.text != farewell.text {
            return violations.append("\(sender) says \(farewell.text), and did not send it")
        }
        if case .withdrawal(let address)? = entry?.kind {
            return hearWithdrawal(
                of: account, sender, isMeant(by: address, to), farewell: farewell.number)
        }
        if to == fullJID {
            let address = SimulatedAddress(account: self.account, device: self.device)
            let isMeant = entry == nil && hasWithdrawn(sender, address)
            return hearWithdrawal(of: account, sender, isMeant)
        }
        guard to == bareJID else {
            return violations.append("\(sender) is unavailable to \(to ?? "nobody")")
        }
        // Without a text it may be a withdrawal for a client that does not keep up.
        let own = SimulatedAddress(account: self.account, device: nil)
        let isOwed = directed.isOwed(sender) || !isStranger(account)
        if entry == nil, isOwed, hasWithdrawn(sender, own) {
            meet("withdrawn or gone")
            directed.withdraw(sender)
            return sight.doubt(account, device)
        }
        hearEndForAll(of: account, device, farewell)
    }

    /// Whether a device may have withdrawn what it has presented to an address last.
    private func hasWithdrawn(_ sender: String, _ address: SimulatedAddress) -> Bool {
        ledger.lastWithdrawal(of: sender, from: address) > directed.number(of: sender)
    }

    private func hearWithdrawal(
        of account: String, _ sender: String, _ isMeant: Bool, farewell: Int? = nil
    ) {
        meet("withdrawn")
        if !isMeant { violations.append("\(sender) is unavailable, and did not send it so") }
        // The end of a subscription ends what was presented besides, and the device may say it
        // again.
        if isStranger(account) { checkIsOwed(sender) }
        directed.withdraw(sender, farewell)
    }

    private func checkIsOwed(_ sender: String) {
        guard !directed.isOwed(sender) else { return }
        violations.append("told of the end of \(sender), and not that it is there")
    }

    private func hearEndForAll(of account: String, _ device: String, _ farewell: ShownDevice) {
        let sender = "\(account)/\(device)"
        let isStranger = isStranger(account)
        let isShown = shown != nil || asked.contains(where: \.isShow)
        if isStranger || !isShown { checkIsOwed(sender) }
        if isStranger { meet("end of a stranger") }
        directed.end(sender, isStranger: isStranger)
        if let violation = sight.noteUnavailable(account, device, farewell) {
            violations.append(violation)
        }
    }

    /// Whether the account of this client has not seen another since the last quiet time but one.
    private func isStranger(_ other: String) -> Bool {
        knowsStrangers && other != account && !everSeen.contains(other)
    }
}

extension ShownDevice {
    /// As the children of a presence.
    var children: String {
        let show = show.isEmpty ? "" : "<show>\(show)</show>"
        let priority = priority == 0 ? "" : "<priority>\(priority)</priority>"
        return "\(show)<status>\(text.escaped)</status>\(priority)"
    }
}
