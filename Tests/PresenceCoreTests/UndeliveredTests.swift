import Containers
import Testing

@testable import PresenceCore

@Suite struct `Messages that nobody takes in time` {
    let world = World()
    let zs: ConnectionID

    init() {
        zs = world.login("zs", "phone")
        _ = world.take(zs)
    }

    /// The undelivered, in words.
    private func undelivered(
        after number: UInt64 = 0, countMax: Int = 1_000, bytesMax: Int = .max
    ) -> [String] {
        world.undelivered(after: number, countMax: countMax, bytesMax: bytesMax).messages.map {
            let body = world.messages.bodies[$0.message] ?? "?"
            return "\(body) for \(world.name($0.account)): \($0.handOver.reason)"
        }
    }

    private func reader(_ account: String, _ device: String = "d1") -> ConnectionID {
        let reader = world.login(account, device, messages: .on)
        _ = world.take(reader)
        return reader
    }

    @Test func `are handed over at once if nobody is there`() {
        world.storeWaits = true
        world.send(zs, to: "lisi", "wangwu", body: "one")
        #expect(undelivered() == [])
        world.commit()
        #expect(
            undelivered() == ["one for lisi: absent", "one for wangwu: absent"])
        let now = world.now.mono
        for message in world.undelivered().messages {
            #expect(world.withEngine { $0.waitingCount(beside: message, at: now) } == 1)
        }
        // Not a second time when it has waited.
        world.pass(seconds: 60)
        #expect(world.waiting == 0 && undelivered().count == 2)
        #expect(world.withEngine { $0.messages.undelivered } == [.absent: 2])
        world.checkInvariants()
    }

    @Test func `are handed over after ten seconds, once that is durable`() {
        let lisi = reader("lisi")
        world.send(zs, to: "lisi", body: "one")
        world.pass(milliseconds: 9_999)
        #expect(undelivered() == [] && world.waiting == 0)
        world.storeWaits = true
        world.pass(milliseconds: 1)
        #expect(undelivered() == [] && world.waiting == 1)
        world.checkInvariants()
        world.commit()
        #expect(undelivered() == ["one for lisi: untaken"])
        world.pass(seconds: 60)
        #expect(world.waiting == 0)
        world.takeLast(lisi)
        #expect(undelivered() == [])
        world.checkInvariants()
    }

    @Test func `are not if they are taken in time, or meanwhile`() {
        let lisi = reader("lisi")
        world.send(zs, to: "lisi", body: "one")
        world.pass(seconds: 9)
        world.takeLast(lisi)
        world.pass(seconds: 5)
        #expect(undelivered() == [])
        world.send(zs, to: "lisi", body: "two")
        world.storeWaits = true
        world.pass(seconds: 10)
        world.takeLast(lisi)
        world.commit()
        #expect(undelivered() == [] && world.withEngine { $0.lastHandOver } == 0)
        world.checkInvariants()
    }

    @Test func `are tried again ten seconds later if the store has failed`() {
        let lisi = reader("lisi")
        world.send(zs, to: "lisi", body: "one")
        world.storeWaits = true
        world.pass(seconds: 10)
        world.fail()
        #expect(undelivered() == [])
        world.pass(milliseconds: 9_999)
        #expect(world.waiting == 0)
        world.pass(milliseconds: 1)
        world.commit()
        #expect(undelivered() == ["one for lisi: untaken"])
        world.takeLast(lisi)
        world.checkInvariants()
    }

    @Test func `wait for a session that may return within its grace`() {
        let lisi = reader("lisi", "pad")
        // Its connections are sent no messages, so nothing is gained by waiting for it.
        let silent = world.login("wangwu", "phone")
        for connection in [lisi, silent] { world.lose(connection) }
        world.send(zs, to: "lisi", "wangwu", body: "one")
        world.send(zs, to: "lisi", body: "for the pad", device: "pad")
        world.send(zs, to: "lisi", body: "for the phone", device: "phone")
        let absent = ["for the phone for lisi: absent", "one for wangwu: absent"]
        #expect(undelivered().sorted() == absent)
        let again = reader("lisi", "pad")
        world.takeLast(again)
        world.lose(again)
        world.send(zs, to: "lisi", body: "two")
        world.pass(milliseconds: 9_999)
        #expect(undelivered().sorted() == absent)
        world.pass(milliseconds: 1)
        #expect(undelivered().last == "two for lisi: untaken")
        // The grace has ended.
        world.pass(seconds: 600)
        world.send(zs, to: "lisi", body: "three")
        #expect(undelivered().last == "three for lisi: absent")
        world.checkInvariants()
    }

    @Test func `are for a device, and one that is away`() {
        let lisi = reader("lisi", "pad")
        world.send(zs, to: "lisi", body: "for the phone", device: "phone")
        world.send(zs, to: "lisi", body: "for the pad", device: "pad")
        world.handle(.setAvailability(Availability(priority: -1)), from: lisi)
        world.send(zs, to: "lisi", body: "for all")
        world.send(zs, to: "lisi", body: "for the pad alone", device: "pad")
        #expect(
            undelivered() == [
                "for the phone for lisi: absent", "for all for lisi: absent",
            ])
        world.pass(seconds: 10)
        #expect(
            undelivered().suffix(2) == [
                "for the pad for lisi: untaken", "for the pad alone for lisi: untaken",
            ])
    }

    @Test func `are read in shares, from where a reader was`() {
        for body in ["one", "two", "three"] { world.send(zs, to: "lisi", body: body) }
        let first = world.undelivered(countMax: 2)
        #expect(first.messages.count == 2 && first.upTo == first.messages.last?.handOver.number)
        #expect(undelivered(after: first.upTo) == ["three for lisi: absent"])
        let end = world.undelivered().upTo
        #expect(end == world.withEngine { $0.lastHandOver })
        #expect(world.undelivered(after: end).upTo == end)
        #expect(world.undelivered(after: end + 5).upTo == end + 5)
        // A message counts for at least 512 bytes, and one always fits.
        #expect(undelivered(bytesMax: 1_100).count == 2)
        #expect(undelivered(bytesMax: 1).count == 1)
    }

    @Test func `are forgotten with their messages, however many they were`() {
        let world = World(Settings().withoutPace)
        let server = world.appServer()
        for number in 0..<300 { world.send(server, to: "u\(number % 5)", body: "m\(number)") }
        let known = world.undelivered()
        #expect(known.messages.count == 300)
        for number in 0..<4 { world.discard(server, "u\(number)") }
        #expect(world.undelivered().messages.count == 60)
        #expect(world.withEngine { $0.undelivered.entries.count } <= 2 * 60 + 64)
        for message in known.messages {
            let waiting = world.withEngine {
                $0.waitingCount(beside: message, at: world.now.mono)
            }
            #expect((waiting == nil) == (world.messages.bodies[message.message] == nil))
        }
        world.checkInvariants()
    }

    @Test func `are restored in their order, and the others follow after the restart grace`() {
        let world = World()
        world.withEngine { engine in
            engine.restoreSequence(reservedUpTo: 100)
            let lisi = engine.restoreName(Array("lisi".utf8).span)
            for (id, number) in [(1, 40), (2, 0), (3, 20)] as [(UInt64, UInt64)] {
                engine.restoreMessage(
                    MessageID(number: id), place: 0, for: lisi, of: nil, device: nil,
                    byteCount: 600, isOfStranger: false, time: world.now.wall,
                    expires: Wall(milliseconds: world.now.wall.milliseconds + 600_000),
                    handOver: number == 0 ? nil : HandOver(number: number, reason: .absent),
                    at: world.now)
            }
            var effects = Effects()
            _ = engine.begin(into: &effects)
        }
        #expect(world.undelivered().messages.map(\.message.number) == [3, 1])
        #expect(world.withEngine { $0.lastHandOver } == 40)
        world.pass(seconds: 29)
        #expect(world.undelivered().messages.count == 2)
        world.pass(seconds: 1)
        let messages = world.undelivered().messages
        #expect(messages.map(\.message.number) == [3, 1, 2])
        #expect(messages.last?.handOver.reason == .untaken)
        #expect(messages.last.map { $0.handOver.number > 100 } == true)
        world.checkInvariants()
    }
}
