import Containers
import Testing

@testable import PresenceCore

/// Random series of `setDevice` against a dictionary: what is set, removed, too long or forbidden,
/// with a store that is slow and fails, and more devices than an account keeps.
@Suite struct `Devices at random` {
    @Test func `have what was answered, and nothing else`() {
        var met: [String: Int] = [:]
        for seed in 0..<30 as Range<UInt64> {
            let run = RandomDevices(seed: seed)
            for step in 0..<500 where run.isRight {
                run.step()
                run.check("seed \(seed), step \(step)")
            }
            met.merge(run.met, uniquingKeysWith: +)
        }
        // A series that meets none of this would show nothing.
        for what in [
            "set", "taken", "forgotten", "store failed", "invalidAlias", "aliasTooLong",
            "tooManyTags",
            "invalidTag", "tagTooLong", "labelsTooLong", "tooLong", "nothingSet",
        ] { #expect(met[what, default: 0] > 0, "\(what)") }
    }
}

private final class RandomDevices {
    /// What a device has, and when it was set.
    private struct Device {
        var alias = ""
        var tags: Set<String> = []
        var pushAddress = ""
        var updated: UInt64 = 0

        var isEmpty: Bool { alias.isEmpty && tags.isEmpty && pushAddress.isEmpty }
        var labelBytes: Int { tags.reduce(alias.utf8.count) { $0 + $1.utf8.count } }

        func line(_ name: String, _ session: String?) -> DeviceLine {
            let sorted = tags.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            return DeviceLine(
                device: name, alias: alias, tags: sorted, pushAddress: pushAddress,
                session: session)
        }
    }

    private struct Change {
        var account: String
        var device: String
        var alias: String?
        var tags: [String]?
        var pushAddress: String?
        var time: UInt64

        func applied(to device: Device) -> Device {
            Device(
                alias: alias ?? device.alias, tags: tags.map { Set($0) } ?? device.tags,
                pushAddress: pushAddress ?? device.pushAddress, updated: time)
        }
    }

    private let world: World
    private var random: SplitMix64
    private let accounts = ["a", "b", "c"]
    private let app: ConnectionID
    /// By account and device.
    private var model: [String: [String: Device]] = [:]
    /// What waits for the store, in order. Changes of one account follow each other.
    private var pending: [Change] = []
    private var sessions: [String: (device: String, connection: ConnectionID)] = [:]
    /// How often something has happened.
    private(set) var met: [String: Int] = [:]
    private(set) var isRight = true

    init(seed: UInt64) {
        world = World(Settings().withoutPace)
        random = SplitMix64(seed: seed)
        app = world.appServer()
        world.storeWaits = true
    }

    private func pick<T>(_ choices: [T]) -> T {
        choices[Int.random(in: choices.indices, using: &random)]
    }

    private func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

    func step() {
        // So that no two are set at the same time.
        world.pass(milliseconds: UInt64.random(in: 1...40, using: &random))
        switch Int.random(in: 0..<20, using: &random) {
        case 0: logIn()
        case 1..<8: settle()
        default: set()
        }
    }

    /// A device of an account has a session, and is not forgotten.
    private func logIn() {
        let account = pick(accounts)
        settleAll()
        if let before = sessions.removeValue(forKey: account) {
            world.handle(.logout, from: before.connection)
            settleAll()
        }
        let device = "d\(Int.random(in: 0..<26, using: &random))"
        sessions[account] = (device, world.login(account, device))
        settleAll()
    }

    private func settleAll() { while world.waiting > 0 { settle(failing: false) } }

    // MARK: Changes

    private func set() {
        var change = Change(
            account: pick(accounts), device: "d\(Int.random(in: 0..<26, using: &random))",
            time: world.elapsed)
        if chance(2) { change.alias = chance(3) ? "" : label() }
        if chance(2) { change.tags = chance(3) ? [] : tags() }
        if chance(2) { change.pushAddress = chance(3) ? "" : address() }
        _ = world.take(app)
        // One after the other: what a change of an account depends on is known.
        if pending.contains(where: { $0.account == change.account || shareAddress($0, change) }) {
            settleAll()
        }
        world.setDevice(
            app, alias: change.alias, tags: change.tags, pushAddress: change.pushAddress,
            device: change.device, for: change.account)
        let before = model[change.account]?[change.device] ?? Device()
        let rejections = world.take(app).compactMap { seen -> Rejection.Reason? in
            if case .rejected(let reason) = seen { reason } else { nil }
        }
        let expected = Self.rejection(of: change, to: before)
        met[expected.map { "\($0)" } ?? "set", default: 0] += 1
        expect(rejections == (expected.map { [$0] } ?? []), "\(change): \(rejections)")
        if expected == nil { pending.append(change) }
    }

    /// Whether two changes are about a push address of both.
    private func shareAddress(_ one: Change, _ other: Change) -> Bool {
        !addresses(of: one).isDisjoint(with: addresses(of: other))
    }

