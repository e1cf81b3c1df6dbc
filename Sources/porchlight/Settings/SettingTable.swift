// The table of settings. Each can be set in the settings file, by an environment variable and,
// for the common ones, by a flag.
//
// No value within a range breaks an invariant: names fit the tables that hold them (255 bytes),
// counts fit their integers, and lists fit into one turn of the loop. Rules between settings are
// in `SettingRules.swift`.
//
// A new setting is a line here, with the path to a field of `LiveSettings`, all of which a reload
// replaces, or of `StartupSettings`. Its value there is the default. A common one gets a flag: a
// line in `SettingFlags.swift`. The tests say what is missing;
// `porchlight config --example > packaging/porchlight.yml` writes the example.

import Containers
import PresenceCore
import PresenceServer
import PresenceWire

/// Settings that belong together.
struct SettingGroup: Sendable {
    let title: String
    let settings: [Setting]
}

/// All settings.
enum SettingTable {
    typealias Startup = StartupSettings
    typealias Live = LiveSettings

    static let groups = [
        serving, presence, messages, devices, pace, connections, names, requests, expiry, frames,
        feed, webhooks, push, xmpp,
    ]

    static let all = groups.flatMap(\.settings)

    private static let byName = Dictionary(
        uniqueKeysWithValues: all.map { (ExactText($0.name), $0) })

    /// The setting with this name.
    static func named(_ name: String) -> Setting? { byName[ExactText(name)] }

    private static let serving = SettingGroup(
        title: "The service",
        settings: [
            .text(
                "listen", \Startup.listen, .address,
                "The address that clients connect to, with a port; port 0 is any free one."),
            .text(
                "listen-tls", \Startup.tls.listen, .address, unset: "none",
                "The address that clients connect to over TLS, with a port."),
            // The files are read again.
            .text(
                "tls-certificate", \Startup.tls.certificatePaths, .path, unset: "none",
                "A PEM file with the certificate of the service and its chain, read again on "
                    + "SIGHUP; several with commas between them, chosen by the name that a client "
                    + "asks for."),
            .text(
                "tls-key", \Startup.tls.keyPaths, .path, unset: "none",
                "A PEM file with the private key, read again on SIGHUP; several in the order of "
                    + "tls-certificate."),
            .choice("tls-min", \Startup.tls.minimum, "The oldest version of TLS that is accepted."),
            .text(
                "http", \Startup.http, .address, unset: "none",
                "The address of the HTTP API for app servers, with a port."),
            .text(
                "http-tls", \Startup.tls.http, .address, unset: "none",
                "The address of the HTTP API over TLS, with a port; instead of http, or besides."),
            .onOff(
                "console", \Startup.servesConsole,
                "The console, a page for operators at /console/ of the HTTP API."),
            .text("data", \Startup.dataDirectory, .path, "The directory of the database."),
            .choice(
                "auth", \Startup.auth,
                "Authentication. open: any client as any account; jwt: accounts by token; "
                    + "password: accounts by password; app servers by server key."),
            .onOff(
                "passwords", \Startup.takesPasswords,
                "With --auth jwt, accept passwords of accounts besides tokens."),
            .text(
                "jwt-key", \Startup.tokenKeyPlace, .text, unset: "none",
                "The keys that tokens are checked with: a file with public keys in PEM, a JWK set "
                    + "or a secret, read again on SIGHUP, or the https URL of a JWK set."),
            .text(
                "jwt-audience", \Startup.tokenAudience, .text, unset: "none",
                "The audience that tokens must name; with none, tokens must not have any."),
            .text(
                "jwt-issuer", \Startup.tokenIssuer, .text, unset: "any",
                "The issuer that tokens must name."),
            .onOff(
                "i-know-this-is-open", \Startup.isKnownToBeOpen,
                "Allow --auth open on an address that other machines can reach."),
            .onOff(
                "i-know-this-is-plain", \Startup.isKnownToBePlain,
                "Allow --auth jwt and password without TLS on an address that other machines can "
                    + "reach."),
            // The file is read again. Whether there is one decides at startup who may use HTTP.
            .text(
                "server-key", \Startup.serverKeyPath, .path, unset: "none",
                "A file with the keys of app servers, a line each, as `porchlight key` prints; "
                    + "read again on SIGHUP."),
            .text(
                "websocket-origins", \Live.webSocketOrigins, .text, unset: "auto",
                "Origins of the web pages that may connect, separated by commas. auto: with "
                    + "--auth open those of this machine, otherwise all."),
            .count(
                "loops", \Startup.loops, 1...Configuration.loopsMax, .things, unset: "auto",
                "Connection loops; with two or more, each has a thread, and so has the engine. "
                    + "auto: one for each processor, at most 8."),
            .count(
                "watchdog-seconds", \Startup.watchdogSeconds, 0...3_600, .seconds,
                "The process ends if one of its loops ends no turn for this time, for a "
                    + "supervisor to restart it; 0: it does not."),
            .choice(
                "durability", \Startup.durability,
                "When a change is durable. full: it survives a power loss; relaxed: a crash."),
            .choice(
                "log-level", \Live.logLevel, "The lowest level that is logged on standard error."),
            .choice(
                "log-format", \Live.logFormat,
                "The lines of the log. text: for people; json: one JSON object each."),
        ])

