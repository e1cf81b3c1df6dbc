import ArgumentParser
import PresenceClient

/// The devices that a message is for, by what is set of them.
struct LabelOptions: ParsableArguments {
    @Option(
        name: .customLong("alias"),
        help: ArgumentHelp(
            "To the devices with this alias, in place of accounts; may be repeated.",
            valueName: "alias"))
    var aliases: [String] = []

    @Option(
        name: .customLong("tag"),
        help: ArgumentHelp(
            "To the devices with this tag, in place of accounts; if repeated, with one of them.",
            valueName: "tag"))
    var tags: [String] = []

    @Option(
        name: .customLong("tag-all"),
        help: ArgumentHelp(
            "Only to devices with this tag, too; may be repeated.", valueName: "tag"))
    var tagsAll: [String] = []

    @Option(
        name: .customLong("tag-not"),
        help: ArgumentHelp("Not to devices with this tag; may be repeated.", valueName: "tag"))
    var tagsNot: [String] = []

    /// Whether any is given.
    var areGiven: Bool { !params.isEmpty }

    /// Those that are given, as parameters of `send`.
    var params: [String: JSON] {
        ["aliases": aliases, "tags": tags, "tagsAll": tagsAll, "tagsNot": tagsNot]
            .filter { !$0.value.isEmpty }
            .mapValues { .array($0.map { .string($0) }) }
    }

    /// What was typed, by name of the parameter.
    static let typed = [
        "aliases": "--alias", "tags": "--tag", "tagsAll": "--tag-all", "tagsNot": "--tag-not",
    ]

    func validate() throws {
        guard aliases.isEmpty || params.count == 1 else {
            throw ValidationError("--alias selects devices by itself: give no tags.")
        }
        guard tagsNot.isEmpty || params.count > 1 else {
            throw ValidationError("--tag-not selects nothing alone: give --tag or --tag-all.")
        }
    }
}
