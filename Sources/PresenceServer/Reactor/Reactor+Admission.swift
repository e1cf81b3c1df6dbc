import Containers
import EventLoop
import PresenceCore
import PresenceStore

// Pace and room: of connections when they come, of logins, of requests.

extension Reactor {
    /// Whether a new connection may stay. One that may not is told when to come back.
    mutating func admit(_ slot: Int) -> Bool {
        let limits = configuration.admission
        guard clientCount <= limits.connectionsMax else {
            turnAway(slot)
            return false
        }
        let network = loop.peerNetwork(of: connections[slot].id)
        guard let address = addresses.enter(network, max: limits.connectionsPerAddressMax) else {
            turnAway(slot)
            return false
        }
        connections[slot].address = address
        return true
    }

    /// Connections that have been accepted, are not wholly closed, and were not turned away.
    private var clientCount: Int {
        loop.streamCount - internalCount - turnedAwayCount - dismissedCount
    }

    /// Rejects a connection beyond a limit with `retryAfter`. A few are kept open for a moment so
    /// that they can read it; more would use the descriptors of the reserve.
    private mutating func turnAway(_ slot: Int) {
        counters.turnedAway += 1
        guard turnedAwayCount < configuration.admission.turnedAwayMax else {
            return dismiss(slot, .overloaded)
        }
        turnedAwayCount += 1
        connections[slot].state.insert(.isTurnedAway)
        close(slot, .overloaded)
    }

    /// Whether a command of this kind, for which the sender has permission, may be carried out now.
    mutating func admit(_ kind: CommandKind, of slot: Int, at now: Moment) throws(Refusal) {
        try checkRoom(for: kind, at: now)
        if kind == .login { try admitLogin(of: slot, at: now) }
    }

    /// Whether the service has room for what a command of this kind takes.
    mutating func checkRoom(for kind: CommandKind, at now: Moment) throws(Refusal) {
        switch kind {
        case .login, .subscribe, .publish:
            try checkMemory(at: now)
            try checkBacklog()
        default: break
        }
    }

    /// Whether one more token may wait to be verified. Of a network whose logins fail too often,
    /// few may: so they take what others leave, and no more.
    mutating func checkInquiries(of slot: Int, at now: Moment) throws(Refusal) {
        let limits = configuration.admission
        let isSuspect = failedLogins.isSuspect(
            addresses.network(connections[slot].address), limits.failedLoginPace, at: now.mono)
        let inquiriesMax =
            isSuspect ? min(limits.suspectInquiriesMax, limits.inquiriesMax) : limits.inquiriesMax
        guard inquiriesUnderWay >= inquiriesMax else { return }
        counters.refusedForInquiries += 1
        throw Refusal(.overloaded, retryAfterSeconds: retryAfterSeconds())
    }

    /// Refuses what has to be stored while the store is far behind.
    private mutating func checkBacklog() throws(Refusal) {
        guard store.counters.pending > configuration.admission.storePendingMax else { return }
        counters.refusedForStore += 1
        throw Refusal(.storeUnavailable, retryAfterSeconds: retryAfterSeconds())
    }

    /// Whether a login may be carried out now. One that may not ends its connection: so that
    /// many who come at once are spread over as many seconds as it takes to serve them.
    mutating func admitLogin(of slot: Int, at now: Moment) throws(Refusal) {
        guard let pace = configuration.admission.loginPace,
            logins.take(pace, at: now.mono) != nil
        else { return }
        counters.loginsDelayed += 1
        // Each who is sent away is given a time behind those who were before: at the pace at
        // which they can be served, a hundred thousand are spread over as long as that takes.
        let wait = returns.charge(
            Pace(perSecond: pace.perSecond, burst: 1), at: now.mono,
            waitMillisecondsMax: UInt64(Self.retryBaseSecondsMax - 1) * 1_000)
        let seconds = retryAfterSeconds(waitMilliseconds: wait ?? 0)
        refuse(slot, Refusal(.overloaded, retryAfterSeconds: seconds))
        close(slot, .overloaded, retryAfterSeconds: seconds)
        throw Refusal(.overloaded)
    }

    /// When somebody is to come back: jittered, or all who were refused at once return at once.
    mutating func retryAfterSeconds(waitMilliseconds: UInt64 = 0) -> Int {
        let base = min(1 + Int(clamping: waitMilliseconds / 1_000), Self.retryBaseSecondsMax)
        return base + Int.random(in: 0...(base + 3), using: &jitter)
    }

    /// With the jitter, a client is told to come back within 59 s, however many there are.
    private static var retryBaseSecondsMax: Int { 28 }

    /// Refuses what takes memory while there is too little.
    mutating func checkMemory(at now: Moment) throws(Refusal) {
        guard let max = configuration.admission.memoryBytesMax else { return }
        if now.mono >= memoryCheckAt {
            memoryBytes = measureMemory()
            memoryCheckAt = now.mono.advanced(byMilliseconds: 250)
        }
        guard memoryBytes > max else { return }
        counters.refusedForMemory += 1
        throw Refusal(.overloaded, retryAfterSeconds: retryAfterSeconds())
    }

    /// Counts a frame that a connection has sent. If it was one too many, the next has to wait.
    mutating func countRequest(of slot: Int, at now: Moment) {
        guard !connections[slot].state.contains(.isInternal) else { return }
        let pace =
            connections[slot].state.contains(.isAppServer)
            ? configuration.admission.appServerRequestPace : configuration.admission.requestPace
        guard let pace, let wait = connections[slot].requests.charge(pace, at: now.mono) else {
            return
        }
        counters.throttled += 1
        connections[slot].state.insert(.isThrottled)
        _ = deadlines.schedule(
            ConnectionDeadline.throttle.payload(slot),
            at: now.mono.advanced(byMilliseconds: wait).milliseconds)
    }

    /// The wait that `countRequest` has begun is over. (Of another tenant of the slot, perhaps; to
    /// look once too often does no harm.)
    mutating func throttleEnded(of slot: Int) {
        connections[slot].state.remove(.isThrottled)
        hearWhatWaits(in: slot)
        resumeIfPaused(slot)
    }
}
