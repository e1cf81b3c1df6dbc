import PresenceClient

/// What was set of devices, so that what is listed can be compared with it.
///
/// Each device is set by one client alone, whose requests are answered in order. A request that is
/// not answered may have been carried out, or be carried out later, until a quiet time.
final class DeviceLedger {
    /// What a device has.
    struct Labels: Hashable {
        var alias = ""
        var tags: [String] = []
        var pushAddress = ""

        /// As the service shows it.
        init(_ device: JSON = [:]) {
            alias = device["alias"]?.string ?? ""
            tags = device["tags"]?.array?.compactMap(\.string) ?? []
            pushAddress = device["pushAddress"]?.string ?? ""
        }

        var byteCount: Int { tags.reduce(alias.utf8.count) { $0 + $1.utf8.count } }

        /// What it has after a request.
        func after(_ request: JSON) -> Labels {
            var labels = self
            if let alias = request["alias"]?.string { labels.alias = alias }
            if let tags = request["tags"]?.array?.compactMap(\.string) {
                labels.tags = Set(tags).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            }
            if let address = request["pushAddress"]?.string { labels.pushAddress = address }
            return labels
        }

        /// Why a device may not have this; nil: it may.
        var rejection: String? {
            if byteCount > 1_024 { return "labels_too_long" }
            return pushAddress.utf8.count > 2_048 ? "too_long" : nil
        }
    }

    /// By account and device: what it may have; absent: nothing.
    private var known: [String: Set<Labels>] = [:]
    /// Requests that are not answered yet, in order, and those that will never be.
    private var pending: [String: [JSON]] = [:]
    private var lost: [String: [JSON]] = [:]
    /// By push address: the devices that were to have it since the last quiet time. It may have
    /// been taken from others.
    private var claims: [String: Set<String>] = [:]
    /// The accounts that the service may have forgotten, with their devices.
    private var forgettable: Set<String> = []

    private func name(_ request: JSON, _ peer: SimulatedPeer) -> String {
        let account = request["account"]?.string ?? peer.account
        return "\(account)/\(request["device"]?.string ?? peer.device)"
    }

    /// What a device may have, whatever has become of the requests that were not answered.
    private func possible(_ name: String, with requests: [JSON]) -> Set<Labels> {
        var possible = known[name] ?? [Labels()]
        if forgettable.contains(String(name.prefix { $0 != "/" })) { possible.insert(Labels()) }
        var new: Set<Labels> = possible
        while !new.isEmpty {
            new = Set(new.flatMap { labels in requests.map { labels.after($0) } })
                .union(possible.compactMap { withoutAddress($0, of: name) })
                .filter { $0.rejection == nil }.subtracting(possible)
            possible.formUnion(new)
        }
        return possible
    }

    /// What a device keeps if its push address was taken from it; nil: nobody has asked for that.
    private func withoutAddress(_ labels: Labels, of name: String) -> Labels? {
        guard claims[labels.pushAddress]?.subtracting([name]).isEmpty == false else { return nil }
        var left = labels
        left.pushAddress = ""
        return left
    }

    /// A client has asked to set a device.
    func ask(_ request: JSON, by peer: SimulatedPeer) {
        if let address = request["pushAddress"]?.string, !address.isEmpty {
            claims[address, default: []].insert(name(request, peer))
        }
        pending[name(request, peer), default: []].append(request)
    }

    /// It was answered. Returns what is wrong.
    func succeed(_ request: JSON, _ device: JSON, by peer: SimulatedPeer) -> [String] {
        let name = name(request, peer)
        let before = possible(name, with: lost[name] ?? [])
        let after = Labels(device)
        pending[name]?.removeFirst()
        known[name] = [after]
        peer.meet("setDevice \(after == Labels() ? "nothing" : "something")")
        var wrong: [String] = []
        if device["device"]?.string.map({ name.hasSuffix("/\($0)") }) != true {
            wrong.append("set \(device.text) instead of \(name)")
        }
        if let rejection = Self.rejection(of: request) ?? after.rejection {
            wrong.append("set \(request.text), which is \(rejection)")
        }
        if !before.contains(where: { $0.after(request) == after }) {
            wrong.append("\(name) was \(before), and has become \(after) by \(request.text)")
        }
        return wrong
    }

    /// It was rejected. Returns what is wrong.
    func reject(_ request: JSON, _ reason: String, by peer: SimulatedPeer) -> String? {
        let name = name(request, peer)
        pending[name]?.removeFirst()
        if let rejection = Self.rejection(of: request) {
            let isOther = ["rate_limited", "store_unavailable"].contains(reason)
            return Self.rejections.contains(reason) && reason != rejection || isOther
                ? "\(request.text) is \(rejection), and was rejected as \(reason)" : nil
        }
        guard Self.rejections.contains(reason) else { return nil }
        let isRight = possible(name, with: lost[name] ?? []).contains {
            $0.after(request).rejection == reason
        }
        return isRight ? nil : "\(request.text) for \(name) was rejected as \(reason)"
    }

    /// The connection has ended before.
    func lose(_ request: JSON, by peer: SimulatedPeer) {
        let name = name(request, peer)
        pending[name]?.removeFirst()
        lost[name, default: []].append(request)
    }

    /// Accounts were not used for long.
    func noteForgotten(_ accounts: [String]) { forgettable.formUnion(accounts) }

    /// Nothing is on its way, and these devices of an account are listed. Returns what is wrong.
    func check(_ account: String, _ devices: [String: Labels]) -> [String] {
        let names = Set(known.keys).union(lost.keys).union(pending.keys)
            .union(devices.keys.map { "\(account)/\($0)" })
        return names.filter { $0.hasPrefix("\(account)/") }.sorted().compactMap { name in
            let found = devices[String(name.dropFirst(account.count + 1))] ?? Labels()
            let possible = possible(name, with: (lost[name] ?? []) + (pending[name] ?? []))
            known[name] = [found]
            lost[name] = nil
            return possible.contains(found)
                ? nil : "\(name) has \(found), and should have one of \(possible)"
        }
    }

    /// All accounts were checked.
    func rest() {
        forgettable = []
        claims = [:]
    }

    // MARK: The rule

    private static let rejections: Set<String> = [
        "nothing_set", "invalid_alias", "alias_too_long", "too_many_tags", "invalid_tag",
        "tag_too_long", "labels_too_long", "too_long",
    ]

    private static let characters = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_\u{4E2D}\u{3400}")

    /// Why a request is rejected, whatever the device has; nil: it is not.
    private static func rejection(of request: JSON) -> String? {
        let (alias, tags) = (request["alias"]?.string, request["tags"]?.array)
        if alias == nil, tags == nil, request["pushAddress"] == nil { return "nothing_set" }
        if let alias {
            if !characters.isSuperset(of: alias) { return "invalid_alias" }
            if alias.utf8.count > 40 { return "alias_too_long" }
        }
        let texts = (tags ?? []).compactMap(\.string)
        if Set(texts).count > 100 { return "too_many_tags" }
        for tag in texts {
            if tag.isEmpty || !characters.isSuperset(of: tag) { return "invalid_tag" }
            if tag.utf8.count > 40 { return "tag_too_long" }
        }
        return nil
    }
}
