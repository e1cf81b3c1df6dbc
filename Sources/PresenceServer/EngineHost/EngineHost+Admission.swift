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
            .reject(Rejection(.overloaded, retryAfterSeconds: seconds)), for: connection)
        output.append(.close(.overloaded, retryAfterSeconds: seconds), for: connection)
        return false
    }

    /// Rejects what takes memory or a write while there is no room for it.
    mutating func checkRoom(for method: MethodName, at now: Moment) throws(Rejection) {
        switch method.rules.room {
        case .needed:
            // Whether a login takes memory is known when its account and device are.
            if method != .login { try checkMemory(at: now) }
            try checkBacklog()
        case .notNeeded:
            break
        }
    }

    /// Rejects a login while there is too little memory, but not that of a device with a session,
    /// such as within its grace: it takes none.
    mutating func checkMemory(for login: Login, at now: Moment) throws(Rejection) {
        guard !engine.hasSession(of: login.account, on: login.device) else { return }
        try checkMemory(at: now)
    }

    /// Rejects what has to be stored while the store is far behind.
    private mutating func checkBacklog() throws(Rejection) {
        guard store.counters.pending > configuration.admission.storePendingMax else { return }
        counters.rejectedForStore += 1
        throw transientRejection(.storeUnavailable)
    }

    /// Rejects what takes memory while there is too little.
    mutating func checkMemory(at now: Moment) throws(Rejection) {
        guard memory.isShort(configuration.admission, resources, at: now.mono) else { return }
        counters.rejectedForMemory += 1
        throw transientRejection(.overloaded)
    }

    /// The rejection of something that may succeed later.
    mutating func transientRejection(_ reason: Rejection.Reason) -> Rejection {
        Rejection(reason, retryAfterSeconds: retryDelay.seconds())
    }
}
