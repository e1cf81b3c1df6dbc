import Connections
import Containers
import EventLoop
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `The census of connections` {
    private let network = ClientNetwork(address: [127, 0, 0, 1])

    private func limits(_ max: Int, perAddress: Int? = nil) -> AdmissionLimits {
        var limits = AdmissionLimits()
        limits.connectionsMax = max
        limits.connectionsPerAddressMax = perAddress
        return limits
    }

    @Test func `chooses the loop with the fewest connections`() {
        #expect(Census.choose([2, 1, 3], stalled: []) == 1)
        #expect(Census.choose([1, 1], stalled: []) == 0)
        let census = Census(loops: 3, seed: 1)
        let loops = (0..<6).map { _ in census.admit(network, limits(100))?.loop }
        #expect(loops == [0, 1, 2, 0, 1, 2])
    }

    @Test func `gives a stalled loop no new ones`() {
        #expect(Census.choose([0, 1, 3], stalled: [0]) == 1)
        #expect(Census.choose([2, 1], stalled: [0, 1]) == 1)
        let census = Census(loops: 2, seed: 1)
        census.note(stalled: [0])
        #expect((0..<3).map { _ in census.admit(network, limits(100))?.loop } == [1, 1, 1])
        census.note(stalled: [])
        #expect(census.admit(network, limits(100))?.loop == 0)
    }

    @Test func `keeps the limits exact over all loops`() throws {
        let census = Census(loops: 2, seed: 1)
        let few = limits(100, perAddress: 2)
        let first = try #require(census.admit(network, few))
        let second = try #require(census.admit(network, few))
        #expect(census.admit(network, few) == nil)
        let other = try #require(census.admit(ClientNetwork(address: [127, 0, 0, 2]), few))
        #expect(census.addressCount == 2)
        #expect(census.network(first.address) == network)
        census.leave(second.address, of: second.loop)
        #expect(census.admit(network, few)?.loop == second.loop)
        #expect(census.admit(network, limits(3)) == nil)
        census.leave(other.address, of: other.loop)
        #expect(census.addressCount == 1)
        #expect(census.admit(network, limits(3)) != nil)
    }

    @Test func `counts connections whose peers have gone, and none that were rejected`() throws {
        let census = Census(loops: 2, seed: 1)
        let gone = try #require(census.admit(nil, limits(1)))
        #expect(census.network(gone.address) == nil)
        #expect(census.admit(network, limits(1)) == nil)
        census.leave(.none, of: 0)
        #expect(census.admit(network, limits(1)) == nil)
        census.leave(gone.address, of: gone.loop)
        #expect(census.admit(network, limits(1)) != nil)
    }
}
