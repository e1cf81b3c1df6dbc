import Testing

@testable import PresenceCore

/// Messages of app servers for the devices with an alias or tags.
@Suite struct `Sending by aliases and tags` {
    private let world: World
    private let app: ConnectionID

    /// Devices, each with what it has: `lisi phone alias tag,tag`.
    private static let devices = [
        "lisi phone l vip,ios", "lisi pad l vip", "zs phone z vip,ios", "zs tv - tv",
        "ww phone w -",
    ]

    init() {
        self.init(Settings().withoutPace)
    }

    private init(_ settings: Settings) {
        world = World(settings)
        app = world.appServer()
        for line in Self.devices {
            let words = line.split(separator: " ").map(String.init)
            world.setDevice(
                app, alias: words[2] == "-" ? "" : words[2],
                tags: words[3] == "-" ? [] : words[3].split(separator: ",").map(String.init),
                device: words[1], for: words[0])
        }
        _ = world.take(app)
    }

    private func send(
        aliases: [String]? = nil, tags: [String]? = nil, all: [String]? = nil,
        not: [String]? = nil, body: String = "hello", by connection: ConnectionID? = nil,
        for account: String? = nil
    ) {
        world.handle(from: connection ?? app) { texts in
            let recipients: Recipients =
                if let aliases {
                    .aliases(texts.add(names: aliases))
                } else {
                    .tags(
                        .init(
                            any: tags.map { texts.add(names: $0) },
                            all: all.map { texts.add(names: $0) },
                            not: not.map { texts.add(names: $0) }))
                }
            return .send(
                account: texts.add(account),
                Send(to: recipients, body: texts.add(body), expirySeconds: 3_600))
        }
    }

    /// What waits in the store: the devices, in order.
    private var waiting: [String] {
        world.messages.devices.sorted { $0.key < $1.key }.map { _, row in
            world.name(row.account) + (row.device.map { " " + $0 } ?? "")
        }
    }

    @Test func `is a message for each device that has them`() {
        send(aliases: ["l", "z", "nobody"])
        #expect(world.take(app) == [.sent(recipients: 3, reached: 0)])
        #expect(waiting == ["lisi pad", "lisi phone", "zs phone"])
        world.checkInvariants()
        let phone = world.login("lisi", "phone", messages: .on)
        let other = world.login("lisi", "other", messages: .on)
        #expect(world.take(phone).last == .messages(["hello"]))
        #expect(!world.take(other).contains(.messages(["hello"])))
        world.takeLast(phone)
        #expect(waiting == ["lisi pad", "zs phone"])
        let pad = world.login("lisi", "pad", messages: .on)
        #expect(world.take(pad).last == .messages(["hello"]))
        world.takeLast(pad)
        #expect(waiting == ["zs phone"])
        world.checkInvariants()
        world.discard(app, "zs")
        #expect(waiting == [] && world.messages.bodies.isEmpty)
        world.checkInvariants()
    }

    @Test(
        arguments: [
            (["vip"], nil, nil, ["lisi pad", "lisi phone", "zs phone"]),
            (["vip", "tv"], nil, nil, ["lisi pad", "lisi phone", "zs phone", "zs tv"]),
            (nil, ["vip", "ios"], nil, ["lisi phone", "zs phone"]),
            (["vip"], nil, ["ios"], ["lisi pad"]),
            (["tv", "vip"], ["vip"], ["ios", "none"], ["lisi pad"]),
        ] as [([String]?, [String]?, [String]?, [String])])
    func `selects by any, all and none`(
        any: [String]?, all: [String]?, not: [String]?, devices: [String]
    ) {
        send(tags: any, all: all, not: not)
        #expect(world.take(app) == [.sent(recipients: devices.count, reached: 0)])
        #expect(waiting == devices)
        world.checkInvariants()
    }

