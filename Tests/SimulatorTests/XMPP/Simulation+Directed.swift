import Containers
import EventLoop

@testable import PresenceCore
@testable import PresenceServer

// Presence for one address: what XMPP clients send, and what must hold at a quiet time.

extension Simulation {
    // MARK: Acts

    /// Presents the device of a client to an address, or withdraws it.
    func direct(_ client: SimulatedXMPPClient, on id: StreamID) {
        if chance(12) { return directToMany(client, on: id) }
        guard chance(3) else {
            return send(counted: client.direct(someDevice(), to: someAddress()), on: id)
        }
        let known = client.addresses.keys.sorted().randomElement(using: &random)
        let address = chance(4) ? nil : known
        send(
            counted: client.withdraw(someFarewell(), from: address ?? someAddress()),
            on: id)
    }

    /// More addresses than a session may have, of accounts that do not exist.
    private func directToMany(_ client: SimulatedXMPPClient, on id: StreamID) {
        for number in 0..<Int.random(in: 10...44, using: &random) {
            let address = SimulatedAddress(account: "nobody\(number)", device: nil)
            send(counted: client.direct(someDevice(), to: address), on: id)
        }
    }

    private func someAddress() -> SimulatedAddress {
        let others = xmppClients.filter { $0.isLoggedIn && !$0.isDead }
        if !chance(3), let other = others.randomElement(using: &random) {
            return SimulatedAddress(
                account: other.account, device: chance(2) ? other.device : nil)
        }
        var account = accounts.randomElement(using: &random) ?? "ann"
        if chance(12) { account = "nobody\(Int.random(in: 0..<40, using: &random))" }
        // `x` is native, and nobody has `z`.
        let devices = [nil, nil, nil, "p", "p", "q", "x", "z"]
        let device = devices.randomElement(using: &random) ?? nil
        return SimulatedAddress(account: account, device: device)
    }

    func someDevice() -> ShownDevice {
        var device = ShownDevice()
        device.text = "\(nextPresence())"
        if chance(2) { device.text += " <&> \u{FC}" }
        device.show = ["", "", "chat", "away", "xa", "dnd"].randomElement(using: &random) ?? ""
        if chance(3) { device.priority = Int.random(in: -128...127, using: &random) }
        return device
    }

    func someFarewell() -> ShownDevice {
        var farewell = ShownDevice()
        farewell.text = "\(nextPresence()) <bye>"
        return farewell
    }

    // MARK: Checks

    /// What clients have sent is in force; what they were told of is in force, or they were told of
    /// its end.
    func checkDirected() {
        var inForce: [String: Set<SimulatedAddress>] = [:]
        for name in Set(xmppClients.map(\.name)) {
            inForce[name] = service.hub.host.engine.addresses(ofDevice: name)
        }
        for client in xmppClients where client.isLoggedIn && !client.isDead {
            checkAddresses(of: client, inForce[client.name] ?? [])
            for (sender, told) in client.directed.told.sorted(by: { $0.key < $1.key })
            where !isInForce(told, of: sender, for: client, inForce) {
                violation("\(client.name) believes that \(sender) is there for it: \(told)")
            }
            for (sender, told) in client.directed.ended.sorted(by: { $0.key < $1.key })
            where isInForceStill(told, of: sender, for: client, inForce) {
                violation("\(client.name) was told of the end of \(sender), which is there")
            }
            client.restDirected(inForce: inForce[client.name] ?? []) {
                ledger.lastNumber(of: client.name, to: $0) ?? 0
            }
        }
        ledger.rest(inForce: inForce)
    }

    /// When nothing else is on its way, nothing but a pace keeps a presence from its receiver.
    func checkDelivery() {
        let clients = xmppClients.filter { $0.phase == .bound && !$0.isDead && !$0.isEnding }
        guard disk.canary == .none, let sender = clients.randomElement(using: &random),
            let receiver = clients.randomElement(using: &random), sender !== receiver,
            let stream = sender.stream, let receiving = receiver.stream
        else { return }
        let byDevice = receiver.shown == nil || chance(2)
        let address = SimulatedAddress(
            account: receiver.account, device: byDevice ? receiver.device : nil)
        let device = someDevice()
        let start = now
        service.isSteady = true
        send(counted: sender.direct(device, to: address), on: stream)
        settle()
        service.isSteady = false
        // It may have been rejected, or throttled. What was sent before, and its end, has a pace.
        let sentCount = ledger.sentCount(to: receiver.account) - receiver.sentBefore
        guard sender.addresses[address] == device.number, receiver.stream == receiving,
            now == start, sentCount < 60
        else { return }
        sender.meet("delivery expected")
        guard receiver.directed.number(of: sender.name) != device.number else { return }
        violation("\(receiver.name) was not sent what \(sender.name) sent to \(address)")
    }

    /// The service knows the addresses of a client as the client does.
    private func checkAddresses(
        of client: SimulatedXMPPClient, _ inForce: Set<SimulatedAddress>
    ) {
        if let address = client.addresses.keys.sorted().first(where: { !inForce.contains($0) }) {
            violation("\(client.name) has presented itself to \(address), which is forgotten")
        }
        for address in inForce.sorted() where client.addresses[address] == nil {
            let wasSent = ledger.lastNumber(of: client.name, to: address) != nil
            if client.inherits, wasSent { continue }
            violation("\(client.name) is there for \(address), and has withdrawn itself")
        }
    }

    private func addresses(
        _ told: DirectedSight.Told, for client: SimulatedXMPPClient
    ) -> [(SimulatedAddress, Int)] {
        let byAccount = told.byAccount.map {
            (SimulatedAddress(account: client.account, device: nil), $0)
        }
        let byDevice = told.byDevice.map {
            (SimulatedAddress(account: client.account, device: client.device), $0)
        }
        return [byAccount, byDevice].compactMap { $0 }
    }

    private func isInForce(
        _ told: DirectedSight.Told, of sender: String, for client: SimulatedXMPPClient,
        _ inForce: [String: Set<SimulatedAddress>]
    ) -> Bool {
        addresses(told, for: client).contains { inForce[sender]?.contains($0.0) == true }
    }

    /// Whether what a client was told is in force, and was not sent again.
    private func isInForceStill(
        _ told: DirectedSight.Told, of sender: String, for client: SimulatedXMPPClient,
        _ inForce: [String: Set<SimulatedAddress>]
    ) -> Bool {
        addresses(told, for: client).contains { address, number in
            inForce[sender]?.contains(address) == true
                && ledger.lastNumber(of: sender, to: address) == number
        }
    }
}

extension Engine {
    /// The addresses to which a device, named as `account/device`, has presented itself.
    fileprivate func addresses(ofDevice name: String) -> Set<SimulatedAddress> {
        let parts = name.split(separator: "/").map { Array($0.utf8) }
        let (account, device) = (parts[0], parts[1])
        guard let account = find(account.span), let session = session(of: account, on: device)
        else { return [] }
        return Set(
            directed[session].map {
                SimulatedAddress(
                    account: String(decoding: $0.account, as: UTF8.self),
                    device: $0.device.map { String(decoding: $0, as: UTF8.self) })
            })
    }
}
