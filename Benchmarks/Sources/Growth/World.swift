import Containers
import PresenceCore
import PresenceWire

/// An engine with accounts by number, each online on one connection of the same number.
struct World: ~Copyable {
    private var engine: Engine
    private var effects = Effects()
    private var frame: [UInt8] = []
    private let noTexts = RequestTexts().ofLast
    private var random = SplitMix64(seed: 42)
    private var now = Moment(
        mono: Mono(milliseconds: 1_000), wall: Wall(milliseconds: 1_763_700_000_000))
    private let accounts: Int

    private static let expirySeconds = 3_600
    private static let batch = 1_000
    /// So many of a kind of operation are measured at most.
    private static let sampleMax = 100_000

    init(accounts: Int) {
        self.accounts = accounts
        var settings = Settings().withoutPace
        // Nobody falls silent: that is a cost of sessions, and not one of subscriptions.
        settings.heartbeatSeconds = 1_000_000
        engine = Engine(settings: settings, at: now, seed: 1)
        _ = engine.begin(into: &effects)
        effects.removeAll()
    }

    var stats: Stats { engine.currentStats }

    private func connection(_ account: Int) -> ConnectionID {
        ConnectionID(slot: UInt32(account), generation: 1)
    }

    private mutating func handle(
        _ command: Command, _ texts: TextSource? = nil, by account: Int
    ) {
        let texts = texts ?? noTexts
        do {
            let command = try engine.authorise(command, texts, from: connection(account))
            engine.handle(command, texts, at: now, into: &effects)
        } catch {
            preconditionFailure("no permission: \(error)")
        }
    }

    private func name(_ account: Int) -> [UInt8] { Array("account-\(account)".utf8) }

    /// What the store does in the service: everything is durable at once.
    private mutating func commit() {
        for case .persist(let ticket?, _) in effects.items {
            effects.removeAll()
            engine.committed(ticket, at: now, into: &effects)
        }
        effects.removeAll()
    }

    // MARK: Logins

    private mutating func logIn(_ account: Int, _ list: LoginList) {
        let login = Login(
            account: name(account), device: Array("d1".utf8), client: .ios, sync: list)
        engine.logIn(login, from: connection(account), at: now, into: &effects)
    }

    /// Brings everybody online; nobody watches yet.
    mutating func logInAll() {
        for account in 0..<accounts {
            logIn(account, .none)
            effects.removeAll()
        }
    }

    /// Nanoseconds of a login: with the list of those whom the account watches, all online, and
    /// the event to those who watch it.
    mutating func logInAgain() -> Double {
        var watch = Stopwatch()
        for _ in 0..<max(1, min(accounts, Self.sampleMax / 10) / Self.batch) {
            let chosen = distinct(min(Self.batch, accounts))
            for account in chosen {
                handle(.logout, by: account)
                effects.removeAll()
            }
            watch.measure {
                for account in chosen {
                    logIn(account, .online)
                    while !isSynced {
                        effects.removeAll()
                        engine.drained(connection(account), at: now, into: &effects)
                        precondition(!effects.items.isEmpty, "a list that does not end")
                    }
                    effects.removeAll()
                }
                return chosen.count
            }
        }
        return watch.each
    }

    private var isSynced: Bool {
        effects.items.contains { if case .synced = $0 { true } else { false } }
    }

    // MARK: Subscriptions

    private mutating func distinct(_ count: Int, except own: Int = -1) -> [Int] {
        var chosen = Set<Int>(minimumCapacity: count)
        while chosen.count < count {
            let account = Int(random.next() % UInt64(accounts))
            if account != own { chosen.insert(account) }
        }
        return Array(chosen)
    }

    /// A request to subscribe.
    private struct Request {
        let command: Command
        let texts: TextSource