    @Test func `tells what is reached, and hands over the rest at once`() {
        let pad = world.login("lisi", "pad", messages: .on)
        _ = world.take(pad)
        send(tags: ["vip"])
        #expect(world.take(app) == [.sent(recipients: 3, reached: 1)])
        let entries = world.undelivered().messages
        let devices = entries.flatMap { entry in
            world.withEngine { $0.pushDevices(of: entry) }.map {
                "\(world.name(entry.account)) \(String(decoding: $0.name, as: UTF8.self))"
            }
        }
        #expect(devices == ["lisi phone", "zs phone"])
        world.pass(seconds: 10)
        let reasons = world.undelivered().messages.map(\.handOver.reason)
        #expect(reasons == [.absent, .absent, .untaken])
        world.takeLast(pad)
        #expect(world.undelivered().messages.count == 2)
        world.checkInvariants()
    }

    @Test func `is rejected if no device has them`() {
        for not in [nil, ["vip"]] {
            send(tags: ["vip"], all: ["none"], not: not)
            #expect(world.take(app) == [.rejected(.noRecipients)])
        }
        send(aliases: ["nobody", "vip"])
        #expect(world.take(app) == [.rejected(.noRecipients)])
        send(all: ["vip"], not: ["vip"])
        #expect(world.take(app) == [.rejected(.noRecipients)])
        #expect(waiting == [])
        world.checkInvariants()
    }

    @Test func `is for app servers, also in the name of an account`() {
        let zs = world.login("zs", "phone")
        _ = world.take(zs)
        send(aliases: ["l"], by: zs)
        send(tags: ["vip"], by: zs)
        #expect(world.take(zs) == [.rejected(.forbidden), .rejected(.forbidden)])
        send(aliases: ["l"], for: "zs")
        #expect(world.take(app) == [.sent(recipients: 2, reached: 0)])
        world.checkInvariants()
    }

    @Test func `passes over full boxes, unless all are full`() {
        var settings = Settings().withoutPace
        settings.limits.messagesPerAccountMax = 2
        let small = Self(settings)
        small.world.send(small.app, to: "lisi", body: "first")
        _ = small.world.take(small.app)
        small.send(tags: ["vip"])
        #expect(
            small.world.take(small.app) == [.sent(recipients: 2, reached: 0, passedOver: 1)])
        #expect(small.waiting == ["lisi", "lisi pad", "zs phone"])
        small.send(aliases: ["l"])
        #expect(small.world.take(small.app) == [.rejected(.inboxFull)])
        small.world.checkInvariants()
    }

    @Test func `reaches no more devices than the limit`() {
        var settings = Settings().withoutPace
        settings.limits.recipientsPerSendMax = 2
        let small = Self(settings)
        // One device of each account first, so that an account with many does not keep others out.
        for not in [nil, ["none"]] {
            small.send(tags: ["vip"], not: not)
            #expect(
                small.world.take(small.app) == [.sent(recipients: 2, reached: 0, passedOver: 1)])
        }
        #expect(small.waiting == ["lisi pad", "zs phone", "lisi pad", "zs phone"])
        #expect(small.world.withEngine { $0.messages.passedOver } == 2)
        small.send(aliases: ["l"])
        #expect(small.world.take(small.app) == [.sent(recipients: 2, reached: 0)])
        small.send(tags: ["vip", "tv"], not: ["none"])
        #expect(
            small.world.take(small.app) == [.sent(recipients: 2, reached: 0, passedOver: 2)])
        small.send(aliases: ["l", "z", "w"])
        #expect(small.world.take(small.app) == [.rejected(.tooMany)], "three accounts")
        small.world.checkInvariants()
    }

    @Test func `gives all places back if the store fails`() {
        world.storeWaits = true
        send(tags: ["vip"])
        world.checkInvariants()
        world.fail()
        #expect(world.take(app) == [.rejected(.storeUnavailable)])
        world.checkInvariants()
        #expect(world.withEngine { $0.messages.waiting } == 0)
    }
}
