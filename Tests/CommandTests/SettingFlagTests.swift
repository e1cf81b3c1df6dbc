import ArgumentParser
import Foundation
import Testing

@testable import porchlight

/// The flags that the parser knows, and those that the table does.
@Suite struct `Flags of settings` {
    @Test func `reach the setting of their name`() throws {
        let known = Serve.helpMessage(columns: 200).split(separator: "\n")
            .compactMap { $0.firstMatch(of: #/^ +(?:-h, )?--([a-z-]+)/#) }
            .map { String($0.1) }
        #expect(known.contains("heartbeat") && known.count > 30)
        for name in known where !["config", "help", "version"].contains(name) {
            let setting = try #require(SettingTable.named(name), "--\(name) is no setting")
            let isSwitch = setting.kind == .onOff && setting.standard == .isOn(false)
            let value = setting.otherValue
            let typed = isSwitch ? [setting.flag] : [setting.flag, value.text]
            let given = try SettingFlags.parse(typed).given
            #expect(given == [name: value.text])
        }
    }

    @Test func `say their ranges and defaults in the help`() {
        let help = Serve.helpMessage(columns: 200)
        #expect(help.contains("0 to 300 seconds; default: 5"))
        #expect(help.contains("--durability <full|relaxed>"))
    }
}

@Suite struct `The example of a settings file` {
    @Test func `is the one that the table makes`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = try String(
            contentsOf: root.appending(path: "packaging/porchlight.yml"), encoding: .utf8)
        #expect(
            file == ExampleFile.text + "\n",
            "run `porchlight config --example > packaging/porchlight.yml`")
    }

    @Test func `sets every setting to its default, without its #`() throws {
        let plain = ExampleFile.text.split(separator: "\n").map { line in
            line.hasPrefix("#") && !line.hasPrefix("# ") ? line.dropFirst() : line
        }
        let file = try TemporaryFile(plain.joined(separator: "\n"))
        let inForce = try withExtendedLifetime(file) {
            try SettingSources(flags: [:], environment: [:], path: file.path).read()
        }
        #expect(inForce.entries.count == SettingTable.all.count)
        for setting in SettingTable.all {
            #expect(inForce.value(of: setting) == setting.standard, "\(setting.name)")
        }
    }
}
