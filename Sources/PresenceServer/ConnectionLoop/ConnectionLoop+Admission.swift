import Containers
import EventLoop
import PresenceCore
import PresenceStore

// Limits on connections when they are accepted, and the rate limit of their requests.

extension ConnectionLoop where Link: ~Copyable {
    /// Whether a new connection may stay. One that may not is sent when to reconnect.
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
        loop.streamCount - turnedAwayCount - dismissedCount
    }

    /// Rejects a connection beyond a limit with `retryAfter`. A few are kept open for a moment so
    /// that they can read it; more would use the descriptors of the reserve.
    mutating func turnAway(_ slot: Int) {
        counters.turnedAway += 1
        guard turnedAwayCount < configuration.admission.turnedAwayMax else {
            return dismiss(slot, .overloaded)
        }
        turnedAwayCount += 1
        connections[slot].peer = .turnedAway
        close(slot, .overloaded)
    }

    /// Counts a frame that a connection has sent, by its weight. If it was too much, the next has
    /// to wait.
    mutating func countRequest(of slot: Int, weight: Int, at now: Moment) {
        let pace: Pace?
        switch connections[slot].peer {
        case .client: pace = configuration.admission.requestPace
        case .appServer: pace = configuration.admission.appServerRequestPace
        case .turnedAway, .dismissed: return
        }
        guard let pace,
            let wait = connections[slot].requests.charge(pace, count: weight, at: now.mono)
        else { return }
        counters.throttled += 1
        connections[slot].input.isThrottled = true
        _ = deadlines.schedule(
            ConnectionDeadline.throttle.payload(slot),
            at: now.mono.advanced(byMilliseconds: wait).milliseconds)
    }

    /// The wait that `countRequest` has begun is over. (Perhaps that of an earlier connection in
    /// the slot; to check once too often does no harm.)
    mutating func throttleEnded(of slot: Int) {
        connections[slot].input.isThrottled = false
        hearWhatWaits(in: slot)
        carryOutPaced(in: slot)
        resumeIfPaused(slot)
    }
}
