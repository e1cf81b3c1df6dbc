import PresenceClient
import XML

/// How a device is shown to others.
struct ShownDevice: Equatable {
    var show = ""
    var text = ""
    var priority = 0
    /// The value of the status of its account; nil: none.
    var value: Int64?
}

extension ShownDevice {
    /// As a presence has it.
    init(_ presence: XMLElement) {
        func text(_ name: StaticString) -> String {
            String(decoding: presence.first(name, in: "jabber:client")?.text ?? [], as: UTF8.self)
        }
        show = text("show")
        self.text = text("status")
        priority = Int(text("priority")) ?? 0
        value = presence.first("value", in: "urn:porchlight:status:0")?.text("value")
            .flatMap { Int64($0) }
    }

    /// As the answer to `query` has it.
    init(_ device: JSON, status: JSON?) {
        show = device["show"]?.string ?? ""
        text = device["text"]?.string ?? ""
        priority = Int(device["priority"]?.integer ?? 0)
        value = status?["value"]?.integer
    }

    /// The number with which the text of a simulated XMPP client begins; it rises with each
    /// presence.
    var number: Int? { Int(text.prefix { $0 != " " }) }
}

/// What an XMPP client has been told of accounts: the devices that are available.
struct SimulatedSight {
    /// By account and device.
    private(set) var devices: [String: [String: ShownDevice]] = [:]
    /// By account and device: the highest number that it was told, over all its connections.
    private var newest: [String: Int] = [:]
    /// By account and device: those that may have gone, or have withdrawn themselves from an
    /// address of the client. That matters only here: to others they are as before.
    private var doubtful: Set<String> = []

    /// Forgets which devices are available.
    mutating func forgetAll() {
        devices = [:]
        doubtful = []
    }

    /// Forgets which presence was the newest: after a crash an older one may be shown.
    mutating func forgetOrder() { newest = [:] }

    /// A device is available; tells what is wrong with that.
    mutating func noteAvailable(
        _ account: String, _ name: String, _ device: ShownDevice
    ) -> String? {
        devices[account, default: [:]][name] = device
        doubtful.remove("\(account)/\(name)")
        return noteNumber(account, name, device)
    }

    /// A device is not available any more; nil: none of an account is.
    mutating func noteUnavailable(
        _ account: String, _ name: String?, _ farewell: ShownDevice
    ) -> String? {
        guard let name else {
            devices[account] = nil
            return nil
        }
        devices[account]?[name] = nil
        return noteNumber(account, name, farewell)
    }

    /// A device is gone, or has withdrawn itself.
    mutating func doubt(_ account: String, _ name: String) { doubtful.insert("\(account)/\(name)") }

    /// Resolves what is doubtful of an account by what is true.
    mutating func resolve(_ account: String, _ truth: [String: ShownDevice]) {
        guard !doubtful.isEmpty else { return }
        for name in devices[account, default: [:]].keys
        where doubtful.remove("\(account)/\(name)") != nil && truth[name] == nil {
            devices[account]?[name] = nil
        }
    }

    private mutating func noteNumber(
        _ account: String, _ name: String, _ device: ShownDevice
    ) -> String? {
        guard let number = device.number else { return nil }
        let before = newest["\(account)/\(name)", default: 0]
        newest["\(account)/\(name)"] = max(number, before)
        return number < before ? "\(account)/\(name): presence \(number) after \(before)" : nil
    }
}

/// A contact on a list.
struct SimulatedContact: Equatable {
    var subscription: String
    var isAsked: Bool
    var isApprovedBefore: Bool
    var name: String
    var groups: [String]

    /// Whether its presence may be received, if its visibility admits it.
    var isSeen: Bool { subscription == "to" || subscription == "both" }
    /// Whether it may receive the presence of the account that has it on its list.
    var seesOwner: Bool { subscription == "from" || subscription == "both" }
}

extension SimulatedContact {
    /// As an item of a roster has it.
    init(_ item: XMLElement) {
        subscription = item.text("subscription") ?? "none"
        isAsked = item.text("ask") == "subscribe"
        isApprovedBefore = item.text("approved") == "true"
        name = item.text("name") ?? ""
        groups = item.elements.map { String(decoding: $0.text, as: UTF8.self) }
    }

    /// As the answer to `contacts` has it.
    init(_ contact: JSON) {
        subscription = contact["subscription"]?.string ?? ""
        isAsked = contact["ask"] == true
        isApprovedBefore = contact["preapproved"] == true
        name = contact["name"]?.string ?? ""
        groups = contact["groups"]?.array?.compactMap(\.string) ?? []
    }
}
