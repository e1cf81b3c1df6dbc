import Foundation

/// The files of this project, as text.
struct SourceTree {
    struct File {
        /// From the project's root, such as `Sources/EventLoop/Loop.swift`.
        let path: String
        let lines: [String]
        private let bytes: Data

        init?(_ path: String) {
            guard let bytes = try? Data(contentsOf: root.appending(path: path)),
                let text = String(bytes: bytes, encoding: .utf8)
            else { return nil }
            self.path = path
            self.bytes = bytes
            lines = text.components(separatedBy: "\n")
        }

        /// The folder below `Sources` or `Tests`.
        var module: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
        var isSource: Bool { path.hasPrefix("Sources/") }

        /// Whether `text` is anywhere in it. Far faster than to look at each line.
        func contains(_ text: String) -> Bool { bytes.range(of: Data(text.utf8)) != nil }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static let swift = files(in: ["Sources", "Tests"], endingIn: ".swift")
    static let shims =
        files(in: ["Sources"], endingIn: ".h") + files(in: ["Sources"], endingIn: ".cpp")
    static let pages = files(in: ["docs"], endingIn: ".md") + rootPages
    private static let rootPages = {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return all.filter { $0.hasSuffix(".md") }.sorted().compactMap { File($0) }
    }()

    private static func files(in folders: [String], endingIn suffix: String) -> [File] {
        folders.flatMap { folder in
            let all = FileManager.default.subpaths(atPath: root.appending(path: folder).path) ?? []
            return all.filter { $0.hasSuffix(suffix) }.sorted().compactMap {
                File("\(folder)/\($0)")
            }
        }
    }
}

/// What a line of Swift or Python declares.
struct Declaration {
    /// Such as `struct` or `def`.
    let keyword: Substring
    let name: Substring
    /// What follows the name.
    let rest: Substring

    var isType: Bool { keyword != "def" && keyword != "func" }

    /// Nil: it declares no type or function. Words may precede the keyword: attributes, modifiers.
    init?(_ line: String) {
        let keywords: Set<Substring> = ["actor", "class", "def", "enum", "func", "struct"]
        var left = line.drop { $0 == " " }
        while true {
            let word = left.prefix { $0 != " " }
            guard let first = word.first, first.isLetter || first == "@" else { return nil }
            left = left[word.endIndex...].drop { $0 == " " }
            guard keywords.contains(word) else { continue }
            keyword = word
            break
        }
        if left.first == "`" {
            left.removeFirst()
            name = left.prefix { $0 != "`" }
        } else {
            name = left.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        }
        rest = left[name.endIndex...]
    }
}

/// A line that breaks a rule of the project, and what to write instead.
struct Finding: CustomStringConvertible {
    let file: SourceTree.File
    let line: Int
    let advice: String

    var description: String { "\(file.path):\(line + 1): \(advice)" }
}
