import ArgumentParser
import PresenceCore
import Testing

@testable import porchlight
@testable import porchlight_bench

@Suite struct `The help of each verb` {
    /// A verb as it is typed, and its help; hidden ones are not listed.
    static let verbs =
        verbs(of: Porchlight.self, typed: "porchlight", in: Porchlight.self)
        + verbs(of: PorchlightBench.self, typed: "porchlight bench", in: PorchlightBench.self)

    static func verbs(
        of command: any ParsableCommand.Type, typed: String, in root: any ParsableCommand.Type
    ) -> [(typed: String, help: String)] {
        [(typed, root.helpMessage(for: command, columns: 80))]
            + command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
            .flatMap { verbs(of: $0, typed: "\(typed) \($0._commandName)", in: root) }
    }

    @Test func `fits into 80 columns`() {
        #expect(Self.verbs.count > 20)
        for (typed, help) in Self.verbs {
            for line in help.split(separator: "\n") {
                #expect(line.count <= 80, "\(typed): \(line)")
            }
        }
    }

    @Test func `has a usage that begins with what is typed`() {
        for (typed, help) in Self.verbs {
            #expect(help.contains("\nUSAGE: \(typed)"), "\(help)")
        }
    }

    @Test func `groups the flags of settings, and lists them once`() {
        let serve = Porchlight.helpMessage(for: Serve.self, columns: 80)
        let titles = [
            "SERVICE", "ACCOUNTS AND APP SERVERS", "TLS", "PRESENCE", "WEBHOOKS", "XMPP CLIENTS",
        ]
        for title in titles { #expect(serve.contains("\n\(title):\n"), "\(serve)") }
        let config = Porchlight.helpMessage(for: ConfigVerb.self, columns: 80)
        #expect(config.contains("--config") && !config.contains("--listen"), "\(config)")
    }

    @Test func `states the limits that are checked before a verb connects`() {
        let limits = Limits()
        let help = Porchlight.helpMessage(for: Publish.self, columns: 1_000)
        for words in [
            "The status: \(limits.customValueMin) to \(limits.customValueMax).",
            "expires: \(limits.statusExpirySecondsMin) to \(limits.statusExpirySecondsMax).",
            "1 is presence, \(limits.customTypeMin) to \(limits.customTypeMax) are an app's own.",
        ] { #expect(help.contains(words), "\(help)") }
        #expect(limits.extBytesMax == 4_096 && help.contains("at most 4,096 bytes"))
        let send = Porchlight.helpMessage(for: Send.self, columns: 1_000)
        let expiries = limits.messageExpirySecondsMin...limits.messageExpirySecondsMax
        #expect(send.contains("expires: \(expiries.lowerBound) to \(expiries.upperBound)."))
        #expect(send.contains("(default: \(limits.messageExpirySecondsDefault))"))
        #expect(limits.messageBytesMax == 131_072 && send.contains("at most 131,072 bytes"))
        #expect(limits.refBytesMax == 64 && send.contains("at most 64 bytes"))
    }

    @Test func `names every value that a setting can have`() throws {
        let help = Porchlight.helpMessage(for: Serve.self, columns: 1_000)
        #expect(help.contains("(1 to 64, or auto; default: 1)"))
        let loops = try #require(SettingTable.named("loops"))
        #expect(throws: Setting.ValueError(reason: "is out of range", remedy: "1 to 64, or auto")) {
            try loops.value(of: "65")
        }
    }
}
