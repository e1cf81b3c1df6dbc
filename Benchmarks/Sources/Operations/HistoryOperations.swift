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
                .publish(
                    account: nil, Publish(type: .presence, value: 10_000, expirySeconds: 60)),
                slot: 1)
        }
        logIn("watcher", slot: 0)
        let publisher = NamedList([Array("publisher".utf8)])
        for _ in 0..<toggles {
            for command in [
                Command.subscribe(
                    account: nil,
                    Subscribe(type: .presence, expirySeconds: 60, publishers: publisher.list)),
                .unsubscribe(
                    account: nil, Unsubscribe(type: .presence, publishers: publisher.list)),
            ] { handle(command, publisher.texts, slot: 0) }
        }
    }

    private mutating func logIn(_ name: String, slot: UInt32) {
        let login = Login(
            account: Array(name.utf8), device: Array("d\(slot)".utf8), client: .ios)
        let connection = ConnectionID(slot: slot, generation: 1)
        engine.logIn(login, from: connection, at: now, into: &effects)
        effects.removeAll()
    }

    private mutating func handle(
        _ command: Command, _ texts: TextSource = RequestTexts().ofLast, slot: UInt32
    ) {
        let connection = ConnectionID(slot: slot, generation: 1)
        engine.handle(command, texts, from: connection, at: now, into: &effects)
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
        let report = engine.why(
            subscriber: Array("watcher".utf8), publisher: Array("publisher".utf8), .presence,
            at: now, into: &effects)
        precondition(report.ended.count == 10, "fewer subscriptions than there were")
        effects.removeAll()
    }
}

/// A world that a closure can keep.
private final class Shared {
    var past: Past

    init(_ past: consuming Past) { self.past = past }
}
