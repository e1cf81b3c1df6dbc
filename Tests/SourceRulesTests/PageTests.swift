import Foundation
import Testing

/// What pages say of the tree is so.
@Suite struct `The pages` {
    /// What there is below Tests, scripts and Fuzz: paths, names of files with and without their
    /// ending, and names of types and functions; those of Python's tests also without `test_`.
    static let tests: Set<String> = {
        var names: Set<String> = []
        for folder in ["Tests", "scripts", "Fuzz"] {
            let root = SourceTree.root.appending(path: folder)
            for path in FileManager.default.subpaths(atPath: root.path) ?? [] {
                let file = path.components(separatedBy: "/").last ?? path
                names.formUnion(["\(folder)/\(path)", file])
                guard path.hasSuffix(".swift") || path.hasSuffix(".py") else { continue }
                names.insert(file.components(separatedBy: ".")[0])
                for line in SourceTree.File("\(folder)/\(path)")?.lines ?? [] {
                    guard let name = Declaration(line)?.name else { continue }
                    names.insert(String(name))
                    if name.hasPrefix("test_") { names.insert(String(name.dropFirst(5))) }
                }
            }
        }
        return names
    }()

    @Test(arguments: ["docs/RELIABILITY.md", "docs/SECURITY.md"])
    func `name tests that exist`(page: String) throws {
        let file = try #require(SourceTree.File(page))
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
                let isThere =
                    Self.tests.contains(name)
                    || name.components(separatedBy: ".").allSatisfy(Self.tests.contains)
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
