import PresenceClient

/// A table of all states, kept from the feed as docs/PROTOCOL.md tells backends to.
struct SimulatedTable {
    /// By type and publisher.
    private(set) var states: [String: JSON] = [:]
    /// Where to go on; nil: the table is not complete.
    private(set) var cursor: String?
    private(set) var isComplete = false
    private(set) var resets = 0
    /// Since the connection has asked for the feed: the newest `seq` it was told.
    private var told: [String: Int64] = [:]
    private var toldLast: Int64 = 0

    /// The feed was asked for and this was answered.
    mutating func begin(_ answer: JSON) {
        told = [:]
        toldLast = 0
        if answer["reset"] == true { reset() }
    }

    private mutating func reset() {
        states = [:]
        cursor = nil
        isComplete = false
        toldLast = 0
        resets += 1
    }

    /// Applies a `feed` notification; tells what is wrong with it.
    mutating func apply(_ params: JSON) -> [String] {
        var wrong: [String] = []
        if params["reset"] == true { reset() }
        for event in params["events"]?.array ?? [] {
            let key = "\(event["type"]?.integer ?? 0)/\(event["publisher"]?.string ?? "")"
            let seq = event["seq"]?.integer ?? -1
            if seq < told[key] ?? 0 { wrong.append("feed: \(key) \(seq) after \(told[key] ?? 0)") }
            if params["snapshot"] == nil, seq <= toldLast {
                wrong.append("feed: \(seq) after \(toldLast)")
            }
            if params["snapshot"] == nil { toldLast = seq }
            told[key] = seq
            if seq >= states[key]?["seq"]?.integer ?? 0 { states[key] = event }
        }
        if params["synced"] == true { isComplete = true }
        if (params["cursor"] != nil) == (params["snapshot"] != nil || params["reset"] != nil) {
            wrong.append("feed: a cursor too many or too few")
        }
        if let cursor = params["cursor"]?.string { self.cursor = cursor }
        return wrong
    }
}
