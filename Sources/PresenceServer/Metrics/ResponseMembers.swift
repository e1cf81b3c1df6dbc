// The members of the responses to `stats` and `top`, in the order in which they are written. The
// table of metrics says what each of them shows.

/// A member of the response to `stats`.
enum StatsMember: String, CaseIterable, Sendable {
    case accounts, accountsOnline, sessions, sessionsConnected, appServers
    case subscriptions, statuses, relationshipsActive, relationshipsPending
    case deadlines, awaitingStore, deferred
    case events, deliveries, eventsConflated, fanOuts, expiries, accountsForgotten
    case subscriptionBytes, nameBytes
    case messagesWaiting, messageBytes, messagesTaken
    case connections, connectionsAccepted, acceptFailures, requests, violations, closedTooSlow
    case connectionsRejected, loginsDelayed, rejectedForMemory, rejectedForStore, throttled
    case tokensSubmitted, tokensInVerification, tokensOverLimit, tokensRejected, tokensExpired
    case addresses
    case feedReaders, feedEvents, feedBytes, feedOldestSeconds, feedLagSeconds, feedResets
    case conflated, fellBehind, bytesBlocked, bytesHeldBack, outboxBytes, poolBytesIdle
    case storePending, storeRetained, storeCommits, storeRows, storeFailures
    case storeLastCommitMicroseconds
    case loopsStalled
}

/// A member of the response to `top`.
enum TopMember: Hashable, Sendable {
    /// In `counts`: by how much it has risen.
    case count(Count)
    /// In `gauges`: its current value.
    case gauge(Gauge)

    enum Count: String, CaseIterable, Sendable {
        case events, deliveries, logins, requests, commits, rows
    }

    enum Gauge: String, CaseIterable, Sendable {
        case connections, accountsOnline, sessionsConnected, subscriptions, statuses
        case bytesBlocked, bytesHeldBack
        case storePending, storeRetained, storeFailures, storeLastCommitMicroseconds
        case memoryBytes, subscriptionBytes, nameBytes, historyBytes, processorMicroseconds
        case loopsStalled
    }
}
