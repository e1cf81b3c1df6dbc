import ArgumentParser
import CommandSupport
import Foundation
import PresenceClient
import PresenceWebhooks

struct ConfigVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print the settings in force, and where each comes from.",
        usage: "porchlight config [--json | --example | --quiet] [<flags of serve>]",
        discussion: """
            Takes the flags of `porchlight serve`, which its help lists, reads the same file and \
            environment, and makes the same checks, without starting the service. The setting NAME \
            is set in the file by a line `NAME: value`, in the environment by PORCHLIGHT_NAME with \
            _ for -, and, where `serve` has one, by the flag --NAME. Flags override the \
            environment, and that overrides the file.
            """)

    @Flag(help: "Print one object of JSON, for programs.")
    var json = false

    @Flag(help: "Print a settings file with every setting and its default instead.")
    var example = false

    @Flag(help: "Print errors only: for a check before a reload.")
    var quiet = false

    @OptionGroup var file: SettingsFileOption

    // Listed by the help of `serve`.
    @OptionGroup(visibility: .hidden) var flags: SettingFlags

    func run() throws {
        guard !example else { return try announce(ExampleFile.text) }
        let inForce = try reject {
            let inForce = try flags.sources(file).read()
            let files = try ServiceFiles(inForce.settings, tickets: TLSFiles.makeTicketKeys())
            for warning in files.tls.warnings where !quiet { note("Warning: \(warning)") }
            return inForce
        }
        guard !quiet else { return }
        try announce(json ? inForce.json.text : inForce.table)
    }
}

extension SettingsInForce {
    /// One line per setting, for people.
    fileprivate var table: String {
        let rows = SettingTable.all.map { setting in
            (setting.name, visible(shown(setting)), origin(of: setting).text)
        }
        let nameWidth = rows.map(\.0.count).max() ?? 0
        let valueWidth = min(32, rows.map(\.1.count).max() ?? 0)
        return rows.map { name, value, origin in
            name.filled(nameWidth) + "  " + value.filled(valueWidth) + "  " + origin
        }.joined(separator: "\n")
    }

    private func shown(_ setting: Setting) -> String {
        let value = value(of: setting)
        let meaning = value == nil ? setting.unsetMeaning() : ""
        return setting.text(of: value) + (meaning.isEmpty ? "" : " (\(meaning))")
    }

    /// An object with one object per setting, for programs.
    fileprivate var json: JSON {
        .object(
            Dictionary(
                uniqueKeysWithValues: SettingTable.all.map { setting in
                    var fields: [String: JSON] = [
                        "from": .string(origin(of: setting).word),
                        "takesEffect": .string(setting.takesEffect.rawValue),
                        "value": json(of: setting),
                    ]
                    switch origin(of: setting) {
                    case .standard: break
                    case .file(let place), .variable(let place), .flag(let place):
                        fields["place"] = .string(place)
                    }
                    return (setting.name, .object(fields))
                }))
    }

    private func json(of setting: Setting) -> JSON {
        guard let value = value(of: setting) else { return .null }
        guard !setting.isSecret else { return .string("set, hidden") }
        return switch value {
        case .integer(let number): .integer(Int64(number))
        case .text(let text): .string(text)
        case .isOn(let isOn): .bool(isOn)
        case .nothing: .null
        }
    }
}

extension String {
    /// Padded with spaces to a width.
    func filled(_ width: Int) -> String {
        padding(toLength: max(width, count), withPad: " ", startingAt: 0)
    }
}
