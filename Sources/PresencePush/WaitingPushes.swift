import Containers
import WebPush

/// What a push waits for.
enum PushObstacle: Hashable {
    /// Its endpoint fails.
    case endpoint(PushEndpoint)
    /// Its account has as many pushes in flight as it may.
    case account(ExactText)
    /// The push service is down.
    case host
}

/// The pushes that were set aside, by what they wait for. Only who they are: they are read again.
///
/// Bounded: beyond, the oldest of the account that has most is dropped.
struct WaitingPushes {
    /// The most of an account, and in all.
    static let countOfAccountMax = 1_000
    static let countMax = 50_000

    private struct Entry {
        var account: ExactText
        var obstacle: PushObstacle
        var time: Int64
    }

    private var entries: [PushID: Entry] = [:]
    private var ofAccounts: [ExactText: Set<PushID>] = [:]
    private var behind: [PushObstacle: Set<PushID>] = [:]

    var count: Int { entries.count }
    var ids: some Sequence<PushID> { entries.keys }

    func contains(_ id: PushID) -> Bool { entries[id] != nil }

    /// Whose push waits, and when its message was sent; nil: it does not wait.
    func origin(of id: PushID) -> (account: ExactText, time: Int64)? {
        entries[id].map { ($0.account, $0.time) }
    }

    /// Whether any push waits for something.
    func hasAny(behind obstacle: PushObstacle) -> Bool { behind[obstacle] != nil }

    /// When the oldest message was sent. O(n).
    var firstTime: Int64? { entries.values.lazy.map(\.time).min() }

    /// Sets a push aside. Returns what is dropped for that.
    mutating func add(
        _ id: PushID, of account: ExactText, sentAt time: Int64, behind obstacle: PushObstacle
    ) -> PushID? {
        _ = remove(id)
        entries[id] = Entry(account: account, obstacle: obstacle, time: time)
        ofAccounts[account, default: []].insert(id)
        behind[obstacle, default: []].insert(id)
        var crowded: ExactText?
        if ofAccounts[account]?.count ?? 0 > Self.countOfAccountMax {
            crowded = account
        } else if entries.count > Self.countMax {
            crowded = ofAccounts.max { $0.value.count < $1.value.count }?.key
        }
        guard let crowded, let first = ofAccounts[crowded]?.min(by: { $0.number < $1.number })
        else { return nil }
        _ = remove(first)
        return first
    }

    /// A push waits no longer. Returns what it waited for.
    mutating func remove(_ id: PushID) -> PushObstacle? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        ofAccounts[entry.account]?.remove(id)
        if ofAccounts[entry.account]?.isEmpty == true { ofAccounts[entry.account] = nil }
        behind[entry.obstacle]?.remove(id)
        if behind[entry.obstacle]?.isEmpty == true { behind[entry.obstacle] = nil }
        return entry.obstacle
    }

    /// Those that wait for something.
    func pushes(behind obstacle: PushObstacle) -> Set<PushID> { behind[obstacle] ?? [] }

    /// The lowest number after another of those that no longer have to wait.
    func firstNumber(after number: UInt64, _ isPassable: (PushObstacle) -> Bool) -> UInt64? {
        var first: UInt64?
        for (obstacle, ids) in behind where isPassable(obstacle) {
            for id in ids where id.number > number { first = min(first ?? id.number, id.number) }
        }
        return first
    }
}
