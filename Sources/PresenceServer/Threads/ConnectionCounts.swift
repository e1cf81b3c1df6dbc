import Connections
import Containers
import EventLoop

/// The clients' connections of all loops, by network and by loop.
///
/// One for all loops, behind a lock that is taken a few times in the life of a connection: so
/// limits on connections are exact over all loops.
final class ConnectionCounts: Sendable {
    private struct State: ~Copyable {
        var addresses: ConnectionsPerNetwork
        /// By loop.
        var counts: [Int]
        var stalled: LoopSet = []
        var total = 0
    }

    /// Where an admitted connection belongs.
    struct Place: Equatable, Sendable {
        var loop: Int
        var address: ConnectionsPerNetwork.Entry
    }

    private let state: Guarded<State>

    init(loops count: Int, seed: UInt64) {
        state = Guarded(
            State(
                addresses: ConnectionsPerNetwork(seed: seed),
                counts: Array(repeating: 0, count: count)))
    }

    /// Admits a connection to the loop that has the fewest; nil: the limit in total or that of the
    /// network is reached.
    func admit(_ network: ClientNetwork?, _ limits: AdmissionLimits) -> Place? {
        state.withLock { state in
            guard state.total < limits.connectionsMax,
                let address = state.addresses.enter(network, max: limits.connectionsPerAddressMax)
            else { return nil }
            let loop = Self.choose(state.counts, stalled: state.stalled)
            state.counts[loop] += 1
            state.total += 1
            return Place(loop: loop, address: address)
        }
    }

    /// The loop with the fewest connections, of those that are not stalled; if all are, of all.
    static func choose(_ counts: [Int], stalled: LoopSet) -> Int {
        let working = counts.indices.filter { !stalled.contains($0) }
        let loops = working.isEmpty ? Array(counts.indices) : working
        return loops.min { counts[$0] < counts[$1] } ?? 0
    }

    /// Notes that a connection of a loop is closed. Those that were not admitted do not count.
    func leave(_ address: ConnectionsPerNetwork.Entry, of loop: Int) {
        guard address != .none else { return }
        state.withLock { state in
            state.counts[loop] -= 1
            state.total -= 1
            state.addresses.leave(address)
        }
    }

    /// The network of an admitted connection.
    func network(_ address: ConnectionsPerNetwork.Entry) -> ClientNetwork? {
        state.withLock { $0.addresses.network(address) }
    }

    /// Notes which loops are stalled.
    func note(stalled: LoopSet) {
        state.withLock { $0.stalled = stalled }
    }

    /// Networks with connections now.
    var addressCount: Int { state.withLock { $0.addresses.count } }
}
