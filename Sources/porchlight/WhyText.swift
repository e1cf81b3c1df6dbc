// What `porchlight why` prints: the facts of the method `why`, as sentences.
//
// First whether the subscriber sees the publisher, then the subscription, the connections, the
// events and messages with what became of them, and last how far back the facts go. Each fact is
// said once.

import Containers
import Foundation
import PresenceClient

/// The facts of `why` in sentences.
struct WhyText {
    private let facts: JSON
    private let subscriber: String
    private let publisher: String
    private let isOneAccount: Bool
    /// The publisher, as the object of a sentence about the subscriber.
    private let seen: String

    init(_ facts: JSON) {
        self.facts = facts
        subscriber = visible(facts["subscriber"]?["account"]?.string ?? "?")
        publisher = visible(facts["publisher"]?["account"]?.string ?? "?")
        isOneAccount = ExactText(subscriber) == ExactText(publisher)
        seen = isOneAccount ? "itself" : publisher
    }

    var lines: [String] {
        let sections = [
            [verdict], subscription, presence(of: "subscriber"),
            isOneAccount ? [] : presence(of: "publisher"), status, events, messages, [reach],
        ]
        return Array(sections.filter { !$0.isEmpty }.joined(separator: [""]))
    }

    // MARK: The result

    private var verdict: String {
        guard facts["subscriber"]?["known"] == true else {
            return "\(subscriber) does not see \(seen): \(unknown(subscriber))"
        }
        if let reason = obstacle { return "\(subscriber) does not see \(seen): \(reason)" }
        guard !connected("subscriber").isEmpty else {
            let reason =
                sessions(of: "subscriber", "hidden").isEmpty
                ? "is not connected" : "has sent no presence by its XMPP client"
            return "\(subscriber) would see \(seen), but \(reason)."
        }
        let sessions = connected("subscriber").filter { $0["sees"] != false }
        guard !sessions.isEmpty else {
            return "\(subscriber) would see \(seen), but has not logged in with `contacts`: only "
                + "such a session is sent the events of contacts."
        }
        if sessions.allSatisfy({ ($0["behind"]?.integer ?? 0) > 0 }) {
            return "\(subscriber) sees \(seen) with a delay: it does not read fast enough now."
        }
        let isOnline = facts["state"]?["online"]?.array.map { !$0.isEmpty }
        switch isOnline {
        case true?: return "\(subscriber) sees \(seen) online."
        case false?: return "\(subscriber) sees \(seen) offline, which is correct."
        case nil: return "\(subscriber) sees what \(isOneAccount ? "it" : publisher) publishes."
        }
    }

    /// Why the account does not see the other, however it is connected; nil: it would.
    private var obstacle: String? {
        let isSubscribed = facts["subscription"] != nil
        let isAccepted = facts["relationship"] == "accepted"
        if isOneAccount {
            return isSubscribed
                ? nil : "an account sees itself only if it subscribes to itself."
        }
        switch facts["visibility"]?.string {
        case "hidden": return "\(publisher) is hidden from all."
        case "approved" where !isAccepted:
            return "only contacts that \(publisher) has accepted see it"
                + (isAsked ? ", and it has not answered \(subscriber)." : ".")
        default:
            guard !isSubscribed, !isAccepted else { return nil }
            return isAsked
                ? "it has asked, and \(publisher) has not answered." : "there is no subscription."
        }
    }

    private var isAsked: Bool { facts["relationship"] == "asked" }

    /// What is known of an account that the service does not know: nothing is kept of a forgotten
    /// one, so whether it was ever there is unknown.
    private func unknown(_ name: String) -> String {
        "the service does not know \(name) now. \(name) has no session, no subscription, no "
            + "subscriber and no status; if it had any, they are forgotten."
    }

    private func connected(_ party: String) -> [JSON] { sessions(of: party, "connected") }

    private func sessions(of party: String, _ connection: JSON) -> [JSON] {
        (facts[party]?["sessions"]?.array ?? []).filter { $0["connection"] == connection }
    }

    // MARK: Subscriptions

    private var subscription: [String] {
        var lines: [String] = []
        if let current = facts["subscription"] {
            lines.append(
                "\(subscriber) is subscribed to \(seen) since \(time(current["created"])), until "
                    + "\(time(current["expires"])).")
        }
        lines += (facts["pastSubscriptions"]?.array ?? []).map { past in
            let span = "A subscription from \(time(past["created"]))"
            let end = time(past["ended"])
            return switch past["how"]?.string {
            case "expired": "\(span) expired at \(end)."
            case "unsubscribed": "\(span) was ended by \(subscriber) at \(end)."
            default: "\(span) was ended by an app server at \(end)."
            }
        }
        return lines
    }

