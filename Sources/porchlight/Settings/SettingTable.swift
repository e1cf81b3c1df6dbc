// The table of settings. What is not in it cannot be set; what is, can be set in the settings
// file, by an environment variable and, for the common ones, by a flag.
//
// The ranges are such that no value breaks an invariant: names fit the tables that hold them
// (255 bytes), counts the integers that count them, and lists what one turn of the loop can do.
// What only holds between two settings stands in `SettingRules.swift`.
//
// A new setting is a line here, with the path to a field of `ServiceSettings`, whose value there
// is the default. One that deserves a flag gets two lines in `SettingFlags.swift`; the tests say
// what is missing, and `porchlight config --example > packaging/porchlight.yml` does the rest.

import PresenceCore
import PresenceServer

/// Settings that belong together.
struct SettingGroup: Sendable {
    let title: String
    let settings: [Setting]
}

/// All settings.
enum SettingTable {
    static let groups = [
        serving, presence, pace, connections, names, requests, expiry, frames, feed, webhooks,
    ]

    static let all = groups.flatMap(\.settings)

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The setting with this name.
    static func named(_ name: String) -> Setting? { byName[name] }

    private static let serving = SettingGroup(
        title: "The service",
        settings: [
            .text(
                "listen", \.listen, .address,
                "Where clients connect: a numeric address or localhost, and a port; port 0 is any.",
                takesEffect: .atRestart),
            .text(
                "http", \.http, .address, unset: "nowhere",
                "Where app servers connect by HTTP: a numeric address or localhost, and a port.",
                takesEffect: .atRestart),
            .text(
                "data", \.configuration.dataDirectory, .path, "The folder with the database.",
                takesEffect: .atRestart),
            .choice(
                "auth", \.auth,
                "Who may log in. open: everybody, as anybody; jwt: who shows a token or a key.",
                takesEffect: .atRestart),
            .text(
                "jwt-key", \.tokenKeyPlace, .text, unset: "none",
                "What tokens are checked with: a file with public keys in PEM, a JWK set or a "
                    + "secret, which is read again on SIGHUP, or the https URL of a JWK set.",
                takesEffect: .atRestart),
            .text(
                "jwt-audience", \.tokenAudience, .text, unset: "none",
                "What the aud of a token must name; without this, a token must have none.",
                takesEffect: .atRestart),
            .text(
                "jwt-issuer", \.tokenIssuer, .text, unset: "any",
                "What the iss of a token must be.", takesEffect: .atRestart),
            .onlyIfSaid(
                "i-know-this-is-open", \.isKnownToBeOpen,
                "Let everybody log in as anybody from other machines, too.",
                takesEffect: .atRestart),
            // The file is read again. Whether there is one decides who may use HTTP, at the start.
            .text(
                "server-key", \.serverKeyPath, .path, unset: "none",
                "A file with keys for app servers, a line each, as `porchlight key` makes them.",
                takesEffect: .atRestart),
            .choice(
                "durability", \.configuration.durability.word,
                "When a change counts as kept. full: it survives a loss of power.",
                takesEffect: .atRestart),
            .choice("log-level", \.logLevel, "What the log on standard error holds at least."),
        ])

    private static let presence = SettingGroup(
        title: "Presence",
        settings: [
            .count(
                "disconnect-grace", \.configuration.engine.disconnectGraceSeconds, 0...300,
                .seconds, "Time between a lost connection and its event."),
            .count(
                "restart-grace", \.configuration.engine.restartGraceSeconds, 0...600, .seconds,
                "Time for which sessions wait for their devices after a start.",
                takesEffect: .atRestart),
            // Who has logged in has been told which one is in force.
            .count(
                "heartbeat", \.configuration.engine.heartbeatSeconds, 5...300, .seconds,
                "Time within which a client must send something.", takesEffect: .atRestart),
            .choice(
                "push-reachable", \.configuration.engine.pushReachable,
                "What a push-reachable device is when its connection is lost."),
            .count(
                "push-reachable-time", \.configuration.engine.pushReachableSeconds,
                60...31_536_000, .seconds,
                "How long a push-reachable device stays online without being heard."),
            .count(
                "subscribers-max", \.configuration.engine.subscribersPerPublisherMax,
                1...1_000_000_000, .things, unset: "any number",
                "How many subscribers a publisher may have for one type."),
        ])

    private static let pace = SettingGroup(
        title: "Pace",
        settings: [
            .choice("rate-limits", \.rateLimits, "Limits on pace; off is for load tests."),
            .count(
                "requests-per-second", \.configuration.admission.requestPace.ratePerSecond,
                1...100_000, .perSecond,
                "Requests of a client; beyond, it is read from more slowly."),
            .count(
                "requests-burst", \.configuration.admission.requestPace.burstMax, 1...1_000_000,
                .things, "Requests of a client at once, after a pause."),
            .count(
                "app-server-requests-per-second",
                \.configuration.admission.appServerRequestPace.ratePerSecond, 1...100_000,
                .perSecond, "The same for an app server."),
            .count(
                "app-server-requests-burst",
                \.configuration.admission.appServerRequestPace.burstMax, 1...1_000_000, .things,
                "The same for an app server."),
            .count(
                "publishes-per-second", \.configuration.engine.publishPace.ratePerSecond,
                1...100_000, .perSecond, "Publishes and clears of an account; beyond, 416."),
            .count(
                "publishes-burst", \.configuration.engine.publishPace.burstMax, 1...1_000_000,
                .things, "Publishes and clears of an account at once, after a pause."),
            .count(
                "account-logins-per-second", \.configuration.engine.loginPace.ratePerSecond,
                1...100_000, .perSecond, "Logins of one account's devices; beyond, 416."),
            .count(
                "account-logins-burst", \.configuration.engine.loginPace.burstMax,
                1...1_000_000, .things, "Logins of one account's devices at once, after a pause."),
            .count(
                "logins-per-second", \.configuration.admission.loginPace.ratePerSecond,
                1...100_000, .perSecond,
                "Logins in all; beyond, 4504 with a time to come back."),
            .count(
                "logins-burst", \.configuration.admission.loginPace.burstMax, 1...1_000_000,
                .things, "Logins in all at once, after a pause."),
        ])
}
