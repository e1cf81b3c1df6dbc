import PresenceCore
import PresenceStore

// Rate limits of logins, and limits on memory and on the store's backlog.

extension EngineHost {
    /// Whether a login may be carried out now. If not, its connection is closed with a time after
    /// which to reconnect: clients that reconnect at once are spread over the time that it takes
    /// to serve them.
    mutating func admitLogin(of connection: ConnectionID, at now: Moment) -> Bool {
        guard let wait = logins.take(configuration.admission.loginPace, at: now.mono) else {
            return true
        }
        counters.loginsDelayed += 1
        let seconds = retryDelay.seconds(waitMilliseconds: wait)
        output.append(
            .refuse(Refusal(.overloaded, retryAfterSeconds: seconds)), for: connection)
        output.append(.close(.overloaded, retryAfterSeconds: seconds), for: connection)
        return false
    }

    /// Rejects what takes memory or a write while there is no room for it.
    mutating func checkRoom(for method: MethodName, at now: Moment) throws(Refusal) {
        switch method.rules.room {
        case .needed:
            try checkMemory(at: now)
            try checkBacklog()
        case .notNeeded:
            break
        }
    }

    /// Refuses what has to be stored while the store is far behind.
    private mutating func checkBacklog() throws(Refusal) {
        guard store.counters.pending > configuration.admission.storePendingMax else { return }
        counters.refusedForStore += 1
        throw transientRefusal(.storeUnavailable)
    }

    /// Refuses what takes memory while there is too little.
    private mutating func checkMemory(at now: Moment) throws(Refusal) {
        guard let max = configuration.admission.memoryBytesMax,
            memory.isAbove(max, resources, at: now.mono)
        else { return }
        counters.refusedForMemory += 1
        throw transientRefusal(.overloaded)
    }

    /// The refusal of something that may succeed later.
    mutating func transientRefusal(_ reason: Refusal.Reason) -> Refusal {
        Refusal(reason, retryAfterSeconds: retryDelay.seconds())
    }
}
