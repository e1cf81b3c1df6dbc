import ArgumentParser
import CommandSupport
import Foundation

/// The settings file.
struct SettingsFileOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "Read settings from this file, in YAML or JSON. Flags and the environment override it.",
            valueName: "file"))
    var path: String?
}

/// The common settings as flags; the others are set in the file or the environment.
///
/// A flag is a text here: its help and its allowed values are in the table. A property has the name
/// of its flag, as the parser requires; a test compares the flags with the table.
struct SettingFlags: ParsableArguments {
    @OptionGroup(title: "Service") private var service: ServiceFlags
    @OptionGroup(title: "Accounts and app servers") private var access: AccessFlags
    @OptionGroup(title: "TLS") private var tls: TLSFlags
    @OptionGroup(title: "Presence") private var presence: PresenceFlags
    @OptionGroup(title: "Webhooks") private var webhooks: WebhookFlags
    @OptionGroup(title: "Web Push") private var push: PushFlags
    @OptionGroup(title: "XMPP clients") private var xmpp: XMPPFlags

    /// The values that were typed, by name of the setting.
    var given: [String: String] {
        let groups: [any ParsableArguments] = [
            service, access, tls, presence, webhooks, push, xmpp,
        ]
        var given: [String: String] = [:]
        for (label, flag) in groups.flatMap({ Mirror(reflecting: $0).children }) {
            // Of a property with a wrapper: `_logLevel` for `log-level`.
            let name = String(label?.dropFirst() ?? "")
                .replacing(#/[A-Z]/#) { "-" + $0.output.lowercased() }
            if let option = flag as? Option<String?> { given[name] = option.wrappedValue }
            if let flag = flag as? Flag<Bool>, flag.wrappedValue { given[name] = "on" }
        }
        return given
    }

    /// Where the settings of this process come from.
    func sources(_ file: SettingsFileOption) -> SettingSources {
        SettingSources(
            flags: given, environment: ProcessInfo.processInfo.environment, path: file.path)
    }
}

private struct ServiceFlags: ParsableArguments {
    @Option(help: .of("listen")) var listen: String?
    @Option(help: .of("http")) var http: String?
    @Option(help: .of("console")) var console: String?
    @Option(help: .of("data")) var data: String?
    @Option(help: .of("durability")) var durability: String?
    @Option(help: .of("loops")) var loops: String?
    @Option(help: .of("rate-limits")) var rateLimits: String?
    @Option(help: .of("log-level")) var logLevel: String?
    @Option(help: .of("log-format")) var logFormat: String?
}

private struct AccessFlags: ParsableArguments {
    @Option(help: .of("auth")) var auth: String?
    @Flag(help: .of("passwords")) var passwords = false
    @Option(help: .of("jwt-key")) var jwtKey: String?
    @Option(help: .of("jwt-audience")) var jwtAudience: String?
    @Option(help: .of("jwt-issuer")) var jwtIssuer: String?
    @Option(help: .of("server-key")) var serverKey: String?
    @Flag(help: .of("i-know-this-is-open")) var iKnowThisIsOpen = false
    @Flag(help: .of("i-know-this-is-plain")) var iKnowThisIsPlain = false
}

private struct TLSFlags: ParsableArguments {
    @Option(help: .of("listen-tls")) var listenTls: String?
    @Option(help: .of("http-tls")) var httpTls: String?
    @Option(help: .of("tls-certificate")) var tlsCertificate: String?
    @Option(help: .of("tls-key")) var tlsKey: String?
}

private struct PresenceFlags: ParsableArguments {
    @Option(help: .of("heartbeat")) var heartbeat: String?
    @Option(help: .of("disconnect-grace")) var disconnectGrace: String?
    @Option(help: .of("restart-grace")) var restartGrace: String?
    @Option(help: .of("push-reachable")) var pushReachable: String?
    @Option(help: .of("subscribers-max")) var subscribersMax: String?
}

private struct WebhookFlags: ParsableArguments {
    @Option(help: .of("webhook")) var webhook: String?
    @Option(help: .of("webhook-secret")) var webhookSecret: String?
    @Option(help: .of("webhooks")) var webhooks: String?
}

private struct PushFlags: ParsableArguments {
    @Option(help: .of("push-key")) var pushKey: String?
    @Option(help: .of("push-subject")) var pushSubject: String?
    @Option(help: .of("push-hosts")) var pushHosts: String?
}

private struct XMPPFlags: ParsableArguments {
    @Option(help: .of("xmpp-listen")) var xmppListen: String?
    @Option(help: .of("xmpp-tls-listen")) var xmppTlsListen: String?
    @Option(help: .of("xmpp-domain")) var xmppDomain: String?
    @Flag(help: .of("xmpp-plaintext")) var xmppPlaintext = false
    @Flag(help: .of("xmpp-registration")) var xmppRegistration = false
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

/// Runs a verb; prints errors of its settings one per line, with exit code 64.
func reject<T>(_ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let rejection as SettingsError {
        rejection.messages.forEach(AdjustableLog.announce(error:))
        throw ExitCode.validationFailure
    }
}
