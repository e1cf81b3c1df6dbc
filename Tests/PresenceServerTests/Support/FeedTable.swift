import PresenceClient
import Testing

/// A table of all states, kept as docs/PROTOCOL.md tells backends to.
struct FeedTable {
    /// By type and publisher.
    private(set) var states: [String: JSON] = [:]
    /// Behind which event to go on; nil: the table is not complete.
    private(set) var cursor: String?
    private(set) var isComplete = false
    private(set) var resets = 0
    private(set) var events: [JSON] = []

    /// Asks for the feed from where the table is.
    mutating func open(_ client: Client) throws {
        let params: JSON = cursor.map { ["cursor": .string($0)] } ?? [:]
        let answer = try client.call("feed", params)
        if answer["reset"] == true { begin() }
    }

    private mutating func begin() {
        states = [:]
        cursor = nil
        isComplete = false
        resets += 1
    }

    /// Applies a `feed` notification.
    mutating func apply(_ params: JSON) {
        if params["reset"] == true { begin() }
        for event in params["events"]?.array ?? [] {
            let key = "\(event["type"]?.integer ?? 0)/\(event["publisher"]?.string ?? "")"
            let known = states[key]?["seq"]?.integer ?? 0
            let seq = event["seq"]?.integer ?? -1
            #expect(seq >= known, "something older follows something newer")
            if seq >= known { states[key] = event }
            events.append(event)
        }
        if params["synced"] == true { isComplete = true }
        #expect(params["cursor"] == nil || params["snapshot"] == nil)
        if let cursor = params["cursor"]?.string { self.cursor = cursor }
    }

    /// Reads until `isDone`.
    mutating func read(_ client: Client, until isDone: (FeedTable) -> Bool) throws {
        while !isDone(self) { apply(try client.next("feed")) }
    }

    /// Who is online, and statuses: `type/publisher devices value`.
    var inForce: [String] {
        states.compactMap { key, state in
            let devices = (state["online"]?.array ?? []).map(\.text).sorted()
            guard !devices.isEmpty || state["status"] != nil else { return nil }
            return "\(key) \(devices) \(state["status"]?["value"]?.integer ?? 0)"
        }.sorted()
    }
}
