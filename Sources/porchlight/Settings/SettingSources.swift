// Where settings come from, and which of them are in force: file < environment < flags.
//
// Every source is checked whole, also where another one overrides it: a wrong line in the file is
// refused even if a flag hides it, since it would surface at the worst time. All faults are
// reported at once: those of the file in the order of its lines, then the environment, then flags.

import Configuration
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

    /// Reads everything and returns the settings in force.
    ///
    /// - Throws: every fault, each with its place and what would be right.
    func read() throws(SettingsRefusal) -> SettingsInForce {
        let file: SettingsFile? = if let path { try SettingsFile(path: path) } else { nil }
        var inForce = SettingsInForce()
        var inFile = file.map(unknownNames) ?? []
        inFile += take(fromFile(file), into: &inForce).map { name, fault in
            (file?.lines[name] ?? 0, fault)
        }
        var faults = inFile.sorted { $0.line < $1.line }.map(\.fault)
        faults += unknownVariables
        for source in [fromEnvironment, fromFlags] {
            faults += take(source, into: &inForce).map(\.fault)
        }
        guard faults.isEmpty else { throw SettingsRefusal(faults) }
        return try inForce.checked()
    }

    /// Adds the settings of a source; returns the faults, each with the setting's name.
    private func take(
        _ source: Source, into inForce: inout SettingsInForce
    ) -> [(name: String, fault: String)] {
        var faults: [(name: String, fault: String)] = []
        for setting in SettingTable.all {
            do throws(SettingsRefusal) {
                guard let entry = try source(setting) else { continue }
                inForce.entries[setting.name] = entry
            } catch {
                faults += error.faults.map { (setting.name, $0) }
            }
        }
        return faults
    }

    private typealias Source =
        (Setting) throws(SettingsRefusal) -> SettingsInForce.Entry?

    private func fromFile(_ file: SettingsFile?) -> Source {
        { (setting) throws(SettingsRefusal) in
            guard let file, let value = try file.value(of: setting) else { return nil }
            return SettingsInForce.Entry(value: value, origin: .file(file.place(of: setting.name)))
        }
    }

    private var fromEnvironment: Source {
        let provider = EnvironmentVariablesProvider(environmentVariables: environment)
        return { (setting) throws(SettingsRefusal) in
            let key = AbsoluteConfigKey(["porchlight", setting.name])
            let lookup = try? provider.value(forKey: key, type: .string)
            guard case .string(let text)? = lookup?.value?.content else { return nil }
            return try entry(
                setting, text, .variable(setting.variable), as: "\(setting.variable)=")
        }
    }

    private var fromFlags: Source {
        let provider = InMemoryProvider(
            values: Dictionary(
                uniqueKeysWithValues: flags.map {
                    (AbsoluteConfigKey([$0]), ConfigValue(.string($1), isSecret: false))
                }))
        return { (setting) throws(SettingsRefusal) in
            let lookup = try? provider.value(
                forKey: AbsoluteConfigKey([setting.name]), type: .string)
            guard case .string(let text)? = lookup?.value?.content else { return nil }
            return try entry(setting, text, .flag(setting.flag), as: "\(setting.flag) ")
        }
    }

    private func entry(
        _ setting: Setting, _ text: String, _ origin: SettingsInForce.Origin, as label: String
    ) throws(SettingsRefusal) -> SettingsInForce.Entry {
        do throws(Setting.Mismatch) {
            return SettingsInForce.Entry(value: try setting.value(of: text), origin: origin)
        } catch {
            let shown = setting.isSecret ? "(hidden)" : cut(text)
            throw SettingsRefusal("\(label)\(shown) \(error.fault): give \(error.remedy).")
        }
    }

    // MARK: Unknown names

    private func unknownNames(in file: SettingsFile) -> [(line: Int, fault: String)] {
        file.lines.filter { SettingTable.named($0.key) == nil }.map { name, line in
            let fault =
                "\(file.path):\(line): there is no setting \(cut(name))"
                + suggestion(for: name, among: SettingTable.all.map(\.name))
            return (line, fault)
        }
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
    /// log in, `PORCHLIGHT_BIN` tells our test scripts which binary to run, and Kubernetes sets
    /// variables such as `PORCHLIGHT_SERVICE_HOST` and `PORCHLIGHT_PORT_7400_TCP` in every
    /// container, for a service of that name.
    private static func isOfOthers(_ variable: String) -> Bool {
        let ofKubernetes = #/PORCHLIGHT(_[A-Z0-9_]+)?_(SERVICE_(HOST|PORT.*)|PORT(_[0-9]+_.*)?)/#
        return ["PORCHLIGHT_TOKEN", "PORCHLIGHT_BIN"].contains(variable)
            || variable.wholeMatch(of: ofKubernetes) != nil
    }
}

/// The end of a sentence about an unknown name: the nearest known one, or where to find them.
func suggestion(
    for name: String, among known: [String],
    otherwise: String = "`porchlight config` lists them all"
) -> String {
    let nearest = known.min { distance(name, $0) < distance(name, $1) }
    guard let nearest, distance(name, nearest) <= max(2, name.count / 4) else {
        return ": \(otherwise)."
    }
    return ": did you mean \(nearest)?"
}

/// The edit distance: insertions, deletions and substitutions of letters.
private func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.lowercased().prefix(64)), Array(b.lowercased().prefix(64)))
    var row = Array(0...b.count)
    for i in a.indices {
        var diagonal = row[0]
        row[0] = i + 1
        for j in b.indices {
            let changed = diagonal + (a[i] == b[j] ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(changed, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[b.count]
}

/// A text from outside, escaped, and cut to what fits into one line of an error.
func cut(_ text: String) -> String {
    visible(text.count > 60 ? text.prefix(60) + "…" : text)
}
