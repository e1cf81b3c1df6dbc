import PresenceCore
import Testing

@Suite struct `A new engine over what the old one stored` {
    let world: World

    init() {
        world = World()
        world.withEngine { engine in
            let now = world.now
            engine.restoreSequence(reservedUpTo: 5_000_000)
            let bob = engine.restoreName(Array("bob".utf8).span)
            let alice = engine.restoreName(Array("alice".utf8).span)
            engine.restoreSession(
                of: bob, on: Array("phone".utf8), .ios, reach: .connection, pushUntil: nil,
                session: SessionID(ordinal: 17), loggedIn: Wall(milliseconds: 5),
                address: Array("127.0.0.1:1".utf8), at: now)
            engine.restoreSubscription(
                of: alice, to: bob, .presence, created: Wall(milliseconds: 9),
                expires: Wall(milliseconds: World.start + 3_600_000), at: now)
            engine.restoreSubscription(
                of: bob, to: alice, .presence, created: Wall(milliseconds: 9),
                expires: Wall(milliseconds: World.start), at: now)
            var effects = Effects()
            _ = engine.begin(into: &effects)
        }
    }

    @Test func `goes on with numbers that nobody has seen`() {
        let alice = world.login("alice", sync: .all)
        #expect(world.take(alice).contains(.synced(1)))
        var effects = Effects()
        world.withEngine {
            $0.logInAppServer(from: world.connect(), at: world.now, into: &effects)
        }
        guard case .loggedInAppServer(let session, _)? = effects.answers.last else {
            Issue.record("not logged in")
            return
        }
        #expect(session.ordinal > 5_000_000)
    }

    @Test func `makes no event for those who return in time`() {
        let alice = world.login("alice")
        world.login("bob", "phone")
        _ = world.take(alice)
        world.pass(seconds: 31)
        #expect(world.take(alice) == [])
        world.checkInvariants()
    }

    @Test func `tells once of those who do not`() {
        let alice = world.login("alice")
        _ = world.take(alice)
        world.pass(milliseconds: 29_999)
        #expect(world.take(alice) == [])
        world.pass(milliseconds: 1)
        #expect(world.events(alice).map(\.short) == ["bob 3 restart []"])
        world.checkInvariants()
    }

    @Test func `leaves out what has run out meanwhile`() {
        #expect(world.stats.subscriptions == 1)
    }

    @Test func `bounds what a wall clock set back would leave for ever`() {
        let century: Int64 = 100 * 365 * 86_400_000
        let world = World()
        world.withEngine { engine in
            engine.restoreSequence(reservedUpTo: 5)
            let carol = engine.restoreName(Array("carol".utf8).span)
            let bob = engine.restoreName(Array("bob".utf8).span)
            let later = Wall(milliseconds: World.start + century)
            engine.restoreSubscription(
                of: carol, to: bob, .presence, created: later, expires: later, at: world.now)
            engine.restoreStatus(
                of: carol, EventType(number: 100), value: 10_000, ext: nil, audience: .everybody,
                expires: later, at: world.now)
            engine.restoreSession(
                of: carol, on: Array("phone".utf8), .ios, reach: .push, pushUntil: later,
                session: SessionID(ordinal: 18), loggedIn: later, address: [], at: world.now)
            var effects = Effects()
            _ = engine.begin(into: &effects)
        }
        #expect(world.stats.subscriptions == 1)
        #expect(world.stats.statuses == 1)
        world.pass(seconds: 7 * 86_400)
        #expect(world.stats.statuses == 0)
        #expect(world.stats.sessions == 0)
        world.pass(seconds: 23 * 86_400)
        #expect(world.stats.subscriptions == 0)
        world.checkInvariants()
    }

    @Test func `keeps nothing of the restoring`() {
        let count = 50_000
        let world = World()
        var before = 0
        world.withEngine { engine in
            engine.restoreSequence(reservedUpTo: 5)
            for number in 0..<count {
                let account = engine.restoreName(Array("account\(number)".utf8).span)
                engine.restoreAccount(account, value: 3, lastSeen: world.now.wall)
            }
            before = engine.currentStats.nameBytes
            var effects = Effects()
            _ = engine.begin(into: &effects)
        }
        world.login("bob")
        #expect(world.stats.accounts == count + 1)
        #expect(before - world.stats.nameBytes >= count * 4, "one list of accounts less")
        world.checkInvariants()
    }
}
