import PresenceClient
import PresenceCore

@testable import PresenceServer

// What must hold at a quiet time for XMPP clients.

extension Simulation {
    /// Has every XMPP client learn that all it has sent is carried out.
    func pingXMPP() {
        for client in xmppClients where client.phase == .bound && !client.isDead {
            guard let id = client.stream, !client.isEnding, client.asked.last?.isAnswered == false
            else { continue }
            send(client.ping(), on: id)
        }
    }

    func checkXMPP(_ auditor: SimulatedCaller) {
        guard disk.canary == .none else { return }
        let truth = truthOfDevices(auditor)
        for client in xmppClients where client.isLoggedIn && !client.isDead {
            checkOwnDevice(client, truth[client.account] ?? [:])
            checkRoster(client, auditor)
            checkPresences(client, truth, auditor)
        }
        checkDirected()
    }

    /// By account and device: how each is shown.
    private func truthOfDevices(_ auditor: SimulatedCaller) -> [String: [String: ShownDevice]] {
        let result = answer(
            auditor, .query, ["type": 1, "accounts": .array(accounts.map { .string($0) })])
        var truth: [String: [String: ShownDevice]] = [:]
        for state in result?["states"]?.array ?? [] {
            for device in state["online"]?.array ?? [] {
                truth[state["publisher"]?.string ?? "", default: [:]][
                    device["device"]?.string ?? ""] = ShownDevice(device, status: state["status"])
            }
        }
        return truth
    }

    /// A device is shown as it has shown itself last, unless that was rejected, or hidden.
    private func checkOwnDevice(_ client: SimulatedXMPPClient, _ truth: [String: ShownDevice]) {
        var device = truth[client.device]
        device?.value = nil
        if let shown = client.shown, shown != device {
            violation(
                "\(client.name) has shown \(shown), and is \(device.map { "\($0)" } ?? "offline")")
        }
        if client.hasHidden, device != nil { violation("\(client.name) is hidden and online") }
    }

    /// The roster that a client has built is the list of the service.
    private func checkRoster(_ client: SimulatedXMPPClient, _ auditor: SimulatedCaller) {
        guard let roster = client.roster else { return }
        let list = answer(
            auditor, .contacts, ["account": .string(client.account), "limit": 1_000])
        var truth: [String: SimulatedContact] = [:]
        // An account that only asks is not in a roster.
        for contact in list?["contacts"]?.array ?? [] where contact["listed"] != false {
            truth[contact["account"]?.string ?? ""] = SimulatedContact(contact)
        }
        guard roster != truth else { return }
        violation("the roster of \(client.name) is \(roster), and the list \(truth)")
    }

    /// A client that is shown knows all devices of its account and of the contacts that it sees,
    /// and none of others.
    private func checkPresences(
        _ client: SimulatedXMPPClient, _ truth: [String: [String: ShownDevice]],
        _ auditor: SimulatedCaller
    ) {
        let seen = contactsSeen(by: client.account, auditor)
        for account in accounts {
            let isSeen =
                account == client.account
                || seen.contains(account) && visibility(of: account).leases.contains(.approved)
            let real = isSeen && client.shown != nil ? truth[account] ?? [:] : [:]
            client.sight.resolve(account, real)
            let known = client.sight.devices[account] ?? [:]
            guard known != real else { continue }
            violation("\(client.name) believes that \(account) is \(known), and it is \(real)")
        }
    }
}
