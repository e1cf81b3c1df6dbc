// How the engine's own costs grow: CPU time per operation, without sockets and store, from a
// thousand accounts to a million, and from a hundred thousand subscriptions to ten million.
//
// Two sweeps, so that one thing grows at a time. In `accounts` everybody watches 10 others,
// chosen by chance over all: no two who are near in memory meet by design. In `subscriptions`
// everybody watches 100, as a list of contacts may. Prints CSV; `Benchmarks/growth` runs it in
// a process per point, so that no point inherits another's memory, and draws it.

import PresenceCore

/// A point of a sweep, from the words of the command line.
struct Point {
    let sweep: String
    let accounts: Int
    let perAccount: Int

    init?(_ words: [String]) {
        guard words.count == 4, let accounts = Int(words[2]), let perAccount = Int(words[3]),
            accounts > perAccount, perAccount > 0
        else { return nil }
        (sweep, self.accounts, self.perAccount) = (words[1], accounts, perAccount)
    }
}

@main
struct Growth {
    static let columns =
        "sweep,accounts,subscriptions,subscription_ns,login_ns,delivery_ns,renewal_ns,"
        + "expiry_ns,subscription_bytes,account_bytes"

    static func main() {
        guard let point = Point(CommandLine.arguments) else {
            print(columns)
            return
        }
        var world = World(accounts: point.accounts)
        let memoryBefore = residentBytes()
        world.logInAll()
        let memoryOnline = residentBytes()
        let subscription = world.subscribeAll(to: point.perAccount)
        let indexBytes = world.stats.subscriptionBytes
        let subscriptions = world.stats.subscriptions
        let login = world.logInAgain()
        let delivery = world.publish()
        let renewal = world.renew(point.perAccount)
        let expiry = world.expireAll()
        let figures = [
            subscription, login, delivery, renewal, expiry,
            Double(indexBytes) / Double(subscriptions),
            Double(memoryOnline - memoryBefore) / Double(point.accounts),
        ]
        let texts = figures.map { String(($0 * 10).rounded() / 10) }
        print(
            "\(point.sweep),\(point.accounts),\(subscriptions),"
                + texts.joined(separator: ","))
    }
}
