import Connections
import Containers
import EventLoop

/// The clients' connections of all loops, by network and by loop.
///
/// One for all loops, behind a lock that is taken a few times in the life of a connection: so
/// limits on connections are exact over all loops.
final class Census: Sendable {
    private struct State: ~Copyable {
        var addresses: AddressBook
        /// By loop.
        var counts: [Int]
        /// Loops that the engine host finds unresponsive.
        var unresponsive: LoopSet = []
        var total = 0
    }

    /// Where an admitted connection belongs.
    struct Place: Equatable, Sendable {
        var loop: Int
        var address: AddressBook.Entry
    }

    private let state: Guarded<State>

    init(loops count: Int, seed: UInt64) {
        state = Guarded(
            State(
                addresses: AddressBook(seed: seed), counts: Array(repeating: 0, count: count)))
    }

    /// Admits a connection to the loop that has the fewest; nil: the limit in total or that of the
    /// network is reached. Loops in `overdue`, which have not adopted what they were given, are not
    /// chosen if there is another.
    func admit(
        _ network: ClientNetwork?, _ limits: AdmissionLimits, overdue: LoopSet = []
    ) -> Place? {
        state.withLock { state in
            guard state.total < limits.connectionsMax,
                let address = state.addresses.enter(network, max: limits.connectionsPerAddressMax)
            else { return nil }
            let loop = Self.choose(
                state.counts, unresponsive: state.unresponsive.union(overdue))
            state.counts[loop] += 1
            state.total += 1
            return Place(loop: loop, address: address)
        }
    }

    /// Chooses another loop for a connection that one has not adopted.
    func move(from loop: Int, overdue: LoopSet) -> Int {
        state.withLock { state in
            state.counts[loop] -= 1
            let loop = Self.choose(
                state.counts, unresponsive: state.unresponsive.union(overdue))
            state.counts[loop] += 1
            return loop
        }
    }

    /// The loop with the fewest connections, of those that respond; if none does, of all.
    static func choose(_ counts: [Int], unresponsive: LoopSet) -> Int {
        let responsive = counts.indices.filter { !unresponsive.contains($0) }
        let loops = responsive.isEmpty ? Array(counts.indices) : responsive
        return loops.min { counts[$0] < counts[$1] } ?? 0
    }

    /// Notes that a connection of a loop is gone. Those that were not admitted do not count.
    func leave(_ address: AddressBook.Entry, of loop: Int) {
        guard address != .none else { return }
        state.withLock { state in
            state.counts[loop] -= 1
            state.total -= 1
            state.addresses.leave(address)
        }
    }

    /// The network of an admitted connection.
    func network(_ address: AddressBook.Entry) -> ClientNetwork? {
        state.withLock { $0.addresses.network(address) }
    }

    /// Notes which loops the engine host finds unresponsive.
    func note(unresponsive: LoopSet) {
        state.withLock { $0.unresponsive = unresponsive }
    }

    /// Networks with connections now.
    var addressCount: Int { state.withLock { $0.addresses.count } }
}
