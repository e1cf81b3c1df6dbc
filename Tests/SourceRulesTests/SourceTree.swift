import Foundation

/// The files of this project, as text.
struct SourceTree {
    struct File {
        /// From the project's root, such as `Sources/EventLoop/Loop.swift`.
        let path: String
        let lines: [String]

        /// The folder below `Sources` or `Tests`.
        var module: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
        var isSource: Bool { path.hasPrefix("Sources/") }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static let swift = files(in: ["Sources", "Tests"], endingIn: ".swift")
    static let shims =
        files(in: ["Sources"], endingIn: ".h") + files(in: ["Sources"], endingIn: ".cpp")
    static let pages = files(in: ["docs"], endingIn: ".md") + rootPages
    private static let rootPages = {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return all.filter { $0.hasSuffix(".md") }.sorted().compactMap(file)
    }()

    static func file(_ path: String) -> File? {
        guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else {
            return nil
        }
        return File(path: path, lines: text.components(separatedBy: "\n"))
    }

    private static func files(in folders: [String], endingIn suffix: String) -> [File] {
        folders.flatMap { folder in
            let all = FileManager.default.subpaths(atPath: root.appending(path: folder).path) ?? []
            return all.filter { $0.hasSuffix(suffix) }.sorted().compactMap {
                file("\(folder)/\($0)")
            }
        }
    }
}

/// A line that breaks a rule of the project, and what to write instead.
struct Finding: CustomStringConvertible {
    let file: SourceTree.File
    let line: Int
    let advice: String

    var description: String { "\(file.path):\(line + 1): \(advice)" }
}