        init(_ publishers: [[UInt8]], expirySeconds: Int) {
            var texts = RequestTexts()
            command = .subscribe(
                account: nil,
                Subscribe(
                    type: .presence, expirySeconds: expirySeconds,
                    publishers: texts.add(names: publishers)))
            self.texts = texts.ofLast
        }
    }

    private mutating func request(_ publishers: [Int]) -> Request {
        Request(
            publishers.map { name($0) },
            expirySeconds: Self.expirySeconds + Int(random.next() % 600))
    }

    /// Nanoseconds of a subscription, asked for with those of the same account.
    mutating func subscribeAll(to count: Int) -> Double {
        var watch = Stopwatch()
        var requests: [Request] = []
        for first in stride(from: 0, to: accounts, by: Self.batch) {
            let batch = first..<min(first + Self.batch, accounts)
            requests.removeAll(keepingCapacity: true)
            for account in batch { requests.append(request(distinct(count, except: account))) }
            watch.measure {
                for account in batch {
                    let request = requests[account - first]
                    handle(request.command, request.texts, by: account)
                    commit()
                }
                return batch.count * count
            }
        }
        precondition(engine.currentStats.subscriptions == accounts * count)
        return watch.each
    }

    /// Nanoseconds of the renewal of a subscription, with all others of the account.
    mutating func renew(_ count: Int) -> Double {
        var watch = Stopwatch()
        for _ in 0..<max(1, Self.sampleMax / count / Self.batch) {
            let chosen = distinct(min(Self.batch, accounts))
            let requests = chosen.map { account in
                var page = ListSubscriptions(entriesMax: count)
                page.type = .presence
                handle(.subscriptions(account: nil, page), by: account)
                let names = effects.subscriptions.map { entry in
                    let start = Int(entry.publisher.start)
                    return Array(effects.bytes[start..<start + Int(entry.publisher.count)])
                }
                effects.removeAll()
                return (
                    count: names.count,
                    request: Request(names, expirySeconds: Self.expirySeconds)
                )
            }
            watch.measure {
                for (account, each) in zip(chosen, requests) {
                    handle(each.request.command, each.request.texts, by: account)
                    commit()
                }
                return requests.reduce(0) { $0 + $1.count }
            }
        }
        return watch.each
    }

    // MARK: Events

    /// Nanoseconds of a delivery: a publish, encoded once, with every receiver looked at.
    mutating func publish() -> Double {
        var watch = Stopwatch()
        var sum = UInt64(0)
        for round in 0..<Self.sampleMax / Self.batch {
            let publishers = (0..<Self.batch).map { _ in Int(random.next() % UInt64(accounts)) }
            watch.measure {
                var deliveries = 0
                for publisher in publishers {
                    let publish = Publish<ByteRange>(
                        type: .presence, value: Int32(10_000 + round), expirySeconds: 604_800)
                    handle(.publish(account: nil, publish), by: publisher)
                    frame.removeAll(keepingCapacity: true)
                    for event in effects.events { frame.appendEventBody(event, in: effects) }
                    for receiver in effects.receivers { sum &+= UInt64(receiver) }
                    deliveries += effects.receivers.count
                    effects.removeAll()
                }
                return deliveries
            }
        }
        precondition(sum > 0)
        return watch.each
    }

    /// Nanoseconds of the end of a subscription, told to its subscriber.
    mutating func expireAll() -> Double {
        var watch = Stopwatch()
        let count = engine.currentStats.subscriptions
        let end = now.mono.advanced(bySeconds: Self.expirySeconds + 601)
        watch.measure {
            while now.mono < end {
                let mono = now.mono.advanced(byMilliseconds: 100)
                now = Moment(mono: mono, wall: now.wall(at: mono))
                while case .moreIsDue = engine.advance(
                    to: now, dueBy: mono, deadlinesMax: 1_000, into: &effects)
                {
                    effects.removeAll()
                }
                effects.removeAll()
            }
            return count
        }
        precondition(engine.currentStats.subscriptions == 0, "all have run out")
        return watch.each
    }
}
