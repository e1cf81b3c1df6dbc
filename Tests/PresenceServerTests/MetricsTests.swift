import Foundation
import PresenceClient
import PresenceCore
import PresenceServer
import Testing

@Suite struct Metrics {
    /// Every sample of a service, by its name and labels as they stand there.
    func samples(_ service: RunningService) throws -> [String: Double] {
        try Dictionary(lines(service).filter { !$0.hasPrefix("#") }.map(parts)) { first, _ in
            Issue.record("a sample that stands there twice")
            return first
        }
    }

    func lines(_ service: RunningService) throws -> [String] {
        let server = try service.appServer()
        let text = try #require(try server.call("metrics")["text"]?.string)
        #expect(text.hasSuffix("\n"))
        return text.split(separator: "\n").map(String.init)
    }

    func parts(_ line: String) throws -> (String, Double) {
        let space = try #require(line.lastIndex(of: " "))
        return (String(line[..<space]), try #require(Double(line[line.index(after: space)...])))
    }

    @Test func `count what happens, by what it is`() throws {
        try withService { service in
            let alice = try service.login("alice")
            _ = try alice.subscribe(["bob", "carol"])
            let bob = try service.login("bob")
            _ = try bob.call("publish", ["type": 1, "value": 10_000])
            #expect(bob.rejection("stats") == "403 forbidden")
            #expect(try service.connect().rejection("ping") == "401 not_logged_in")
            #expect(
                try service.connect().rejection("login", ["account": ""]) == "414 invalid_name")
            #expect(bob.rejection("whistle") == "-32601 unknown_method")
            _ = try bob.call("logout")
            _ = try alice.next("events")
            let samples = try samples(service)
            for (name, expected) in [
                ("porchlight_logins_total{result=\"ok\"}", 2),
                ("porchlight_logins_total{result=\"invalid_name\"}", 1),
                ("porchlight_events_total{cause=\"login\"}", 2),
                ("porchlight_events_total{cause=\"publish\"}", 1),
                ("porchlight_events_total{cause=\"logout\"}", 1),
                ("porchlight_deliveries_total", 3),
                ("porchlight_subscriptions", 2),
                ("porchlight_requests_total{method=\"subscribe\"}", 1),
                ("porchlight_requests_total{method=\"ping\"}", 1),
                ("porchlight_rejections_total{reason=\"forbidden\"}", 1),
                ("porchlight_rejections_total{reason=\"not_logged_in\"}", 1),
                ("porchlight_malformed_requests_total{reason=\"unknown_method\"}", 1),
                ("porchlight_closes_total{reason=\"logout\"}", 1),
                ("porchlight_sessions{connection=\"connected\"}", 1),
                ("porchlight_build_info{version=\"unknown\"}", 1),
            ] { #expect(samples[name] == Double(expected), "\(name)") }
        }
    }

    @Test func `count relationships, by state and by what changed them`() throws {
        try withService { service in
            let alice = try service.login("alice", "phone", ["contacts": true])
            let bob = try service.login("bob", "phone", ["contacts": true])
            for contact in ["bob", "carol", "dave"] {
                _ = try alice.call("relate", ["contact": .string(contact), "action": "request"])
            }
            // Of what is asked already nothing changes.
            _ = try alice.call("relate", ["contact": "carol", "action": "request"])
            _ = try alice.call("relate", ["contact": "dave", "action": "cancel"])
            _ = try bob.call("relate", ["contact": "alice", "action": "accept"])
            // A request that was accepted before it was made.
            _ = try alice.call("relate", ["contact": "bob", "action": "accept"])
            _ = try bob.call("relate", ["contact": "alice", "action": "request"])
            let samples = try samples(service)
            for (name, expected) in [
                ("porchlight_relationships{state=\"active\"}", 2),
                ("porchlight_relationships{state=\"pending\"}", 1),
                ("porchlight_relationship_changes_total{action=\"request\"}", 3),
                ("porchlight_relationship_changes_total{action=\"cancel\"}", 1),
                ("porchlight_relationship_changes_total{action=\"accept\"}", 2),
                ("porchlight_relationship_changes_total{action=\"deny\"}", 0),
            ] { #expect(samples[name] == Double(expected), "\(name)") }
        }
    }

    @Test func `have a family for each sample, and each family has a help`() throws {
        try withService { service in
            var kinds: [String: String] = [:]
            var helps: Set<String> = []
            for line in try lines(service) {
                let words = line.split(separator: " ", maxSplits: 3).map(String.init)
                if line.hasPrefix("# HELP ") {
                    #expect(helps.insert(words[2]).inserted, "\(words[2]) stands there twice")
                    #expect(words[3].hasSuffix("."))
                } else if line.hasPrefix("# TYPE ") {
                    kinds[words[2]] = words[3]
                    #expect((words[3] == "counter") == words[2].hasSuffix("_total"), "\(words[2])")
                } else {
                    let name = String(line.prefix { $0 != " " && $0 != "{" })
                    let family = name.replacing(/_(bucket|sum|count)$/, with: "")
                    #expect(kinds[name] != nil || kinds[family] == "histogram", "\(line)")
                }
            }
            #expect(helps == Set(kinds.keys))
            #expect(kinds.count > 40)
        }
    }

    @Test func `tell sessions by what has become of their connection`() throws {
        try withService({ $0.engine.pushReachable = .online }) { service in
            let phone = try service.login("bob", "phone", ["pushReachable": true])
            let tab = try service.login("bob", "tab")
            let server = try service.appServer()
            phone.disconnect()
            let name = { (word: String) in "porchlight_sessions{connection=\"\(word)\"}" }
            try waitUntil("the phone's connection is lost") {
                try server.call("stats")["sessionsConnected"] == 1
            }
            let lost = try samples(service)
            #expect(lost[name("grace")] == 1)
            service.pass(seconds: 6)
            try waitUntil("only push reaches the phone") {
                try samples(service)[name("push")] == 1
            }
            let later = try samples(service)
            #expect(later[name("connected")] == 1)
            #expect(later[name("grace")] == 0)
            #expect((later["porchlight_closes_total{reason=\"lost\"}"] ?? 0) >= 1)
            _ = try tab.call("ping")
        }
    }

    @Test func `show commits, turns and how late the loop is`() throws {
        try withService { service in
            let alice = try service.login("alice")
            _ = try alice.subscribe(["bob"])
            _ = try alice.call("ping")
            // An hour in no time makes the loop an hour late for what it waited for.
            service.pass(seconds: 3_600)
            let samples = try samples(service)
            #expect((samples["porchlight_store_commit_seconds_count"] ?? 0) >= 1)
            #expect((samples["porchlight_turn_seconds_count"] ?? 0) >= 3)
            #expect((samples["porchlight_turn_seconds_sum"] ?? 0) > 0)
            let lag = samples["porchlight_loop_lag_seconds_bucket{le=\"+Inf\"}"] ?? 0
            #expect(lag - (samples["porchlight_loop_lag_seconds_bucket{le=\"10\"}"] ?? 0) == 1)
            #expect((samples["porchlight_uptime_seconds"] ?? 0) >= 3_600)
            #expect((samples["process_cpu_seconds_total"] ?? 0) > 0)
            #expect((samples["process_resident_memory_bytes"] ?? 0) > 1_000_000)
        }
    }

    @Test(arguments: ["grafana-dashboard.json", "alerts.yml"])
    func `are there for every question that a page asks`(page: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/\(page)"), encoding: .utf8)
        if page.hasSuffix(".json") { _ = try JSON(parsing: Array(text.utf8)) }
        let asked = Set(text.matches(of: /\b(?:porchlight|process)_[a-z_]+\b/).map { $0.output })
        #expect(asked.count > 10)
        try withService { service in
            let names = Set(
                try samples(service).keys.flatMap { sample in
                    let name = String(sample.prefix { $0 != "{" })
                    return [name, name.replacing(/_bucket$/, with: "")]
                })
            // Those of HTTP, webhooks, Web Push and certificates are there where these are: in
            // `Tests/Metrics`.
            let others = /porchlight_(webhook_|push_|http_|gateway_|tls_certificate_valid)/
            let missing = asked.filter {
                !names.contains(String($0)) && !$0.starts(with: others)
            }
            #expect(missing.isEmpty, "docs/\(page)")
        }
    }

    @Test func `are for app servers`() throws {
        try withService { service in
            let alice = try service.login("alice")
            #expect(alice.rejection("metrics") == "403 forbidden")
            let nobody = try service.connect()
            #expect(nobody.rejection("metrics") == "401 not_logged_in")
        }
    }
}