    // MARK: Connections

    private func presence(of party: String) -> [String] {
        let name = party == "subscriber" ? subscriber : publisher
        guard facts[party]?["known"] == true else {
            // Of the subscriber, the first sentence says so.
            guard party == "publisher" else { return [] }
            let sentence = unknown(name)
            return [sentence.prefix(1).uppercased() + sentence.dropFirst()]
        }
        let sessions = facts[party]?["sessions"]?.array ?? []
        var lines = sessions.map { session(of: name, $0) }
        if sessions.allSatisfy({ $0["connection"] == "hidden" }) {
            let last = name == publisher ? facts["state"]?["lastSeen"] : nil
            let which = sessions.isEmpty ? "no session" : "no session that others see"
            lines.append(
                "\(name) has \(which)" + (last.map { "; last seen \(time($0))" } ?? "") + ".")
        }
        lines += (facts[party]?["pastConnections"]?.array ?? []).map { past in
            "\(name) was on \(device(past)) from \(time(past["since"])) to "
                + "\(time(past["ended"])): \(end(past))."
        }
        return lines
    }

    private func session(of name: String, _ session: JSON) -> String {
        let heard = (now - (session["lastHeard"]?.integer ?? now)) / 1_000
        let place = "\(name) is on \(device(session)) since \(time(session["since"]))"
        let last = "last heard \(duration(seconds: heard)) ago"
        switch session["connection"]?.string {
        case "connected": return "\(place), \(last)\(difficulties(session))."
        case "grace":
            return "\(place), but the connection was lost a moment ago, \(last)."
        case "hidden":
            return "\(place), \(last), and has sent no presence: others do not see this session."
        case "push": return "\(place), reachable by push only, \(last)."
        default: return "\(place), and has not returned since the service restarted."
        }
    }

    private func difficulties(_ session: JSON) -> String {
        var text = ""
        if session["listing"] == true { text += "; its login list is still being sent" }
        if let behind = session["behind"]?.integer, behind > 0 {
            text += "; behind, with the states of \(behind) publishers pending"
        }
        guard let bytes = session["bytesWaiting"]?.integer else {
            return text + "; its connection loop does not respond"
        }
        if bytes > 0 { text += "; \(bytes) bytes pending" }
        return text
    }

    private func end(_ past: JSON) -> String {
        let heard = "last heard \(time(past["lastHeard"]))"
        let unsent = past["bytesUnsent"]?.integer ?? 0
        let rest = unsent > 0 ? "; \(unsent) bytes were not delivered" : ""
        return switch past["how"]?.string {
        case "logout": "logged out"
        case "kicked": "kicked by an app server"
        case "replaced": "the same device logged in again"
        case "idle_timeout": "heartbeat timeout, \(heard)\(rest)"
        case "too_slow": "closed, since it did not read what it was sent\(rest)"
        case "protocol_violation": "closed, since it sent an invalid frame"
        default: "the connection was lost, \(heard)\(rest)"
        }
    }

    private func device(_ session: JSON) -> String {
        "\(session["client"]?.string ?? "") \(visible(session["device"]?.string ?? "?"))"
            .trimmingCharacters(in: .whitespaces)
    }

    // MARK: Status

    private var status: [String] {
        guard let status = facts["state"]?["status"] else { return [] }
        let ext = status["ext"]?.string.map { " “\(visible($0))”" } ?? ""
        return [
            "The status of \(publisher) is \(status["value"]?.integer ?? 0)\(ext), until "
                + "\(time(status["expires"]))."
        ]
    }

    // MARK: Events

    private var events: [String] {
        let events = facts["events"]?.array ?? []
        guard !events.isEmpty else { return ["No recent events of \(publisher)."] }
        return ["Events of \(publisher), newest first:"]
            + events.flatMap { lines(for: $0) }
    }

    private func lines(for event: JSON) -> [String] {
        let cause = event["cause"]?.string ?? "?"
        let value = cause == "publish" ? " \(event["value"]?.integer ?? 0)" : ""
        let head = "  \(time(event["time"]))  \(cause)\(value)  seq \(event["seq"]?.integer ?? 0)"
        return [head] + fates(of: event).map { "    \($0)" }
    }

