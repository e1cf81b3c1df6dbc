import Glibc
import PresenceCore
import Testing

// What `why` and `top` cost must not depend on what one client has done: a question blocks the
// loop. That is measured by comparison, with a bound that only another complexity class exceeds.

@Suite(.serialized) struct `A long history` {
    private func seconds(_ body: () -> Void) -> Double {
        (0..<3).map { _ in
            let start = processorSeconds()
            body()
            return processorSeconds() - start
        }.min() ?? 0
    }

    /// The time that a processor spent on this thread: what else the machine does is not in it.
    private func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// A world whose history is full.
    private func world() -> World {
        var settings = Settings().withoutPace
        settings.history.subscriptionsMax = 8_000
        settings.history.connectionsMax = 2_000
        settings.history.delaysMax = 2_000
        return World(settings)
    }

    /// Has alice watch bob and not, so many times.
    private func toggle(_ count: Int, _ alice: ConnectionID, _ world: World) {
        var texts = RequestTexts()
        let bob = texts.add(names: ["bob"])
        let commands: [Command] = [
            .subscribe(
                account: nil, Subscribe(type: .presence, expirySeconds: 60, publishers: bob)),
            .unsubscribe(account: nil, Unsubscribe(type: .presence, publishers: bob)),
        ]
        var effects = Effects()
        for _ in 0..<count {
            world.pass(milliseconds: 1)
            for command in commands {
                let now = world.now
                world.withEngine { engine in
                    engine.handle(command, texts.ofLast, from: alice, at: now, into: &effects)
                    for case .persist(let ticket?, _) in effects.items {
                        engine.committed(ticket, at: now, into: &effects)
                    }
                }
                effects.removeAll()
            }
        }
    }

    /// How long it takes to ask the same of an account that has filled the history, and of one
    /// that has done nothing.
    private func compare(_ world: World) -> (busy: Double, idle: Double) {
        _ = world.login("idle")
        return (
            seconds { _ = world.why("alice", "bob") }, seconds { _ = world.why("idle", "bob") }
        )
    }

    @Test func `of subscriptions that began and ended is gone through once`() {
        let world = world()
        let alice = world.login("alice")
        let bob = world.login("bob")
        for round in 0..<200 {
            world.subscribe(alice, ["bob"])
            if round % 10 == 0 { world.publish(bob, 10_000) }
            world.unsubscribe(alice, ["bob"])
            if round % 10 == 0 { world.publish(bob, 10_001) }
            toggle(20, alice, world)
        }
        let (busy, idle) = compare(world)
        #expect(busy < 50 * idle + 0.02)
        let fates = world.fates("alice", "bob")
        #expect(fates.count == 20)
        #expect(fates.prefix(2) == ["publish no []", #"publish yes ["d1 sent"]"#])
    }

    @Test func `of connections that were behind is gone through once`() {
        let world = world()
        let bob = world.login("bob")
        for round in 0..<2_000 {
            let alice = world.login("alice")
            if round == 0 { world.subscribe(alice, ["bob"]) }
            if round % 100 == 0 { world.publish(bob, 10_000) }
            world.miss(TopicHandle(index: 0), seq: 1, alice)
            world.drop(alice)
        }
        let (busy, idle) = compare(world)
        #expect(busy < 50 * idle + 0.02)
        #expect(world.fates("alice", "bob").allSatisfy { $0 == #"publish yes ["d1 dropped"]"# })
    }

    @Test func `of many publishers names the busiest without sorting them`() {
        let world = World()
        let server = world.appServer()
        for number in 0..<2_000 { world.publish(server, 10_000, for: "p\(number)") }
        world.subscribe(server, ["p7", "p8"], for: "alice")
        world.login("alice")
        for name in ["p7", "p8", "p8"] { world.publish(server, 10_001, for: name) }
        var effects = Effects()
        let busiest = world.withEngine {
            $0.busiestPublishers(since: Wall(milliseconds: 0), countMax: 4, into: &effects)
        }
        let lines = busiest.map { "\(effects.text($0.account)) \($0.events) \($0.deliveries)" }
        #expect(lines == ["p8 3 2", "p7 2 1", "alice 1 0", "p1999 1 0"])
    }
}
