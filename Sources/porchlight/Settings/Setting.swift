// One setting of the service. Everything about it is made from this: its flag and its help, its
// environment variable, its key in the settings file, its allowed values, the error for any other,
// `porchlight config` and the example file.

import CommandSupport
import Containers

/// A setting of the service.
struct Setting: Sendable {
    /// In words with dashes between them: `disconnect-grace`. Its key in the settings file.
    let name: String
    let kind: Kind
    /// One sentence.
    let help: String
    /// The default; nil: nothing.
    let standard: Value?
    /// The word for nothing, for a setting whose default is nothing: it can be written wherever a
    /// value can. Empty for all others.
    var unset = ""
    /// What nothing stands for on this machine at the moment, for people; empty if it stands for
    /// nothing else.
    var unsetMeaning: @Sendable () -> String = { "" }
    /// When a change in the settings file takes effect: that of the part of the settings it is in.
    let takesEffect: TakesEffect
    /// Whether its value is hidden.
    var isSecret = false
    /// Stores a value of the right kind where it belongs.
    let put: @Sendable (Value, inout ServiceSettings) -> Void

    /// When a change in the settings file takes effect.
    enum TakesEffect: String, Sendable {
        case atReload = "reload"
        case atRestart = "restart"
    }

    /// What a setting can be set to.
    enum Value: Hashable, Sendable {
        case integer(Int)
        case text(String)
        case isOn(Bool)
        /// Nothing, said outright, for a setting whose default is nothing.
        case nothing
    }

    /// The value that a text is, wherever it is written.
    func value(of text: String) throws(ValueError) -> Value {
        if !unset.isEmpty, ExactText(text) == ExactText(unset) { return .nothing }
        do throws(ValueError) {
            return try kind.value(of: text)
        } catch {
            throw ValueError(reason: error.reason, remedy: expectation)
        }
    }

    /// What would be right, with the word for nothing.
    var expectation: String { kind.expectation + (unset.isEmpty ? "" : ", or \(unset)") }

    /// `--disconnect-grace`
    var flag: String { "--\(name)" }

    /// `PORCHLIGHT_DISCONNECT_GRACE`
    var variable: String { Self.variable(of: name) }

    /// The environment variable of the setting with this name.
    static func variable(of name: String) -> String {
        "PORCHLIGHT_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// A value as text, for people.
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
        case .nothing: ""
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

        /// What integers count.
        enum Unit: String, Sendable {
            case seconds
            case bytes
            case perSecond = "per second"
            case things = ""
        }
    }

    /// Why a text is not a value of a kind.
    struct ValueError: Error, Equatable {
        /// What is wrong with the text, such as `is out of range`.
        let reason: String
        /// What would be right, such as `5 to 300 seconds`.
        let remedy: String
    }
}

extension Setting.Kind {
    /// What would be right.
    var expectation: String {
        switch self {
        case .integer(let range, .perSecond):
            "\(range.lowerBound) to \(range.upperBound) per second"
        case .integer(let range, let unit):
            "\(range.lowerBound) to \(range.upperBound)"
                + (unit == .things ? "" : " \(unit.rawValue)")
        case .choice(let words):
            words.dropLast().joined(separator: ", ") + (words.count > 1 ? " or " : "")
                + (words.last ?? "")
        case .address:
            "a numeric address, or localhost, and a port from 0 to 65535, such as 127.0.0.1:7400 "
                + "or [::1]:7400"
        case .path: "the path of a file or folder"
        case .text: "a text"
        case .onOff: "on or off"
        }
    }

    /// The placeholder for the value in a line of help.
    var valueName: String {
        switch self {
        case .integer(_, .seconds): "s"
        case .integer: "n"
        case .choice(let words): words.count > 4 ? "word" : words.joined(separator: "|")
        case .address: "host:port"
        case .path: "path"
        case .text: "text"
        case .onOff: "on|off"
        }
    }

    /// The value that a text is.
    func value(of text: String) throws(Setting.ValueError) -> Setting.Value {
        switch self {
        case .integer(let range, _):
            guard let number = Int(text) else { throw mismatch("is not a whole number") }
            guard range.contains(number) else { throw mismatch("is out of range") }
            return .integer(number)
        case .choice(let words):
            guard words.contains(where: { ExactText($0) == ExactText(text) }) else {
                throw mismatch("is not allowed")
            }
            return .text(text)
        case .address:
            let address: (host: String, port: UInt16)
            do throws(AddressError) {
                address = try addressParts(text)
            } catch {
                throw mismatch(error.words)
            }
            guard address.host == "localhost" || isNumeric(address.host) else {
                throw mismatch("has a host name, and names are not resolved")
            }
            return .text(text)
        case .path, .text:
            guard !text.isEmpty else { throw mismatch("is empty") }
            // The system reads names to the first NUL: another file would be meant.
            guard !text.utf8.contains(0) else { throw mismatch("contains a NUL character") }
            return .text(text)
        case .onOff:
            switch text.lowercased() {
            case "on", "true", "yes": return .isOn(true)
            case "off", "false", "no": return .isOn(false)
            default: throw mismatch("is not a switch")
            }
        }
    }

    private func mismatch(_ reason: String) -> Setting.ValueError {
        Setting.ValueError(reason: reason, remedy: expectation)
    }
}
