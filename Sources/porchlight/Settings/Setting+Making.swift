import PresenceServer

// How the lines of the table are made. A setting is stored at a key path. Its default is the value
// at that path in fresh settings, and when it takes effect follows from the part of the settings
// that the path is of: so both are written down once.

extension Setting {
    typealias Path<Part, Content> = any WritableKeyPath<Part, Content> & Sendable

    /// Stores a `Content`, which is made of a value and into one. What is nil is not stored.
    private init<Part: SettingsPart, Content>(
        _ name: String, _ kind: Kind, _ help: String, _ path: Path<Part, Content>,
        unset: String = "", isSecret: Bool = false, value: (Content) -> Value?,
        content: @escaping @Sendable (Value) -> Content?
    ) {
        self.init(
            name: name, kind: kind, help: help, standard: value(Part()[keyPath: path]),
            unset: unset, takesEffect: Part.takesEffect, isSecret: isSecret
        ) { value, settings in
            guard let content = content(value) else { return }
            settings[keyPath: Part.place][keyPath: path] = content
        }
    }

    /// A number of something.
    static func count<Part: SettingsPart>(
        _ name: String, _ path: Path<Part, Int>, _ range: ClosedRange<Int>, _ unit: Kind.Unit,
        _ help: String
    ) -> Setting {
        Setting(name, .integer(range, unit), help, path, value: { .integer($0) }) { $0.number }
    }

    /// A number that is optional.
    static func count<Part: SettingsPart, Number: FixedWidthInteger & SendableMetatype>(
        _ name: String, _ path: Path<Part, Number?>, _ range: ClosedRange<Int>, _ unit: Kind.Unit,
        unset: String, _ help: String
    ) -> Setting {
        Setting(
            name, .integer(range, unit), help, path, unset: unset,
            value: { $0.map { .integer(Int($0)) } },
            content: { .some($0.number.map { Number($0) }) })
    }

    /// The same, with what its word for nothing stands for.
    func whenUnset(_ meaning: @escaping @Sendable () -> String) -> Setting {
        var setting = self
        setting.unsetMeaning = meaning
        return setting
    }

    /// One of some words.
    static func choice<
        Part: SettingsPart, Word: RawRepresentable<String> & CaseIterable & SendableMetatype
    >(_ name: String, _ path: Path<Part, Word>, _ help: String) -> Setting {
        choice(name, path, word: { $0.rawValue }, help)
    }

    /// One of some words that are no strings in code.
    static func choice<Part: SettingsPart, Word: CaseIterable & SendableMetatype>(
        _ name: String, _ path: Path<Part, Word>, word: @escaping @Sendable (Word) -> String,
        _ help: String
    ) -> Setting {
        Setting(
            name, .choice(Word.allCases.map(word)), help, path, value: { .text(word($0)) }
        ) { value in Word.allCases.first { word($0) == value.text } }
    }

    /// Something that is on or off.
    static func onOff<Part: SettingsPart>(
        _ name: String, _ path: Path<Part, Bool>, _ help: String
    ) -> Setting {
        Setting(name, .onOff, help, path, value: { .isOn($0) }) { $0 == .isOn(true) }
    }

    /// A text, of whatever kind.
    static func text<Part: SettingsPart>(
        _ name: String, _ path: Path<Part, String>, _ kind: Kind, _ help: String
    ) -> Setting {
        Setting(name, kind, help, path, value: { .text($0) }) { $0.text }
    }

    /// A text that is optional; by default there is none.
    static func text<Part: SettingsPart>(
        _ name: String, _ path: Path<Part, String?>, _ kind: Kind, unset: String, _ help: String,
        isSecret: Bool = false
    ) -> Setting {
        Setting(
            name, kind, help, path, unset: unset, isSecret: isSecret, value: { _ in nil }
        ) { .some($0 == .nothing ? nil : $0.text) }
    }
}

extension Setting.Value {
    /// Nil: not an integer.
    fileprivate var number: Int? {
        if case .integer(let number) = self { number } else { nil }
    }
}