    private func addresses(of change: Change) -> Set<String> {
        let before = model[change.account]?[change.device]?.pushAddress ?? ""
        return Set([before, change.pushAddress ?? ""]).subtracting([""])
    }

    private func label() -> String {
        guard chance(5) else { return pick(["a", "b_9", "\u{4E2D}", "Z"]) }
        let long = String(repeating: "c", count: chance(2) ? 40 : 41)
        return pick(["a-b", "\u{3007}", "\u{E9}", " ", long, long])
    }

    private func tags() -> [String] {
        guard chance(6) else {
            return (0..<Int.random(in: 1...4, using: &random)).map { _ in
                chance(20) ? "" : label()
            }
        }
        if chance(2) { return (0..<Int.random(in: 99...101, using: &random)).map { "t\($0)" } }
        // 1,000 bytes, or 1,040.
        return (0..<(chance(2) ? 25 : 26)).map { String(repeating: "t", count: 37) + "\(100 + $0)" }
    }

    private func address() -> String {
        chance(6) ? String(repeating: "p", count: chance(2) ? 2_048 : 2_049) : "p\(label())"
    }

    /// The first rule of docs/PROTOCOL.md that a change breaks.
    private static func rejection(of change: Change, to before: Device) -> Rejection.Reason? {
        if change.alias == nil, change.tags == nil, change.pushAddress == nil {
            return .nothingSet
        }
        if let alias = change.alias {
            if !isAllowed(alias) { return .invalidAlias }
            if alias.utf8.count > 40 { return .aliasTooLong }
        }
        if let tags = change.tags {
            if Set(tags).count > 100 { return .tooManyTags }
            for tag in tags {
                if tag.isEmpty || !isAllowed(tag) { return .invalidTag }
                if tag.utf8.count > 40 { return .tagTooLong }
            }
        }
        let after = change.applied(to: before)
        if after.labelBytes > 1_024 { return .labelsTooLong }
        return after.pushAddress.utf8.count > 2_048 ? .tooLong : nil
    }

    private static let characters = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_\u{4E2D}")

    private static func isAllowed(_ text: String) -> Bool { characters.isSuperset(of: text) }

    // MARK: The store

    private func settle() { settle(failing: chance(5)) }

    private func settle(failing: Bool) {
        guard world.waiting > 0 else { return }
        _ = world.take(app)
        failing ? world.fail() : world.commit()
        // A login waits for the store, too, and is not among these.
        let answers = world.take(app)
        guard !answers.isEmpty, !pending.isEmpty else { return }
        let change = pending.removeFirst()
        guard !failing else {
            met["store failed", default: 0] += 1
            return expect(answers == [.rejected(.storeUnavailable)], "\(change): \(answers)")
        }
        let after = change.applied(to: model[change.account]?[change.device] ?? Device())
        take(after.pushAddress)
        model[change.account, default: [:]][change.device] = after.isEmpty ? nil : after
        expect(
            answers == [.deviceSet(after.line(change.device, nil))], "\(change): \(answers)")
        if !after.isEmpty { forgetSurplus(change.account, but: change.device) }
    }

    /// The device that has a push address loses it.
    private func take(_ address: String) {
        guard !address.isEmpty else { return }
        for (account, devices) in model {
            for (name, device) in devices where device.pushAddress == address {
                var left = device
                left.pushAddress = ""
                model[account]?[name] = left.isEmpty ? nil : left
                met["taken", default: 0] += 1
            }
        }
    }

    /// An account keeps twenty devices: those without a session that were set longest ago go.
    private func forgetSurplus(_ account: String, but device: String) {
        var devices = model[account] ?? [:]
        let candidates = devices.filter { name, _ in
            name != device && sessions[account]?.device != name
        }
        let oldest = candidates.sorted { $0.value.updated < $1.value.updated }.map(\.key)
        for name in oldest.prefix(max(0, devices.count - 20)) {
            devices[name] = nil
            met["forgotten", default: 0] += 1
        }
        model[account] = devices
    }

    // MARK: Checks

    func check(_ place: String) {
        for account in accounts {
            _ = world.take(app)
            world.listDevices(app, for: account)
            guard case .devices(let lines)? = world.take(app).last else {
                return expect(world.find(account) == nil, "\(place): no list")
            }
            let names = (model[account] ?? [:]).keys.sorted {
                $0.utf8.lexicographicallyPrecedes($1.utf8)
            }
            let right = names.compactMap { name in
                model[account]?[name]?.line(name, lines.first { $0.device == name }?.session)
            }
            expect(lines == right, "\(place): \(lines), and should be \(right)")
        }
        world.checkInvariants()
    }

    private func expect(_ isTrue: Bool, _ what: String) {
        guard !isTrue, isRight else { return }
        isRight = false
        Issue.record("\(what)")
    }
}
