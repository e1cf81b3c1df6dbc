import Connections
import Containers
import EventLoop
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `The counts of connections` {
    private let network = ClientNetwork(address: [127, 0, 0, 1])

    private func limits(_ max: Int, perAddress: Int? = nil) -> AdmissionLimits {
        var limits = AdmissionLimits()
        limits.connectionsMax = max
        limits.connectionsPerAddressMax = perAddress
        return limits
    }

    @Test func `chooses the loop with the fewest connections`() {
        #expect(ConnectionCounts.choose([2, 1, 3], stalled: []) == 1)
        #expect(ConnectionCounts.choose([1, 1], stalled: []) == 0)
        let counts = ConnectionCounts(loops: 3, seed: 1)
        let loops = (0..<6).map { _ in counts.admit(network, limits(100))?.loop }
        #expect(loops == [0, 1, 2, 0, 1, 2])
    }

    @Test func `gives a stalled loop no new ones`() {
        #expect(ConnectionCounts.choose([0, 1, 3], stalled: [0]) == 1)
        #expect(ConnectionCounts.choose([2, 1], stalled: [0, 1]) == 1)
        let counts = ConnectionCounts(loops: 2, seed: 1)
        counts.note(stalled: [0])
        #expect((0..<3).map { _ in counts.admit(network, limits(100))?.loop } == [1, 1, 1])
        counts.note(stalled: [])
        #expect(counts.admit(network, limits(100))?.loop == 0)
    }

    @Test func `keeps the limits exact over all loops`() throws {
        let counts = ConnectionCounts(loops: 2, seed: 1)
        let few = limits(100, perAddress: 2)
        let first = try #require(counts.admit(network, few))
        let second = try #require(counts.admit(network, few))
        #expect(counts.admit(network, few) == nil)
        let other = try #require(counts.admit(ClientNetwork(address: [127, 0, 0, 2]), few))
        #expect(counts.addressCount == 2)
        #expect(counts.network(first.address) == network)
        counts.leave(second.address, of: second.loop)
        #expect(counts.admit(network, few)?.loop == second.loop)
        #expect(counts.admit(network, limits(3)) == nil)
        counts.leave(other.address, of: other.loop)
        #expect(counts.addressCount == 1)
        #expect(counts.admit(network, limits(3)) != nil)
    }

    @Test func `counts connections whose peers have gone, and none that were rejected`() throws {
        let counts = ConnectionCounts(loops: 2, seed: 1)
        let gone = try #require(counts.admit(nil, limits(1)))
        #expect(counts.network(gone.address) == nil)
        #expect(counts.admit(network, limits(1)) == nil)
        counts.leave(.none, of: 0)
        #expect(counts.admit(network, limits(1)) == nil)
        counts.leave(gone.address, of: gone.loop)
        #expect(counts.admit(network, limits(1)) != nil)
    }
}
