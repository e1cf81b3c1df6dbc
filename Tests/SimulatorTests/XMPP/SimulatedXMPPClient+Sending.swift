// What an XMPP client sends once its device is bound. Each stanza has an id, so that an error
// about it can be told from others.

extension SimulatedXMPPClient {
    /// Whether its last `unavailable` may not be carried out yet.
    var isHiding: Bool { asked.contains(where: \.isHide) }

    /// Shows its device.
    func show(_ device: ShownDevice, more: String) -> [UInt8] {
        let id = ask(.show(device))
        return Array("<presence id='\(id)'>\(device.children)\(more)</presence>".utf8)
    }

    /// Hides its device. A ping follows: from its answer on, the device is hidden.
    func hide(_ farewell: ShownDevice) -> [UInt8] {
        ledger.note(
            farewell.number ?? 0, .init(sender: name, kind: .hiding, device: farewell))
        let id = ask(.hide)
        let presence = "<presence type='unavailable' id='\(id)'>\(farewell.children)</presence>"
        return Array(presence.utf8) + ping()
    }

    /// Says a word to a contact.
    func say(_ word: String, to contact: String, _ text: String?) -> [UInt8] {
        let id = ask(.other)
        if word != "subscribe" { asking.remove(contact) }
        let status = text.map { "<status>\($0.escaped)</status>" } ?? ""
        return Array(
            """
            <presence type='\(word)' to='\(contact)@\(domain)' id='\(id)'>\(status)</presence>
            """.utf8)
    }

    /// Has the state of a contact reported.
    func probe(_ contact: String) -> [UInt8] {
        Array("<presence type='probe' to='\(contact)@\(domain)' id='\(ask(.other))'/>".utf8)
    }

    func ping() -> [UInt8] { question("get", "<ping xmlns='urn:xmpp:ping'/>") }

    /// Asks the service.
    func question(_ type: String, to address: String? = nil, _ payload: String) -> [UInt8] {
        iq(type, ask(.question), to: address, payload)
    }

    func listContacts() -> [UInt8] {
        iq("get", ask(.roster), to: nil, "<query xmlns='jabber:iq:roster'/>")
    }

    /// Changes a contact.
    func setContact(_ contact: String, _ attributes: String, _ groups: String = "") -> [UInt8] {
        question(
            "set",
            """
            <query xmlns='jabber:iq:roster'><item jid='\(contact)@\(domain)'\(attributes)>\
            \(groups)</item></query>
            """)
    }

    /// Asks another device, which may not answer. That it is not there is answered in order.
    func relay(to other: String, _ device: String) -> [UInt8] {
        let id = ask(.other)
        relayed.insert(id)
        ledger.noteSent(to: other)
        return iq(
            "get", id, to: "\(other)@\(domain)/\(device)", "<query xmlns='jabber:iq:version'/>")
    }

    /// Sends a message for a room, which is rejected.
    func message(to contact: String) -> [UInt8] {
        let id = ask(.question)
        return Array(
            "<message to='\(contact)@\(domain)' id='\(id)' type='groupchat'/>".utf8)
    }

    private func iq(
        _ type: String, _ id: String, to address: String?, _ payload: String
    ) -> [UInt8] {
        let to = address.map { " to='\($0)'" } ?? ""
        return Array("<iq type='\(type)' id='\(id)'\(to)>\(payload)</iq>".utf8)
    }
}

extension String {
    /// As the text of an element.
    var escaped: String {
        reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&#62;"
            default: escaped.append(character)
            }
        }
    }
}
