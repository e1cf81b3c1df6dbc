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
        #expect(Census.choose([2, 1, 3], unresponsive: []) == 1)
        #expect(Census.choose([1, 1], unresponsive: []) == 0)
        let census = Census(loops: 3, seed: 1)
        let loops = (0..<6).map { _ in census.admit(network, limits(100))?.loop }
        #expect(loops == [0, 1, 2, 0, 1, 2])
    }

    @Test func `gives a stalled loop no new ones`() {
        #expect(Census.choose([0, 1, 3], unresponsive: [0]) == 1)
        #expect(Census.choose([2, 1], unresponsive: [0, 1]) == 1)
        let census = Census(loops: 2, seed: 1)
        census.note(unresponsive: [0])
        #expect((0..<3).map { _ in census.admit(network, limits(100))?.loop } == [1, 1, 1])
        census.note(unresponsive: [])
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

    @Test func `counts connections whose peers have gone, and none that were refused`() throws {
        let census = Census(loops: 2, seed: 1)
        let gone = try #require(census.admit(nil, limits(1)))
        #expect(census.network(gone.address) == nil)
        #expect(census.admit(network, limits(1)) == nil)
        census.leave(.none, of: 0)
        #expect(census.admit(network, limits(1)) == nil)
        census.leave(gone.address, of: gone.loop)
        #expect(census.admit(network, limits(1)) != nil)
    }

    @Test func `moves connections that a loop has not adopted`() throws {
        let census = Census(loops: 3, seed: 1)
        let places = (0..<3).map { _ in census.admit(network, limits(3, perAddress: 3)) }
        #expect(places.map { $0?.loop } == [0, 1, 2])
        #expect(census.move(from: 1, overdue: [1]) == 0)
        // As many as before, in all and from the address.
        #expect(census.admit(network, limits(4, perAddress: 3)) == nil)
        #expect(census.admit(nil, limits(3), overdue: [1]) == nil)
        // The second loop has none: it is chosen again as soon as it works.
        #expect(census.admit(nil, limits(9), overdue: [1])?.loop == 2)
        #expect(census.admit(nil, limits(9))?.loop == 1)
    }

    @Test func `counts an intake as overdue by its first arrival`() throws {
        let loop = try Loop()
        defer { loop.close() }
        let intake = Intake(loop.wakeup)
        let start = Mono(milliseconds: 1_000)
        let late = start.advanced(byMilliseconds: Intake.overdueMilliseconds)
        let arrival = Intake.Arrival(socket: -1, listener: 0, address: .none)
        #expect(!intake.isOverdue(at: late))
        intake.put(arrival, at: start)
        intake.put(arrival, at: late)
        #expect(!intake.isOverdue(at: Mono(milliseconds: late.milliseconds - 1)))
        #expect(intake.isOverdue(at: late))
        #expect(intake.takeBack().count == 2)
        #expect(intake.isOverdue(at: late))
        #expect(intake.take().isEmpty)
        #expect(!intake.isOverdue(at: late))
        intake.put(arrival, at: late)
        #expect(!intake.isOverdue(at: late))
    }
}
