import Containers
import Testing

@testable import PresenceCore

/// Random sends, takes, losses and failures, and what must hold of messages at any time.
@Suite struct `Messages at random` {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `are sent at least once, in order, and never after they were taken`(_ seed: UInt64) {
        let run = RandomMessages(seed: seed)
        for step in 0..<1_500 where run.isRight {
            run.step()
            run.check("seed \(seed), step \(step)")
        }
        run.takeEverything("seed \(seed)")
    }
}

/// A message, as its sender knows it.
private struct Written {
    var recipients: Set<String>
    var device: String?
    var expires: UInt64
    /// Of whom nobody read when it was sent, or was about to return.
    var unread: Set<String>
    /// Of whom it is known that they have taken it, or that it was discarded.
    var done: Set<String> = []
}

private final class RandomMessages {
    private let world: World
    private var random: SplitMix64
    private let names = ["a", "b", "c", "d"]
    private let devices = ["x", "y"]
    /// The accounts and devices of connections that read.
    private var readers: [ConnectionID: (account: String, device: String)] = [:]
    private var others: [ConnectionID: String] = [:]
    /// When an account has last lost a connection that reads.
    private var lastLoss: [String: UInt64] = [:]
    /// Sends that wait for the store, in order.
    private var pending: [(ConnectionID, body: String, Written)] = []
    /// By body; bodies are unique.
    private var written: [String: Written] = [:]
    /// What each connection was sent and has not taken, in order.
    private var untaken: [ConnectionID: [(id: MessageID, body: String)]] = [:]
    /// What each connection was ever sent.
    private var received: [ConnectionID: Set<String>] = [:]
    /// What was taken of each account, and which connections that were there have still to be sent
    /// it.
    private var owed: [String: [MessageID: (body: String, to: Set<ConnectionID>)]] = [:]
    /// By body.
    private var ids: [String: MessageID] = [:]
    private var looked: [ConnectionID: Int] = [:]
    /// Connections whose priority has changed are sent what is older than what they were sent.
    private var mayGoBack: Set<ConnectionID> = []
    private var lastSent: [ConnectionID: MessageID] = [:]
    private var sendCount = 0
    /// Up to where the undelivered are known, and which they were.
    private var position: UInt64 = 0
    private var handedOver: Set<String> = []
    private(set) var isRight = true

    init(seed: UInt64) {
        var settings = Settings().withoutPace
        settings.limits.messagesPerAccountMax = 12
        settings.limits.messagesPerSenderMax = 20
        world = World(settings)
        world.storeWaits = true
        world.readsWait = true
        random = SplitMix64(seed: seed)
        for name in names { others[world.login(name, "writer")] = name }
        // Two of them know each other.
        let (a, b) = (connection(of: "a"), connection(of: "b"))
        world.say(a, .subscribe, to: "b")
        world.commit()
        world.say(b, .subscribed, to: "a")
        world.commit()
    }

    private func connection(of name: String) -> ConnectionID {
        for (connection, other) in others where other == name { return connection }
        preconditionFailure("a name of nobody")
    }

    private func pick<T>(_ choices: [T]) -> T {
        choices[Int.random(in: choices.indices, using: &random)]
    }

    private var anyReader: ConnectionID? {
        readers.keys.sorted { $0.generation < $1.generation }.randomElement(using: &random)
    }

