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
        /// By loop: it does not keep up with the engine host.
        var isBehind: [Bool]
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
                addresses: AddressBook(seed: seed), counts: Array(repeating: 0, count: count),
                isBehind: Array(repeating: false, count: count)))
    }

    /// Admits a connection to the loop that has the fewest; nil: it is one too many.
    func admit(_ network: ClientNetwork?, _ limits: AdmissionLimits) -> Place? {
        state.withLock { state in
            guard state.total < limits.connectionsMax,
                let address = state.addresses.enter(network, max: limits.connectionsPerAddressMax)
            else { return nil }
            let place = Place(loop: Self.choose(state.counts, state.isBehind), address: address)
            state.counts[place.loop] += 1
            state.total += 1
            return place
        }
    }

    /// The loop with the fewest connections, of those that keep up; if none does, of all.
    static func choose(_ counts: [Int], _ isBehind: [Bool]) -> Int {
        var best: Int?
        for (loop, count) in counts.enumerated() {
            if isBehind[loop] && !isBehind.allSatisfy(\.self) { continue }
            if let known = best, counts[known] <= count { continue }
            best = loop
        }
        return best ?? 0
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

    /// Notes whether a loop keeps up.
    func note(_ loop: Int, isBehind: Bool) {
        state.withLock { $0.isBehind[loop] = isBehind }
    }

    /// Networks with connections now.
    var addressCount: Int { state.withLock { $0.addresses.count } }
}
