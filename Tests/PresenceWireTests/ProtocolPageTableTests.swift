import Foundation
import PresenceCore
import PresenceWire
import Testing

/// The tables of `docs/PROTOCOL.md` say what the code says.
@Suite struct `The tables of the protocol page` {
    let lines: [String]

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        lines = try String(contentsOf: root.appending(path: "docs/PROTOCOL.md"), encoding: .utf8)
            .components(separatedBy: "\n")
    }

    /// The cells of all rows of tables in a section, without the marks of code.
    func rows(in heading: String) -> [[String]] {
        let section = lines.drop { $0 != heading }.dropFirst()
            .prefix { !$0.hasPrefix("## ") }
        return section.filter { $0.hasPrefix("| ") }.map { line in
            line.split(separator: "|").map { cell in
                cell.replacing("`", with: "").trimmingCharacters(in: .whitespaces)
            }
        }
    }

    @Test func `every method has its section, under the peers that may use it, and no other`() {
        let start = lines.firstIndex(of: "## Methods for clients") ?? 0
        var peers = ""
        var shown: [String] = []
        for line in lines[start...] {
            if line.hasPrefix("## ") { peers = String(line.dropFirst(3)) }
            if line.hasPrefix("### "), peers.hasPrefix("Methods") {
                shown.append("\(line.dropFirst(4)): \(peers)")
            }
        }
        let methods = MethodName.allCases.map { method in
            let isForAppServers = method.rules.permission == .appServers
            return "\(method.rawValue): Methods for \(isForAppServers ? "app servers" : "clients")"
        }
        #expect(shown.sorted() == methods.sorted())
    }

    @Test func `every error stands there with its code, and no other`() {
        let shown = rows(in: "## Errors").dropFirst().map { "\($0[0]) \($0[1])" }
        let errors = EnvelopeError.Reason.allCases.map { "\($0.rawValue) \($0.code)" }
        let rejections = Rejection.Reason.allCases.map { "\($0.rawValue) \($0.code)" }
        #expect(shown.sorted() == (errors + rejections).sorted())
    }

    @Test func `every close code stands there with its reason, and no other`() {
        let shown = rows(in: "## Close codes").dropFirst().map { "\($0[0]) \($0[1])" }
        let reasons: [CloseReason] = [
            .protocolViolation, .loginTimeout, .tokenExpired, .idleTimeout, .replaced,
            .kicked(reason: nil), .tooSlow, .shuttingDown, .overloaded,
        ]
        #expect(shown == reasons.map { "\($0.code) \($0.word)" })
        for reason in reasons {
            switch reason {
            // A new one makes this incomplete, and has to be added above.
            case .protocolViolation, .loginTimeout, .tokenExpired, .idleTimeout, .replaced,
                .kicked, .tooSlow, .shuttingDown, .overloaded:
                break
            }
        }
    }

    @Test func `every limit stands there with its default, and no other`() {
        let shown = rows(in: "## Names and limits").dropFirst().map {
            "\($0[0]) \($0[1].replacing(",", with: ""))"
        }
        let limits = Mirror(reflecting: Limits()).children.map { "\($0.label ?? "") \($0.value)" }
        // Sent at login, and the same in every service.
        let fixed = ["pushAddressBytesMax \(Limits.pushAddressBytesMax)"]
        #expect(shown.sorted() == (limits + fixed).sorted())
    }

    @Test func `every cause stands there, and no other`() {
        let heading = rows(in: "## Notifications").firstIndex { $0 == ["cause", ""] }
        let shown = rows(in: "## Notifications").dropFirst((heading ?? 0) + 1).map { $0[0] }
        #expect(Set(shown) == Set(Cause.allCases.map { $0.word.description }))
    }

    @Test func `every word for a client stands there`() throws {
        let start = try #require(lines.firstIndex { $0.hasPrefix("**client** is one of") })
        let words = lines[start...].prefix { !$0.isEmpty }.joined(separator: " ")
            .split(separator: "`").map(String.init)
        for client in ClientKind.allCases {
            #expect(words.contains(client.word.description))
        }
    }
}
