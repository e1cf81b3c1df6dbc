// The settings file: YAML, of which JSON is a subset, so that either may be given. YAML was chosen
// because settings need comments.

import CommandSupport
import Containers
import Yams

/// A settings file that has been parsed.
struct SettingsFile: Sendable {
    let path: String
    /// Its settings, in the order of the file.
    let lines: [Line]

    /// A name and its value.
    struct Line: Sendable {
        let name: String
        let number: Int
        let content: Content
    }

    enum Content: Sendable {
        /// As it is written: the types of YAML are not used.
        case text(String)
        case nothing
        case list
        case mapping
    }

    /// Parses a file. Names and values are checked by `read`.
    init(path: String, _ occasion: ReadOccasion = .startup) throws(SettingsError) {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try readFile(path, occasion)
        } catch {
            throw SettingsError("The settings file \(path) cannot be read: \(error.words).")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SettingsError("\(path) is not text in UTF-8.")
        }
        self.path = path
        let root = try Self.root(of: text, in: path)
        // An empty document sets nothing.
        let isEmpty = root.map { $0.scalar?.string.isEmpty == true } ?? true
        guard let mapping = root?.mapping ?? (isEmpty ? Node.Mapping([]) : nil) else {
            throw SettingsError(
                "\(path):\(root?.mark?.line ?? 1): this is not a list of settings: give a line "
                    + "`name: value` for each.")
        }
        var lines: [Line] = []
        for (key, value) in mapping {
            let number = key.mark?.line ?? 1
            guard let name = key.scalar?.string else {
                throw SettingsError("\(path):\(number): the name of a setting is a word.")
            }
            lines.append(
                Line(name: name.withoutDuplicateMark, number: number, content: Content(value)))
        }
        self.lines = lines
    }

    /// Checks every line.
    func read(into reading: inout SettingsReading) {
        var firstLines: [ExactText: Int] = [:]
        for line in lines {
            let place = "\(path):\(line.number)"
            let name = cut(line.name)
            if let first = firstLines[ExactText(line.name)] {
                reading.reject("\(place): \(name) is set twice, first in line \(first).")
            } else {
                firstLines[ExactText(line.name)] = line.number
            }
            let setting = SettingTable.named(line.name)
            switch (line.content, setting) {
            case (.mapping, _):
                reading.reject(
                    "\(place): \(name): settings do not nest: give a line `name: value` for each.")
            case (_, nil):
                let known = suggestion(for: line.name, among: SettingTable.all.map(\.name))
                reading.reject("\(place): there is no setting \(name)\(known)")
            case (.nothing, _?):
                reading.reject("\(place): \(name) has no value.")
            case (.list, let setting?):
                reading.reject(
                    "\(place): \(name) has the wrong type: give \(setting.kind.expectation).")
            case (.text(let text), let setting?):
                reading.take(setting, text, from: .file(place))
            }
        }
    }
}

extension SettingsFile.Content {
    fileprivate init(_ node: Node) {
        guard let scalar = node.scalar else {
            self = node.mapping == nil ? .list : .mapping
            return
        }
        let isNothing = scalar.string.isEmpty && scalar.style == .plain
        self = isNothing ? .nothing : .text(scalar.string)
    }
}

// MARK: YAML

extension SettingsFile {
    /// Duplicate keys beyond these hide the other errors of the file.
    fileprivate static let duplicatesMax = 100

    /// The document in a text.
    ///
    /// Yams rejects a document with a duplicate key as a whole, which would hide all other errors.
    /// Therefore such a key is marked, and the text parsed again; `read` reports the duplicate.
    private static func root(of text: String, in path: String) throws(SettingsError) -> Node? {
        var text = text
        var duplicate: YamlError?
        for number in 0...duplicatesMax {
            do {
                return try Yams.Parser(yaml: text).singleRoot()
            } catch let error as YamlError {
                guard case .duplicatedKeysInMapping(let names, let context) = error,
                    let marked = text.markingDuplicate(number, names.first, at: context.mark)
                else { throw SettingsError(message(duplicate ?? error, in: path, text)) }
                duplicate = duplicate ?? error
                text = marked
            } catch {
                throw SettingsError("\(path) cannot be read: \(error).")
            }
        }
        throw SettingsError("\(path) sets more than \(duplicatesMax) settings twice.")
    }

    private static func message(_ error: YamlError, in path: String, _ text: String) -> String {
        let isJSON = path.lowercased().hasSuffix(".json")
        let verdict = isJSON ? "this JSON cannot be read" : "this is not YAML"
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _):
            let hint = isJSON ? "" : hint(forLine: mark.line, of: text)
            return "\(path):\(mark.line): \(verdict): \(problem).\(hint)"
        case .composer(let context, let problem, let mark, _):
            let expected = context.map { "\($0.text), " } ?? ""
            return "\(path):\(mark.line): \(expected)\(problem)."
        case .reader(let problem, let offset, _, let text):
            let line = 1 + text.prefix(offset ?? 0).count(where: \.isNewline)
            return "\(path):\(line): \(verdict): \(problem)."
        case .duplicatedKeysInMapping(let names, let context):
            let names = names.map { cut($0.withoutDuplicateMark) }.joined(separator: ", ")
            return "\(path):\(context.mark.line): set twice: \(names)."
        default:
            return "\(path): \(verdict): \(error)."
        }
    }

    /// What would be right in a line that cannot be read, if it has one of two frequent errors;
    /// empty: it is another.
    private static func hint(forLine number: Int, of text: String) -> String {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        guard lines.indices.contains(number - 1) else { return "" }
        let line = lines[number - 1]
        if line.prefix(while: \.isWhitespace).contains("\t") {
            return " The line begins with a tab: remove it; YAML is indented with spaces only."
        }
        let words = line.split(separator: ":", maxSplits: 1)
        guard words.count == 2, !words[0].contains("\"") else { return "" }
        let value = words[1].drop(while: \.isWhitespace).prefix { !$0.isWhitespace }
        guard value.first == "[" else { return "" }
        return " To YAML, `[` begins a list: quote the value, as in "
            + "`\(cut(String(words[0]))): \"\(cut(String(value)))\"`."
    }
}

extension String {
    /// The first of the characters of private use that mark duplicate keys; no name has one.
    private static let firstMark: UInt32 = 0xe000

    /// The text with a character before the key at `mark`, which makes it unique; nil if the key is
    /// not written there literally.
    fileprivate func markingDuplicate(_ number: Int, _ name: String?, at mark: Mark) -> String? {
        guard let name, let character = Unicode.Scalar(Self.firstMark + UInt32(number)) else {
            return nil
        }
        var lines = unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map(Array.init)
        guard lines.indices.contains(mark.line - 1) else { return nil }
        var column = mark.column - 1
        let line = lines[mark.line - 1]
        if line.dropFirst(column).first == "\"" || line.dropFirst(column).first == "'" {
            column += 1
        }
        guard line.dropFirst(column).starts(with: name.unicodeScalars) else { return nil }
        lines[mark.line - 1].insert(character, at: column)
        return String(String.UnicodeScalarView(lines.joined(separator: ["\n"])))
    }

    fileprivate var withoutDuplicateMark: String {
        let marks = Self.firstMark...Self.firstMark + UInt32(SettingsFile.duplicatesMax)
        guard let first = unicodeScalars.first, marks.contains(first.value) else { return self }
        return String(unicodeScalars.dropFirst())
    }
}
