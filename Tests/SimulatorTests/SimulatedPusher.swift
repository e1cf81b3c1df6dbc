import PresenceClient

/// What an app server keeps that reads what is undelivered: where it is, and what it has read on
/// the way there.
struct SimulatedPusher {
    /// A position, and the entries before it, by body and account.
    struct Position {
        /// nil: the beginning.
        var cursor: String?
        var entries: Set<String> = []

        /// The number of the last hand-over before it.
        var number: String { cursor.map { String($0.suffix(13)) } ?? "" }
    }

    private(set) var position = Position()
    /// Earlier positions, to which it may go back.
    private var earlier: [Position] = []
    /// The position that it has asked for last; it may be told more before it is answered.
    private var asked: [(position: Position, time: Int)] = []
    /// Whether its connection is sent what is undelivered, and when it has asked for that, by the
    /// ledger.
    private(set) var isReading = false
    private var begun = 0

    /// Where it goes on.
    enum Start: CaseIterable { case last, earlier, beginning }

    /// Asks to read. Returns the cursor.
    mutating func ask(from start: Start, at time: Int) -> String? {
        var position = position
        switch start {
        case .last: break
        case .earlier: position = earlier.first ?? position
        case .beginning: position = Position()
        }
        asked.append((position, time))
        return position.cursor
    }

    /// That was answered. Returns what is wrong.
    mutating func begin(_ answer: JSON) -> String? {
        guard !asked.isEmpty, let cursor = answer["cursor"]?.string, cursor.utf8.count == 26 else {
            return "no cursor"
        }
        let (wanted, time) = asked.removeFirst()
        position = wanted
        position.cursor = cursor
        isReading = true
        begun = time
        guard let known = wanted.cursor else {
            return position.number == String(repeating: "0", count: 13)
                ? nil : "the beginning is \(cursor)"
        }
        return known == cursor ? nil : "the position \(known) has become \(cursor)"
    }

    /// It was rejected.
    mutating func reject() { if !asked.isEmpty { asked.removeFirst() } }

    /// It reads the feed, or its connection has ended.
    mutating func end() { isReading = false }

    mutating func connectionEnded() {
        isReading = false
        asked = []
    }

    /// Reads a notification. Returns what is wrong.
    mutating func read(
        _ params: JSON, of disk: SimulatedDisk, _ ledger: MessageLedger
    ) -> [String] {
        guard isReading else { return ["told what is undelivered, unasked"] }
        guard let cursor = params["cursor"]?.string, cursor.utf8.count == 26,
            cursor.prefix(13) == position.cursor?.prefix(13)
        else { return ["a cursor of another database"] }
        var wrong: [String] = []
        let end = String(cursor.suffix(13))
        var last = position.number
        var entries = position.entries
        let made = max(begun, ledger.madeShare(upTo: end))
        for entry in params["undelivered"]?.array ?? [] {
            let told = Told(entry)
            if let fault = told.fault(ledger, since: made) { wrong.append(fault) }
            guard let handOver = disk.handOvers[told.key] else {
                wrong.append("\(told.key) was not handed over")
                continue
            }
            let number = handOver.text
            if number <= last { wrong.append("\(told.key) is \(number), after \(last)") }
            if number > end { wrong.append("\(told.key) is \(number), and the cursor \(end)") }
            if handOver.why != told.why {
                wrong.append("\(told.key) is \(told.why), and was \(handOver.why)")
            }
            if !entries.insert(told.key).inserted { wrong.append("\(told.key) comes twice") }
            last = number
        }
        if last <= position.number { wrong.append("nothing up to \(end)") }
        earlier = (earlier + [position]).suffix(3)
        position = Position(cursor: cursor, entries: entries)
        return wrong.map { "undelivered: \($0)" }
    }

    /// An entry, as it is told.
    private struct Told {
        let body: String
        let id: String
        let account: String
        let why: String
        let waiting: Int64
        let devices: [String]

        init(_ entry: JSON) {
            body = entry["body"]?.string ?? ""
            id = entry["message"]?.string ?? ""
            account = entry["account"]?.string ?? ""
            why = entry["why"]?.string ?? ""
            waiting = entry["waiting"]?.integer ?? 0
            devices = (entry["devices"]?.array ?? []).map { $0["device"]?.string ?? "" }
        }

        var key: String { "\(body) \(account)" }

        func fault(_ ledger: MessageLedger, since begun: Int) -> String? {
            if let fault = ledger.fault(
                body, id: id, of: account, since: begun, by: .pusher)
            {
                return fault
            }
            if waiting < 1 { return "\(key): \(waiting) wait" }
            if let device = ledger.entries[body]?.device, devices != [device] {
                return "\(key) may be pushed to \(devices)"
            }
            return devices == devices.sorted() ? nil : "\(key): devices \(devices)"
        }
    }
}
