import Foundation
import Testing

/// What pages say of the tree is so.
@Suite struct `The pages` {
    /// Everything below Tests, scripts and Fuzz, as one text, with the names of the files.
    static let tests: String = {
        var all = ""
        for folder in ["Tests", "scripts", "Fuzz"] {
            let root = SourceTree.root.appending(path: folder)
            for path in FileManager.default.subpaths(atPath: root.path) ?? [] {
                all += "\(folder)/\(path)\n"
                let file = SourceTree.file("\(folder)/\(path)")
                all += file?.lines.joined(separator: "\n") ?? ""
            }
        }
        return all
    }()

    @Test(arguments: ["docs/RELIABILITY.md", "docs/SECURITY.md"])
    func `name tests that exist`(page: String) throws {
        let file = try #require(SourceTree.file(page))
        var cited = 0
        for line in file.lines {
            let isPromise = line.hasPrefix("Held by:")
            let column =
                line.hasPrefix("|") ? line.components(separatedBy: "|").dropLast().last : nil
            guard let text = isPromise ? line : page.hasSuffix("SECURITY.md") ? column : nil else {
                continue
            }
            let parts = text.components(separatedBy: "`")
            for (number, name) in parts.enumerated() where number % 2 == 1 {
                let words = name.replacingOccurrences(of: "Tests/Conformance/", with: "")
                let isThere = words.components(separatedBy: ".").allSatisfy { word in
                    [
                        "struct \(word) ", "struct `\(word)` ", "func `\(word)`",
                        "func \(word)(", "class \(word)(", "\(word).py\n", "\(word).swift\n",
                        "\(word)\n", "/\(word)/", "def \(word)", "_\(word)(",
                    ].contains { Self.tests.contains($0) }
                }
                #expect(isThere, "\(page) cites \(name)")
                cited += 1
            }
        }
        #expect(cited > 5)
    }

    @Test func `link to files that exist`() {
        for page in SourceTree.pages {
            let folder = page.path.hasPrefix("docs/") ? "docs/" : ""
            for line in page.lines {
                for part in line.components(separatedBy: "](").dropFirst() {
                    let target = part.components(separatedBy: ")")[0]
                        .components(separatedBy: "#")[0]
                    guard !target.isEmpty, !target.hasPrefix("http") else { continue }
                    let path = SourceTree.root.appending(path: folder + target).path
                    #expect(FileManager.default.fileExists(atPath: path), "\(page.path): \(target)")
                }
            }
        }
    }
}
