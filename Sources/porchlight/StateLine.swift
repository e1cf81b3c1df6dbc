import Foundation
import PresenceClient

/// A publisher's state as a line of text.
struct StateLine {
    let style: Style

    /// A line such as `12:04:31  bob  online  on ios d1 (away), web tab-7  10001 “in a meeting”`.
    func line(_ event: JSON) -> String {
        let time = event["time"]?.integer.map(clockTime) ?? "        "
        let name = style.paint(visible(event["publisher"]?.string ?? "?"), .bold)
        return ([style.paint(time, .grey), name, happening(event)] + details(event))
            .joined(separator: "  ")
    }

    private func happening(_ event: JSON) -> String {
        let cause = event["cause"]?.string ?? "?"
        return style.paint(cause == "sync" ? state(event) : cause, colour(of: event))
    }

    /// What the state of a publisher is.
    private func state(_ event: JSON) -> String {
        // Only a state of presence says who is online; others have a status, or none.
        guard isPresence(event) else { return event["status"] == nil ? "no status" : "status" }
        return switch event["value"]?.integer ?? 0 {
        case 0: "unknown"
        case 2: "offline (logged out)"
        case 3: "offline (disconnected)"
        default: "online"
        }
    }

    private func isPresence(_ event: JSON) -> Bool { event["type"]?.integer ?? 1 == 1 }

    private func colour(of event: JSON) -> Style.Colour {
        if event["cause"]?.string == "publish" { return .cyan }
        guard isPresence(event), let online = event["online"]?.array else {
            return event["status"] == nil ? .grey : .cyan
        }
        if !online.isEmpty { return .green }
        return event["value"]?.integer == 0 ? .grey : .red
    }

    private func details(_ event: JSON) -> [String] {
        var details: [String] = []
        if let type = event["type"]?.integer, type != 1 { details.append("type \(type)") }
        if let online = event["online"]?.array, !online.isEmpty {
            details.append("on \(online.map(device).joined(separator: ", "))")
        }
        if let status = event["status"] {
            let ext = status["ext"]?.string.map { " “\(visible($0))”" } ?? ""
            details.append(style.paint("\(status["value"]?.integer ?? 0)\(ext)", .yellow))
        }
        if let lastSeen = event["lastSeen"]?.integer {
            details.append(style.paint("last seen \(dateAndTime(lastSeen))", .grey))
        }
        return details
    }

    /// A device such as `ios phone`, or `ios phone (dnd “in a meeting”, push)`.
    private func device(_ entry: JSON) -> String {
        let name = "\(entry["client"]?.string ?? "?") \(visible(entry["device"]?.string ?? "?"))"
        let text = entry["text"]?.string.map { "“\(visible($0))”" }
        let availability = [entry["show"]?.string.map(visible), text].compactMap { $0 }
        var remarks = availability.isEmpty ? [] : [availability.joined(separator: " ")]
        if let priority = entry["priority"]?.integer { remarks.append("priority \(priority)") }
        if entry["push"]?.bool == true { remarks.append("push") }
        return remarks.isEmpty ? name : "\(name) (\(remarks.joined(separator: ", ")))"
    }
}
