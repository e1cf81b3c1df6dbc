/// A settings file with every setting in a comment, made from the table.
enum ExampleFile {
    static var text: String {
        let head = """
            # Settings of porchlight, for `porchlight serve --config FILE`. Every line shows the
            # default; remove the # of those that you change. An environment variable (such as
            # PORCHLIGHT_HEARTBEAT) overrides this file, and a flag (--heartbeat) overrides both.
            # `porchlight config --config FILE` prints the settings in force. SIGHUP reads this
            # file again; settings with a * take effect at the next start.
            """
        return head + "\n" + SettingTable.groups.map(text(of:)).joined(separator: "\n")
    }

    private static func text(of group: SettingGroup) -> String {
        "\n# " + group.title + "\n\n" + group.settings.map(text(of:)).joined(separator: "\n\n")
            + "\n"
    }

    private static func text(of setting: Setting) -> String {
        let star = setting.takesEffect == .atRestart ? " *" : ""
        let range = setting.kind.isTold ? " (\(setting.expectation))" : ""
        return "# \(setting.help)\(range)\(star)\n#\(setting.name): \(setting.yaml)"
    }
}

extension Setting {
    /// The default as it is written in the file.
    fileprivate var yaml: String {
        standard?.text ?? unset
    }
}

extension Setting.Kind {
    /// Whether the example says which values are allowed.
    fileprivate var isTold: Bool {
        switch self {
        case .integer: true
        case .choice(let words): words.count > 1
        case .address, .path, .text, .onOff: false
        }
    }
}
