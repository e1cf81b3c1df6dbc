import ArgumentParser
import Testing

@testable import porchlight

@Suite struct `The help of each verb` {
    /// A verb as it is typed, and its type; hidden ones are not listed.
    static let verbs = verbs(of: Porchlight.self, typed: "porchlight")

    static func verbs(
        of command: any ParsableCommand.Type, typed: String
    ) -> [(typed: String, command: any ParsableCommand.Type)] {
        [(typed, command)]
            + command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
            .flatMap { verbs(of: $0, typed: "\(typed) \($0._commandName)") }
    }

    @Test func `fits into 80 columns`() {
        #expect(Self.verbs.count > 20)
        for (typed, command) in Self.verbs {
            let help = Porchlight.helpMessage(for: command, columns: 80)
            for line in help.split(separator: "\n") {
                #expect(line.count <= 80, "\(typed): \(line)")
            }
        }
    }

    @Test func `has a usage that begins with what is typed`() {
        for (typed, command) in Self.verbs {
            let help = Porchlight.helpMessage(for: command, columns: 80)
            #expect(help.contains("\nUSAGE: \(typed)"), "\(help)")
        }
    }

    @Test func `names every value that a setting can have`() throws {
        let help = Porchlight.helpMessage(for: Serve.self, columns: 1_000)
        #expect(help.contains("(1 to 64, or auto; default: 1)"))
        let loops = try #require(SettingTable.named("loops"))
        #expect(throws: Setting.ValueError(fault: "is out of range", remedy: "1 to 64, or auto")) {
            try loops.value(of: "65")
        }
    }
}
