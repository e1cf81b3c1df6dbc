import ArgumentParser
import EventLoop
import Foundation

/// The command. One file per subcommand.
@main
struct Porchlight: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "porchlight",
        abstract: "A self-hosted service for real-time presence: who is online, in order.",
        discussion: """
            Start the service with `porchlight serve`, watch an account with \
            `porchlight watch bob` in a second terminal, and be online as bob in a third with \
            `porchlight publish 10001 --account bob`.
            """,
        version: "porchlight \(programVersion)",
        subcommands: [
            Serve.self, ConfigVerb.self, Watch.self, Publish.self, Query.self, Why.self,
            Top.self, Stats.self, PasswordVerb.self, BackupVerb.self, Restore.self, Key.self,
            Token.self, BenchVerb.self, Version.self,
        ])

    static func main() {
        Descriptors.reserveStandard()
        watchOutput()
        let words = Array(CommandLine.arguments.dropFirst())
        if let fault = unknownSubcommand(in: words, of: Self.self) {
            note("Error: \(fault)")
            exit(withError: ExitCode.validationFailure)
        }
        main(words)
    }
}

/// What is wrong with the first words of a command line if one of them should be a subcommand and
/// is not; the parser would call it an unexpected argument.
func unknownSubcommand(in words: [String], of command: any ParsableCommand.Type) -> String? {
    guard let word = words.first, !word.hasPrefix("-") else { return nil }
    let subcommands = command.configuration.subcommands
    guard !subcommands.isEmpty, word != "help" else { return nil }
    if let named = subcommands.first(where: { $0._commandName == word }) {
        return unknownSubcommand(in: Array(words.dropFirst()), of: named)
    }
    let known = subcommands.filter { $0.configuration.shouldDisplay }
        .map { $0._commandName }
    return "\(command._commandName) has no subcommand \(cut(word))"
        + suggestion(
            for: word, among: known, otherwise: "`\(command._commandName) --help` lists them")
}
