import Containers
import Testing

@testable import PresenceCore

private func bytes(_ text: String) -> [UInt8] {
    Array(text.utf8)
}

private func labels(
    _ alias: String = "", _ tags: [String] = [], push: String = ""
) -> DeviceLabels {
    DeviceLabels(alias: bytes(alias), tags: tags.map(bytes), pushAddress: bytes(push))
}

private func account(_ number: UInt32) -> AccountHandle {
    AccountHandle(index: number)
}

private func at(_ time: Int64) -> Wall {
    Wall(milliseconds: time)
}

/// The labels of devices, without an engine.
@Suite struct `The table of devices` {
    @Test func `has what was set last, by account and device`() {
        var table = DeviceTable(seed: 1)
        #expect(table.labels(of: account(1), on: bytes("phone")) == .none)
        table.set(labels("lisi", ["vip", "a"]), of: account(1), on: bytes("phone"), at: at(5))
        table.set(labels(push: "apns:1"), of: account(1), on: bytes("pad"), at: at(6))
        table.set(labels("lisi"), of: account(2), on: bytes("phone"), at: at(7))
        table.checkInvariants()
        #expect(table.count == 3)
        #expect(
            table.devices(of: account(1)) == [
                LabelledDevice(name: bytes("pad"), labels: labels(push: "apns:1"), updated: at(6)),
                LabelledDevice(
                    name: bytes("phone"), labels: labels("lisi", ["a", "vip"]), updated: at(5)),
            ])
        table.set(labels("", ["vip"], push: "x"), of: account(1), on: bytes("phone"), at: at(4))
        table.checkInvariants()
        #expect(table.labels(of: account(1), on: bytes("phone")) == labels("", ["vip"], push: "x"))
        #expect(table.labels(of: account(2), on: bytes("phone")) == labels("lisi"))
        #expect(table.lastUpdate(of: 1) == at(6))
        #expect(table.lastUpdate(of: 3) == nil && !table.mention(3) && table.mention(2))
    }

    @Test func `forgets what has nothing, and its memory when it is empty`() {
        var table = DeviceTable(seed: 1)
        for number in 0..<50 as Range<UInt32> {
            table.set(
                labels("a\(number)", ["t\(number % 7)"]), of: account(number % 5),
                on: bytes("d\(number)"), at: at(1))
        }
        table.set(.none, of: account(0), on: bytes("d0"), at: at(2))
        table.set(.none, of: account(0), on: bytes("other"), at: at(2))
        table.remove(bytes("d5"), of: account(0))
        table.remove(bytes("d5"), of: account(0))
        table.remove(bytes("d1"), of: account(0))
        table.checkInvariants()
        #expect(table.count == 48)
        let names = table.removeAll(of: account(0))
        #expect(names == ["d10", "d15", "d20", "d25", "d30", "d35", "d40", "d45"].map(bytes))
        #expect(!table.mention(0) && table.count == 40)
        for number in 1..<5 as Range<UInt32> { _ = table.removeAll(of: account(number)) }
        table.checkInvariants()
        #expect(table.count == 0 && table.names.count == 0)
        #expect(table.names.bytesReserved == DeviceTable(seed: 1).names.bytesReserved)
        #expect(table.matches(aliases: [bytes("a1")], matchesMax: 9) == .these([], passedOver: 0))
    }

    @Test func `tells an alias from a tag of the same name`() {
        var table = DeviceTable(seed: 1)
        table.set(labels("vip"), of: account(1), on: bytes("d1"), at: at(1))
        table.set(labels("", ["vip"]), of: account(2), on: bytes("d2"), at: at(1))
        table.set(labels("vip", ["vip"]), of: account(3), on: bytes("d3"), at: at(1))
        #expect(table.names.count == 1)
        #expect(table.found(aliases: ["vip"]) == ["1 d1", "3 d3"])
        #expect(table.found(tags: ["vip"]) == ["2 d2", "3 d3"])
        table.set(labels("", ["vip"]), of: account(3), on: bytes("d3"), at: at(1))
        table.remove(bytes("d1"), of: account(1))
        table.checkInvariants()
        #expect(table.found(aliases: ["vip"]) == [])
        #expect(table.found(tags: ["vip"]) == ["2 d2", "3 d3"])
    }

    @Test func `finds devices by labels`() {
        var table = DeviceTable(seed: 1)
        let all = [
            ("phone", ["ios", "vip", "de"]), ("pad", ["ios", "de"]), ("pc", ["vip"]), ("tv", []),
        ]
        for (name, tags) in all {
            table.set(labels("all", tags), of: account(7), on: bytes(name), at: at(1))
        }
        table.set(labels("other", ["ios"]), of: account(3), on: bytes("x"), at: at(1))
        #expect(table.found(aliases: ["other"]) == ["3 x"])
        #expect(table.found(aliases: ["nobody"]) == [])
        #expect(table.found(aliases: ["other", "all", "other", "nobody"]).count == 5)
        #expect(table.found(tags: ["ios"]) == ["3 x", "7 pad", "7 phone"])
        #expect(table.found(tags: ["vip", "de", "vip"]) == ["7 pad", "7 pc", "7 phone"])
        #expect(table.found(tags: ["nobody"]) == [])
        #expect(table.found(tags: ["nobody", "vip"]) == ["7 pc", "7 phone"])
        #expect(table.found(all: ["ios", "vip"]) == ["7 phone"])
        #expect(table.found(all: ["ios", "nobody"]) == [])
        #expect(table.found(tags: ["vip"], all: ["ios"]) == ["7 phone"])
        #expect(table.found(tags: ["nobody"], all: ["ios"]) == [])
        #expect(table.found(tags: ["ios", "vip"], not: ["de"]) == ["3 x", "7 pc"])
        #expect(table.found(all: ["ios"], not: ["vip", "nobody"]) == ["3 x", "7 pad"])
        #expect(table.found(tags: ["ios"], all: ["ios"], not: ["ios"]) == [])
    }

    @Test func `ends a search at one match too many`() {
        var table = DeviceTable(seed: 1)
        for number in 0..<20 as Range<UInt32> {
            table.set(
                labels("one", number < 12 ? ["x", "t"] : ["y", "t"]), of: account(number),
                on: bytes("d"), at: at(1))
        }
        func isThese(_ matches: DeviceMatches, _ count: Int) -> Bool {
            guard case .these(let devices, 0) = matches else { return false }
            return devices.count == count
        }
        let one = [bytes("one")]
        #expect(isThese(table.matches(aliases: one, matchesMax: 20), 20))
        #expect(table.matches(aliases: one, matchesMax: 19) == .tooMany(atLeast: 20, limit: 19))
        #expect(table.matches(aliases: one, matchesMax: 3) == .tooMany(atLeast: 20, limit: 3))
        let union = TagSelection(tags: [bytes("x"), bytes("y")])
        #expect(isThese(table.matches(union, matchesMax: 20), 20))
        #expect(table.matches(union, matchesMax: 15) == .tooMany(atLeast: 16, limit: 15))
        #expect(table.matches(union, matchesMax: 11) == .tooMany(atLeast: 12, limit: 11))
        let both = TagSelection(tagsAll: [bytes("x"), bytes("t")])
        #expect(isThese(table.matches(both, matchesMax: 12), 12))
        #expect(table.matches(both, matchesMax: 11) == .tooMany(atLeast: 12, limit: 11))
        let rest = TagSelection(tags: [bytes("t")], tagsNot: [bytes("x")])
        #expect(isThese(table.matches(rest, matchesMax: 8), 8))
        #expect(table.matches(rest, matchesMax: 7) == .tooMany(atLeast: 8, limit: 7))
    }

    @Test func `forgets the device set longest ago that has no session`() {
        var table = DeviceTable(seed: 1)
        let max = Limits.devicesPerAccountMax
        // The first was set last.
        for number in 0..<max {
            table.set(
                labels("a"), of: account(1), on: bytes("d\(number)"),
                at: at(Int64(number == 0 ? 99 : number)))
        }
        func surplus(_ device: String, connected: Set<String> = []) -> [[UInt8]] {
            table.surplus(of: account(1), setting: bytes(device)) { name in
                connected.contains(String(decoding: name, as: UTF8.self))
            }
        }
        #expect(surplus("new") == [bytes("d1")])
        #expect(surplus("d1") == [], "it is one of the 20")
        #expect(surplus("new", connected: ["d1", "d2"]) == [bytes("d3")])
        let all = Set((0..<max).map { "d\($0)" })
        #expect(surplus("new", connected: all.subtracting(["d0"])) == [bytes("d0")])
        #expect(surplus("new", connected: all) == [])
        #expect(table.surplus(of: account(2), setting: bytes("new")) { _ in false } == [])
        // As all had sessions, there are more than 20.
        for name in ["e1", "e2"] {
            table.set(labels("a"), of: account(1), on: bytes(name), at: at(100))
        }
        #expect(surplus("new") == ["d1", "d2", "d3"].map(bytes))
        #expect(surplus("e2", connected: ["d1"]) == ["d2", "d3"].map(bytes))
    }

    @Test func `breaks ties by the names`() {
        var table = DeviceTable(seed: 1)
        for number in (0..<Limits.devicesPerAccountMax).reversed() {
            table.set(labels("a"), of: account(1), on: bytes("d\(number)"), at: at(1))
        }
        #expect(table.surplus(of: account(1), setting: [0x61]) { _ in false } == [bytes("d0")])
    }
}

