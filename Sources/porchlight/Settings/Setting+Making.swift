import PresenceServer

// How the lines of the table are made. A setting is stored at a key path; its default is the value
// at that path in fresh settings, so that it is written down once.

extension Setting {
    typealias Path<Content> = any WritableKeyPath<ServiceSettings, Content> & Sendable

    /// A number of something.
    static func count(
        _ name: String, _ path: Path<Int>, _ range: ClosedRange<Int>, _ unit: Kind.Unit,
        _ help: String, takesEffect: TakesEffect = .atReload
    ) -> Setting {
        Setting(
            name: name, kind: .integer(range, unit), help: help,
            standard: .integer(ServiceSettings()[keyPath: path]), takesEffect: takesEffect
        ) { value, settings in
            if case .integer(let number) = value { settings[keyPath: path] = number }
        }
    }

    /// A number that is optional.
    static func count<Number: FixedWidthInteger & SendableMetatype>(
        _ name: String, _ path: Path<Number?>, _ range: ClosedRange<Int>, _ unit: Kind.Unit,
        unset: String, _ help: String, takesEffect: TakesEffect = .atReload
    ) -> Setting {
        Setting(
            name: name, kind: .integer(range, unit), help: help,
            standard: ServiceSettings()[keyPath: path].map { .integer(Int($0)) }, unset: unset,
            takesEffect: takesEffect
        ) { value, settings in
            switch value {
            case .integer(let number): settings[keyPath: path] = Number(number)
            case .nothing: settings[keyPath: path] = nil
            default: break
            }
        }
    }

    /// One of some words.
    static func choice<Word: RawRepresentable<String> & CaseIterable & SendableMetatype>(
        _ name: String, _ path: Path<Word>, _ help: String, takesEffect: TakesEffect = .atReload
    ) -> Setting {
        Setting(
            name: name, kind: .choice(Word.allCases.map(\.rawValue)), help: help,
            standard: .text(ServiceSettings()[keyPath: path].rawValue), takesEffect: takesEffect
        ) { value, settings in
            if let word = Word(rawValue: value.text) { settings[keyPath: path] = word }
        }
    }

    /// One of some words that are no strings in code.
    static func choice<Word: CaseIterable & SendableMetatype>(
        _ name: String, _ path: Path<Word>, word: @escaping @Sendable (Word) -> String,
        _ help: String, takesEffect: TakesEffect = .atReload
    ) -> Setting {
        Setting(
            name: name, kind: .choice(Word.allCases.map(word)), help: help,
            standard: .text(word(ServiceSettings()[keyPath: path])), takesEffect: takesEffect
        ) { value, settings in
            if let found = Word.allCases.first(where: { word($0) == value.text }) {
                settings[keyPath: path] = found
            }
        }
    }

    /// Something that is on or off.
    static func onOff(
        _ name: String, _ path: Path<Bool>, _ help: String, takesEffect: TakesEffect = .atReload
    ) -> Setting {
        Setting(
            name: name, kind: .onOff, help: help,
            standard: .isOn(ServiceSettings()[keyPath: path]), takesEffect: takesEffect
        ) { value, settings in
            settings[keyPath: path] = value == .isOn(true)
        }
    }

    /// A text, of whatever kind.
    static func text(
        _ name: String, _ path: Path<String>, _ kind: Kind, _ help: String,
        takesEffect: TakesEffect
    ) -> Setting {
        Setting(
            name: name, kind: kind, help: help, standard: .text(ServiceSettings()[keyPath: path]),
            takesEffect: takesEffect
        ) { value, settings in
            settings[keyPath: path] = value.text
        }
    }

    /// A text that is optional.
    static func text(
        _ name: String, _ path: Path<String?>, _ kind: Kind, unset: String, _ help: String,
        takesEffect: TakesEffect, isSecret: Bool = false
    ) -> Setting {
        Setting(
            name: name, kind: kind, help: help, standard: nil, unset: unset,
            takesEffect: takesEffect, isSecret: isSecret
        ) { value, settings in
            settings[keyPath: path] = value == .nothing ? nil : value.text
        }
    }
}
