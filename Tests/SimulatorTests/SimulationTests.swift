import Foundation
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `The service in a bad world` {
    static func run(_ simulation: Simulation, steps: Int) {
        for step in 1...steps {
            simulation.step()
            if step % 250 == 0 { simulation.quiet() }
            if !simulation.violations.isEmpty { return }
        }
    }

    @Test(arguments: 1...60)
    func `stays true`(seed: Int) {
        print("simulation seed \(seed)")
        let simulation = Simulation(seed: UInt64(seed))
        Self.run(simulation, steps: 1_500)
        #expect(simulation.violations.isEmpty, "\(simulation.violations)")
    }

    /// The same over links that hold back what goes in both directions.
    @Test(arguments: 1...60)
    func `stays true with loops apart from the engine`(seed: Int) {
        let loopCount = 1 + seed % 4
        print("simulation seed \(seed), \(loopCount) loops")
        let simulation = Simulation(seed: UInt64(seed), loopCount: loopCount)
        Self.run(simulation, steps: 1_500)
        #expect(simulation.violations.isEmpty, "\(simulation.violations)")
    }

    /// A simulation that meets none of this would not show that it is right.
    @Test func `meets every limit and every end of a connection`() {
        var met: [String: Int] = [:]
        for seed in 1...60 {
            let simulation = Simulation(seed: UInt64(seed))
            Self.run(simulation, steps: 3_000)
            for peer in simulation.peers { met.merge(peer.met, uniquingKeysWith: +) }
            met["throttled", default: 0] += simulation.service.throttleCount
            met["fell behind", default: 0] +=
                simulation.service.hub.host.engine.tallies.sessionsConflated
        }
        print("met: \(met.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        for what in [
            "login", "refresh", "setPassword", "removePassword", "right password", "wrong password",
            "invalid_password", "subscribe", "publish", "feed", "throttled", "fell behind",
            "rate_limited", "subscriber_quota", "subscription_quota", "session_quota",
            "relate", "contacts", "setVisibility", "setAvailability", "contact", "hidden", "shown",
            "expired", "unsubscribed", "send", "take", "discard", "discard by sender", "messages",
            "inbox_full",
            "sender_quota",
            "not_permitted", "contact_quota", "request_quota", "unknown_contact",
            "store_unavailable", "overloaded", "invalid_token", "expired_token", "forbidden",
            "close token_expired", "close overloaded", "close idle_timeout",
            "close login_timeout", "close too_slow",
            "bind", "roster", "push", "presence", "unavailable",
            "told subscribe", "told subscribed", "told unsubscribe", "told unsubscribed",
            "relayed", "relay answered", "pinged", "message service-unavailable",
            "iq service-unavailable", "iq item-not-found", "iq bad-request",
            "presence bad-request", "presence policy-violation", "presence resource-constraint",
            "directed to account", "directed to device", "directed quota", "withdrawn",
            "end of a stranger", "delivery expected",
            "farewell expected",
            "wrote", "message for its device", "message for another device",
            "message while its priority is negative",
            "undelivered from the start", "resumed", "told absent", "told untaken",
            "setDevice something", "setDevice nothing", "nothing_set", "invalid_alias",
            "alias_too_long", "too_many_tags", "invalid_tag", "tag_too_long", "labels_too_long",
            "too_long",
            "right password by PLAIN", "wrong password by PLAIN",
            "right password by SCRAM-SHA-1", "wrong password by SCRAM-SHA-1",
            "right password by SCRAM-SHA-256", "wrong password by SCRAM-SHA-256", "SASL aborted",
            "register done", "register conflict", "register not-allowed",
            "changed own password", "own password not-allowed",
            "SASL not-authorized", "SASL credentials-expired", "SASL temporary-auth-failure",
            "stream error conflict", "stream error connection-timeout",
            "stream error not-well-formed", "stream error policy-violation",
            "stream error reset", "stream error resource-constraint",
            "stream error restricted-xml",
        ] {
            #expect(met[what, default: 0] > 0, "\(what)")
        }
    }

    /// `SIMULATE_COMMANDS=1000000 swift test --filter 'commands that are asked for'`: so many over
    /// the inline link, and beside them so many over delaying links with three loops.
    @Test(
        .enabled(if: ProcessInfo.processInfo.environment["SIMULATE_COMMANDS"] != nil),
        arguments: [nil, 3] as [Int?])
    func `stays true over the commands that are asked for`(loopCount: Int?) throws {
        let link = loopCount.map { "\($0) loops" } ?? "inline"
        let wanted = Int(ProcessInfo.processInfo.environment["SIMULATE_COMMANDS"] ?? "") ?? 0
        var commands = 0
        var shown = 0
        var seed = UInt64(ProcessInfo.processInfo.environment["SIMULATE_SEED"] ?? "") ?? 10_000
        let firstSeed = seed
        while commands < wanted {
            let simulation = Simulation(seed: seed, loopCount: loopCount)
            Self.run(simulation, steps: 5_000)
            try #require(simulation.violations.isEmpty, "\(simulation.violations)")
            commands += simulation.commandCount
            seed += 1
            guard commands / 10_000 > shown else { continue }
            shown = commands / 10_000
            // scripts/steps shows the newest of these lines while the test runs.
            print("\(min(commands, wanted)) of \(wanted) commands, \(link)")
            fflush(nil)
        }
        print("\(commands) commands, \(link), seeds \(firstSeed) to \(seed - 1)")
    }

    @Test func `is found out when it lies`() {
        let found = (1...40).contains { seed in
            let simulation = Simulation(
                seed: UInt64(seed), canary: .acknowledgesWhatItForgets)
            Self.run(simulation, steps: 3_000)
            return simulation.violations.contains { $0.contains("lost") }
        }
        #expect(found, "a disk that forgets what it has acknowledged goes unnoticed")
    }

    /// `make simulate SEED=… HOURS=…`
    @Test(.enabled(if: ProcessInfo.processInfo.environment["SIMULATE_HOURS"] != nil))
    func `stays true for as long as is asked`() throws {
        let environment = ProcessInfo.processInfo.environment
        var seed = UInt64(environment["SIMULATE_SEED"] ?? "") ?? UInt64.random(in: 1...1 << 32)
        let hours = Double(environment["SIMULATE_HOURS"] ?? "") ?? 1
        let end = Date().addingTimeInterval(hours * 3_600)
        var commands = 0
        repeat {
            print("simulation seed \(seed)")
            let simulation = Simulation(seed: seed)
            Self.run(simulation, steps: 5_000)
            commands += simulation.commandCount
            try #require(simulation.violations.isEmpty, "\(simulation.violations)")
            seed += 1
        } while Date() < end
        print("\(commands) commands")
    }
}