extension DeviceTable {
    fileprivate func found(aliases: [String]) -> [String] {
        Self.text(matches(aliases: aliases.map(bytes), matchesMax: 1_000))
    }

    fileprivate func found(
        tags: [String] = [], all: [String] = [], not: [String] = []
    ) -> [String] {
        let selection = TagSelection(
            tags: tags.map(bytes), tagsAll: all.map(bytes), tagsNot: not.map(bytes))
        return Self.text(matches(selection, matchesMax: 1_000))
    }

    private static func text(_ matches: DeviceMatches) -> [String] {
        guard case .these(let devices, _) = matches else { return ["too many"] }
        return devices.map {
            "\($0.account.index) \(String(decoding: $0.device, as: UTF8.self))"
        }
    }
}

/// Random changes and searches, compared with a dictionary.
@Suite struct `Random devices` {
    private struct Key: Hashable {
        var account: UInt32
        var device: String
    }

    private typealias Model = [Key: (labels: DeviceLabels, updated: Int64)]

    private static let words = (0..<9).map { "w\($0)" }

    private func pick(_ countMax: Int, _ random: inout SplitMix64) -> [String] {
        (0..<Int.random(in: 0...countMax, using: &random)).map { _ in
            Self.words.randomElement(using: &random) ?? ""
        }
    }

