import PresenceCore

extension Operation {
    /// What `why` and `top` cost, with a history that is full.
    static let past: [Operation] = [
        Operation("engine: top, an event of 8,192 by as many", perRun: 8_192) {
            let world = Shared(Past(publishers: 8_192))
            return Work { world.past.top() }
        },
        Operation("engine: why, a note of 16,384 of one client", perRun: 16_384) {
            let world = Shared(Past(toggles: 8_192))
            return Work { world.past.why() }
        },
    ]
}

/// An engine in which much has happened.
struct Past: ~Copyable {
    private var engine: Engine
    private var effects = Effects()
    private let now = Moment(
        mono: Mono(milliseconds: 1_000), wall: Wall(milliseconds: 1_763_700_000_000))

    /// One event of each of so many publishers.
    init(publishers: Int) {
        engine = Engine(settings: Settings().withoutPace, at: now, seed: 1)
        _ = engine.begin(into: &effects)
        for number in 0..<publishers { logIn("publisher-\(number)", slot: UInt32(number)) }
    }

    /// A client that has subscribed and unsubscribed so many times.
    init(toggles: Int) {
        engine = Engine(settings: Settings().withoutPace, at: now, seed: 1)
        _ = engine.begin(into: &effects)
        logIn("publisher", slot: 1)
        for _ in 0..<20 {
            handle(
                .publish(Publish(type: .presence, value: 10_000, expirySeconds: 60)), slot: 1)
        }
        logIn("watcher", slot: 0)
        let publisher = account("publisher")
        for _ in 0..<toggles {
            for command in [
                Command.subscribe(
                    Subscribe(type: .presence, expirySeconds: 60, publishers: [publisher])),
                .unsubscribe(Unsubscribe(type: .presence, publishers: [publisher])),
            ] { handle(command, slot: 0) }
        }
    }

    private mutating func account(_ name: String) -> AccountHandle {
        guard let handle = engine.intern(Array(name.utf8).span) else {
            preconditionFailure("no room for another account")
        }
        return handle
    }

    private mutating func logIn(_ name: String, slot: UInt32) {
        let login = Login(
            account: account(name), device: Array("d\(slot)".utf8), client: .ios)
        handle(.login(login), slot: slot)
    }

    private mutating func handle(_ command: Command, slot: UInt32) {
        let connection = ConnectionID(slot: slot, generation: 1)
        engine.handle(command, from: connection, at: now, into: &effects)
        for case .persist(let ticket?, _) in effects.items {
            effects.removeAll()
            engine.committed(ticket, at: now, into: &effects)
        }
        effects.removeAll()
    }

    mutating func top() {
        let busiest = engine.busiestPublishers(
            since: Wall(milliseconds: 0), countMax: 10, into: &effects)
        precondition(busiest.count == 10, "fewer publishers than there are")
        effects.removeAll()
    }

    mutating func why() {
        let question = WhyQuestion(
            subscriber: account("watcher"), publisher: account("publisher"),
            publisherName: Array("publisher".utf8), type: .presence)
        let report = engine.why(question, at: now, into: &effects)
        precondition(report.ended.count == 10, "fewer subscriptions than there were")
        effects.removeAll()
    }
}

/// A world that a closure can keep.
private final class Shared {
    var past: Past

    init(_ past: consuming Past) { self.past = past }
}
