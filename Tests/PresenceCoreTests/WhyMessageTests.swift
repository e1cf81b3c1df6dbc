import Containers
import Testing

@testable import PresenceCore

@Suite struct `What why tells of messages` {
    private let world = World(Settings().withoutPace)

    /// `writer fate device sent`, the newest first.
    private func fates(_ one: String, _ other: String, in world: World? = nil) -> [String]? {
        let (report, effects) = (world ?? self.world).why(one, other)
        return report.messages?.map { message in
            let device = message.device.map { " " + effects.text($0) } ?? ""
            return "\(message.writer) \(message.fate)\(device) \(message.sentCount)"
        }
    }

    @Test func `has both ways, newest first, with their fates`() {
        let (zs, app) = (world.login("zs"), world.appServer())
        world.send(zs, to: "lisi", body: "one")
        #expect(fates("zs", "lisi") == ["subscriber waiting 0"])
        #expect(fates("lisi", "zs") == ["publisher waiting 0"])
        let first = world.login("lisi", "phone", messages: .on)
        world.drop(first)
        world.pass(seconds: 60)
        let lisi = world.login("lisi", "tablet", messages: .on)
        #expect(fates("zs", "lisi") == ["subscriber waiting 2"])
        world.pass(seconds: 1)
        world.takeLast(lisi)
        world.send(lisi, to: "zs", body: "two", seconds: 60)
        world.send(app, to: "zs", body: "three", for: "lisi")
        world.pass(seconds: 61)
        #expect(
            fates("zs", "lisi") == [
                "publisher waiting 0", "publisher expired 0", "subscriber taken tablet 2",
            ])
        world.discard(app, "zs")
        #expect(fates("zs", "lisi")?.first == "publisher discarded 0")
        let report = world.why("zs", "lisi").report
        #expect(report.messages?.last?.ended?.milliseconds == World.start + 61_000)
        #expect(report.messages?.last?.time.milliseconds == World.start)
        #expect(fates("zs", "other") == [] && fates("zs", "zs") == [])
    }

    @Test func `has why one is undelivered`() {
        let zs = world.login("zs")
        let lisi = world.login("lisi", messages: .on)
        func reasons(_ other: String) -> [UndeliveredReason?]? {
            world.why("zs", other).report.messages?.map(\.handedOver)
        }
        world.send(zs, to: "lisi", "wangwu", body: "one")
        #expect(reasons("wangwu") == [.absent] && reasons("lisi") == [nil])
        world.pass(seconds: 10)
        #expect(reasons("wangwu") == [.absent] && reasons("lisi") == [.untaken])
        world.takeLast(lisi)
        #expect(reasons("lisi") == [.untaken])
    }

    @Test func `has each recipient of one send apart`() {
        let zs = world.login("zs")
        // So that it is known when nothing waits for it any more.
        world.subscribe(zs, ["c"])
        world.send(zs, to: "a", "b", "c", body: "one")
        let b = world.login("b", messages: .on)
        world.takeLast(b)
        world.discard(world.appServer(), "c")
        #expect(fates("zs", "a") == ["subscriber waiting 0"])
        #expect(fates("zs", "b") == ["subscriber taken d1 1"])
        #expect(fates("c", "zs") == ["publisher discarded 0"])
        let ids = ["a", "b", "c"].map { world.why("zs", $0).report.messages?.first?.id }
        #expect(Set(ids).count == 1)
    }

    @Test func `has those of an account to itself, and those of the service`() {
        let zs = world.login("zs", messages: .on)
        world.send(zs, to: "zs", body: "one")
        world.send(world.appServer(), to: "zs", "lisi", body: "two")
        world.takeLast(zs)
        #expect(fates("zs", "zs") == ["service taken d1 1", "subscriber taken d1 1"])
        #expect(fates("zs", "lisi") == [])
        #expect(fates("lisi", "lisi") == ["service waiting 0"])
    }

    @Test func `says that a content was lost`() {
        let zs = world.login("zs")
        world.send(zs, to: "lisi", body: "one")
        if let message = world.why("zs", "lisi").report.messages?.first {
            world.messages.lose(message.id)
        }
        _ = world.login("lisi", messages: .on)
        #expect(fates("zs", "lisi") == ["subscriber lost 0"])
    }

    @Test func `tells nothing of a message that was not stored`() {
        let zs = world.login("zs")
        world.storeWaits = true
        world.send(zs, to: "zs", body: "one")
        #expect(fates("zs", "zs") == [])
        world.fail()
        #expect(fates("zs", "zs") == [])
    }

    @Test func `has ten, of those that the ring still has`() {
        var settings = Settings().withoutPace
        settings.history.messagesMax = 14
        let world = World(settings)
        let (zs, li) = (world.login("zs"), world.login("li", messages: .on))
        for number in 0..<12 {
            world.send(zs, to: "li", body: "\(number)")
            world.takeLast(li)
        }
        #expect(
            fates("zs", "li", in: world)
                == Array(repeating: "subscriber taken d1 1", count: 10))
        world.pass(seconds: 1)
        for number in 0..<10 { world.send(zs, to: "other", body: "\(number)") }
        #expect(
            fates("zs", "li", in: world) == Array(repeating: "subscriber taken d1 1", count: 4))
        world.send(li, to: "zs", body: "last")
        for _ in 0..<14 { world.send(li, to: "other", body: "x") }
        // It waits, and the ring has no entry of it any more.
        let reader = world.login("zs", "d2", messages: .on)
        world.takeLast(reader)
        #expect(fates("zs", "li", in: world) == [])
        #expect(
            world.why("zs", "li").report.reach.messages.milliseconds == World.start + 1_000)
    }

    @Test func `is absent while there are no messages`() {
        world.send(world.login("zs"), to: "lisi", body: "one")
        var settings = Settings().withoutPace
        settings.messages = .off
        world.apply(settings)
        #expect(fates("zs", "lisi") == nil)
        world.apply(Settings().withoutPace)
        #expect(fates("zs", "lisi") == ["subscriber waiting 0"])
    }

    @Test func `tells nothing of an earlier account with the same number`() {
        let app = world.appServer()
        world.send(app, to: "lisi", body: "one", for: "zs")
        world.discard(app, "lisi")
        #expect(world.find("zs") == nil && world.find("lisi") == nil)
        world.subscribe(app, ["b"], for: "a")
        for one in ["a", "b", "zs", "lisi"] {
            for other in ["a", "b", "zs", "lisi"] { #expect(fates(one, other) == []) }
        }
    }

    @Test func `tells nothing of an account whose handle was used again very often`() {
        let app = world.appServer()
        world.send(app, to: "lisi", body: "one")
        world.discard(app, "lisi")
        // With the numbers of a handle in the other rings, and with all that an account has.
        for count in [1_024, 64_512] {
            for _ in 1..<count { world.clear(app, for: "other") }
            world.send(app, to: "mallory", body: "x")
            #expect(fates("mallory", "mallory") == ["service waiting 0"])
            world.discard(app, "mallory")
            _ = world.take(app)
        }
    }

    @Test func `uses as many bytes for an entry as is said`() {
        #expect(MemoryLayout<MessageNote>.stride == 56)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `is right in any order of sends, takes and discards`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var settings = Settings().withoutPace
        settings.history.messagesMax = 64
        // None is rejected.
        settings.limits.messagesPerAccountMax = 4_000
        let world = World(settings)
        let (zs, app) = (world.login("zs"), world.appServer())
        let names = (0..<6).map { "r\($0)" }
        let readers = names.map { world.login($0, messages: .on) }
        // In the order in which they were sent.
        var entries: [(recipient: String, fate: String)] = []
        for step in 0..<400 {
            let place = Int.random(in: names.indices, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<7:
                let chosen = names.shuffled(using: &random).prefix(place % 3 + 1)
                world.handle(from: zs) { texts in
                    .send(
                        account: nil,
                        Send(
                            to: .accounts(texts.add(names: Array(chosen))), body: texts.add("x"),
                            expirySeconds: 3_600))
                }
                entries += chosen.map { ($0, "waiting") }
            case 7..<9:
                world.takeLast(readers[place])
                entries = entries.map { entry in
                    entry.recipient == names[place] && entry.fate == "waiting"
                        ? (entry.recipient, "taken") : entry
                }
            default:
                world.discard(app, names[place])
                entries = entries.map { entry in
                    entry.recipient == names[place] && entry.fate == "waiting"
                        ? (entry.recipient, "discarded") : entry
                }
            }
            for name in names {
                let expected = entries.suffix(64).filter { $0.recipient == name }.suffix(10)
                let found = world.why("zs", name).report.messages?.map { "\($0.fate)" }
                #expect(
                    found == expected.reversed().map(\.fate), "seed \(seed), step \(step)")
            }
        }
        world.checkInvariants()
    }
}
