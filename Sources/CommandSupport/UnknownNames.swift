public import ArgumentParser
import PresenceClient

/// What is wrong with the first words of a command line if one of them should be a subcommand and
/// is not; the parser would call it an unexpected argument.
public func unknownSubcommand(in words: [String], of command: any ParsableCommand.Type) -> String? {
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

/// The end of a sentence about an unknown name: the nearest known one, or where to find them.
public func suggestion(
    for name: String, among known: [String],
    otherwise: String = "`porchlight config` lists them all"
) -> String {
    let nearest = known.min { distance(name, $0) < distance(name, $1) }
    guard let nearest, distance(name, nearest) <= max(2, name.count / 4) else {
        return ": \(otherwise)."
    }
    return ": did you mean \(nearest)?"
}

/// The edit distance: insertions, deletions and substitutions of letters.
private func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.lowercased().prefix(64)), Array(b.lowercased().prefix(64)))
    var row = Array(0...b.count)
    for i in a.indices {
        var diagonal = row[0]
        row[0] = i + 1
        for j in b.indices {
            let changed = diagonal + (a[i] == b[j] ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(changed, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[b.count]
}

/// A text from outside, escaped, and cut to what fits into one line of an error.
public func cut(_ text: String) -> String {
    visible(text.count > 60 ? text.prefix(60) + "…" : text)
}
