// Where settings come from, and which of them are in force: file < environment < flags.
//
// Every source is checked completely, even where another overrides it: an invalid line in the file
// that a flag hides would otherwise be found at the worst time. All errors are reported at once:
// those of the file in the order of its lines, then the environment, then flags.

import CommandSupport
import PresenceClient

/// The settings that are given, by source.
struct SettingSources: Sendable {
    /// What was typed, by name of the setting.
    var flags: [String: String] = [:]
    var environment: [String: String] = [:]
    /// The settings file, if there is one.
    var path: String?

    /// The sources of this process. The file is named by a flag or by PORCHLIGHT_CONFIG.
    init(flags: [String: String], environment: [String: String], path: String?) {
        self.flags = flags
        self.environment = environment
        self.path = path ?? environment[Self.pathVariable]
    }

    /// The environment variable that names the settings file.
    static let pathVariable = "PORCHLIGHT_CONFIG"

    /// Reads everything and returns the settings in force. A source overrides those before it.
    ///
    /// - Throws: every error, each with its place and what would be right.
    func read(_ occasion: ReadOccasion = .startup) throws(SettingsError) -> SettingsInForce {
        var reading = SettingsReading()
        if let path { try SettingsFile(path: path, occasion).read(into: &reading) }
        unknownVariables.forEach { reading.reject($0) }
        for setting in SettingTable.all {
            guard let text = environment[setting.variable] else { continue }
            reading.take(setting, text, from: .variable(setting.variable))
        }
        for setting in SettingTable.all {
            guard let text = flags[setting.name] else { continue }
            reading.take(setting, text, from: .flag(setting.flag))
        }
        guard reading.messages.isEmpty else { throw SettingsError(reading.messages) }
        return try reading.inForce.checked()
    }

    private var unknownVariables: [String] {
        let variables = SettingTable.all.map(\.variable) + [Self.pathVariable]
        return environment.keys.sorted()
            .filter { $0.hasPrefix("PORCHLIGHT_") && !variables.contains($0) }
            .filter { !Self.isOfOthers($0) }
            .map {
                "\(cut($0)) is set in the environment and is not a setting"
                    + suggestion(for: $0, among: variables)
            }
    }

    /// Variables with our prefix that are not settings: `PORCHLIGHT_TOKEN` is for the verbs that
    /// log in, `PORCHLIGHT_BIN` is the binary that the test scripts run, and Kubernetes sets
    /// variables such as `PORCHLIGHT_SERVICE_HOST` and `PORCHLIGHT_PORT_7400_TCP` in every
    /// container, for a service of that name.
    private static func isOfOthers(_ variable: String) -> Bool {
        let ofKubernetes = #/PORCHLIGHT(_[A-Z0-9_]+)?_(SERVICE_(HOST|PORT.*)|PORT(_[0-9]+_.*)?)/#
        return ["PORCHLIGHT_TOKEN", "PORCHLIGHT_BIN"].contains(variable)
            || variable.wholeMatch(of: ofKubernetes) != nil
    }
}

/// What has been read from the sources so far.
struct SettingsReading {
    private(set) var inForce = SettingsInForce()
    private(set) var messages: [String] = []

    /// Puts a value into force, or notes why it is invalid.
    mutating func take(_ setting: Setting, _ text: String, from origin: SettingsInForce.Origin) {
        do throws(Setting.ValueError) {
            inForce.entries[setting.name] = SettingsInForce.Entry(
                value: try setting.value(of: text), origin: origin)
        } catch {
            let shown = setting.isSecret ? "(hidden)" : cut(text)
            reject("\(origin.label(of: setting))\(shown) \(error.reason): give \(error.remedy).")
        }
    }

    /// Notes an error.
    mutating func reject(_ message: String) {
        messages.append(message)
    }
}

extension SettingsInForce.Origin {
    /// What comes before the value where it is written.
    fileprivate func label(of setting: Setting) -> String {
        switch self {
        case .standard: "\(setting.name) "
        case .file(let place): "\(place): \(setting.name) "
        case .variable(let name): "\(name)="
        case .flag(let name): "\(name) "
        }
    }
}
