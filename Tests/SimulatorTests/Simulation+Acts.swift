import EventLoop
import PresenceClient

@testable import PresenceServer

// What clients do.

extension Simulation {
    /// Some client does something.
    func act() {
        if chance(3), let client = xmppClients.randomElement(using: &random) {
            return act(as: client)
        }
        guard let client = clients.randomElement(using: &random) else { return }
        if client.isReader { return actAsReader(client) }
        guard let id = client.stream else { return logIn(client) }
        guard client.isLoggedIn, !client.isDead else {
            if chance(20) { return vanish(client, id) }
            // Its login was rejected: it tries again.
            if !client.isDead, client.asked.isEmpty { logIn(client) }
            return
        }
        switch Int.random(in: 0..<75, using: &random) {
        case 60..<67: sendMessage(client)
        case 67..<71: takeMessages(client)
        case 0: finish(id)
        case 1: vanish(client, id)
        case 2: client.isDead = true
        case 3: ask(client, "logout", [:])
        case 4...6: client.isStalled.toggle()
        case 7: garbage(client, id)
        case 46...49 where client.tokenEnds != nil: refresh(client)
        case 8...25 where client.isOwner: changeSubscriptions(client)
        case 8...45: changeStatus(client)
        case 50...55: relate(client)
        case 56: ask(client, "contacts", ["limit": .integer(chance(2) ? 100 : 2)])
        case 57: setVisibility(client)
        case 58: setAvailability(client)
        case 59, 71...74: setDevice(client)
        default: ask(client, "ping", [:])
        }
    }

    private func actAsReader(_ client: SimulatedClient) {
        guard let id = client.stream else {
            _ = open(client)
            let isBelieved = configuration.access == .open && chance(2)
            let key = JSON.string(SimulatedAuthenticator.serverKey)
            ask(client, "login", isBelieved ? ["client": "server"] : ["key": key])
            return readOn(client)
        }
        switch Int.random(in: 0..<30, using: &random) {
        case 0: finish(id)
        case 1: vanish(client, id)
        case 2: client.isDead = true
        case 3 where client.asked.isEmpty: readOn(client)
        case 4..<12: client.isStalled.toggle()
        case 20: discardMessages(client)
        case 21...23: sendMessage(client)
        case 24...27: setDeviceOfAnother(client)
        case 12..<20 where configuration.passwords != .none: changePassword(client)
        default: ask(client, "ping", [:])
        }
    }

    private func logIn(_ client: SimulatedClient) {
        if client.stream == nil { _ = open(client) }
        let list = ["all", "online", "none"].randomElement(using: &random) ?? "all"
        var params: [String: JSON] = [
            "device": .string(client.device), "sync": .string(client.isOwner ? "all" : list),
            "contacts": .bool(chance(2)), "messages": .bool(!chance(3)),
        ]
        // Where a token is needed, the name is rejected.
        if chance(configuration.access == .open ? 2 : 15) {
            params["account"] = .string(client.account)
        } else if configuration.passwords == .only && !chance(8)
            || configuration.passwords == .besideTokens && chance(3)
        {
            params.merge(passwordLogin(client)) { $1 }
        } else {
            params["token"] = .string(token(of: client.account).text)
        }
        ask(client, "login", .object(params))
    }

    private func refresh(_ client: SimulatedClient) {
        // Now and then with another account's, which is rejected.
        let other = clients.randomElement(using: &random) ?? client
        let token = token(of: chance(5) ? other.account : client.account)
        ask(client, "refresh", ["token": .string(token.text)])
    }

    /// A token of an account, and when it ends; now and then none.
    func token(of account: String) -> (text: String, ends: Int64) {
        let end = network.wallMilliseconds + Int64.random(in: -5_000...300_000, using: &random)
        if chance(30) { return ("no token", end) }
        return (SimulatedAuthenticator.token(of: account, until: end), end)
    }

    func ask(_ client: SimulatedClient, _ method: String, _ params: JSON) {
        guard let id = client.stream else { return }
        count()
        send(client.request(method, params), on: id)
    }

