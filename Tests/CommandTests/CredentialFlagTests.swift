import ArgumentParser
import Testing

@testable import porchlight

/// Who shows a key and who a token: docs/PROTOCOL.md has app servers log in by keys alone.
@Suite struct `Flags for credentials` {
    @Test(
        arguments: [Query.self, Why.self, Top.self, Stats.self, PasswordVerb.self]
            as [any ParsableCommand.Type])
    func `are a key's for verbs that are an app server`(verb: any ParsableCommand.Type) {
        let help = verb.helpMessage(columns: 200)
        #expect(help.contains("--connect <host:port>"))
        #expect(help.contains("--server-key <file>"))
        #expect(!help.contains("token"))
    }

    @Test(arguments: [Watch.self, Publish.self] as [any ParsableCommand.Type])
    func `are a token's or a password's for verbs that are an account`(
        verb: any ParsableCommand.Type
    ) {
        let help = verb.helpMessage(columns: 200)
        #expect(help.contains("--token-file <file>"))
        #expect(help.contains("--password-file <file>"))
    }
}
