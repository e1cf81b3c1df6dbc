import Foundation
import Testing

@testable import porchlight

@Suite struct `Keys that are read again` {
    /// What is said when one pair of files is there instead of another.
    func told(
        server: (String, String) = (Self.hashed("a"), Self.hashed("a")),
        token: (String, String) = (Self.set("t"), Self.set("t"))
    ) async throws -> [String] {
        let before = try await keys(server.0, token.0)
        let after = try await keys(server.1, token.1)
        return before.changes(to: after).map(\.text)
    }

    /// Reads files with this in them. On a thread of its own: reading waits for a task, and all
    /// threads that tasks have may be taken by tests that wait like this one.
    func keys(_ server: String, _ token: String) async throws -> KeyFiles {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let files = (try TemporaryFile(server), try TemporaryFile(token))
                        return try withExtendedLifetime(files) {
                            var settings = ServiceSettings()
                            settings.serverKeyPath = files.0.path
                            settings.tokenKeyPlace = files.1.path
                            return try KeyFiles(settings)
                        }
                    })
            }
        }
    }

    static func hashed(_ name: String, rights: String = "", digit: String = "0") -> String {
        let digits = String(repeating: digit, count: 63)
        // Two names may not have one key.
        return "\(name)\(rights) sha256:\(digits)\(name.utf8.count)\n"
    }

    /// A set of secrets with these names.
    static func set(_ names: String?..., letter: String = "A") -> String {
        let keys = names.map { name in
            let kid = name.map { #","kid":"\#($0)""# } ?? ""
            return #"{"kty":"oct","k":"\#(String(repeating: letter, count: 64))"\#(kid)}"#
        }
        return #"{"keys":[\#(keys.joined(separator: ","))]}"#
    }

    @Test func `say nothing where they are the same`() async throws {
        #expect(try await told() == [])
        #expect(try await told(token: (Self.set("s", "t"), Self.set("t", "s"))) == [])
    }

    @Test func `are told of by their names`() async throws {
        #expect(
            try await told(server: (Self.hashed("a"), Self.hashed("bb")))
                == ["server key removed: a", "server key added: bb"])
        #expect(
            try await told(server: (Self.hashed("a"), Self.hashed("a", digit: "1")))
                == ["server key replaced: a"])
        #expect(
            try await told(server: (Self.hashed("a"), Self.hashed("a", rights: " read")))
                == ["server key replaced: a"])
        #expect(
            try await told(token: (Self.set("s", "t"), Self.set("t", "u")))
                == ["token key removed: s (HS256)", "token key added: u (HS256)"])
        #expect(
            try await told(token: (Self.set("t"), Self.set("t", letter: "B")))
                == ["token key replaced: t (HS256)"])
        #expect(
            try await told(token: (Self.set(nil), Self.set(nil, letter: "B")))
                == ["token key replaced: without a name (HS256)"])
    }

    @Test func `keep what they are to themselves`() async throws {
        let secret = "a-server-key-that-stands-there-as-it-is"
        let said = try await told(
            server: (Self.hashed("a"), Self.hashed("a") + secret + "\n"),
            token: (Self.set("t"), String(repeating: "secret ", count: 6)))
        #expect(
            said == [
                "server key added: key-2", "token key removed: t (HS256)",
                "token key added: without a name (HS256)",
            ])
    }

    @Test func `cannot write into the log what they like`() async throws {
        let said = try await told(token: (Self.set("t"), Self.set("t", #"x\n\u001b[31m"#)))
        #expect(said.count == 1)
        #expect(said.allSatisfy { !$0.contains("\u{1b}") && !$0.contains("\n") })
    }
}
