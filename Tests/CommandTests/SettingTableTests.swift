import PresenceServer
import Testing

@testable import porchlight

/// The table of settings, line by line.
@Suite struct `Every setting` {
    func sources(
        _ name: String, _ value: String, from origin: SettingsInForce.Origin
    ) -> SettingSources {
        switch origin {
        case .flag: SettingSources(flags: [name: value], environment: [:], path: nil)
        default:
            SettingSources(
                flags: [:], environment: [Setting.variable(of: name): value], path: nil)
        }
    }

    @Test func `has a name of its own, in small letters`() {
        #expect(Set(SettingTable.all.map(\.name)).count == SettingTable.all.count)
        #expect(SettingTable.all.count > 50)
        for setting in SettingTable.all {
            #expect(setting.name.wholeMatch(of: #/[a-z]+(-[a-z]+)*/#) != nil, "\(setting.name)")
            #expect(setting.help.hasSuffix("."), "\(setting.name)")
        }
    }

    @Test func `has a default that it could be set to, and that fits the others`() throws {
        for setting in SettingTable.all {
            guard let standard = setting.standard else {
                #expect(!setting.unset.isEmpty, "\(setting.name) says nothing of its default")
                continue
            }
            #expect(
                try setting.kind.value(of: standard.text) == standard, "\(setting.name)")
        }
        _ = try SettingsInForce().checked()
    }

    @Test func `of a number takes the ends of its range, and nothing beyond`() throws {
        for setting in SettingTable.all {
            guard case .integer(let range, _) = setting.kind else { continue }
            for number in [range.lowerBound, range.upperBound] {
                #expect(try setting.kind.value(of: "\(number)") == .integer(number))
            }
            for number in [range.lowerBound - 1, range.upperBound + 1] {
                let error = #expect(throws: Setting.ValueError.self, "\(setting.name) \(number)") {
                    try setting.kind.value(of: "\(number)")
                }
                #expect(
                    error?.remedy.contains("\(range.lowerBound) to \(range.upperBound)") == true)
            }
        }
    }

    @Test(arguments: ["", " ", "x", "1.5", "5s", "0x10", "99999999999999999999", "-"])
    func `of a number takes whole numbers alone`(text: String) {
        for setting in SettingTable.all {
            guard case .integer = setting.kind else { continue }
            #expect(throws: Setting.ValueError.self) { try setting.kind.value(of: text) }
        }
    }

    @Test func `changes something when it is set, and only itself`() throws {
        for setting in SettingTable.all {
            var settings = ServiceSettings()
            let other = setting.otherValue
            guard other != setting.standard else { continue }
            setting.put(other, &settings)
            #expect("\(settings)" != "\(ServiceSettings())", "\(setting.name) changes nothing")
            guard let standard = setting.standard else { continue }
            setting.put(standard, &settings)
            #expect("\(settings)" == "\(ServiceSettings())", "\(setting.name) changes another")
        }
    }

    /// What a path lies in says when a setting takes effect. Nothing of it is lost on the way to
    /// the service: a field of the engine's settings, above all, that only a start may change.
    @Test func `changes at a reload if the table says so, and else at a restart`() {
        for setting in SettingTable.all {
            var new = ServiceSettings()
            setting.put(setting.otherValue, &new)
            var running = ServiceSettings()
            running.live = new.live
            let expected = setting.takesEffect == .atReload ? new : ServiceSettings()
            let isAsMarked = "\(running)" == "\(expected)"
            #expect(isAsMarked, "\(setting.name) is marked \(setting.takesEffect.rawValue)")
            let isOfEngine = "\(new.live.engine)" != "\(ServiceSettings().live.engine)"
            let isLost = isOfEngine && "\(new.configuration)" == "\(Configuration())"
            #expect(!isLost, "\(setting.name) does not reach the service")
        }
    }

    @Test func `is rejected by its name and with what would be right`() throws {
        for setting in SettingTable.all {
            guard case .integer(let range, _) = setting.kind else { continue }
            let text = "\(range.upperBound + 1)"
            for origin in [SettingsInForce.Origin.flag(""), .variable("")] {
                let rejection = #expect(throws: SettingsError.self) {
                    try sources(setting.name, text, from: origin).read()
                }
                let message = try #require(rejection?.messages.first)
                let label = origin == .flag("") ? setting.flag : setting.variable
                #expect(message.hasPrefix(label) && message.contains("\(range.upperBound)"))
            }
        }
    }
}

extension Setting {
    /// A value that is not the default.
    var otherValue: Value {
        switch kind {
        case .integer(let range, _):
            standard == .integer(range.lowerBound)
                ? .integer(range.lowerBound + 1) : .integer(range.lowerBound)
        case .choice(let words): .text(words.first { .text($0) != standard } ?? words[0])
        case .address: .text("127.0.0.1:1")
        case .path, .text: .text("something")
        case .onOff: .isOn(standard != .isOn(true))
        }
    }
}
