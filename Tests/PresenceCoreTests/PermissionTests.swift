import PresenceCore
import Testing

/// Every state of a connection against every command.
@Suite struct `Who may do what` {
    enum Peer: CaseIterable { case anonymous, client, appServer, gone }

    @Test func `only app servers may read the feed`() {
        let world = World()
        for peer in Peer.allCases {
            let connection = connection(peer, world)
            let refusal = world.withEngine { $0.refusal(of: .feed, from: connection) }
            let expected: Refusal.Reason? =
                switch peer {
                case .anonymous, .gone: .notLoggedIn
                case .client: .forbidden
                case .appServer: nil
                }
            #expect(refusal?.reason == expected, "\(peer)")
        }
    }

    static let words = [
        "login", "loginAppServer", "refresh", "logout", "ping", "subscribe", "unsubscribe",
        "subscriptions", "publish", "clear", "query", "subscribers", "sessions", "kick", "stats",
    ]

    static let forbiddenToClients: Set = ["query", "subscribers", "sessions", "kick", "stats"]
    static let namesAnAccount: Set = [
        "subscribe", "unsubscribe", "subscriptions", "publish", "clear",
    ]

    /// What the protocol says; nil: it is carried out.
    func refusal(_ word: String, by peer: Peer) -> Refusal.Reason? {
        switch peer {
        case .anonymous, .gone:
            return word.hasPrefix("login") ? nil : .notLoggedIn
        case .client:
            if word.hasPrefix("login") { return .alreadyLoggedIn }
            return Self.forbiddenToClients.contains(word) ? .forbidden : nil
        case .appServer:
            if word.hasPrefix("login") { return .alreadyLoggedIn }
            if word == "refresh" { return .forbidden }
            return Self.namesAnAccount.contains(word) ? .missingField : nil
        }
    }

    let term = TokenTerm(
        expires: Wall(milliseconds: World.start), honouredUntil: Wall(milliseconds: World.start))

    func command(_ word: String, _ world: World) -> Command {
        let bob = world.account("bob")
        return switch word {
        case "login":
            .login(Login(account: bob, device: Array("d".utf8), client: .ios))
        case "loginAppServer": .loginAppServer
        case "refresh": .refresh(account: world.account("alice"), term)
        case "logout": .logout
        case "ping": .ping
        case "subscribe":
            .subscribe(Subscribe(type: .presence, expirySeconds: 60, publishers: [bob]))
        case "unsubscribe": .unsubscribe(Unsubscribe(type: .presence))
        case "subscriptions": .subscriptions(ListSubscriptions())
        case "publish": .publish(Publish(type: .presence, value: 10_000, expirySeconds: 60))
        case "clear": .clear(account: nil, type: .presence)
        case "query": .query(type: .presence, accounts: [.known(bob)])
        case "subscribers": .subscribers(ListSubscribers(publisher: bob, type: .presence))
        case "sessions": .sessions(account: bob)
        case "kick": .kick(Kick(account: bob))
        default: .stats
        }
    }

    func connection(_ peer: Peer, _ world: World) -> ConnectionID {
        switch peer {
        case .anonymous: return world.connect()
        case .client: return world.login("alice")
        case .appServer: return world.appServer()
        case .gone:
            let connection = world.login("alice")
            world.withEngine { engine in
                var effects = Effects()
                engine.connectionLost(connection, at: world.now, into: &effects)
            }
            return connection
        }
    }

    @Test(arguments: Peer.allCases, words)
    func `is answered once, by the table`(peer: Peer, word: String) {
        let world = World()
        let connection = connection(peer, world)
        _ = world.take(connection)
        world.handle(command(word, world), from: connection)
        let seen = world.take(connection)
        let refusals = seen.compactMap { item -> Refusal.Reason? in
            if case .refused(let reason) = item { reason } else { nil }
        }
        if let expected = refusal(word, by: peer) {
            #expect(seen.count == 1)
            #expect(refusals == [expected])
        } else {
            #expect(refusals == [])
            #expect(!seen.isEmpty)
        }
        world.checkInvariants()
    }

    @Test func `a client may name itself, and nobody else`() {
        let world = World()
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"], for: "alice")
        #expect(world.take(alice).last == .subscribed(count: 1, states: nil))
        world.subscribe(alice, ["carol"], for: "bob")
        #expect(world.take(alice).last == .refused(.forbidden))
    }

    @Test func `a token of somebody else, or of nobody, refreshes nothing`() {
        let world = World()
        let alice = world.login("alice")
        for account in [world.account("bob"), nil] {
            world.handle(.refresh(account: account, term), from: alice)
            #expect(world.take(alice).last == .refused(.forbidden))
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
