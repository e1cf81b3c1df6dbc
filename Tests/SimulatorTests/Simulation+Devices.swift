import PresenceClient
import PresenceCore

@testable import PresenceServer

// What clients and app servers say of devices, and what must hold for it: what was answered is
// listed, also after a crash, and nothing else is.

extension Simulation {
    /// A client sets its own device.
    func setDevice(_ client: SimulatedClient) { ask(client, "setDevice", .object(someLabels())) }

    /// An app server sets a device that it alone sets.
    func setDeviceOfAnother(_ client: SimulatedClient) {
        var params = someLabels()
        params["account"] = .string(accounts.randomElement(using: &random) ?? "ann")
        params["device"] = .string("of_\(client.account)")
        ask(client, "setDevice", .object(params))
    }

    /// Labels and an address, of which now and then something is forbidden.
    private func someLabels() -> [String: JSON] {
        var params: [String: JSON] = [:]
        if chance(2) { params["alias"] = .string(chance(3) ? "" : someLabel()) }
        if chance(2) { params["pushAddress"] = .string(chance(3) ? "" : someAddress()) }
        if chance(2) { params["tags"] = .array(chance(3) ? [] : someTags()) }
        return params
    }

    private func someLabel() -> String {
        guard chance(4) else {
            return ["a", "b_9", "\u{4E2D}\u{3400}"].randomElement(using: &random) ?? "a"
        }
        let long = String(repeating: "c", count: chance(2) ? 40 : 41)
        return ["a-b", "\u{3007}", "\u{E9}", long, long, ""].randomElement(using: &random) ?? long
    }

    private func someTags() -> [JSON] {
        guard chance(5) else {
            return (0..<Int.random(in: 1...4, using: &random)).map { _ in .string(someLabel()) }
        }
        // Too many, or as many as there may be; and too long or just not, with an alias.
        if chance(2) { return (0..<(chance(2) ? 101 : 100)).map { .string("t\($0)") } }
        let tag = String(repeating: "t", count: 37)
        return (0..<(chance(2) ? 25 : 26)).map { .string("\(tag)\(100 + $0)") }
    }

    private func someAddress() -> String {
        guard chance(8) else { return "p\(Int.random(in: 0..<4, using: &random))" }
        return String(repeating: "p", count: chance(2) ? 2_048 : 2_049)
    }

    /// What is listed is what was answered.
    func checkDevices(_ auditor: SimulatedCaller) {
        guard disk.canary == .none else { return }
        var owners: [String: String] = [:]
        for account in accounts {
            let list = answer(auditor, .devices, ["account": .string(account)])
            var devices: [String: DeviceLedger.Labels] = [:]
            for device in list?["devices"]?.array ?? [] {
                let labels = DeviceLedger.Labels(device)
                devices[device["device"]?.string ?? ""] = labels
                guard !labels.pushAddress.isEmpty else { continue }
                if let other = owners.updateValue(account, forKey: labels.pushAddress) {
                    violation("\(account) and \(other) have the push address \(labels.pushAddress)")
                }
            }
            deviceLedger.check(account, devices).forEach { violation($0) }
            let rows = disk.durable.devices.keys.filter { $0.account == Array(account.utf8) }
            if Set(rows.map { String(decoding: $0.other, as: UTF8.self) }) != Set(devices.keys) {
                violation("\(devices.keys.sorted()) of \(account) are listed, not stored")
            }
        }
        deviceLedger.rest()
    }
}
