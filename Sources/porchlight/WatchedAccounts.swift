// What `watch` does with its words before they are parsed.

import PresenceCore

/// The words of `watch` with each account once. ArgumentParser takes time that grows with the
/// square of the words, 3 s for 3,000 in a debug build.
func withoutRepeatedAccounts(_ words: [String]) -> [String] {
    var seen: Set<[UInt8]> = []
    var mayBeValue = false
    return words.filter { word in
        defer { mayBeValue = word.hasPrefix("-") }
        if mayBeValue || word.hasPrefix("-") { return true }
        return seen.insert(Array(word.utf8)).inserted
    }
}

/// The error for more accounts than one account can be subscribed to; nil if there is none, or if
/// only the parser can tell: a word behind an option may be its value.
func tooManyAccounts(in words: [String]) -> String? {
    guard !words.contains("--unchecked") else { return nil }
    let countMax = Limits().subscriptionsPerAccountMax
    let options = words.count { $0.hasPrefix("-") }
    let accounts = words.count { !$0.hasPrefix("-") } - options
    return accounts > countMax ? tooManyAccountsText(accounts, as: "ACCOUNT", countMax) : nil
}

/// - Parameter count: how many accounts were given.
func tooManyAccountsText(_ count: Int, as label: String, _ countMax: Int) -> String {
    "\(label) is given \(count) times: one account can be subscribed to at most \(countMax). "
        + StateOptions.hint
}
