import Containers
import EventLoop

/// The clients' connections of all loops, by network and by loop.
///
/// One for all loops, behind a lock that is taken when a connection is accepted and when it is
/// gone: so limits on connections are exact over all loops.
final class Census: Sendable {
    private struct State: ~Copyable {
        var addresses: AddressBook
        /// By loop.
        var counts: [Int]
        /// Loops that do not keep up with the engine host.
        var behind: LoopSet = []
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

    /// Admits a connection to the loop that has the fewest; nil: it is one too many. Those in
    /// `overdue` leave connections waiting.
    func admit(
        _ network: ClientNetwork?, _ limits: AdmissionLimits, overdue: LoopSet = []
    ) -> Place? {
        state.withLock { state in
            guard state.total < limits.connectionsMax,
                let address = state.addresses.enter(network, max: limits.connectionsPerAddressMax)
            else { return nil }
            let loop = Self.choose(state.counts, behind: state.behind.union(overdue))
            state.counts[loop] += 1
            state.total += 1
            return Place(loop: loop, address: address)
        }
    }

    /// Chooses another loop for a connection that one has not adopted.
    func move(from loop: Int, overdue: LoopSet) -> Int {
        state.withLock { state in
            state.counts[loop] -= 1
            let loop = Self.choose(state.counts, behind: state.behind.union(overdue))
            state.counts[loop] += 1
            return loop
        }
    }

    /// The loop with the fewest connections, of those that keep up; if none does, of all.
    static func choose(_ counts: [Int], behind: LoopSet) -> Int {
        let keepsUp = counts.indices.filter { !behind.contains($0) }
        let loops = keepsUp.isEmpty ? Array(counts.indices) : keepsUp
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

    /// Notes which loops do not keep up.
    func note(behind: LoopSet) {
        state.withLock { $0.behind = behind }
    }

    /// Networks with connections now.
    var addressCount: Int { state.withLock { $0.addresses.count } }
}
