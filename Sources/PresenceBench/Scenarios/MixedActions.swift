// A mix of actions, one at a time per client, at times that are fixed in advance. At the end every
// client must have the newest state of each account that it is subscribed to, by `seq`.

import EventLoop

/// Chooses actions at random, measures each, and tracks what each client knows.
final class MixedActions: LoadObserver {
    /// What a client does.
    enum Action: Int, CaseIterable {
        case login, reconnect, publish, renew, query, ping

        /// Whether it is answered when it is on disk, and does nothing else.
        var isCommit: Bool { self == .publish || self == .renew }
    }

    private(set) var times = Array(repeating: Latencies(), count: Action.allCases.count)
    /// The times of commits that were due in each phase, if there are phases.
    private(set) var commits = Array(repeating: Latencies(), count: MixedPhase.allCases.count)
    /// The phase of the run; nil between phases and without any.
    var phase: MixedPhase?
    private(set) var doneCount = 0
    private(set) var skippedCount = 0

    private let load: Load
    private let groups: Groups
    private let appServers: Range<Int>
    private let actions: [Action]
    private let pauseNanoseconds: UInt64
    private var isActive = false
    private var dueNext: UInt64 = 0
    /// The action of each client, when it was due, and the phase of that time.
    private var doing: [Action?]
    private var due: [UInt64]
    private var startedIn: [MixedPhase?]
    private var busyCount = 0
    /// The newest `seq` that each client has of each member of its group.
    private var known: [UInt64]
    /// The newest `seq` of each account.
    private var newest: [UInt64]
    private var value = 10_000
    private var bytes: [UInt8] = []

    init(_ load: Load, _ groups: Groups, appServers: Range<Int>, actions: [Action], rate: Int) {
        self.load = load
        self.groups = groups
        self.appServers = appServers
        self.actions = actions
        pauseNanoseconds = 1_000_000_000 / UInt64(rate)
        doing = Array(repeating: nil, count: appServers.upperBound)
        due = Array(repeating: 0, count: appServers.upperBound)
        startedIn = Array(repeating: nil, count: appServers.upperBound)
        known = Array(repeating: 0, count: groups.accounts * groups.size)
        newest = Array(repeating: 0, count: groups.accounts)
        load.tickMilliseconds = 1
    }

    func begin() {
        isActive = true
        dueNext = load.loop.monotonicNanoseconds
    }

    /// Waits until all actions have ended.
    func end() throws(BenchError) {
        isActive = false
        try load.wait(for: "the end of the day", atMostSeconds: 60) { [unowned self] in
            busyCount == 0 && load.counters.requestsOutstanding == 0
        }
        // A client that was lost may still be in its grace, and an event may be in flight.
        try load.rest(seconds: 0.5, "silence")
    }

    /// Fails if a client does not know the newest state of an account that it is subscribed to.
    func check() throws(BenchError) {
        for client in 0..<groups.accounts {
            let group = groups.group(of: client)
            for member in group where member != client {
                let has = known[client * groups.size + member - group.lowerBound]
                guard has == newest[member] else {
                    throw BenchError(
                        "\(load.names.text(client)) has seq \(has) of \(load.names.text(member)), "
                            + "and others have \(newest[member]).")
                }
            }
        }
    }

    // MARK: Actions

    func turnEnded() {
        guard isActive else { return }
        let now = load.loop.monotonicNanoseconds
        while dueNext <= now {
            start(actions[Int.random(in: 0..<actions.count, using: &load.random)])
            dueNext += pauseNanoseconds
        }
    }

    private func start(_ action: Action) {
        let candidates = action == .query ? appServers : 0..<groups.accounts
        var client = Int.random(in: candidates, using: &load.random)
        var attempts = 0
        while doing[client] != nil {
            attempts += 1
            guard attempts < 20 else {
                skippedCount += 1
                return
            }
            client = Int.random(in: candidates, using: &load.random)
        }
        doing[client] = action
        due[client] = dueNext
        startedIn[client] = phase
        busyCount += 1
        bytes.removeAll(keepingCapacity: true)
        switch action {
        case .login: bytes.appendRequest(.logout)
        case .reconnect: return reconnect(client, .reset)
        case .publish:
            value += 1
            bytes.appendPublish(value: value)
        case .renew:
            bytes.appendSubscribe(
                to: groups.others(of: client, chunk: 0), expirySeconds: 86_400, load.names)
        case .query:
            let first = Int.random(in: 0..<groups.accounts, using: &load.random)
            bytes.appendQuery(groups.group(of: first).prefix(100), load.names)
        case .ping: bytes.appendRequest(.ping)
        }
        load.request(bytes, by: client)
    }

    private func reconnect(_ client: Int, _ end: DropMethod) {
        load.drop(client..<client + 1, end)
        load.bring(client..<client + 1)
    }

    private func done(_ client: Int) {
        guard let action = doing[client] else { return }
        doing[client] = nil
        busyCount -= 1
        doneCount += 1
        times[action.rawValue].record(from: due[client], to: load.now)
        guard action.isCommit, let phase = startedIn[client] else { return }
        commits[phase.rawValue].record(from: due[client], to: load.now)
    }

    // MARK: Observing

    func answered(_ kind: RequestKind, of client: Int, in body: RawSpan) {
        // A logout is half of the action.
        guard kind != .logout else { return reconnect(client, .close) }
        done(client)
    }

    func arrived(_ client: Int, states: Int) { done(client) }

    func listed(_ event: ScannedEvent, by client: Int) { learn(event, client) }

    func received(_ event: ScannedEvent, by client: Int, in body: RawSpan) {
        guard client < groups.accounts, event.publisher >= 0 else {
            return load.fail("An event of a publisher without subscribers: \(load.text(of: body)).")
        }
        // The other sessions of the account also receive it; here there are none.
        guard event.publisher != client else { return }
        let group = groups.group(of: client)
        guard group.contains(event.publisher) else {
            return load.fail("\(load.names.text(client)) got an event without a subscription.")
        }
        let place = client * groups.size + event.publisher - group.lowerBound
        guard event.seq > known[place] else {
            return load.fail("\(load.names.text(client)) got an event older than the last one.")
        }
        learn(event, client)
    }

    private func learn(_ event: ScannedEvent, _ client: Int) {
        guard client < groups.accounts, event.publisher >= 0 else { return }
        let group = groups.group(of: client)
        guard group.contains(event.publisher) else { return }
        known[client * groups.size + event.publisher - group.lowerBound] = event.seq
        newest[event.publisher] = max(newest[event.publisher], event.seq)
    }
}
