import Foundation
import Testing

/// `docs/PROTOCOL.md`, taken apart into what can be run.
struct ProtocolPage {
    /// A fenced block: its language, its lines, and where it stands.
    struct Block {
        let language: String
        let firstLine: Int
        var lines: [String] = []

        var text: String { lines.joined(separator: "\n") }
    }

    let blocks: [Block]

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/PROTOCOL.md"), encoding: .utf8)
        var blocks: [Block] = []
        var isOpen = false
        for (number, line) in text.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("```") {
                isOpen.toggle()
                let language = String(line.dropFirst(3))
                if isOpen { blocks.append(Block(language: language, firstLine: number + 2)) }
            } else if isOpen {
                blocks[blocks.count - 1].lines.append(line)
            }
        }
        try #require(!isOpen, "a block of docs/PROTOCOL.md does not end")
        self.blocks = blocks
    }

    func blocks(_ language: String) -> [Block] {
        blocks.filter { $0.language == language }
    }

    /// The steps of all examples, in the order of the page.
    func steps() throws -> [Step] {
        try blocks("text").flatMap { block in
            try block.unfolded().map { line in try Step(line.text, at: line.number) }
        }
    }
}

extension ProtocolPage.Block {
    /// The lines, with those that were broken put together again: what follows is indented.
    func unfolded() -> [(number: Int, text: String)] {
        var whole: [(number: Int, text: String)] = []
        for (offset, line) in lines.enumerated() {
            if line.hasPrefix("    "), !whole.isEmpty {
                whole[whole.count - 1].text += line.drop { $0 == " " }
            } else {
                whole.append((firstLine + offset, line))
            }
        }
        return whole
    }

    /// The bytes of a dump: what stands in the first 47 columns.
    func dumpedBytes() throws -> [UInt8] {
        try lines.flatMap { line in
            try line.prefix(47).split(separator: " ").map { digits in
                try #require(UInt8(digits, radix: 16), "\(digits) is no byte")
            }
        }
    }
}

/// One step of an example.
struct Step {
    enum Kind {
        case send(String)
        case receive(String)
        case isClosed
        case isLost
        case pass(seconds: Int)
    }

    let line: Int
    /// Whose connection it is about; empty where time passes.
    let name: String
    let kind: Kind

    init(_ text: String, at line: Int) throws {
        self.line = line
        if let match = text.wholeMatch(of: /(\S+) → (.+)/) {
            (name, kind) = (String(match.1), .send(String(match.2)))
        } else if let match = text.wholeMatch(of: /(\S+) ← (.+)/) {
            (name, kind) = (String(match.1), .receive(String(match.2)))
        } else if let match = text.wholeMatch(of: /\(the service closes (\S+)'s connection\)/) {
            (name, kind) = (String(match.1), .isClosed)
        } else if let match = text.wholeMatch(of: /\((\S+)'s connection is lost\)/) {
            (name, kind) = (String(match.1), .isLost)
        } else if let match = text.wholeMatch(of: /\((\d+) seconds pass\)/) {
            (name, kind) = ("", .pass(seconds: try #require(Int(match.1))))
        } else {
            throw UnknownStepError(line: line, text: text)
        }
    }
}

/// A line of an example that says nothing that can be done.
struct UnknownStepError: Error {
    let line: Int
    let text: String
}

/// Whether the service sends what the page shows, but for what differs from run to run.
///
/// Behind `…` the page does not say what follows.
func isShown(_ sent: String, as shown: String) -> Bool {
    guard shown.hasSuffix("…") else { return masked(sent) == masked(shown) }
    return masked(sent).hasPrefix(masked(String(shown.dropLast())))
}

/// The line without times, ids, sequence numbers, addresses and counters.
private func masked(_ line: String) -> String {
    var line = line
    line.replace(/"(time|expires|created|ended|since|lastHeard|lastSeen|seq)":\d+/) {
        "\"\($0.1)\":0"
    }
    line.replace(/"completeSince":{[^}]*}/, with: "\"completeSince\":{}")
    line.replace(/"(id|session|cursor|message)":"(?:[0-9A-Z]{13}){1,2}"/) { "\"\($0.1)\":\"\"" }
    line.replace(/"address":"[^"]+"/, with: "\"address\":\"\"")
    if line.contains("\"accountsOnline\"") { line.replace(/":\d+/, with: "\":0") }
    return line
}
