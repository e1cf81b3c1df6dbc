import PresenceCore
import Testing

/// Every state of a connection against every command.
@Suite struct `Who may do what` {
    enum Peer: CaseIterable { case anonymous, client, appServer, reader, gone }

    static let words = MethodName.allCases.filter {
        ![
            .setPassword, .removePassword, .stats, .metrics, .why, .top, .feed, .undelivered,
        ].contains($0)
    }

    static let forbiddenToClients: Set<MethodName> = [
        .query, .subscribers, .sessions, .kick, .setPassword, .removePassword, .stats, .metrics,
        .why, .top, .feed, .undelivered, .discard,
    ]
    static let changing: Set<MethodName> = [
        .subscribe, .unsubscribe, .publish, .clear, .relate, .setVisibility, .send, .discard,
        .setDevice, .kick, .setPassword, .removePassword,
    ]
    static let readsSecrets: Set<MethodName> = [.undelivered, .devices]
    static let namesAnAccount: Set<MethodName> = [
        .subscribe, .unsubscribe, .subscriptions, .publish, .clear, .relate, .contacts,
        .setVisibility, .setDevice, .devices,
    ]

    /// What the protocol says; nil: it is carried out.
    func rejection(_ method: MethodName, by peer: Peer) -> Rejection.Reason? {
        switch peer {
        case .anonymous, .gone:
            return method == .login ? nil : .notLoggedIn
        case .client:
            if method == .login { return .alreadyLoggedIn }
            return Self.forbiddenToClients.contains(method) ? .forbidden : nil
        case .appServer:
            if method == .login { return .alreadyLoggedIn }
            return [.refresh, .setAvailability, .take].contains(method) ? .forbidden : nil
        case .reader:
            return Self.changing.union(Self.readsSecrets).contains(method)
                ? .readOnlyKey : rejection(method, by: .appServer)
        }
    }

    let term = TokenTerm(
        expires: Wall(milliseconds: World.start), honouredUntil: Wall(milliseconds: World.start))

    func request(_ method: MethodName, from connection: ConnectionID, _ world: World) {
        let bob = Array("bob".utf8)
        switch method {
        case .login:
            let login = Login(account: bob, device: Array("d".utf8), client: .ios)
            world.logIn(login, from: connection)
        case .refresh: world.refresh("alice", until: term, from: connection)
        case .logout: world.handle(.logout, from: connection)
        case .ping: world.handle(.ping, from: connection)
        case .subscribe: world.subscribe(connection, ["bob"])
        case .unsubscribe: world.unsubscribe(connection, nil)
        case .subscriptions:
            world.handle(.subscriptions(account: nil, ListSubscriptions()), from: connection)
        case .publish: world.publish(connection, 10_000)
        case .clear: world.clear(connection)
        case .relate: world.relate(connection, "bob", .say(.subscribe, text: nil))
        case .contacts: world.handle(.contacts(account: nil, ListContacts()), from: connection)
        case .setVisibility:
            world.handle(.setVisibility(account: nil, .hidden), from: connection)
        case .setAvailability:
            world.handle(.setAvailability(Availability(show: .away)), from: connection)
        case .query: world.query(connection, ["bob"])
        case .subscribers:
            world.handle(from: connection) { texts in
                .subscribers(ListSubscribers(type: .presence, publisher: texts.add(bob)))
            }
        case .sessions: world.handle(from: connection) { .sessions(account: $0.add(bob)) }
        case .kick: world.kick(connection, "bob")
        case .send: world.send(connection, to: "bob", body: "hello")
        case .take: world.handle(.take(MessageID(number: 1)), from: connection)
        case .discard: world.discard(connection, "bob")
        case .setDevice: world.setDevice(connection, alias: "a")
        case .devices: world.handle(.devices(account: nil), from: connection)
        case .setPassword, .removePassword, .stats, .metrics, .why, .top, .feed,
            .undelivered:
            Issue.record("not for the engine")
        }
    }

    func connection(_ peer: Peer, _ world: World) -> ConnectionID {
        switch peer {
        case .anonymous: return world.connect()
        case .client: return world.login("alice")
        case .appServer: return world.appServer()
        case .reader: return world.appServer(.reading)
        case .gone:
            let connection = world.login("alice")
            world.withEngine { engine in
                var effects = Effects()
                engine.connectionLost(connection, at: world.now, into: &effects)
            }
            return connection
        }
    }

    @Test(arguments: Peer.allCases, MethodName.allCases)
    func `is told by the table`(peer: Peer, method: MethodName) {
        let world = World()
        let connection = connection(peer, world)
        let told = world.withEngine { $0.rejection(of: method, from: connection) }
        #expect(told?.reason == rejection(method, by: peer))
    }

    @Test(arguments: Peer.allCases, words)
    func `is answered once, by the table`(peer: Peer, method: MethodName) {
        let world = World()
        let connection = connection(peer, world)
        _ = world.take(connection)
        request(method, from: connection, world)
        check(world.take(connection), method, by: peer)
        world.checkInvariants()
    }

    @Test(arguments: Peer.allCases)
    func `a login of an app server is answered once, by the table`(peer: Peer) {
        let world = World()
        let connection = connection(peer, world)
        _ = world.take(connection)
        world.logInAppServer(from: connection)
        check(world.take(connection), .login, by: peer)
    }

    private func check(_ seen: [Seen], _ method: MethodName, by peer: Peer) {
        var expected = rejection(method, by: peer)
        let namesNone = Self.namesAnAccount.contains(method) && expected == nil
        if peer == .appServer || peer == .reader, namesNone { expected = .missingField }
        let rejections = seen.compactMap { item -> Rejection.Reason? in
            if case .rejected(let reason) = item { reason } else { nil }
        }
        if let expected {
            #expect(seen.count == 1)
            #expect(rejections == [expected])
        } else {
            #expect(rejections == [])
            #expect(!seen.isEmpty)
        }
    }

    @Test func `a client may name itself, and nobody else`() {
        let world = World()
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"], for: "alice")
        #expect(world.take(alice).last == .subscribed(count: 1, states: nil))
        world.subscribe(alice, ["carol"], for: "bob")
        #expect(world.take(alice).last == .rejected(.forbidden))
    }

    @Test func `a token of somebody else, or of nobody, refreshes nothing`() {
        let world = World()
        let alice = world.login("alice")
        _ = world.login("bob")
        for account in ["bob", "nobody"] {
            world.refresh(account, until: term, from: alice)
            #expect(world.take(alice).last == .rejected(.forbidden))
        }
    }

    @Test func `an old connection's end does not end the session that has replaced it`() {
        let world = World()
        let old = world.login("alice")
        let new = world.login("alice")
        world.withEngine { engine in
            var effects = Effects()
            engine.connectionLost(old, at: world.now, into: &effects)
            #expect(effects.items.isEmpty)
        }
        world.handle(.ping, from: new)
        #expect(world.take(new).last == .pong)
    }
}
