// One setting of the service. Everything that is said of it anywhere comes from here: its flag and
// its help, its environment variable, its key in the settings file, what values it may have, what
// is said of one that it may not have, `porchlight config` and the example file.

/// A setting of the service.
struct Setting: Sendable {
    /// In words with dashes between them: `disconnect-grace`. Its key in the settings file.
    let name: String
    let kind: Kind
    /// One sentence.
    let help: String
    /// What is in force where nobody has said anything; nil: nothing.
    let standard: Value?
    /// What nothing means, for a setting whose standard is nothing.
    let unset: String
    /// When a change in the settings file is in force.
    let takesEffect: TakesEffect
    /// Whether its value may be shown.
    let isSecret: Bool
    /// Puts a value that fits the kind where it belongs.
    let put: @Sendable (Value, inout ServiceSettings) -> Void

    /// When a change in the settings file is in force.
    enum TakesEffect: String, Sendable {
        case atReload = "reload"
        case atRestart = "restart"
    }

    /// What a setting can be set to.
    enum Value: Hashable, Sendable {
        case integer(Int)
        case text(String)
        case isOn(Bool)
        case list([String])
    }

    /// `--disconnect-grace`
    var flag: String { "--\(name)" }

    /// `PORCHLIGHT_DISCONNECT_GRACE`
    var variable: String { Self.variable(of: name) }

    /// The environment variable of the setting with this name.
    static func variable(of name: String) -> String {
        "PORCHLIGHT_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// A value as a person reads it.
    func text(of value: Value?) -> String {
        guard let value else { return unset }
        return isSecret ? "set, hidden" : value.text
    }
}

extension Setting.Value {
    /// As it is written in the environment.
    var text: String {
        switch self {
        case .integer(let number): "\(number)"
        case .text(let text): text
        case .isOn(let isOn): isOn ? "on" : "off"
        case .list(let elements): elements.joined(separator: ",")
        }
    }
}

extension Setting {
    /// What the values of a setting are.
    enum Kind: Sendable, Equatable {
        case integer(ClosedRange<Int>, Unit)
        case choice([String])
        /// A numeric address, or `localhost`, and a port.
        case address
        case path
        case text
        case onOff
        /// Several texts.
        case list

        /// What integers count.
        enum Unit: String, Sendable {
            case seconds
            case bytes
            case perSecond = "a second"
            case things = ""
        }
    }

    /// Why a text is no value of a kind.
    struct Mismatch: Error, Equatable {
        /// What the text is or is not, such as `is out of its range`.
        let fault: String
        /// What would be right, such as `5 to 300 seconds`.
        let remedy: String
    }
}

extension Setting.Kind {
    /// What would be right.
    var expectation: String {
        switch self {
        case .integer(let range, .perSecond):
            "\(range.lowerBound) to \(range.upperBound) a second"
        case .integer(let range, let unit):
            "\(range.lowerBound) to \(range.upperBound)"
                + (unit == .things ? "" : " \(unit.rawValue)")
        case .choice(let words):
            words.dropLast().joined(separator: ", ") + (words.count > 1 ? " or " : "")
                + (words.last ?? "")
        case .address:
            "a numeric address and a port, such as 127.0.0.1:7400 or [::1]:7400, or localhost for "
                + "127.0.0.1"
        case .path: "the path of a file or folder"
        case .text: "a text"
        case .onOff: "on or off"
        case .list: "a list"
        }
    }

    /// What stands for the value in a line of help.
    var valueName: String {
        switch self {
        case .integer(_, .seconds): "s"
        case .integer: "n"
        case .choice(let words): words.count > 4 ? "word" : words.joined(separator: "|")
        case .address: "host:port"
        case .path: "path"
        case .text, .list: "text"
        case .onOff: "on|off"
        }
    }

    /// The value that a text is, wherever it stands.
    func value(of text: String) throws(Setting.Mismatch) -> Setting.Value {
        switch self {
        case .integer(let range, _):
            guard let number = Int(text) else { throw mismatch("is no whole number") }
            guard range.contains(number) else { throw mismatch("is out of its range") }
            return .integer(number)
        case .choice(let words):
            guard words.contains(text) else { throw mismatch("is none of its words") }
            return .text(text)
        case .address:
            guard let address = parseAddress(text) else { throw mismatch("is no address") }
            guard address.host == "localhost" || isNumeric(address.host) else {
                throw mismatch("has a name, which is not looked up")
            }
            return .text(text)
        case .path, .text:
            guard !text.isEmpty else { throw mismatch("is empty") }
            return .text(text)
        case .onOff:
            switch text.lowercased() {
            case "on", "true", "yes": return .isOn(true)
            case "off", "false", "no": return .isOn(false)
            default: throw mismatch("is neither on nor off")
            }
        case .list:
            return .list(text.split(separator: ",").map { $0.trimmed })
        }
    }

    private func mismatch(_ fault: String) -> Setting.Mismatch {
        Setting.Mismatch(fault: fault, remedy: expectation)
    }
}

extension Substring {
    /// Without the spaces around it.
    fileprivate var trimmed: String {
        var rest = self
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
