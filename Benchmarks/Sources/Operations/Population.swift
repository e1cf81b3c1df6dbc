public import PresenceCore
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
    private let absent = NamedList((0..<100).map { Array("absent-\($0)".utf8) })
    private let noTexts = RequestTexts().ofLast

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

    private mutating func login(_ name: String, on connection: ConnectionID) {
        let login = Login(
            account: Array(name.utf8), device: Array("d1".utf8), client: .ios)
        engine.logIn(login, from: connection, at: now, into: &effects)
        effects.removeAll()
    }

    private mutating func handle(
        _ command: consuming Command, _ texts: TextSource, from connection: ConnectionID
    ) {
        engine.handle(command, texts, from: connection, at: now, into: &effects)
        for case .persist(let ticket?, _) in effects.items {
            effects.removeAll()
            engine.committed(ticket, at: now, into: &effects)
        }
        effects.removeAll()
    }

    private mutating func subscribe(to names: [[UInt8]], from connection: ConnectionID) {
        subscribe(to: NamedList(names), from: connection)
    }

    private mutating func subscribe(to names: NamedList, from connection: ConnectionID) {
        let request = Subscribe(
            type: .presence, expirySeconds: 3_600, publishers: names.list)
        handle(.subscribe(account: nil, request), names.texts, from: connection)
    }

    /// Has the first watcher watch a hundred others, too, of whom nobody is online.
    public mutating func subscribeToHundred() {
        subscribe(to: absent, from: first)
    }

    /// Has the first watcher watch nobody.
    public mutating func unsubscribe() {
        handle(.unsubscribe(account: nil, Unsubscribe(type: .presence)), noTexts, from: first)
    }

    /// Has the publisher say something new.
    public mutating func publish() {
        value = value == 20_000 ? 10_000 : value + 1
        handle(
            .publish(
                account: nil, Publish(type: .presence, value: value, expirySeconds: 3_600)),
            noTexts, from: publisher)
    }

    /// What a publish has the caller do.
    public mutating func publishedEffects() -> Effects {
        var effects = Effects()
        engine.handle(
            .publish(
                account: nil, Publish(type: .presence, value: 10_001, expirySeconds: 3_600)),
            noTexts, from: publisher, at: now, into: &effects)
        return effects
    }

    /// Has the first watcher leave and come back, and encodes the list that he is sent.
    public mutating func logInAgain() {
        handle(.logout, noTexts, from: first)
        let login = Login(
            account: Array("watcher-1".utf8), device: Array("d1".utf8), client: .ios)
        engine.logIn(login, from: first, at: now, into: &effects)
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

/// The names of a request.
struct NamedList {
    let list: NameList
    let texts: TextSource

    init(_ names: [[UInt8]]) {
        var texts = RequestTexts()
        list = texts.add(names: names)
        self.texts = texts.ofLast
    }
}
