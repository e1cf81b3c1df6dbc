import Testing

@testable import PresenceCore

/// An XMPP client shows a device as online until it is sent its end: no state says it.
@Suite struct `The end of a device that a session has missed` {
    private let world: World
    private let server: ConnectionID
    private let alice: ConnectionID
    private let bob: ConnectionID

    /// Alice sees bob, carol and dave, and is sent their states one at a time.
    init() {
        var settings = Settings().withoutPace
        settings.limits.statesPerFrameMax = 1
        world = World(settings)
        server = world.appServer()
        bob = Self.appear("bob", "one", in: world)
        for contact in ["carol", "dave"] { _ = Self.appear(contact, "r", in: world) }
        alice = Self.appear("alice", "a", in: world)
        for contact in ["bob", "carol", "dave"] {
            world.say(server, .subscribe, to: contact, for: "alice")
            world.say(server, .subscribed, to: "alice", for: contact)
        }
    }

    @discardableResult
    private static func appear(
        _ account: String, _ resource: String, in world: World
    ) -> ConnectionID {
        let connection = world.connect()
        world.bind(account, resource, on: connection)
        world.handle(.show(Availability()), from: connection)
        return connection
    }

    private func appear(_ account: String, _ resource: String) -> ConnectionID {
        Self.appear(account, resource, in: world)
    }

    /// The devices that a client shows as online, as `publisher/device`.
    private func shown(to connection: ConnectionID) -> Set<String> {
        var shown: Set<String> = []
        for seen in world.seen[connection] ?? [] {
            switch seen {
            case .event(let state): shown.learn(state)
            case .states(let states): for state in states { shown.learn(state) }
            case .directed(let sender, .available, _): shown.insert(sender)
            case .directed(let sender, .unavailable, _): shown.remove(sender)
            default: break
            }
        }
        return shown.filter { !$0.hasPrefix("alice/") }
    }

    /// Alice does not take the events of `body`.
    private func missing(_ body: () -> Void) {
        world.missesEvents = [alice]
        body()
        world.missesEvents = []
    }

    private func publish(_ accounts: String...) {
        for account in accounts { world.publish(server, 10_001, for: account) }
    }

    private let all: Set = ["bob/one", "carol/r", "dave/r"]

    @Test func `is told of a device that was in a part of what it missed`() {
        missing { publish("bob", "carol", "dave") }
        let two = appear("bob", "two")
        world.drain(alice)
        #expect(shown(to: alice) == all.union(["bob/two"]))
        world.handle(.logout, from: two)
        // And of another that was there before.
        world.drain(alice)
        world.handle(.logout, from: bob)
        world.drainAll(alice)
        #expect(shown(to: alice) == ["carol/r", "dave/r"])
        world.checkInvariants()
    }

    @Test func `is not told of a device that it was never sent`() {
        missing { publish("bob", "carol", "dave") }
        // Bob's state is sent, and dave's is not.
        world.drain(alice)
        let second = appear("dave", "second")
        world.handle(.logout, from: second)
        let third = appear("bob", "third")
        world.handle(.logout, from: third)
        _ = world.take(alice)
        world.drainAll(alice)
        let withdrawn = world.take(alice).flatMap { seen -> [String] in
            if case .states(let states) = seen { states.flatMap { $0.withdrawn ?? [] } } else { [] }
        }
        #expect(withdrawn.isEmpty)
    }

    /// Two events were on their way. That the second was missed is reported after the states that
    /// follow the first.
    @Test func `is told of a device that was in states newer than what it misses now`() throws {
        publish("carol")
        let first = try #require(world.lastDelivered)
        publish("dave")
        let second = try #require(world.lastDelivered)
        world.miss(first.topic, seq: first.seq, alice)
        let two = appear("bob", "two")
        world.drainAll(alice)
        #expect(shown(to: alice) == all.union(["bob/two"]))
        world.miss(second.topic, seq: second.seq, alice)
        world.handle(.logout, from: two)
        world.drainAll(alice)
        #expect(shown(to: alice) == all)
        world.checkInvariants()
    }

