import Containers
import PresenceCore
import Testing

@Suite struct `The engine and the oracle` {
    @Test(arguments: 1...200)
    func `agree on random commands`(seed: Int) {
        print("oracle seed \(seed)")
        let run = OracleRun(seed: UInt64(seed))
        for step in 0..<400 {
            run.step()
            guard run.compare(step) else { return }
        }
        run.world.checkInvariants()
    }
}

/// One random history, told to the engine and to the oracle.
final class OracleRun {
    let world: World
    let oracle: Oracle
    private var random: SplitMix64
    private var connections: [ConnectionID] = []
    private let names = ["a", "b", "c", "d", "e", "f"]
    private var history: [String] = []
    private let relations: Relations

    /// Whether accounts have relationships.
    enum Relations { case with, without }

    init(seed: UInt64, relations: Relations = .with) {
        self.relations = relations
        var random = SplitMix64(seed: seed)
        var settings = Settings()
        settings.limits.subscriptionsPerAccountMax = 7
        settings.limits.sessionsPerAccountMax = 3
        settings.limits.contactsPerAccountMax = [2, 1_000].randomElement(using: &random) ?? 2
        settings.limits.requestsPerAccountMax = [1, 2, 200].randomElement(using: &random) ?? 1
        if relations == .with {
            settings.visibility = [.open, .open, .approved].randomElement(using: &random) ?? .open
        }
        settings.limits.statesPerFrameMax = [1, 2, 512].randomElement(using: &random) ?? 512
        settings.disconnectGraceSeconds = [0, 5, 20].randomElement(using: &random) ?? 5
        settings.pushReachableSeconds = 600
        settings.pushReachable = [.online, .offline].randomElement(using: &random) ?? .online
        let (slow, single) = (Pace(perSecond: 1, burst: 2), Pace(perSecond: 1, burst: 1))
        settings.publishPace = [nil, slow].randomElement(using: &random) ?? nil
        settings.loginPace = [nil, single].randomElement(using: &random) ?? nil
        settings.subscribersPerPublisherMax = [nil, 2, 3].randomElement(using: &random) ?? nil
        settings.subscribersPerSlice = [1, 2, 1_000].randomElement(using: &random) ?? 1
        world = World(settings)
        world.withEngine { $0.setFeed(.on) }
        world.storeWaits = Bool.random(using: &random)
        oracle = Oracle(settings)
        self.random = random
    }

    private func pick<T>(_ choices: [T]) -> T {
        choices[Int.random(in: choices.indices, using: &random)]
    }

    func step() {
        // No two things happen in the same millisecond.
        pass(milliseconds: UInt64.random(in: 1...2000, using: &random))
        switch Int.random(in: 0..<(relations == .with ? 180 : 100), using: &random) {
        case 0..<16: login()
        case 16..<20:
            anyConnection {
                self.world.drop($0); self.oracle.drop($0)
            }
        case 20..<23: anyConnection { self.tell($0, .logout) { self.oracle.logout($0) } }
        case 23..<43: anyConnection(subscribe)
        case 43..<50: anyConnection(unsubscribe)
        case 50..<68: anyConnection(publish)
        case 68..<72: anyConnection(clear)
        case 72..<76: anyConnection(fallSilent)
        case 76..<92: settle()
        case 92..<100: pass(milliseconds: UInt64.random(in: 1...60_000, using: &random))
        case 100..<128: anyConnection(relate)
        case 128..<131: anyConnection(list)
        case 131..<135: anyConnection(setVisibility)
        case 135..<139: anyConnection(setAvailability)
        case 139..<147: bind()
        case 147..<157: anyConnection(show)
        case 157..<160: anyConnection(hide)
        case 160..<166: anyConnection(stopReading)
        default: anyConnection(drain)
        }
    }

    private func pass(milliseconds: UInt64) {
        world.pass(milliseconds: milliseconds)
        oracle.pass(to: world.elapsed)
        connections.removeAll { !world.isOpen($0) && world.seen[$0]?.isEmpty != false }
    }

