/// The settings in force, and where each value comes from.
struct SettingsInForce: Sendable {
    /// The settings that are set; for the rest the table's default is in force.
    var entries: [String: Entry] = [:]

    struct Entry: Hashable, Sendable {
        var value: Setting.Value
        var origin: Origin
    }

    /// Where a value comes from.
    enum Origin: Hashable, Sendable {
        case standard
        /// With its line.
        case file(String)
        case variable(String)
        case flag(String)

        /// For people.
        var text: String {
            switch self {
            case .standard: "default"
            case .file(let place): place
            case .variable(let name): "environment \(name)"
            case .flag(let name): "flag \(name)"
            }
        }

        /// For programs.
        var word: String {
            switch self {
            case .standard: "default"
            case .file: "file"
            case .variable: "environment"
            case .flag: "flag"
            }
        }
    }

    func value(of setting: Setting) -> Setting.Value? {
        let value = entries[setting.name]?.value ?? setting.standard
        return value == .nothing ? nil : value
    }

    func origin(of setting: Setting) -> Origin { entries[setting.name]?.origin ?? .standard }

    /// The settings with every value stored where it belongs.
    var settings: ServiceSettings {
        var settings = ServiceSettings()
        settings.places.origins = entries.mapValues(\.origin)
        for setting in SettingTable.all {
            if let value = entries[setting.name]?.value { setting.put(value, &settings) }
        }
        return settings
    }

    /// The same, if every rule holds.
    func checked() throws(SettingsError) -> SettingsInForce {
        let settings = settings
        let messages = SettingRule.all.filter { !$0.holds(settings) }.map { rule in
            "\(rule.remedy). In force: \(shown(of: rule))."
        }
        guard messages.isEmpty else { throw SettingsError(messages) }
        return self
    }

    /// The settings that a rejection shows, with their values and where these come from.
    private func shown(of rule: SettingRule) -> String {
        let settings = rule.names.compactMap(SettingTable.named)
        let given = settings.filter { origin(of: $0) != .standard }
        return (rule.shown == .all || given.isEmpty ? settings : given).map { setting in
            "\(setting.name) \(setting.text(of: value(of: setting)))"
                + " (\(origin(of: setting).text))"
        }.joined(separator: ", ")
    }
}
