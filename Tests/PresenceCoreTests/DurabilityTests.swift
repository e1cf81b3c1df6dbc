import PresenceCore
import Testing

@Suite struct `Changes that wait for the store` {
    let world = World()
    let alice: ConnectionID

    init() {
        alice = world.login("alice")
        _ = world.take(alice)
        world.storeWaits = true
    }

    @Test func `are answered and in force once they are durable`() {
        world.subscribe(alice, ["bob"])
        #expect(world.take(alice) == [])
        world.login("bob")
        #expect(world.take(alice) == [])
        world.commit()
        #expect(world.take(alice) == [.subscribed(count: 1, states: nil)])
        world.login("bob", "another")
        #expect(world.events(alice).map(\.value) == [1])
        world.checkInvariants()
    }

    @Test func `are rejected and without trace when they cannot be`() {
        world.subscribe(alice, ["bob"])
        world.fail()
        #expect(world.take(alice) == [.rejected(.storeUnavailable)])
        #expect(world.stats.subscriptions == 0)
        #expect(world.stats.accounts == 2)
        world.handle(.ping, from: alice)
        #expect(world.stats.accounts == 1, "bob is forgotten")
        world.checkInvariants()
    }

    @Test func `keep a failed unsubscribe delivering`() {
        world.subscribe(alice, ["bob"])
        world.commit()
        world.unsubscribe(alice, ["bob"])
        let bob = world.login("bob")
        world.fail()
        world.handle(.logout, from: bob)
        #expect(
            world.take(alice).map(label) == [
                "subscribed", "1", "rejected", "2",
            ])
    }

    private func label(_ seen: Seen) -> String {
        switch seen {
        case .subscribed: "subscribed"
        case .rejected: "rejected"
        case .event(let state): "\(state.value)"
        default: "other"
        }
    }

    @Test func `of one account follow each other in order`() {
        let other = world.login("alice", "d2")
        _ = world.take(other)
        world.subscribe(alice, ["bob"])
        world.unsubscribe(other, ["bob"])
        #expect(world.waiting == 1)
        #expect(world.stats.deferred == 1)
        world.commit()
        #expect(world.waiting == 1)
        world.commit()
        let ended = Seen.expired(type: 1, publishers: ["bob"], cause: .unsubscribed)
        #expect(world.take(alice) == [.subscribed(count: 1, states: nil), ended])
        #expect(world.take(other) == [.unsubscribed(removed: 1, count: 0)])
        world.checkInvariants()
    }

    @Test func `never exceed the quota together`() {
        var settings = Settings()
        settings.limits.subscriptionsPerAccountMax = 5
        let world = World(settings)
        world.storeWaits = true
        let devices = (0..<8).map { world.login("alice", "d\($0)") }
        for (number, device) in devices.enumerated() {
            _ = world.take(device)
            world.subscribe(device, ["p\(number)"])
        }
        while world.waiting > 0 { world.commit() }
        let seen = devices.map { world.take($0) }
        #expect(seen.count { $0 == [.rejected(.subscriptionQuota)] } == 3)
        #expect(world.stats.subscriptions == 5)
    }

    @Test func `of one who has gone are carried out or not, but never half`() {
        let other = world.login("alice", "d2")
        world.subscribe(alice, ["bob"])
        world.subscribe(other, ["carol"])
        world.drop(alice)
        world.drop(other)
        world.commit()
        #expect(world.waiting == 0)
        #expect(world.stats.subscriptions == 1, "the first was stored, the second never asked for")
        world.checkInvariants()
    }

    @Test func `of callers in process that have given up are not made`() {
        let callers = (0..<3).map {
            ConnectionID(slot: ConnectionID.inProcessSlotMin + $0, generation: 1)
        }
        for (caller, publisher) in zip(callers, ["bob", "carol", "dave"]) {
            world.subscribe(caller, [publisher], for: "alice")
        }
        #expect(world.stats.deferred == 2)
        world.lose(callers[0])
        world.lose(callers[1])
        world.lose(callers[1])
        #expect(world.stats.deferred == 1)
        world.checkInvariants()
        while world.waiting > 0 { world.commit() }
        #expect(world.stats.subscriptions == 2, "bob was stored, carol never asked for")
        #expect(world.find("carol") == nil, "nothing holds the account")
        world.checkInvariants()
    }

    @Test func `hold back a status for everybody until it is stored`() {
        world.subscribe(alice, ["bob"])
        world.commit()
        let bob = world.login("bob")
        _ = world.take(alice)
        _ = world.take(bob)
        world.publish(bob, 10_001, audience: .everybody)
        #expect(world.take(alice) == [])
        world.commit()
        #expect(world.events(alice).map(\.value) == [10_001])
        #expect(world.take(bob) == [.published])
        world.publish(bob, 10_002, audience: .everybody)
        world.fail()
        #expect(world.take(bob) == [.rejected(.storeUnavailable)])
        #expect(world.take(alice) == [])
        world.publish(bob, 10_003)
        #expect(world.events(alice).map(\.value) == [10_003], "others need not wait")
    }

    @Test func `reach the session that has the slot of the one who asked and is gone`() {
        let phone = world.login("bob", "phone")
        world.publish(phone, 10_001, audience: .everybody)
        world.drop(phone)
        let tab = world.login("bob", "tab")
        #expect(tab.slot == phone.slot)
        _ = world.take(tab)
        world.commit()
        #expect(world.events(tab).map(\.value) == [10_001])
    }

    @Test func `that renew are not undone by the expiry they overtake`() {
        world.subscribe(alice, ["bob"], seconds: 60)
        world.commit()
        world.pass(milliseconds: 30_000)
        world.pass(milliseconds: 29_999)
        world.subscribe(alice, ["bob"], seconds: 60)
        world.pass(milliseconds: 10)
        world.commit()
        #expect(world.stats.subscriptions == 1)
        #expect(world.stored.last?.words.hasPrefix("put alice 1") == true, "nothing removes it")
    }

    /// alice watches bob, carol and, of type 100, bob; all of that expires while `change` waits.
    private func expire(during change: () -> Void) {
        world.subscribe(alice, ["bob", "carol"], seconds: 60)
        world.commit()
        world.subscribe(alice, ["bob"], type: 100, seconds: 60)
        world.commit()
        world.pass(milliseconds: 30_000)
        world.pass(milliseconds: 29_999)
        _ = world.takeStored()
        change()
        world.pass(milliseconds: 10)
    }

    @Test func `leave nothing that expires meanwhile in the database`() {
        expire { world.publish(alice, 10_000, audience: .everybody) }
        #expect(
            world.takeStored().dropFirst() == [
                #"remove alice 1 ["bob", "carol"]"#, #"remove alice 100 ["bob"]"#,
            ])
        world.commit()
        #expect(world.takeStored() == [])
        world.checkInvariants()
    }

    @Test func `that fail to renew leave nothing that expires meanwhile in the database`() {
        expire { world.subscribe(alice, ["bob", "dave"], seconds: 60) }
        #expect(
            world.takeStored().dropFirst() == [
                #"remove alice 1 ["carol"]"#, #"remove alice 100 ["bob"]"#,
            ])
        world.fail()
        #expect(world.takeStored() == [#"remove alice 1 ["bob"]"#])
        #expect(world.stats.subscriptions == 0)
        world.checkInvariants()
    }

    @Test func `that renew keep their places among the watchers when these expire`() {
        var settings = Settings()
        settings.subscribersPerPublisherMax = 1
        let world = World(settings)
        let (alice, carol) = (world.login("alice"), world.login("carol"))
        world.subscribe(alice, ["bob"], seconds: 60)
        world.storeWaits = true
        world.pass(seconds: 30)
        world.pass(milliseconds: 29_999)
        world.subscribe(alice, ["bob"], seconds: 60)
        world.pass(milliseconds: 10)
        _ = world.take(carol)
        world.subscribe(carol, ["bob"])
        #expect(world.take(carol) == [.rejected(.subscriberQuota)])
        world.commit()
        #expect(world.stats.subscriptions == 1)
        world.unsubscribe(alice, ["bob"])
        world.commit()
        world.subscribe(carol, ["bob"])
        world.commit()
        #expect(world.take(carol) == [.subscribed(count: 1, states: nil)], "no place is lost")
    }
}
