import Testing

@testable import PresenceCore

@Suite struct Pacing {
    func mono(_ milliseconds: UInt64) -> Mono { Mono(milliseconds: milliseconds) }

    @Test func `a bucket gives its burst and then its rate`() {
        let pace = Pace(perSecond: 10, burst: 5)
        var bucket = TokenBucket()
        for _ in 0..<5 { #expect(bucket.take(pace, at: mono(1_000)) == nil) }
        #expect(bucket.take(pace, at: mono(1_000)) == 100)
        #expect(bucket.take(pace, at: mono(1_099)) == 1)
        #expect(bucket.take(pace, at: mono(1_100)) == nil)
        #expect(bucket.take(pace, at: mono(1_100)) == 100)
        for _ in 0..<5 { #expect(bucket.take(pace, at: mono(60_000)) == nil) }
        #expect(bucket.take(pace, at: mono(60_000)) != nil)
    }

    @Test func `a charged bucket owes`() {
        let pace = Pace(perSecond: 10, burst: 1)
        var bucket = TokenBucket()
        #expect(bucket.charge(pace, at: mono(0)) == nil)
        #expect(bucket.charge(pace, at: mono(0)) == 100)
        #expect(bucket.charge(pace, at: mono(0)) == 200)
        #expect(bucket.take(pace, at: mono(200)) == 100)
        #expect(bucket.take(pace, at: mono(300)) == nil)
    }

    @Test func `what weighs more takes more tokens, also more than there can be`() {
        let pace = Pace(perSecond: 10, burst: 5)
        var bucket = TokenBucket()
        #expect(bucket.take(pace, count: 4, at: mono(1_000)) == nil)
        #expect(bucket.take(pace, count: 2, at: mono(1_000)) == 100)
        #expect(bucket.take(pace, count: 1, at: mono(1_000)) == nil)
        // A frame above the burst is not rejected: the next one waits for all of it.
        var other = TokenBucket()
        #expect(other.charge(pace, count: 65, at: mono(1_000)) == 6_000)
        #expect(other.take(pace, at: mono(7_000)) == 100)
        #expect(other.take(pace, at: mono(7_100)) == nil)
        #expect(other.charge(pace, count: .max, at: mono(8_000)) == nil, "no overflow")
    }

    @Test func `no pace and no time overflow`() {
        var bucket = TokenBucket()
        let pace = Pace(perSecond: 0, burst: -3)
        #expect(pace == Pace(perSecond: 1, burst: 1))
        #expect(bucket.take(pace, at: mono(.max)) == nil)
        #expect(bucket.take(Pace(perSecond: .max, burst: .max / 2_000_000), at: mono(1)) == nil)
    }

    @Test func `who publishes too often is told when to go on, and nobody sees it`() {
        var settings = Settings()
        settings.publishPace = Pace(perSecond: 2, burst: 3)
        let world = World(settings)
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"])
        let bob = world.login("bob")
        _ = world.take(alice)
        for value in Int32(10_000)..<10_005 { world.publish(bob, value) }
        #expect(world.take(bob).suffix(2) == [.rejected(.rateLimited), .rejected(.rateLimited)])
        #expect(world.events(alice).map(\.value) == [10_000, 10_001, 10_002])
        world.pass(milliseconds: 500)
        world.publish(bob, 10_009)
        #expect(world.events(alice).map(\.value) == [10_009])
        world.clear(bob)
        #expect(world.take(bob).last == .rejected(.rateLimited), "clearing is publishing, too")
    }

    @Test func `a flapping account is rejected, whichever its device`() {
        var settings = Settings()
        settings.loginPace = Pace(perSecond: 1, burst: 3)
        let world = World(settings)
        let logins = (0..<4).map { _ in world.connect() }
        for (number, connection) in logins.enumerated() {
            world.login("bob", "d\(number % 2)", on: connection)
        }
        #expect(world.take(logins[3]) == [.rejected(.rateLimited)])
        world.login("alice")
        world.pass(seconds: 1)
        world.login("bob", on: logins[3])
        #expect(world.take(logins[3]).contains(.synced(0)))
    }
}

@Suite struct `Many token buckets` {
    @Test func `are few, as long as few are not full`() {
        var buckets = TokenBuckets<Int>(countMax: 4_096)
        let pace = Pace(perSecond: 10, burst: 1)
        for number in 0..<100_000 {
            let now = Mono(milliseconds: UInt64(number))
            #expect(buckets.take(for: number, pace, at: now) == nil)
            #expect(buckets.wait(of: number, pace, at: now) == 100)
            #expect(buckets.count <= 1_024)
        }
    }

    @Test func `are at most as many as were said, and those that lack the least are forgotten`() {
        var buckets = TokenBuckets<Int>(countMax: 4_096)
        let pace = Pace(perSecond: 1, burst: 1)
        let now = Mono(milliseconds: 1)
        buckets.charge(0, pace, at: now, waitMillisecondsMax: 10_000)
        buckets.charge(0, pace, at: now, waitMillisecondsMax: 10_000)
        for number in 1..<4_096 { _ = buckets.take(for: number, pace, at: now) }
        #expect(buckets.count == 4_096 && buckets.wait(of: 0, pace, at: now) != nil)
        _ = buckets.take(for: 4_096, pace, at: now)
        #expect(buckets.count == 3_073)
        // Many that were used once do not reset one that owes.
        for number in 4_097..<40_000 { _ = buckets.take(for: number, pace, at: now) }
        #expect(buckets.count <= 4_096 && buckets.wait(of: 0, pace, at: now) == 2_000)
    }
}

@Suite struct `A limit on subscribers` {
    let world: World

    init() {
        var settings = Settings()
        settings.subscribersPerPublisherMax = 2
        world = World(settings)
    }

    @Test func `rejects the request that has one too many, and names whom`() {
        let server = world.appServer()
        for name in ["a", "b"] { world.subscribe(server, ["bob"], for: name) }
        world.subscribe(server, ["carol", "bob"], for: "c")
        #expect(world.take(server).last == .rejected(.subscriberQuota))
        #expect(world.stats.subscriptions == 2)
        world.subscribe(server, ["bob"], for: "a")
        #expect(world.take(server).last == .subscribed(count: 1, states: nil))
        var effects = Effects()
        var texts = RequestTexts()
        let request = Subscribe(
            type: .presence, expirySeconds: 60, publishers: texts.add(names: ["carol", "bob"]))
        let command = Command.subscribe(account: texts.add("c"), request)
        world.withEngine {
            $0.handle(command, texts.ofLast, from: server, at: world.now, into: &effects)
        }
        guard case .reject(_, let rejection)? = effects.items.last else {
            Issue.record("not rejected")
            return
        }
        #expect(rejection.limit == 2)
        #expect(rejection.failed.map { effects.names[$0].map(effects.text) } == ["bob"])
    }

    @Test func `holds for those who race`() {
        world.storeWaits = true
        let racers = (0..<5).map { world.login("w\($0)") }
        for racer in racers {
            _ = world.take(racer)
            world.subscribe(racer, ["bob"])
        }
        world.fail()
        let late = world.login("late")
        _ = world.take(late)
        world.subscribe(late, ["bob"])
        while world.waiting > 0 { world.commit() }
        #expect(world.stats.subscriptions == 2)
        #expect(world.take(late) == [.subscribed(count: 1, states: nil)])
        let rejected = racers.count { world.take($0) == [.rejected(.subscriberQuota)] }
        #expect(rejected == 3)
        world.checkInvariants()
    }
}
