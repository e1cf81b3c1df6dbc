import Containers

extension Engine {
    /// Receivers and names after which `advance` returns, so that other work can run: some
    /// milliseconds.
    private static var workPerAdvanceMax: Int { 10_000 }

    /// Whether everything that was due has been done.
    public enum Progress: Sendable {
        case done
        /// More is due; call again after other work has run.
        case moreIsDue
    }

    /// Handles what was due by `limit`, at most `deadlinesMax` deadlines.
    ///
    /// The limit is the time up to which input has been taken in: what has become due since may not
    /// be, because of input that has arrived.
    ///
    /// A deadline is an account's expired subscriptions, a status that expires, or a phase of a
    /// session that ends. A deadline that was postponed meanwhile returns to the wheel.
    public mutating func advance(
        to now: Moment, dueBy limit: Mono, deadlinesMax: Int, into effects: inout Effects
    ) -> Progress {
        sequence.note(now.mono)
        forgetRetired(after: effects)
        var left = deadlinesMax
        // A deadline may be worth thousands of receivers or names.
        while left > 0, effects.receivers.count + effects.names.count < Self.workPerAdvanceMax {
            guard let due = wheel.popDue(now: limit.milliseconds) else {
                reserveSequence(into: &effects)
                return .done
            }
            left -= 1
            switch Deadline(payload: due.payload) {
            case .subscriptions(let number):
                expireSubscriptions(of: AccountHandle(index: number), at: now, into: &effects)
            case .status(let number):
                statusExpired(number, at: now, into: &effects)
            case .session(let number):
                phaseEnded(number, at: now, into: &effects)
            case .inbox(let number):
                inboxTimerFired(of: AccountHandle(index: number), at: now, into: &effects)
            case .accountRetention:
                forgetUnusedAccounts(at: now, into: &effects)
            }
        }
        reserveSequence(into: &effects)
        return .moreIsDue
    }

    private mutating func statusExpired(
        _ status: UInt32, at now: Moment, into effects: inout Effects
    ) {
        let topic = TopicHandle(index: statuses[status].topic)
        let record = topics[topic.index]
        let account = AccountHandle(index: record.account)
        endStatus(of: topic, cause: .expired, at: now, into: &effects)
        persistExpiry(ofStatusOf: account, record.type, into: &effects)
    }

    /// Removes the expired subscriptions of an account and notifies its sessions.
    private mutating func expireSubscriptions(
        of account: AccountHandle, at now: Moment, into effects: inout Effects
    ) {
        let number = Int(account.index)
        accounts[number].expiryTimer = .none
        var removed: [TopicHandle] = []
        var ended: [Subscription] = []
        let earliest = index.endTimed(of: account, into: &removed) { subscription in
            guard subscription.deadline <= now.mono else { return false }
            ended.append(subscription)
            return true
        }
        if let earliest { expectExpiry(of: account, at: earliest) }
        guard !removed.isEmpty else { return }
        noteEnds(of: ended, of: account, .expired, at: now.wall)
        stats.expiries += removed.count
        removed.sort { (topics[$0.index].type, $0) < (topics[$1.index].type, $1) }
        var rest = removed[...]
        while let first = rest.first {
            let type = topics[first.index].type
            let run = rest.prefix { topics[$0.index].type == type }
            let publishers = run.map { AccountHandle(index: topics[$0.index].account) }
            persistExpiry(ofSubscriptionsOf: account, type, to: publishers, into: &effects)
            announceEnd(
                .expired, ofSubscriptionsOf: account, type, to: publishers, into: &effects)
            rest = rest.dropFirst(run.count)
        }
        for topic in removed { releaseIfIdle(topic) }
        retired.append(account.index)
    }
}