    private func anyConnection(_ body: (ConnectionID) -> Void) {
        let open = connections.filter { world.isOpen($0) }
        guard !open.isEmpty else { return }
        let connection = pick(open)
        body(connection)
    }

    /// The connection has been silent for too long.
    private func fallSilent(_ connection: ConnectionID) {
        let heard = oracle.now - UInt64.random(in: 0...min(oracle.now, 45_000), using: &random)
        world.drop(connection, .silent, lastHeard: heard)
        oracle.lose(connection, lastHeard: oracle.wall(at: heard))
    }

    private func tell(
        _ connection: ConnectionID, _ command: Command, _ same: (ConnectionID) -> Void
    ) {
        world.handle(command, from: connection)
        same(connection)
    }

    private func login() {
        let connection = world.connect()
        connections.append(connection)
        let name = pick(names)
        let device = pick(["x", "y", "z", "w"])
        let client = pick([ClientKind.ios, .ios, .web])
        let reach = pick([Reach.connection, .push])
        let sync = pick(LoginList.allCases)
        let hearsContacts = Bool.random(using: &random)
        world.login(
            name, device, client, reach: reach, sync: sync, hears: hearsContacts ? .all : .timed,
            on: connection)
        oracle.login(
            connection, name, device, client, reach: reach, sync: sync,
            hearsContacts: hearsContacts)
    }

    private func bind() {
        let connection = world.connect()
        connections.append(connection)
        let (name, resource) = (pick(names), pick(["x", "y", "r"]))
        world.bind(name, resource, on: connection)
        oracle.bind(connection, name, resource)
    }

    private func show(_ connection: ConnectionID) {
        guard oracle.isResource(connection) else { return }
        let availability = Availability(show: pick([.available, .away]))
        world.handle(.show(availability), from: connection)
        oracle.show(connection, availability)
    }

    private func hide(_ connection: ConnectionID) {
        guard oracle.isResource(connection) else { return }
        world.handle(.hide(farewell: Availability()), from: connection)
        oracle.hide(connection)
    }

    private func stopReading(_ connection: ConnectionID) {
        world.missesEvents.insert(connection)
        oracle.missing.insert(connection)
    }

