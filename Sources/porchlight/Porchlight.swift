import ArgumentParser
import CommandSupport
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
            Serve.self, ConfigVerb.self, Watch.self, Publish.self, Send.self, Receive.self,
            Query.self, Devices.self, Why.self, Top.self, Stats.self, PasswordVerb.self,
            BackupVerb.self, Restore.self, Key.self, Token.self, DemoVerb.self, BenchVerb.self,
            Version.self,
        ])

    static func main() {
        Descriptors.reserveStandard()
        watchOutput()
        var words = Array(CommandLine.arguments.dropFirst())
        // Its help is the other program's.
        if words.starts(with: ["help", "bench"]) { words.swapAt(0, 1) }
        if let message = unknownSubcommand(in: words, of: Self.self) {
            note("Error: \(message)")
            exit(withError: ExitCode.validationFailure)
        }
        if words.first == Watch._commandName {
            let accounts = withoutRepeatedAccounts(Array(words.dropFirst()))
            if let message = tooManyAccounts(in: accounts) {
                note("Error: \(message)")
                exit(withError: ExitCode.validationFailure)
            }
            words = ["watch"] + accounts
        }
        main(words)
    }
}