    private func fates(of event: JSON) -> [String] {
        switch event["subscribed"]?.string {
        case "no" where facts["relationship"] == "accepted":
            return [
                "sent to sessions with `contacts`, if \(publisher) had accepted \(subscriber) "
                    + "by then"
            ]
        case "no": return ["not sent: \(subscriber) was not subscribed to \(seen) at that time"]
        case "unknown":
            return ["unknown whether \(subscriber) was subscribed to \(seen) at that time"]
        default: break
        }
        let connections = event["connections"]?.array ?? []
        guard connections.isEmpty else { return connections.map { fate($0) } }
        guard event["complete"] == true else {
            return ["unknown whether \(subscriber) was connected at that time"]
        }
        guard let login = event["nextLogin"] else {
            return ["not sent: \(subscriber) was not connected at that time"]
        }
        let list =
            switch login["sync"]?.string {
            case "none": "asked for no login list"
            case "all": "got the state in its login list"
            default: "got a login list, which has the accounts that are online"
            }
        return [
            "not sent: \(subscriber) was not connected at that time; \(device(login)) logged in at "
                + "\(time(login["time"])) and \(list)"
        ]
    }

    private func fate(_ connection: JSON) -> String {
        let device = device(connection)
        let when = time(connection["time"])
        return switch connection["fate"]?.string {
        case "sent": "sent to \(device)"
        case "listed": "sent to \(device) as part of its login list"
        case "conflated":
            "\(device) was behind; the newest state followed at \(when)"
        case "waiting":
            "\(device) is behind; the newest state follows when it reads"
        case "dropped":
            "\(device) was behind, and its connection ended at \(when) before the newest state "
                + "was sent"
        case "uncertain":
            "sent to \(device), which sent nothing more until its connection ended at \(when): "
                + "it may not have arrived"
        case "replaced": "not sent to \(device): a newer event replaced it"
        case "in_progress": "in flight to \(device): \(publisher) has very many subscribers"
        default: "unknown at \(device)"
        }
    }

    // MARK: Messages

    private var messages: [String] {
        // Without messages, the service does not say.
        guard let messages = facts["messages"]?.array else { return [] }
        let pair =
            isOneAccount
            ? "to \(subscriber) from itself or the service"
            : "between \(subscriber) and \(publisher)"
        guard !messages.isEmpty else { return ["No recent messages \(pair)."] }
        return ["Messages \(pair), newest first:"] + messages.map { "  \(message($0))" }
    }

    private func message(_ message: JSON) -> String {
        let writer = message["from"]?.string.map { visible($0) } ?? "the service"
        let head = "\(time(message["time"]))  from \(writer): "
        let ended = time(message["ended"])
        let fate =
            switch message["fate"]?.string {
            case "waiting": "waiting to be taken"
            case "taken": "taken by \(visible(message["device"]?.string ?? "?")) at \(ended)"
            case "expired": "expired at \(ended)"
            case "discarded": "discarded by an app server at \(ended)"
            default: "lost, since the database did not have its content"
            }
        let undelivered =
            message["undelivered"]?.string.map { ", undelivered (\(visible($0)))" } ?? ""
        return "\(head)\(fate), \(sent(message))\(undelivered)  "
            + "id \(message["id"]?.string ?? "?")"
    }

    /// How often a message was handed to a session. One that waited at the start may have been
    /// handed out before.
    private func sent(_ message: JSON) -> String {
        switch message["sent"]?.integer ?? 0 {
        case 0: "not sent to a device"
        case 1: "sent once"
        case let count: "sent \(count) times"
        }
    }

    // MARK: How far back

    private var reach: String {
        let since = facts["completeSince"]
        let events = time(since?["events"])
        let rest =
            ["subscriptions", "connections", "delays"]
            .compactMap { since?[$0]?.integer }.max() ?? 0
        let other = time(.integer(rest))
        let all =
            other == events
            ? "Nothing is known from before \(events)."
            : "Events are known since \(events), other facts since \(other)."
        guard let messages = since?["messages"], time(messages) != events else { return all }
        return all + " Messages are known since \(time(messages))."
    }

    private var now: Int64 { facts["time"]?.integer ?? 0 }

    /// The time of day, with the date unless that is today.
    private func time(_ value: JSON?) -> String {
        guard let value = value?.integer else { return "?" }
        let text = dateAndTime(value)
        return text.prefix(10) == dateAndTime(now).prefix(10) ? clockTime(value) : text
    }
}
