import EventLoop

@testable import PresenceServer

// What XMPP clients do.

extension Simulation {
    /// An XMPP client does something.
    func act(as client: SimulatedXMPPClient) {
        guard let id = client.stream else { return connect(client) }
        guard !client.isDead, !client.isEnding, client.phase == .bound else {
            return logIn(client, on: id)
        }
        if client.shown == nil, client.asked.isEmpty, chance(2) { return show(client, on: id) }
        if client.roster == nil, client.asked.isEmpty, chance(3) {
            return send(counted: client.listContacts(), on: id)
        }
        // Sessions that may are rare.
        if client.mayChangePassword, chance(6) { return changeOwnPassword(client, on: id) }
        // Relationships are rare, too: they begin and end only if both sides act.
        if !client.asking.isEmpty, chance(3) { return say(client, on: id) }
        let seen = (client.roster ?? [:]).filter(\.value.isSeen).keys.sorted()
        if let contact = seen.randomElement(using: &random), chance(8) {
            return send(counted: client.say("unsubscribe", to: contact, nil), on: id)
        }
        switch Int.random(in: 0..<94, using: &random) {
        case 0...5: endOrStall(client, on: id)
        case 6: send(garbage(), on: id)
        case 7...18: present(client, on: id)
        case 19...36: say(client, on: id)
        case 37...42: changeRoster(client, on: id)
        case 43, 44: send(counted: client.probe(someAccount), on: id)
        case 45...47:
            let device = chance(4) ? "x" : client.device
            send(counted: client.relay(to: someAccount, device), on: id)
        case 48: send(counted: client.message(to: someAccount), on: id)
        case 49, 50: question(client, on: id)
        case 51, 52: send([0x20], on: id)
        case 53: send(counted: client.listContacts(), on: id)
        // More at once than the rate limit admits.
        case 54: for _ in 0..<8 { send(counted: client.ping(), on: id) }
        case 55...74: direct(client, on: id)
        case 75, 76: changeOwnPassword(client, on: id)
        case 77..<89: write(client, on: id)
        default: send(counted: client.ping(), on: id)
        }
    }

    var someAccount: String { accounts.randomElement(using: &random) ?? "ann" }

    func send(counted bytes: [UInt8], on id: StreamID) {
        count()
        send(bytes, on: id)
    }

    // MARK: Connections

    private func connect(_ client: SimulatedXMPPClient) {
        // Now and then it takes the device from a client that is connected.
        let isTaken = peers.contains { $0 !== client && $0.name == client.name && $0.isLoggedIn }
        guard !isTaken || chance(60) else { return }
        let listener: ListenerKind = chance(2) ? .xmpp : .xmppTLS
        let id = open(
            client, on: client.usesWebSocket ? .native : listener,
            roomBytes: Int.random(in: 100...1_000, using: &random))
        if client.usesWebSocket {
            send(SimulatedWebSocket.request, on: id)
            client.beginWebSocket()
        }
        client.takesScram = configuration.passwords == .only
        client.takesPasswords = configuration.passwords != .none
        client.allowsRegistration = configuration.xmpp?.allowsRegistration == true
        let domains = configuration.xmpp?.domains ?? []
        let domain = domains.randomElement(using: &random) ?? []
        let bytes = client.open(
            at: String(decoding: domain, as: UTF8.self), with: credential(for: client),
            isPipelining: !chance(4), registering: chance(5) ? registration(client) : nil)
        send(counted: bytes, on: id)
    }

    /// Goes on with a login that was rejected, or gives up.
    private func logIn(_ client: SimulatedXMPPClient, on id: StreamID) {
        if chance(client.isDead ? 20 : 100) { return vanish(client, id) }
        guard !client.isDead else { return }
        switch client.phase {
        case .open where configuration.passwords == .only && chance(4):
            send(counted: client.register(registration(client)), on: id)
        case .open: send(counted: client.authenticate(with: credential(for: client)), on: id)
        case .authenticated: send(counted: client.bind(), on: id)
        default: break
        }
    }

    private func credential(for client: SimulatedXMPPClient) -> SimulatedXMPPClient.Credential {
        guard configuration.access == .credentials else { return .init() }
        if configuration.passwords == .only || chance(5) { return passwordLogin(client) }
        // Now and then that of another account, which is rejected.
        let token = token(of: chance(15) ? someAccount : client.account)
        return .init(secret: token.text, ends: token.ends)
    }