    /// It sends no more.
    func finish(_ id: StreamID) {
        _ = network.withStream(id) { $0.hasClientFinished = true }
    }

    /// The connection breaks; both ends notice.
    func vanish(_ peer: SimulatedPeer, _ id: StreamID) {
        _ = network.withStream(id) { stream in
            stream.isReset = true
            stream.toClient = []
        }
        peer.connectionEnded()
        service.streamEnded(id, .failed(UVError(code: -104, operation: "read")))
    }

    private func garbage(_ client: SimulatedClient, _ id: StreamID) {
        guard client.asked.isEmpty, network.streams[id]?.toServer.isEmpty == true else { return }
        let bytes = (0..<Int.random(in: 1...40, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
        }
        // As the body of a frame it is rejected; the connection stays.
        send([0, 0, 0, UInt8(bytes.count)] + bytes, on: id)
    }

    private func some(_ count: Int) -> JSON {
        .array(accounts.shuffled(using: &random).prefix(count).map { .string($0) })
    }

    private func changeSubscriptions(_ client: SimulatedClient) {
        let type: JSON = chance(4) ? .integer(Self.types.randomElement(using: &random) ?? 1) : 1
        if chance(4) {
            var params: [String: JSON] = ["type": type]
            if !chance(3) { params["publishers"] = some(2) }
            ask(client, "unsubscribe", .object(params))
        } else {
            let expiry = [60, 61, 120, 3_600].randomElement(using: &random) ?? 60
            ask(
                client, "subscribe",
                [
                    "type": type, "expiry": .integer(Int64(expiry)), "sync": true,
                    "publishers": some(Int.random(in: 1...4, using: &random)),
                ])
        }
    }

    private func relate(_ client: SimulatedClient) {
        if let asker = client.asking.sorted().randomElement(using: &random), !chance(4) {
            return ask(client, "relate", ["contact": .string(asker), "action": "accept"])
        }
        let actions = [
            "request", "request", "request", "request", "request", "accept", "cancel", "deny",
            "describe", "remove",
        ]
        var params: [String: JSON] = [
            "contact": .string(accounts.randomElement(using: &random) ?? "ann"),
            "action": .string(actions.randomElement(using: &random) ?? "request"),
        ]
        if chance(2) { params["text"] = "let me see you" }
        if chance(2) { params["name"] = "a friend" }
        if chance(3) { params["groups"] = ["friends", "work"] }
        ask(client, "relate", .object(params))
    }

    private func setVisibility(_ client: SimulatedClient) {
        let words = ["open", "default", "open", "approved", "hidden"]
        ask(
            client, "setVisibility",
            ["visibility": .string(words.randomElement(using: &random) ?? "open")])
    }

    private func setAvailability(_ client: SimulatedClient) {
        var params: [String: JSON] = [:]
        if chance(2) { params["show"] = chance(2) ? "away" : "dnd" }
        if chance(2) { params["text"] = "back soon" }
        if chance(3) {
            params["priority"] = .integer(Int64.random(in: -128...127, using: &random))
        }
        ask(client, "setAvailability", .object(params))
    }

    private func changeStatus(_ client: SimulatedClient) {
        // The owner alone has the status of type 1, so that it knows what is acknowledged.
        let others = Self.types.dropFirst()
        let type: JSON =
            client.isOwner && !chance(4)
            ? 1 : .integer(others.randomElement(using: &random) ?? 100)
        if chance(5) { return ask(client, "clear", ["type": type]) }
        var params: [String: JSON] = [
            "type": type, "value": .integer(Int64.random(in: 10_000...10_050, using: &random)),
            "expiry": chance(3) ? 60 : 3_600, "onlineOnly": .bool(!chance(3)),
        ]
        if chance(3) {
            params["ext"] = .string(
                String(repeating: "e", count: Int.random(in: 0...300, using: &random)))
        }
        ask(client, "publish", .object(params))
    }
}

extension SimulatedClient {
    /// Whether it is the one device of its account that changes subscriptions, so that it
    /// knows what has been acknowledged.
    var isOwner: Bool { device == "x" }
}
