import PresenceCore
import PresenceWire

/// A publisher, on connection 0, and those who watch him, all online.
public struct Population: ~Copyable {
    /// Whom the first watcher watches besides the publisher.
    public enum Watching {
        case nobody
        /// All other watchers.
        case all
    }

    private var engine: Engine
    private var effects = Effects()
    private var body: [UInt8] = []
    private let limits = Limits()
    private let publisher = ConnectionID(slot: 0, generation: 1)
    private let first = ConnectionID(slot: 1, generation: 1)
    private let now = Moment(
        mono: Mono(milliseconds: 1_000), wall: Wall(milliseconds: 1_763_700_000_000))
    private var value: Int32 = 10_000
    private let absent = (0..<100).map { Array("absent-\($0)".utf8) }

    /// Brings them online.
    public init(watchers: Int, watching: Watching = .nobody) {
        engine = Engine(settings: Settings().withoutPace, at: now, seed: 1)
        _ = engine.begin(into: &effects)
        effects.removeAll()
        login("publisher", on: publisher)
        for number in 1...watchers {
            let connection = ConnectionID(slot: UInt32(number), generation: 1)
            login("watcher-\(number)", on: connection)
            subscribe(to: [Array("publisher".utf8)], from: connection)
        }
        guard watching == .all else { return }
        for start in stride(from: 2, through: watchers, by: 100) {
            let end = min(start + 100, watchers + 1)
            subscribe(to: (start..<end).map { Array("watcher-\($0)".utf8) }, from: first)
        }
    }

    private mutating func account(_ name: [UInt8]) -> AccountHandle {
        guard let handle = engine.intern(name.span) else {
            preconditionFailure("no room for another account")
        }
        return handle
    }

    private mutating func login(_ name: String, on connection: ConnectionID) {
        let login = Login(
            account: account(Array(name.utf8)), device: Array("d1".utf8), client: .ios)
        handle(.login(login), from: connection)
    }

    private mutating func handle(_ command: Command, from connection: ConnectionID) {
        engine.handle(command, from: connection, at: now, into: &effects)
        for case .persist(let ticket?, _) in effects.items {
            effects.removeAll()
            engine.committed(ticket, at: now, into: &effects)
        }
        effects.removeAll()
    }

    private mutating func subscribe(to names: [[UInt8]], from connection: ConnectionID) {
        let publishers = names.map { account($0) }
        handle(
            .subscribe(Subscribe(type: .presence, expirySeconds: 3_600, publishers: publishers)),
            from: connection)
    }

    /// Has the first watcher watch a hundred others, too, of whom nobody is online.
    public mutating func subscribeToHundred() {
        subscribe(to: absent, from: first)
    }

    /// Has the first watcher watch nobody.
    public mutating func unsubscribe() {
        handle(.unsubscribe(Unsubscribe(type: .presence)), from: first)
    }

    /// Has the publisher say something new.
    public mutating func publish() {
        value = value == 20_000 ? 10_000 : value + 1
        handle(
            .publish(Publish(type: .presence, value: value, expirySeconds: 3_600)),
            from: publisher)
    }

    /// What a publish has the caller do.
    public mutating func publishedEffects() -> Effects {
        var effects = Effects()
        engine.handle(
            .publish(Publish(type: .presence, value: 10_001, expirySeconds: 3_600)),
            from: publisher, at: now, into: &effects)
        return effects
    }

    /// Has the first watcher leave and come back, and encodes the list that he is sent.
    public mutating func logInAgain() {
        handle(.logout, from: first)
        let login = Login(
            account: account(Array("watcher-1".utf8)), device: Array("d1".utf8), client: .ios)
        engine.handle(.login(login), from: first, at: now, into: &effects)
        while !encodeList() {
            effects.removeAll()
            engine.drained(first, at: now, into: &effects)
            precondition(!effects.items.isEmpty, "a list that does not end")
        }
        effects.removeAll()
    }

    /// Whether the list has come to its end.
    private mutating func encodeList() -> Bool {
        var isComplete = false
        for item in effects.items {
            switch item {
            case .states(_, let range, _):
                var rest = range
                while !rest.isEmpty {
                    body.removeAll(keepingCapacity: true)
                    rest = body.appendEventsBody(
                        rest, of: .loginList, in: effects, limits: limits)
                }
            case .synced:
                isComplete = true
            default:
                continue
            }
        }
        return isComplete
    }
}
