import ArgumentParser

/// The command. One file a verb.
@main
struct Porchlight: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "porchlight",
        abstract: "A self-hosted presence service: who is home, told at once and in order.",
        discussion: """
            Start the service with `porchlight serve`, watch somebody with
            `porchlight watch bob` in a second terminal, and be bob in a third with
            `porchlight publish 10001 --account bob`.
            """,
        version: "porchlight \(programVersion)",
        subcommands: [
            Serve.self, ConfigVerb.self, Watch.self, Publish.self, Query.self, Why.self,
            Top.self, Stats.self, BackupVerb.self, Restore.self, Key.self, Token.self,
            BenchVerb.self, Version.self,
        ])
}