    private func randomLabels(_ random: inout SplitMix64) -> DeviceLabels {
        labels(
            pick(1, &random).first ?? "", pick(5, &random),
            push: Bool.random(using: &random) ? "apns:\(Int.random(in: 0..<9, using: &random))" : ""
        )
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `are found as in a dictionary`(seed: UInt64) {
        print("devices seed \(seed)")
        var random = SplitMix64(seed: seed)
        var table = DeviceTable(seed: seed)
        var model: Model = [:]
        for step in 0..<400 {
            let key = Key(
                account: UInt32.random(in: 0..<6, using: &random),
                device: "d\(Int.random(in: 0..<6, using: &random))")
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<15:
                let labels = randomLabels(&random)
                table.set(
                    labels, of: account(key.account), on: bytes(key.device), at: at(Int64(step)))
                for (other, entry) in model
                where other != key && !labels.pushAddress.isEmpty
                    && entry.labels.pushAddress == labels.pushAddress
                {
                    let left = entry.labels.withoutAddress
                    model[other] = left.isEmpty ? nil : (left, entry.updated)
                }
                model[key] = labels.isEmpty ? nil : (labels, Int64(step))
            case 15..<18:
                table.remove(bytes(key.device), of: account(key.account))
                model[key] = nil
            case 18:
                let names = table.removeAll(of: account(key.account))
                let known = model.keys.filter { $0.account == key.account }.map(\.device).sorted()
                #expect(names == known.map(bytes), "seed \(seed) step \(step)")
                model = model.filter { $0.key.account != key.account }
            default: break
            }
            table.checkInvariants()
            compareSearch(table, model, &random, seed)
            if step % 20 == 0 { compare(table, model, seed) }
        }
        for number in 0..<6 as Range<UInt32> { _ = table.removeAll(of: account(number)) }
        table.checkInvariants()
        #expect(table.count == 0)
    }

