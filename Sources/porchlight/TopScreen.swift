import Foundation
import PresenceClient

/// What `porchlight top` shows of one sample.
struct TopScreen {
    private let facts: JSON
    /// The previous sample, for the CPU time in between.
    private let before: JSON?
    private let style: Style

    init(_ facts: JSON, before: JSON?, style: Style) {
        self.facts = facts
        self.before = before
        self.style = style
    }

    var lines: [String] {
        Array(
            [
                heading, publishers, readers, waiting("senders", "Most messages wait of:"),
                waiting("boxes", "Most messages wait for:"), machine,
            ].filter { !$0.isEmpty }.joined(separator: [""]))
    }

    private var heading: [String] {
        let seconds = max(1, (facts["milliseconds"]?.integer ?? 0) / 1_000)
        let rates = ["events", "deliveries", "logins", "requests", "commits"].map { name in
            "\(name) \(rate(facts["counts"]?[name]?.integer ?? 0, seconds))"
        }
        return [
            style.paint(
                "porchlight at \(clockTime(facts["time"]?.integer ?? 0)), per second over the last "
                    + "\(seconds) s:", .bold),
            "  " + rates.joined(separator: "   "),
            "  online \(gauge("accountsOnline"))   connections \(gauge("connections"))   "
                + "subscriptions \(gauge("subscriptions"))   statuses \(gauge("statuses"))",
        ]
    }

    private func rate(_ count: Int64, _ seconds: Int64) -> String {
        let tenths = count * 10 / seconds
        return tenths >= 1_000 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    private func gauge(_ name: String) -> Int64 { facts["gauges"]?[name]?.integer ?? 0 }

    private var publishers: [String] {
        let publishers = facts["publishers"]?.array ?? []
        let since = clockTime(facts["publishersSince"]?.integer ?? 0)
        guard !publishers.isEmpty else { return ["No publishers since \(since)."] }
        return [
            style.paint("Busiest publishers since \(since):", .bold),
            style.paint("  " + columns(["deliveries", "events"]) + "  account", .grey),
        ]
            + publishers.map { publisher in
                let numbers = ["deliveries", "events"].map { publisher[$0]?.text ?? "" }
                return "  " + columns(numbers) + "  "
                    + visible(publisher["account"]?.string ?? "?")
            }
    }

    private var readers: [String] {
        let readers = facts["readers"]?.array ?? []
        guard !readers.isEmpty else { return ["All clients have read what they were sent."] }
        let now = facts["time"]?.integer ?? 0
        return [
            style.paint(
                "Slowest of \(facts["readerCount"]?.integer ?? 0) clients with pending bytes:",
                .bold),
            style.paint("  " + columns(["bytes", "behind", "since"]) + "  client", .grey),
        ]
            + readers.map { reader in
                let since = duration(seconds: (now - (reader["since"]?.integer ?? now)) / 1_000)
                let numbers = [
                    reader["bytesWaiting"]?.text ?? "", reader["behind"]?.text ?? "", since,
                ]
                let client =
                    reader["account"]?.string.map {
                        "\(visible($0)) on \(visible(reader["device"]?.string ?? "?"))"
                    } ?? "an app server"
                return "  " + columns(numbers)
                    + "  \(client) at \(reader["address"]?.string ?? "?")"
            }
    }

    /// Of which accounts, or for which, most waits; nothing if nothing does.
    private func waiting(_ member: String, _ title: String) -> [String] {
        let accounts = facts[member]?.array ?? []
        guard !accounts.isEmpty else { return [] }
        return [
            style.paint(title, .bold),
            style.paint("  " + columns(["bytes", "messages"]) + "  account", .grey),
        ]
            + accounts.map { account in
                let numbers = ["bytes", "messages"].map { account[$0]?.text ?? "" }
                return "  " + columns(numbers) + "  "
                    + visible(account["account"]?.string ?? "?")
            }
    }

    private var machine: [String] {
        let commit = gauge("storeLastCommitMicroseconds")
        var lines = [
            "store   \(gauge("storePending")) writes pending, last commit \(commit) µs"
                + (gauge("storeRetained") > 0
                    ? ", \(gauge("storeRetained")) keys retained while the disk fails" : "")
                + (gauge("storeFailures") > 0 ? ", \(gauge("storeFailures")) failed" : ""),
            "memory  \(bytes("memoryBytes")): subscriptions \(bytes("subscriptionBytes")), names "
                + "\(bytes("nameBytes")), history \(bytes("historyBytes")), blocked "
                + bytes("bytesBlocked"),
        ]
        let stalled = gauge("loopsStalled")
        if stalled > 0 { lines.append("loops   \(stalled) stalled: their values are old") }
        if let before, let time = facts["time"]?.integer, let then = before["time"]?.integer,
            time > then
        {
            let used =
                gauge("processorMicroseconds")
                - (before["gauges"]?["processorMicroseconds"]?.integer ?? 0)
            lines.append("cpu     \(used / 10 / (time - then)) %")
        }
        return lines
    }

    private func bytes(_ name: String) -> String {
        let value = gauge(name)
        return value < 1 << 20
            ? "\((value + 1_023) >> 10) KiB" : "\((value + (1 << 19)) >> 20) MiB"
    }

    /// Numbers in columns of twelve, aligned right.
    private func columns(_ cells: [String]) -> String {
        cells.map { String(repeating: " ", count: max(0, 12 - $0.count)) + $0 }.joined()
    }
}