    private func endOrStall(_ client: SimulatedXMPPClient, on id: StreamID) {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: finish(id)
        case 1: vanish(client, id)
        case 2: client.isDead = chance(3)
        case 3:
            client.isEnding = true
            send(counted: Array("</stream:stream>".utf8), on: id)
        default: client.isStalled.toggle()
        }
    }

    /// What ends the stream: at once, or because it is never complete.
    private func garbage() -> [UInt8] {
        let texts = [
            "<presence><status></presence>", "<!-- -->", "<a/>", "<presence", "&amp;",
            "<iq type='get' id='g'><ping xmlns='urn:xmpp:ping'>", "<presence to='&unknown;'/>",
            "<presence from='somebody@elsewhere.example'/>", "<message xmlns='urn:other'/>",
            "<presence><status>\(String(repeating: "x", count: 10_000))</status></presence>",
            "<stream:error/>", "]]>", "\u{FEFF}", "</presence>", "<x:y/>",
        ]
        if chance(3) {
            return (0..<Int.random(in: 1...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
        }
        return Array((texts.randomElement(using: &random) ?? "").utf8)
    }

    // MARK: Presence

    private func present(_ client: SimulatedXMPPClient, on id: StreamID) {
        // Until it is certain that its device is hidden, it does not know what it is told then.
        if client.isHiding { return send(counted: client.ping(), on: id) }
        guard chance(6) else { return show(client, on: id) }
        send(counted: client.hide(someFarewell()), on: id)
    }

    private func show(_ client: SimulatedXMPPClient, on id: StreamID) {
        let device = someDevice()
        let more = chance(3) ? "<c xmlns='urn:simulated' ver='\(device.text.count)'/>" : ""
        send(counted: client.show(device, more: more), on: id)
    }

    // MARK: Contacts

    private func say(_ client: SimulatedXMPPClient, on id: StreamID) {
        if let asker = client.asking.sorted().randomElement(using: &random), !chance(4) {
            let word = chance(4) ? "unsubscribed" : "subscribed"
            return send(counted: client.say(word, to: asker, nil), on: id)
        }
        let words = [
            "subscribe", "subscribe", "subscribe", "subscribed", "subscribed", "unsubscribe",
            "unsubscribe", "unsubscribed", "unsubscribed",
        ]
        let word = words.randomElement(using: &random) ?? "subscribe"
        let text = word == "subscribe" && chance(2) ? "let me see you" : nil
        let contact = contact(of: client, for: word) ?? someAccount
        send(counted: client.say(word, to: contact, text), on: id)
    }

    /// A contact for which a word changes something.
    private func contact(of client: SimulatedXMPPClient, for word: String) -> String? {
        let contacts = client.roster ?? [:]
        let meant =
            switch word {
            case "unsubscribe": contacts.filter { $0.value.isSeen || $0.value.isAsked }
            case "unsubscribed": contacts.filter { $0.value.seesOwner }
            default: [:] as [String: SimulatedContact]
            }
        return meant.keys.sorted().randomElement(using: &random)
    }

    private func changeRoster(_ client: SimulatedXMPPClient, on id: StreamID) {
        let contact = someAccount
        if chance(5) {
            let attributes = " subscription='remove'"
            return send(counted: client.setContact(contact, attributes), on: id)
        }
        let name = chance(2) ? " name='a &lt;friend&gt;'" : ""
        let groups = chance(3) ? "<group>friends</group><group>work &amp; play</group>" : ""
        send(counted: client.setContact(contact, name, groups), on: id)
    }

    // MARK: Messages

    /// Writes to somebody: to a device that is connected or another one, or to the account.
    private func write(_ client: SimulatedXMPPClient, on id: StreamID) {
        let body = messageLedger.nextBody()
        let speaksXMPP = !chance(4)
        let others = peers.filter { $0.readingSince != nil && $0.speaksXMPP == speaksXMPP }
        let other = others.randomElement(using: &random)
        var (account, device) = (someAccount, chance(2) ? "z" : nil)
        if let other, !chance(4) { (account, device) = (other.account, other.device) }
        messageLedger.note(
            body,
            MessageLedger.Entry(
                recipients: [account], sender: client.account, preferred: device,
                expires: now + 604_800_000,
                present: present([account], preferred: device)))
        send(counted: client.write(body, to: account, device), on: id)
    }

    // MARK: Questions

    private func question(_ client: SimulatedXMPPClient, on id: StreamID) {
        let questions = [
            "<query xmlns='http://jabber.org/protocol/disco#info'/>",
            "<query xmlns='http://jabber.org/protocol/disco#items'/>",
            "<query xmlns='jabber:iq:last'/>", "<query xmlns='jabber:iq:version'/>",
            "<time xmlns='urn:xmpp:time'/>", "<vCard xmlns='vcard-temp'/>",
            "<vCard xmlns='vcard-temp'><FN>\(client.device)</FN></vCard>",
            "<query xmlns='jabber:iq:private'/>",
        ]
        let addresses = [nil, client.domain, client.bareJID, "\(someAccount)@\(client.domain)"]
        let bytes = client.question(
            chance(8) ? "set" : "get", to: addresses.randomElement(using: &random) ?? nil,
            questions.randomElement(using: &random) ?? "")
        send(counted: bytes, on: id)
    }
}
