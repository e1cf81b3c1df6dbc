// The settings file: YAML, of which JSON is a subset, so that either may be given. YAML because
// settings need comments. It is read twice: by Yams for the lines, so that every fault has one,
// and by swift-configuration for the values.

import Configuration
import Foundation
import Yams

/// A settings file that has been read.
struct SettingsFile: Sendable {
    let path: String
    /// The line of each key.
    let lines: [String: Int]
    let snapshot: YAMLSnapshot

    /// Reads a file. The values are not checked yet.
    init(path: String) throws(SettingsRefusal) {
        let bytes: [UInt8]
        do throws(FileFault) {
            bytes = try readFile(path)
        } catch {
            throw SettingsRefusal("The settings file \(path) cannot be read: \(error.words).")
        }
        try self.init(path: path, Data(bytes))
    }

    init(path: String, _ data: Data) throws(SettingsRefusal) {
        self.path = path
        // An empty document sets nothing.
        let root: Node?
        do {
            root = try Yams.Parser(yaml: data).singleRoot()
        } catch let error as YamlError {
            throw SettingsRefusal(Self.fault(error, in: path))
        } catch {
            throw SettingsRefusal("\(path) is not readable: \(error).")
        }
        let isEmpty = root.map { $0.scalar?.string.isEmpty == true } ?? true
        guard let mapping = root?.mapping ?? (isEmpty ? Node.Mapping([]) : nil) else {
            throw SettingsRefusal(
                "\(path):\(root?.mark?.line ?? 1): this is not a list of settings: give a line "
                    + "`name: value` for each.")
        }
        lines = try Self.lines(of: mapping, in: path)
        do {
            let text = lines.isEmpty ? Data("{}".utf8) : data
            snapshot = try unsafe YAMLSnapshot(
                data: [UInt8](text).span.bytes, providerName: path, parsingOptions: .default)
        } catch {
            throw SettingsRefusal("\(path) is not readable: \(error).")
        }
    }

    /// The place of a key: `porchlight.yml:3`.
    func place(of name: String) -> String { lines[name].map { "\(path):\($0)" } ?? path }

    /// The value of a key, from the text as written: YAML's types do not matter.
    func value(of setting: Setting) throws(SettingsRefusal) -> Setting.Value? {
        let key = AbsoluteConfigKey([setting.name])
        let type: ConfigType = setting.kind == .list ? .stringArray : .string
        do {
            switch try snapshot.value(forKey: key, type: type).value?.content {
            case .string(let text)?: return try setting.value(of: text)
            case .stringArray(let elements)?: return .list(elements)
            default: return nil
            }
        } catch let mismatch as Setting.Mismatch {
            throw SettingsRefusal(
                "\(place(of: setting.name)): \(setting.name)\(shown(setting)) \(mismatch.fault): "
                    + "give \(mismatch.remedy).")
        } catch {
            throw SettingsRefusal(
                "\(place(of: setting.name)): \(setting.name) has the wrong type: give "
                    + "\(setting.kind.expectation).")
        }
    }

    private func shown(_ setting: Setting) -> String {
        let lookup = try? snapshot.value(
            forKey: AbsoluteConfigKey([setting.name]), type: .string)
        guard !setting.isSecret, case .string(let text)? = lookup?.value?.content else { return "" }
        return " \(cut(text))"
    }

    private static func lines(
        of mapping: Node.Mapping, in path: String
    ) throws(SettingsRefusal) -> [String: Int] {
        var lines: [String: Int] = [:]
        var faults: [String] = []
        for (key, value) in mapping {
            let line = key.mark?.line ?? 1
            guard let name = key.scalar?.string else {
                throw SettingsRefusal("\(path):\(line): the name of a setting is a word.")
            }
            lines[name] = line
            if value.mapping != nil {
                faults.append(
                    "\(path):\(line): \(cut(name)): settings do not nest: give a line "
                        + "`name: value` for each.")
            } else if let scalar = value.scalar, scalar.string.isEmpty, scalar.style == .plain {
                faults.append("\(path):\(line): \(cut(name)) has no value.")
            }
        }
        guard faults.isEmpty else { throw SettingsRefusal(faults) }
        return lines
    }

    private static func fault(_ error: YamlError, in path: String) -> String {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "\(path):\(mark.line): this is not YAML: \(problem)."
        case .duplicatedKeysInMapping(let names, let context):
            "\(path):\(context.mark.line): set twice: \(names.map(cut).joined(separator: ", "))."
        default:
            "\(path): this is not YAML in UTF-8."
        }
    }
}
