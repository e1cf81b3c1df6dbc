import PresenceClient

/// A message as a line of text.
struct MessageLine {
    let style: Style

    /// A line such as `2026-11-21 12:04:31  bob (phone)  “lunch?”`.
    func line(_ message: JSON) -> String {
        let time = message["time"]?.integer.map(dateAndTime) ?? "?"
        let device = message["fromDevice"]?.string.map { " (\(visible($0)))" } ?? ""
        let sender = message["from"]?.string.map(visible) ?? "the service"
        var parts = [style.paint(time, .grey), style.paint(sender, .bold) + device]
        // A message need not have a text.
        if let body = message["body"]?.string { parts.append("“\(visible(body))”") }
        if let ext = message["ext"]?.string { parts.append("ext “\(visible(ext))”") }
        return parts.joined(separator: "  ")
    }
}

/// The last messages that were received: the service sends one again whose `take` was lost, and a
/// sender one whose response was lost.
struct RecentMessages {
    private static let countMax = 1_000

    /// The keys of each message, the oldest first.
    private var order: [[[UInt8]]] = []
    private var known: Set<[UInt8]> = []

    /// Adds a message; returns whether it is new.
    mutating func insert(_ message: JSON) -> Bool {
        let keys = Self.keys(message)
        guard known.isDisjoint(with: keys) else { return false }
        if order.count == Self.countMax { known.subtract(order.removeFirst()) }
        order.append(keys)
        known.formUnion(keys)
        return true
    }

    /// As bytes: `==` of strings would treat two encodings of é as equal. Names of accounts have no
    /// line feed.
    private static func keys(_ message: JSON) -> [[UInt8]] {
        let id = message["id"]?.string ?? ""
        guard let ref = message["ref"]?.string else { return [Array(id.utf8)] }
        return [Array(id.utf8), Array("\(message["from"]?.string ?? "")\n\(ref)".utf8)]
    }
}
