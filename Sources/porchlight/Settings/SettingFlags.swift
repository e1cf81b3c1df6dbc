import ArgumentParser
import Foundation

/// The common settings as flags; the others are set in the file or the environment.
///
/// A flag is a text here: its help and its allowed values are in the table. `options` and
/// `switches` are compared with what the parser knows by a test.
struct SettingFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read settings from this file, in YAML or JSON. Flags and the environment override it.",
            valueName: "file"))
    var config: String?

    @Option(help: .of("listen")) var listen: String?
    @Option(help: .of("listen-tls")) var listenTls: String?
    @Option(help: .of("tls-certificate")) var tlsCertificate: String?
    @Option(help: .of("tls-key")) var tlsKey: String?
    @Option(help: .of("http")) var http: String?
    @Option(help: .of("http-tls")) var httpTls: String?
    @Option(help: .of("data")) var data: String?
    @Option(help: .of("auth")) var auth: String?
    @Flag(help: .of("passwords")) var passwords = false
    @Flag(help: .of("i-know-this-is-open")) var iKnowThisIsOpen = false
    @Flag(help: .of("i-know-this-is-plain")) var iKnowThisIsPlain = false
    @Option(help: .of("jwt-key")) var jwtKey: String?
    @Option(help: .of("jwt-audience")) var jwtAudience: String?
    @Option(help: .of("jwt-issuer")) var jwtIssuer: String?
    @Option(help: .of("server-key")) var serverKey: String?
    @Option(help: .of("loops")) var loops: String?
    @Option(help: .of("durability")) var durability: String?
    @Option(help: .of("disconnect-grace")) var disconnectGrace: String?
    @Option(help: .of("restart-grace")) var restartGrace: String?
    @Option(help: .of("heartbeat")) var heartbeat: String?
    @Option(help: .of("push-reachable")) var pushReachable: String?
    @Option(help: .of("subscribers-max")) var subscribersMax: String?
    @Option(help: .of("webhook")) var webhook: String?
    @Option(help: .of("webhook-secret")) var webhookSecret: String?
    @Option(help: .of("webhooks")) var webhooks: String?
    @Option(help: .of("xmpp-listen")) var xmppListen: String?
    @Option(help: .of("xmpp-tls-listen")) var xmppTlsListen: String?
    @Option(help: .of("xmpp-domain")) var xmppDomain: String?
    @Flag(help: .of("xmpp-plaintext")) var xmppPlaintext = false
    @Flag(help: .of("xmpp-registration")) var xmppRegistration = false
    @Option(help: .of("rate-limits")) var rateLimits: String?
    @Option(help: .of("log-level")) var logLevel: String?

    private static let options: [(name: String, path: any KeyPath<Self, String?> & Sendable)] = [
        ("listen", \.listen), ("listen-tls", \.listenTls),
        ("tls-certificate", \.tlsCertificate), ("tls-key", \.tlsKey), ("http", \.http),
        ("http-tls", \.httpTls),
        ("data", \.data), ("auth", \.auth),
        ("jwt-key", \.jwtKey), ("jwt-audience", \.jwtAudience), ("jwt-issuer", \.jwtIssuer),
        ("server-key", \.serverKey), ("loops", \.loops),
        ("durability", \.durability), ("disconnect-grace", \.disconnectGrace),
        ("restart-grace", \.restartGrace), ("heartbeat", \.heartbeat),
        ("push-reachable", \.pushReachable), ("subscribers-max", \.subscribersMax),
        ("webhook", \.webhook), ("webhook-secret", \.webhookSecret), ("webhooks", \.webhooks),
        ("xmpp-listen", \.xmppListen), ("xmpp-tls-listen", \.xmppTlsListen),
        ("xmpp-domain", \.xmppDomain),
        ("rate-limits", \.rateLimits), ("log-level", \.logLevel),
    ]

    private static let switches: [(name: String, path: any KeyPath<Self, Bool> & Sendable)] = [
        ("passwords", \.passwords),
        ("i-know-this-is-open", \.iKnowThisIsOpen),
        ("i-know-this-is-plain", \.iKnowThisIsPlain),
        ("xmpp-plaintext", \.xmppPlaintext),
        ("xmpp-registration", \.xmppRegistration),
    ]

    /// The settings that have a flag.
    static var names: [String] { options.map(\.name) + switches.map(\.name) }

    /// The values that were typed, by name of the setting.
    private var given: [String: String] {
        var given: [String: String] = [:]
        for option in Self.options { given[option.name] = self[keyPath: option.path] }
        for option in Self.switches where self[keyPath: option.path] { given[option.name] = "on" }
        return given
    }

    /// Where the settings of this process come from.
    var sources: SettingSources {
        SettingSources(
            flags: given, environment: ProcessInfo.processInfo.environment, path: config)
    }
}

extension ArgumentHelp {
    /// The help of a setting's flag, from the table.
    static func of(_ name: String) -> ArgumentHelp {
        guard let setting = SettingTable.named(name) else {
            preconditionFailure("a flag without a setting")
        }
        return ArgumentHelp(
            setting.helpOfFlag, valueName: setting.kind.valueName)
    }
}

extension Setting {
    /// The sentence of help, with the allowed values and the default.
    fileprivate var helpOfFlag: String {
        var facts: [String] = []
        if case .integer(let range, _) = kind, range.upperBound < 1_000_000 {
            facts.append(expectation)
        }
        if case .choice(let words) = kind, words.count > 4 { facts.append(expectation) }
        let isSwitch = kind == .onOff && standard == .isOn(false)
        if !isSwitch { facts.append("default: \(text(of: standard))") }
        return facts.isEmpty ? help : "\(help) (\(facts.joined(separator: "; ")))"
    }
}

/// Runs a verb; prints faults of its settings one per line, with exit code 64.
func refuse<T>(_ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let refusal as SettingsError {
        for fault in refusal.faults {
            note("Error: \(fault)")
        }
        throw ExitCode.validationFailure
    }
}
