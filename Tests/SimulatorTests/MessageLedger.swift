/// What clients have sent to accounts and taken, so that what is delivered can be compared with it.
/// Every body is sent once.
final class MessageLedger {
    /// A message, as its sender knows it.
    struct Entry {
        let recipients: Set<String>
        let device: String?
        /// By the clock of the network, which runs over restarts. It may expire earlier, if the
        /// wall clock jumps.
        let expires: UInt64
        var outcome = Outcome.unknown
        /// The accounts that have certainly taken it, or for which it was certainly discarded, and
        /// when that was, among all that the ledger has noted.
        var done: [String: Int] = [:]
        /// The accounts that have perhaps.
        var perhapsDone: Set<String> = []
    }

    enum Outcome: Equatable {
        /// No answer has come.
        case unknown
        case accepted(id: String)
        case refused
    }

    /// By body.
    private(set) var entries: [String: Entry] = [:]
    /// By body: the id with which it was delivered first.
    private var ids: [String: String] = [:]
    /// The accounts whose messages an app server has asked to discard. The request may still be on
    /// its way, so it may be about those that are sent only now.
    private var discarding: Set<String> = []
    /// What was done before this is durable.
    private var durableUpTo = 0
    private var clock = 0
    private var lastBody = 0

    /// A number that rises: what was noted before has a lower one.
    func tick() -> Int {
        clock += 1
        return clock
    }

    /// The body of another message.
    func nextBody() -> String {
        lastBody += 1
        return "m\(lastBody)"
    }

    func note(_ body: String, _ entry: Entry) {
        entries[body] = entry
        entries[body]?.perhapsDone = entry.recipients.intersection(discarding)
    }

    func note(_ outcome: Outcome, of body: String) { entries[body]?.outcome = outcome }

    /// An app server has asked to discard what waits for an account.
    func noteDiscarding(_ account: String) {
        discarding.insert(account)
        noteAsked(bodies(for: account), by: account)
    }

    /// An account has asked to take them, or an app server to discard them.
    func noteAsked(_ bodies: some Sequence<String>, by account: String) {
        for body in bodies { entries[body]?.perhapsDone.insert(account) }
    }

    /// That was answered.
    func noteDone(_ bodies: some Sequence<String>, by account: String) {
        for body in bodies { entries[body]?.done[account] = tick() }
    }

    /// What is wrong with a message that a connection is sent which was opened at `opened`.
    func fault(
        _ body: String, id: String, to account: String, _ device: String, opened: Int
    ) -> String? {
        guard let entry = entries[body] else { return "\(body) was never sent" }
        guard entry.recipients.contains(account) else { return "\(body) is for others" }
        guard entry.device == nil || entry.device == device else { return "\(body): the device" }
        guard entry.outcome != .refused else { return "\(body) was refused" }
        if case .accepted(let accepted) = entry.outcome, accepted != id {
            return "\(body) was accepted as \(accepted) and is \(id)"
        }
        if let before = ids[body], before != id { return "\(body) was \(before) and is \(id)" }
        ids[body] = id
        // What was on its way to a connection when another took it may still arrive.
        if let done = entry.done[account], done < opened { return "\(body) was taken" }
        return nil
    }

    /// The bodies that may wait for an account.
    private func bodies(for account: String) -> [String] {
        entries.filter { $0.value.recipients.contains(account) }.map(\.key)
    }

    /// Everything is durable, and nothing is on its way.
    func rest() {
        durableUpTo = tick()
        discarding = []
    }

    /// The service has crashed: what was done lately may be undone.
    func crash() {
        for (body, entry) in entries {
            entries[body]?.done = entry.done.filter { $0.value <= durableUpTo }
        }
    }
}
