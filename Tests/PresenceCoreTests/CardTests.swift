import Testing

@testable import PresenceCore

/// Who may read the card of an account.
@Suite struct `Cards` {
    private let world = World()

    private func bind(_ account: String) -> ConnectionID {
        let connection = world.connect()
        world.bind(account, "r", on: connection)
        return connection
    }

    private func mayRead(_ account: String, _ connection: ConnectionID) -> Bool? {
        world.withEngine { try? $0.mayReadCard(of: Array(account.utf8), from: connection) }
    }

    /// What two accounts may be to each other, as the reader sees it.
    enum Relation: CaseIterable {
        case none, readerHasAsked, readerWasAsked, readerSees, readerIsSeen
    }

    @Test(arguments: [Visibility.open, .approved, .hidden, nil], Relation.allCases)
    func `are for those whom the visibility admits, contacts, and whoever was asked`(
        visibility: Visibility?, relation: Relation
    ) {
        let (alice, bob, server) = (bind("alice"), bind("bob"), world.appServer())
        world.setVisibility(server, visibility, for: "alice")
        switch relation {
        case .none: break
        case .readerHasAsked: world.say(bob, .subscribe, to: "alice")
        case .readerWasAsked: world.say(alice, .subscribe, to: "bob")
        case .readerSees:
            world.say(bob, .subscribe, to: "alice")
            world.say(alice, .subscribed, to: "bob")
        case .readerIsSeen:
            world.say(alice, .subscribe, to: "bob")
            world.say(bob, .subscribed, to: "alice")
        }
        let isAdmitted = visibility == .open || visibility == nil
        let isRelated = relation != .none && relation != .readerHasAsked
        #expect(mayRead("alice", bob) == (isAdmitted || isRelated))
        #expect(mayRead("alice", alice) == true)
    }

    @Test func `of an account that is not known are for those whom all accounts admit`() {
        let bob = bind("bob")
        #expect(mayRead("nobody", bob) == true)
        var settings = Settings()
        settings.visibility = .approved
        world.apply(settings)
        #expect(mayRead("nobody", bob) == false)
    }

    @Test func `are read and set by clients only`() {
        for connection in [world.connect(), world.appServer()] {
            #expect(mayRead("alice", connection) == nil)
            let now = world.now
            let owner = world.withEngine { try? $0.ownerOfNewCard(from: connection, at: now) }
            #expect(owner == nil)
        }
    }

    @Test func `are set at the pace of publishes`() {
        let alice = bind("alice")
        func set() -> Bool {
            let now = world.now
            return world.withEngine { engine in
                (try? engine.ownerOfNewCard(from: alice, at: now)) == Array("alice".utf8)
            }
        }
        let burst = Settings().publishPace?.burst ?? 0
        for _ in 0..<burst { #expect(set()) }
        #expect(!set())
        world.pass(seconds: 1)
        #expect(set())
    }
}