    /// Often, a connection that was slow takes events again.
    private func drain(_ any: ConnectionID) {
        let connection = connections.first { oracle.behind[$0] != nil && world.isOpen($0) } ?? any
        guard oracle.peers[connection] != nil else { return }
        let count = world.seen[connection]?.count ?? 0
        if Int.random(in: 0..<4, using: &random) > 0 {
            world.missesEvents.remove(connection)
            oracle.missing.remove(connection)
        }
        world.drainAll(connection)
        let ideal = oracle.drain(connection)
        let real = world.take(connection, after: count).flatMap { seen -> [State] in
            guard case .states(let states) = seen else {
                Issue.record("\(seen) for a connection that has drained")
                return []
            }
            return states
        }
        #expect(Set(real).count == real.count, "each state once")
        #expect(Set(ideal.required).isSubset(of: real), "\(ideal.required) of \(real)")
        #expect(
            Set(real).isSubset(of: ideal.required + ideal.permitted),
            "\(real) but \(ideal.required)")
    }

    private func relate(_ connection: ConnectionID) {
        let contact = pick(names)
        let text = pick([nil, "hello"]).map { Array($0.utf8) }
        let action = pick([
            ContactAction.say(.subscribe, text: text), .say(.subscribe, text: nil),
            .say(.subscribed, text: nil), .say(.subscribed, text: nil),
            .say(.unsubscribe, text: nil), .say(.unsubscribed, text: nil),
            .describe(pick([.none, ContactLabel(name: Array("Al".utf8), groups: []) ?? .none])),
            .remove,
        ])
        world.relate(connection, contact, action)
        oracle.relate(connection, contact, action)
        settleIfImmediate()
    }

    private func list(_ connection: ConnectionID) {
        world.contacts(connection)
        oracle.list(connection)
    }

    private func setVisibility(_ connection: ConnectionID) {
        let visibility = pick([nil, Visibility.open, .approved, .hidden])
        world.setVisibility(connection, visibility)
        oracle.setVisibility(connection, visibility)
        settleIfImmediate()
    }

    private func setAvailability(_ connection: ConnectionID) {
        let availability = Availability(
            show: pick(Show.allCases), priority: pick([0, -1, 5]),
            text: pick([nil, "busy"]).map { Array($0.utf8) })
        guard !oracle.isResource(connection) else { return }
        world.handle(.setAvailability(availability), from: connection)
        oracle.setAvailability(connection, availability)
    }

    private func subscribe(_ connection: ConnectionID) {
        guard !oracle.isResource(connection) else { return }
        let publishers = Array(names.shuffled(using: &random).prefix(pick([1, 2, 4])))
        let type = pick([1, 1, 100])
        let seconds = pick([60, 61, 600, 3_600])
        let answer = pick([SubscribeAnswer.withStates, .withoutStates])
        world.subscribe(connection, publishers, type: type, seconds: seconds, answer: answer)
        oracle.subscribe(connection, publishers, type: type, seconds: seconds, answer: answer)
        settleIfImmediate()
    }

    private func unsubscribe(_ connection: ConnectionID) {
        let publishers = pick([nil, Array(names.shuffled(using: &random).prefix(2))])
        let type = pick([1, 1, 100])
        world.unsubscribe(connection, publishers, type: type)
        oracle.unsubscribe(connection, publishers, type: type)
        settleIfImmediate()
    }

    private func publish(_ connection: ConnectionID) {
        let value = Int32.random(in: 10_000...10_010, using: &random)
        let type = pick([1, 100])
        guard !oracle.isResource(connection) else { return }
        // Not those of subscriptions: what waits for a change is carried out in one millisecond.
        let seconds = pick([62, 310])
        let ext = pick([nil, "text"])
        let audience = pick([Audience.onlineOnly, .everybody])
        let own = pick([OwnSessions.included, .excluded])
        world.publish(
            connection, value, type: type, seconds: seconds, ext: ext, audience: audience, own: own)
        oracle.publish(
            connection, value, type: type, seconds: seconds, ext: ext, audience: audience, own: own)
        settleIfImmediate()
    }

    private func clear(_ connection: ConnectionID) {
        let type = pick([1, 100])
        world.clear(connection, type: type)
        oracle.clear(connection, type: type)
        settleIfImmediate()
    }

    private func settle() {
        guard world.storeWaits else { return }
        if Int.random(in: 0..<6, using: &random) == 0 {
            world.fail()
            oracle.fail()
        } else {
            world.commit()
            oracle.commit()
        }
    }

    private func settleIfImmediate() {
        guard !world.storeWaits else { return }
        while !oracle.pending.isEmpty { oracle.commit() }
    }

    /// Whether every connection has seen the same, up to the order within a moment.
    func compare(_ step: Int) -> Bool {
        oracle.forgetUnheard()
        for connection in connections {
            let real = world.take(connection).flatMap(inOrder).sorted()
            let ideal = oracle.take(connection).flatMap(inOrder).sorted()
            #expect(real == ideal, "step \(step), connection \(connection.slot)")
            if real != ideal { return false }
        }
        let real = world.takeFed().map { "\($0.state)" }.sorted()
        let ideal = oracle.feed.map { "\($0)" }.sorted()
        oracle.feed = []
        #expect(real == ideal, "step \(step), the feed")
        return real == ideal
    }

    /// States one by one: they can come in any number of frames.
    private func inOrder(_ seen: Seen) -> [String] {
        switch seen {
        case .states(let states): states.map { "state \($0)" }
        case .contacts(let lines, let count, let more):
            ["\(lines.map { "\($0)" }.sorted()) \(count) \(more)"]
        default: ["\(seen)"]
        }
    }
}
