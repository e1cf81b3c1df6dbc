import Connections
import Containers
import PresenceCore
import PresenceWire

/// Which connections are admitted, and when those that are not may reconnect.
struct Admission: ~Copyable {
    private var addresses: ConnectionsPerNetwork
    /// The connections of all loops; nil: this is the only one.
    private let counts: ConnectionCounts?
    private let loop: Int
    /// Connections above a limit that are given time to read the reason.
    private(set) var overLimitCount = 0
    /// Connections beyond a limit that were closed in this turn.
    private var closedAtOnceCount = 0
    private var retryDelay: RetryDelay

    init(counts: ConnectionCounts?, loop: Int, seed: UInt64) {
        addresses = ConnectionsPerNetwork(seed: seed)
        self.counts = counts
        self.loop = loop
        retryDelay = RetryDelay(seed: seed)
    }

    /// Whether a connection may stay, with `streamCount` open, this one included: the entry of its
    /// network. Nil: a limit is reached. Of several loops, `ConnectionCounts` does it.
    mutating func admit(
        _ network: ClientNetwork?, _ limits: AdmissionLimits, streamCount: Int
    ) -> ConnectionsPerNetwork.Entry? {
        precondition(counts == nil, "admitted by two")
        guard streamCount - overLimitCount - closedAtOnceCount <= limits.connectionsMax else {
            return nil
        }
        return addresses.enter(network, max: limits.connectionsPerAddressMax)
    }

    /// Notes that a connection is above a limit, or closed at once.
    mutating func reject(as peer: ConnectionPeer) {
        switch peer {
        case .client, .appServer: preconditionFailure("a connection that was not rejected")
        case .overLimit: overLimitCount += 1
        case .closedAtOnce: closedAtOnceCount += 1
        }
    }

    /// Notes that a connection is closed.
    mutating func leave(_ address: ConnectionsPerNetwork.Entry, _ peer: ConnectionPeer) {
        switch peer {
        case .client, .appServer: break
        case .overLimit: overLimitCount -= 1
        case .closedAtOnce: closedAtOnceCount -= 1
        }
        guard let counts else { return addresses.leave(address) }
        counts.leave(address, of: loop)
    }

    /// The network of a connection that was admitted.
    func network(_ address: ConnectionsPerNetwork.Entry) -> ClientNetwork? {
        guard let counts else { return addresses.network(address) }
        return counts.network(address)
    }

    /// Networks with connections now; of several loops, the first one counts for all.
    var addressCount: Int {
        guard let counts else { return addresses.count }
        return loop == 0 ? counts.addressCount : 0
    }

    /// Seconds after which a rejected client may reconnect.
    mutating func retryAfterSeconds() -> Int { retryDelay.seconds() }
}

extension Clients {
    /// Whether a new connection may stay. One that may not is sent when to reconnect.
    mutating func admit(_ slot: Int) -> Bool {
        let network = transport.peerNetwork(of: table.id(of: slot))
        guard
            let address = admission.admit(
                network, configuration.admission, streamCount: transport.streamCount)
        else {
            reject(slot)
            return false
        }
        table.setAddress(of: slot, address)
        return true
    }

    /// Rejects a connection beyond a limit with `retryAfter`. A few are kept open for a moment so
    /// that they can read it; more would use the descriptors of the reserve.
    mutating func reject(_ slot: Int) {
        counters.connectionsRejected += 1
        guard admission.overLimitCount < configuration.admission.overLimitMax else {
            return closeAtOnce(slot, .overloaded)
        }
        admission.reject(as: .overLimit)
        table.setPeer(of: slot, .overLimit)
        close(slot, .overloaded)
    }

    /// Sends a new connection the close reason and closes it in the same turn. A peer that has
    /// already sent bytes may lose the reason.
    mutating func closeAtOnce(_ slot: Int, _ reason: CloseReason) {
        precondition(table.phase(of: slot) == .anonymous)
        table.setPeer(of: slot, .closedAtOnce)
        admission.reject(as: .closedAtOnce)
        writeLastWords(to: slot, reason)
        end(slot, Ending(reason), .lost, .atOnce)
    }

    /// After how many seconds the peer is to return, if it is.
    mutating func retryAfterSeconds(_ reason: CloseReason, _ seconds: Int? = nil) -> Int? {
        reason.isTransient ? seconds ?? admission.retryAfterSeconds() : nil
    }
}