    func step() {
        world.pass(milliseconds: UInt64.random(in: 1...40, using: &random))
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: send()
        case 25..<45: settle()
        case 45..<65:
            if Int.random(in: 0..<8, using: &random) == 0 { world.failRead() } else { world.read() }
        case 65..<80: take()
        case 80..<86: logIn()
        case 86..<90: if let reader = anyReader { lose(reader) }
        case 90..<93: if let reader = anyReader { setPriority(of: reader) }
        case 93..<94: discard()
        case 94..<95: world.pass(milliseconds: UInt64.random(in: 1...90_000, using: &random))
        default: break
        }
    }

    private func send() {
        let sender = pick(names)
        sendCount += 1
        let body = "\(sender)\(sendCount)"
        let count = Int.random(in: 1...3, using: &random)
        let recipients = Array(names.shuffled(using: &random).prefix(count))
        let device = count == 1 ? pick([nil, nil, "x"]) : nil
        let seconds = pick([60, 600, 3_600])
        let isLong = Int.random(in: 0..<4, using: &random) == 0
        let text = isLong ? body + " " + String(repeating: "x", count: 40_000) : body
        let writer = connection(of: sender)
        _ = world.take(writer)
        world.handle(from: writer) { texts in
            let list = texts.add(names: recipients)
            return .send(
                account: nil,
                Send(
                    to: texts.add(device).map { .device($0, of: list) } ?? .accounts(list),
                    body: texts.add(text), expirySeconds: seconds))
        }
        guard answers(writer).isEmpty else { return }
        pending.append(
            (
                writer, body,
                Written(
                    recipients: Set(recipients), device: device,
                    expires: world.elapsed + UInt64(seconds) * 1_000,
                    unread: unread(of: recipients))
            ))
    }

    /// The accounts of which nobody reads, and no session that did is within its grace.
    private func unread(of accounts: [String]) -> Set<String> {
        Set(
            accounts.filter { name in
                let isAway = lastLoss[name].map { $0 + 6_000 < world.elapsed } ?? true
                return isAway && !readers.values.contains { $0.account == name }
            })
    }

    private func settle() {
        while world.isHandOverNext {
            if Int.random(in: 0..<6, using: &random) == 0 { world.fail() } else { world.commit() }
        }
        guard !pending.isEmpty else { return }
        let (writer, body, message) = pending.removeFirst()
        if Int.random(in: 0..<6, using: &random) == 0 {
            world.fail()
            expect(answers(writer) == [.rejected(.storeUnavailable)], "a send that failed")
        } else {
            world.commit()
            let answer = Seen.sent(recipients: message.recipients.count, reached: nil)
            let seen = answers(writer)
            expect(seen == [answer], "\(body) was stored, and answered \(seen)")
            written[body] = message
        }
    }

    /// What a writer has seen, but what its account's other devices do.
    private func answers(_ writer: ConnectionID) -> [Seen] {
        world.take(writer).filter { if case .event = $0 { false } else { true } }
    }

    private func logIn() {
        let (account, device) = (pick(names), pick(devices))
        let connection = world.connect()
        for (other, known) in readers where known == (account, device) { forget(other) }
        world.login(account, device, messages: .on, on: connection)
        guard world.isOpen(connection) else { return }
        readers[connection] = (account, device)
    }

    private func lose(_ connection: ConnectionID) {
        world.drop(connection)
        forget(connection)
    }

    private func forget(_ connection: ConnectionID) {
        if let account = readers[connection]?.account {
            for id in owed[account, default: [:]].keys { noteSent(id, of: account, connection) }
            lastLoss[account] = world.elapsed
        }
        readers[connection] = nil
        untaken[connection] = nil
    }

    private func setPriority(of connection: ConnectionID) {
        let priority = pick([-1, 0] as [Int8])
        world.handle(.setAvailability(Availability(priority: priority)), from: connection)
        mayGoBack.insert(connection)
    }

    private func discard() {
        // The order of its commit and those of sends is a matter of the simulator.
        while !pending.isEmpty { settle() }
        while world.isHandOverNext { world.commit() }
        check("before a discard")
        let account = pick(names)
        world.discard(world.appServer(), account)
        world.commit()
        for body in written.keys { written[body]?.done.insert(account) }
        owed[account] = nil
    }

    /// The other sessions are still sent what a connection takes, unless they have it.
    private func noteTaken(_ bodies: [String], by connection: ConnectionID) {
        guard let reader = readers[connection] else { return }
        let others = readers.filter {
            $0.key != connection && $0.value.account == reader.account && isForAll($0.value)
        }
        for body in bodies {
            guard let id = ids[body], let message = written[body],
                written[body]?.done.insert(reader.account).inserted == true
            else { continue }
            // What has expired waits no longer, so no session is owed it.
            guard message.device == nil, message.expires > world.elapsed else { continue }
            let missing = others.keys.filter { received[$0]?.contains(body) != true }
            guard !missing.isEmpty else { continue }
            owed[reader.account, default: [:]][id] = (body, Set(missing))
        }
        let ids = owed[reader.account, default: [:]].keys.sorted()
        for id in ids.dropLast(12) { owed[reader.account]?[id] = nil }
    }

    private func isForAll(_ reader: (account: String, device: String)) -> Bool {
        guard let account = world.find(reader.account) else { return false }
        return world.withEngine { engine in
            engine.session(of: account, on: Array(reader.device.utf8))
                .map { engine.takesAny($0) } ?? false
        }
    }

    private func noteSent(_ id: MessageID, of account: String, _ connection: ConnectionID) {
        owed[account]?[id]?.to.remove(connection)
        if owed[account]?[id]?.to.isEmpty == true { owed[account]?[id] = nil }
    }

    private func take() {
        guard let connection = anyReader, readers[connection] != nil,
            let sent = untaken[connection], !sent.isEmpty
        else { return }
        let place = Int.random(in: sent.indices, using: &random)
        noteTaken(sent[...place].map(\.body), by: connection)
        untaken[connection] = Array(sent[(place + 1)...])
        world.handle(.take(sent[place].id), from: connection)
    }

    /// What connections were sent since the last time.
    func check(_ place: String) {
        for (connection, reader) in readers {
            let handed = world.messages.handed[connection] ?? []
            let new = handed[(looked[connection] ?? 0)...]
            looked[connection] = handed.count
            let bodies = world.take(connection).flatMap { seen -> [String] in
                if case .messages(let bodies) = seen { bodies } else { [] }
            }
            expect(bodies.count == new.count, "\(place): bodies of messages")
            for (id, text) in zip(new, bodies) {
                check(id, String(text.prefix { $0 != " " }), connection, reader, place)
            }
        }
        world.checkInvariants()
        checkUndelivered(place)
        for name in names { checkBox(of: name, place) }
    }

    private func check(
        _ id: MessageID, _ body: String, _ connection: ConnectionID,
        _ reader: (account: String, device: String), _ place: String
    ) {
        guard let message = written[body] else {
            return expect(false, "\(place): \(body) was not stored")
        }
        expect(message.recipients.contains(reader.account), "\(place): \(body) is for others")
        expect(
            message.device == nil || message.device == reader.device,
            "\(place): \(body) is for another device")
        let isOwed = owed[reader.account]?[id]?.to.contains(connection) == true
        expect(!message.done.contains(reader.account) || isOwed, "\(place): \(body) was taken")
        expect(message.expires > world.elapsed || isOwed, "\(place): \(body) has expired")
        expect(ids[body] ?? id == id, "\(place): \(body) has two numbers")
        ids[body] = id
        noteSent(id, of: reader.account, connection)
        expect(
            received[connection, default: []].insert(body).inserted,
            "\(place): \(body) was sent twice")
        if let last = lastSent[connection], !mayGoBack.contains(connection) {
            expect(last < id, "\(place): \(body) is out of order")
        }
        lastSent[connection] = id
        let sent = untaken[connection] ?? []
        expect(!sent.contains { $0.body == body }, "\(place): \(body) was sent already")
        untaken[connection] = sent + [(id, body)]
    }

    /// Each is handed over once, in order, and only while it waits.
    private func checkUndelivered(_ place: String) {
        let share = world.undelivered(after: position)
        for undelivered in share.messages {
            let text = world.messages.bodies[undelivered.message] ?? "?"
            let body = String(text.prefix { $0 != " " })
            let account = world.name(undelivered.account)
            guard let message = written[body] else {
                return expect(false, "\(place): \(body) is undelivered and was not stored")
            }
            expect(message.recipients.contains(account), "\(place): \(body) is for others")
            expect(!message.done.contains(account), "\(place): \(body) was taken")
            expect(message.expires > world.elapsed, "\(place): \(body) has expired")
            expect(
                handedOver.insert("\(body) \(account)").inserted,
                "\(place): \(body) was handed over twice")
            expect(
                !message.unread.contains(account) || undelivered.handOver.reason == .absent,
                "\(place): \(body) had no reader")
            expect(undelivered.handOver.number > position, "\(place): \(body) is out of order")
            position = undelivered.handOver.number
        }
        expect(share.upTo >= position, "\(place): a position that goes back")
    }

    private func checkBox(of name: String, _ place: String) {
        guard let account = world.find(name) else { return }
        let rows = world.messages.rows.filter { row in
            row.value.recipients[Int(row.key.place)].account == account
        }
        let waiting = world.withEngine { $0.inboxes[account].messages.map(\.key) }
        // Rows of what is being stored are there already.
        expect(Set(waiting).isSubset(of: rows.keys), "\(place): a message without a row")
        expect(waiting.count <= 12, "\(place): a box too full")
        let strangers = world.withEngine { engine in
            engine.inboxes[account].messages.count { $0.isOfStranger }
        }
        expect(strangers <= 6, "\(place): strangers fill more than half of a box")
    }

    /// In the end everything is stored, read and taken.
    func takeEverything(_ place: String) {
        while !pending.isEmpty { settle() }
        takeWhatIsSent(place)
        checkOwed(place)
        handOverEverything(place)
        for name in names {
            for device in devices {
                let connection = world.connect()
                for (other, known) in readers where known == (name, device) { forget(other) }
                world.login(name, device, messages: .on, on: connection)
                readers[connection] = (name, device)
                // A device keeps the priority that it had.
                world.handle(.setAvailability(Availability()), from: connection)
                mayGoBack.insert(connection)
            }
        }
        takeWhatIsSent(place)
        for (body, message) in written where message.expires > world.elapsed {
            expect(message.recipients.isSubset(of: message.done), "\(place): \(body) still waits")
        }
        for name in names {
            guard let account = world.find(name) else { continue }
            let left = world.withEngine { $0.inboxes[account].messages.count }
            expect(left == 0, "\(place): \(left) wait for \(name)")
        }
    }

    private func takeWhatIsSent(_ place: String) {
        for _ in 0..<400 where isRight {
            world.pass(milliseconds: 10)
            while !world.messages.reads.isEmpty { world.read() }
            check(place)
            for connection in readers.keys {
                guard let last = untaken[connection]?.last else { continue }
                noteTaken((untaken[connection] ?? []).map(\.body), by: connection)
                untaken[connection] = []
                world.handle(.take(last.id), from: connection)
            }
        }
    }

    /// Who was there when another took a message was sent it, unless its priority has fallen.
    private func checkOwed(_ place: String) {
        for (_, messages) in owed {
            for (body, connections) in messages.values {
                for connection in connections {
                    guard let reader = readers[connection], isForAll(reader) else { continue }
                    expect(false, "\(place): \(body) was not sent to \(reader.device)")
                }
            }
        }
        for (name, messages) in owed {
            guard let account = world.find(name) else { continue }
            let keys = world.withEngine { $0.owed[account].map(\.message.key.message) }
            expect(keys == messages.keys.sorted(), "\(place): what is owed to \(name)")
        }
    }

    /// What waits for longer than it may is handed over.
    private func handOverEverything(_ place: String) {
        world.pass(milliseconds: 11_000)
        for _ in 0..<100 where world.isHandOverNext { world.commit() }
        world.pass(milliseconds: 2_000)
        for _ in 0..<100 where world.isHandOverNext { world.commit() }
        check(place)
        for (body, message) in written where message.expires > world.elapsed {
            for account in message.recipients.subtracting(message.done) {
                expect(
                    handedOver.contains("\(body) \(account)"),
                    "\(place): \(body) was not handed over")
            }
        }
    }

    private func expect(_ isTrue: Bool, _ what: String) {
        guard !isTrue, isRight else { return }
        isRight = false
        Issue.record("\(what)")
    }
}
