import Foundation
import Testing

/// What the log says, and the page for operators.
@Suite struct `The log` {
    /// The beginnings of the warnings and errors of the service, up to what varies.
    private var messages: [(file: SourceTree.File, line: Int, text: String)] {
        SourceTree.swift.filter(\.isSource).flatMap { file in
            file.lines.indices.compactMap { number in
                let line = file.lines[number]
                let isCall = ["logger.warning(", "logger.error(", " .warning, \"", " .error, \""]
                    .contains { line.contains($0) }
                // The message is on the same line or the next.
                guard isCall,
                    let text =
                        (line.quoted ?? file.lines[min(number + 1, file.lines.count - 1)].quoted)
                else { return nil }
                let fixed = text.components(separatedBy: "\\(")[0].components(separatedBy: ":")[0]
                return fixed.isEmpty ? nil : (file, number, fixed)
            }
        }
    }

    @Test func `has no warning that the page for operators does not explain`() throws {
        let page = try #require(SourceTree.File("docs/OPERATIONS.md")).lines
        let table = page.filter { $0.hasPrefix("| `") }.joined(separator: "\n")
        #expect(messages.count > 10)
        for (file, line, text) in messages where !table.contains("`\(text)") {
            Issue.record(
                "\(Finding(file: file, line: line, advice: "add \"\(text)\" to OPERATIONS.md"))")
        }
    }
}

extension String {
    /// The first text between quotation marks.
    fileprivate var quoted: String? {
        let parts = components(separatedBy: "\"")
        return parts.count > 1 ? parts[1] : nil
    }
}