    @Test func `is told of a device that a probe showed, ahead of what it misses`() throws {
        publish("carol")
        let first = try #require(world.lastDelivered)
        let two = appear("bob", "two")
        let second = try #require(world.lastDelivered)
        world.probe(alice, "bob")
        #expect(shown(to: alice).contains("bob/two"))
        for event in [first, second] { world.miss(event.topic, seq: event.seq, alice) }
        world.handle(.logout, from: two)
        world.drainAll(alice)
        #expect(shown(to: alice) == all)
        world.checkInvariants()
    }

    @Test func `is told of a device that had presented itself to it alone`() {
        let two = world.connect()
        world.bind("bob", "two", on: two)
        world.direct(two, "alice")
        #expect(shown(to: alice) == all.union(["bob/two"]))
        missing { publish("carol") }
        world.handle(.show(Availability()), from: two)
        world.handle(.logout, from: two)
        world.drainAll(alice)
        #expect(shown(to: alice) == all)
        world.checkInvariants()
    }

    /// All three events were on their way when alice stopped taking events.
    @Test func `is told late of a device that had presented itself to it alone`() throws {
        let two = world.connect()
        world.bind("bob", "two", on: two)
        _ = world.take(alice)
        world.direct(two, "alice")
        var onTheirWay: [(topic: TopicHandle, seq: UInt64)] = []
        publish("carol")
        onTheirWay.append(try #require(world.lastDelivered))
        world.handle(.show(Availability()), from: two)
        onTheirWay.append(try #require(world.lastDelivered))
        world.handle(.logout, from: two)
        onTheirWay.append(try #require(world.lastDelivered))
        // What alice has taken.
        let known = world.take(alice).filter { if case .event = $0 { false } else { true } }
        #expect(known == [.directed("bob/two", .available, "")])
        for (topic, seq) in onTheirWay { world.miss(topic, seq: seq, alice) }
        world.drainAll(alice)
        let withdrawn = world.take(alice).flatMap { seen -> [String] in
            if case .states(let states) = seen { states.flatMap { $0.withdrawn ?? [] } } else { [] }
        }
        #expect(withdrawn == ["xmpp:two"])
        world.checkInvariants()
    }

    // MARK: Ends that are forgotten

    /// Has the engine keep few ends, and forget all that it has noted so far.
    private func forgetEnds() {
        world.withEngine { $0.endedPresences = EndedPresenceLog(countMax: 4) }
        for number in 0..<6 { world.handle(.logout, from: appear("carol", "d\(number)")) }
    }

    @Test func `ends a session that was not told of it before it was forgotten`() throws {
        let two = appear("bob", "two")
        world.handle(.logout, from: two)
        let end = try #require(world.lastDelivered)
        forgetEnds()
        _ = world.take(alice)
        world.miss(end.topic, seq: end.seq, alice)
        world.drain(alice)
        #expect(world.take(alice) == [.closed(.tooSlow)])
        world.checkInvariants()
        // The loop reports that the connection has ended.
        world.lose(alice)
        let again = appear("alice", "a")
        #expect(shown(to: again) == all)
        world.checkInvariants()
    }

    @Test func `ends no session that states tell everything`() throws {
        let native = world.login("erin")
        world.subscribe(native, ["bob"])
        world.handle(.logout, from: appear("bob", "two"))
        let end = try #require(world.lastDelivered)
        forgetEnds()
        _ = world.take(native)
        world.miss(end.topic, seq: end.seq, native)
        world.drainAll(native)
        let states = world.take(native)
        #expect(states.count == 1 && !states.contains(.closed(.tooSlow)))
    }

    // MARK: Large fan-outs

    /// Has events of bob sent in slices of one subscriber.
    private func enlargeFanOuts() {
        var settings = world.withEngine { $0.settings }
        settings.subscribersPerSlice = 1
        world.apply(settings)
        for name in ["erin", "frank"] { world.subscribe(server, ["bob"], for: name) }
    }

    /// A device of bob logs out. `body` runs while the large fan-out that tells it waits; alice is
    /// told nevertheless.
    private func whileLogoutWaits(
        after prepare: () -> Void = {}, _ body: () -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        enlargeFanOuts()
        let two = appear("bob", "two")
        #expect(shown(to: alice) == all.union(["bob/two"]), sourceLocation: sourceLocation)
        prepare()
        world.fanOutsWait = true
        world.handle(.logout, from: two)
        #expect(shown(to: alice) == all.union(["bob/two"]), sourceLocation: sourceLocation)
        body()
        world.fanOutsWait = false
        world.continueFanOuts()
        #expect(shown(to: alice) == all, sourceLocation: sourceLocation)
        world.checkInvariants()
    }

    @Test func `is told although the state was sent before its turn in a large fan-out`() {
        whileLogoutWaits { world.probe(alice, "bob") }
    }

    @Test func `is told although it was approved again before its turn in a large fan-out`() {
        whileLogoutWaits { world.say(server, .subscribe, to: "bob", for: "alice") }
    }

    @Test func `is told although its state was missed before its turn in a large fan-out`() {
        whileLogoutWaits(after: { missing { publish("bob") } }) { world.drainAll(alice) }
    }

    /// What had happened before bob hid is not sent any more, and the state that is withdrawn has
    /// only the devices that are online by then.
    @Test(arguments: [false, true])
    func `is told although the publisher hid before its turn in a large fan-out`(isSlow: Bool) {
        enlargeFanOuts()
        let two = appear("bob", "two")
        if isSlow { missing { publish("carol") } }
        world.fanOutsWait = true
        world.handle(.logout, from: two)
        world.setVisibility(bob, .hidden)
        world.fanOutsWait = false
        world.continueFanOuts()
        world.drainAll(alice)
        #expect(shown(to: alice) == ["carol/r", "dave/r"])
        world.checkInvariants()
    }

    /// That alice has missed an earlier event is reported before her turn.
    @Test func `is told in a large fan-out of a device that had presented itself to it`() throws {
        enlargeFanOuts()
        let two = world.connect()
        world.bind("bob", "two", on: two)
        world.direct(two, "alice")
        publish("carol")
        let first = try #require(world.lastDelivered)
        world.fanOutsWait = true
        world.handle(.show(Availability()), from: two)
        world.handle(.logout, from: two)
        world.miss(first.topic, seq: first.seq, alice)
        world.fanOutsWait = false
        world.continueFanOuts()
        #expect(shown(to: alice) == all.union(["bob/two"]))
        world.drainAll(alice)
        #expect(shown(to: alice) == all)
        world.checkInvariants()
    }

    @Test func `is told however long a large fan-out takes`() {
        enlargeFanOuts()
        let two = appear("bob", "two")
        missing { publish("carol") }
        world.fanOutsWait = true
        world.handle(.logout, from: two)
        world.withEngine { $0.endedPresences = EndedPresenceLog() }
        world.fanOutsWait = false
        world.continueFanOuts()
        world.drainAll(alice)
        #expect(shown(to: alice) == all)
        world.checkInvariants()
    }
}

extension Set<String> {
    /// What an XMPP client makes of an event or a state.
    fileprivate mutating func learn(_ state: State) {
        func name(_ device: String) -> String {
            let name = device.split(separator: ":", maxSplits: 1).last ?? ""
            return "\(state.publisher)/\(name)"
        }
        for device in state.withdrawn ?? [] { remove(name(device)) }
        if let origin = state.origin, state.cause == .logout || state.cause == .disconnect {
            remove(name(origin))
        }
        for device in state.online ?? [] { insert(name(device)) }
    }
}