    private func compare(_ table: borrowing DeviceTable, _ model: Model, _ seed: UInt64) {
        #expect(table.count == model.count, "seed \(seed)")
        for number in 0..<6 as Range<UInt32> {
            let devices = table.devices(of: account(number))
            let known = model.filter { $0.key.account == number }
                .sorted { $0.key.device < $1.key.device }
                .map {
                    LabelledDevice(
                        name: bytes($0.key.device), labels: $0.value.labels,
                        updated: at($0.value.updated))
                }
            #expect(devices == known, "seed \(seed)")
            #expect(
                table.lastUpdate(of: number)?.milliseconds
                    == known.map(\.updated.milliseconds).max(), "seed \(seed)")
        }
    }

    private func compareSearch(
        _ table: borrowing DeviceTable, _ model: Model, _ random: inout SplitMix64, _ seed: UInt64
    ) {
        let matchesMax = Int.random(in: 0..<40, using: &random)
        let aliases = pick(3, &random) + ["w0"]
        check(
            table.matches(aliases: aliases.map(bytes), matchesMax: matchesMax), matchesMax,
            model.filter { aliases.map(bytes).contains($0.value.labels.alias) }, seed)
        let any = pick(3, &random).map(bytes)
        let all = pick(2, &random).map(bytes)
        let not = pick(2, &random).map(bytes)
        guard !any.isEmpty || !all.isEmpty else { return }
        let expected = model.filter { entry in
            let tags = Set(entry.value.labels.tags)
            return (any.isEmpty || !tags.isDisjoint(with: any)) && tags.isSuperset(of: all)
                && tags.isDisjoint(with: not)
        }
        let selection = TagSelection(tags: any, tagsAll: all, tagsNot: not)
        check(table.matches(selection, matchesMax: matchesMax), matchesMax, expected, seed)
    }

    private func check(
        _ matches: DeviceMatches, _ matchesMax: Int, _ expected: Model, _ seed: UInt64
    ) {
        switch matches {
        case .these(let devices, let passedOver):
            let known = expected.keys.sorted { ($0.account, $0.device) < ($1.account, $1.device) }
            // The rank of each among the devices of its account decides.
            let ranked = known.map { key in
                (known.count { $0.account == key.account && $0.device < key.device }, key)
            }
            .sorted { ($0.0, $0.1.account) < ($1.0, $1.1.account) }
            let chosen = ranked.prefix(matchesMax).map(\.1)
                .sorted { ($0.account, $0.device) < ($1.account, $1.device) }
                .map { DeviceAddress(account: account($0.account), device: bytes($0.device)) }
            #expect(devices == chosen && passedOver == known.count - devices.count, "seed \(seed)")
        case .tooMany(let count, _):
            #expect(count > matchesMax && count <= expected.count, "seed \(seed)")
        }
    }
}