    private static let presence = SettingGroup(
        title: "Presence",
        settings: [
            .count(
                "disconnect-grace", \Live.engine.disconnectGraceSeconds, 0...300, .seconds,
                "Time between the loss of a connection and the disconnect event."),
            .count(
                "restart-grace", \Startup.restartGraceSeconds, 0...600, .seconds,
                "Time that sessions wait for their devices after a restart."),
            // Announced at login.
            .count(
                "heartbeat", \Startup.heartbeatSeconds, 5...300, .seconds,
                "Time within which a client must send a frame."),
            .choice(
                "push-reachable", \Live.engine.pushReachable,
                "The state of a push-reachable device that has lost its connection."),
            .count(
                "push-reachable-time", \Live.engine.pushReachableSeconds, 60...31_536_000, .seconds,
                "Time that a push-reachable device stays online without a connection."),
            .choice(
                "visibility", \Startup.visibility, word: { $0.word.description },
                "The subscribers that see an account that has not set its visibility: all, those "
                    + "that it has accepted, or none."),
            .count(
                "subscribers-max", \Live.engine.subscribersPerPublisherMax, 1...1_000_000_000,
                .things,
                unset: "unlimited", "Subscribers of one publisher and type."),
        ])

    private static let pace = SettingGroup(
        title: "Rates",
        settings: [
            .onOff("rate-limits", \Live.areRatesLimited, "Rate limits; off is for load tests."),
            .count(
                "requests-per-second", \Live.admission.requestPace.ratePerSecond, 1...100_000,
                .perSecond, "Requests of one client; above, it is read from more slowly."),
            .count(
                "requests-burst", \Live.admission.requestPace.burstMax, 1...1_000_000, .things,
                "Requests of one client in a burst."),
            .count(
                "app-server-requests-per-second",
                \Live.admission.appServerRequestPace.ratePerSecond, 1...100_000, .perSecond,
                "Requests of one app server; above, it is read from more slowly."),
            .count(
                "app-server-requests-burst", \Live.admission.appServerRequestPace.burstMax,
                1...1_000_000, .things, "Requests of one app server in a burst."),
            .count(
                "publishes-per-second", \Live.engine.publishPace.ratePerSecond, 1...100_000,
                .perSecond, "Publishes and clears of one account; above, error 416."),
            .count(
                "publishes-burst", \Live.engine.publishPace.burstMax, 1...1_000_000, .things,
                "Publishes and clears of one account in a burst."),
            .count(
                "account-logins-per-second", \Live.engine.loginPace.ratePerSecond, 1...100_000,
                .perSecond, "Logins of one account's devices; above, error 416."),
            .count(
                "account-logins-burst", \Live.engine.loginPace.burstMax, 1...1_000_000, .things,
                "Logins of one account's devices in a burst."),
            .count(
                "logins-per-second", \Live.admission.loginPace.ratePerSecond, 1...100_000,
                .perSecond, "Logins of all clients; above, close code 4504 with a time to retry."),
            .count(
                "logins-burst", \Live.admission.loginPace.burstMax, 1...1_000_000, .things,
                "Logins of all clients in a burst."),
            .count(
                "failed-logins-per-second", \Live.admission.failedLoginPace.ratePerSecond,
                1...100_000, .perSecond,
                "Failed logins per address; beyond, tokens are verified while few others wait."),
            .count(
                "failed-logins-burst", \Live.admission.failedLoginPace.burstMax, 1...1_000_000,
                .things, "Failed logins per address in a burst."),
        ])
}
