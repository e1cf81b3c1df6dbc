import EventLoop
import Logging
import PresenceCore
import PresenceStore
import Testing

@testable import PresenceServer

@Suite struct `A start that takes long` {
    /// A session's deadline that has come is not met before clients can come. So it must not be
    /// waited for either: the loop would go round and round.
    @Test func `waits for the disk, and for no deadline that it will not meet`() {
        let network = SimulatedNetwork()
        let disk = SimulatedDisk()
        var clock = ServiceClock(
            mono: network.monotonicMilliseconds, wall: network.wallMilliseconds)
        let now = clock.moment(
            mono: network.monotonicMilliseconds, wall: network.wallMilliseconds)
        var reader = EngineReader(
            engine: Engine(settings: Settings(), at: now, seed: 1), now: now)
        reader.session(SessionRow(account: Array("bob".utf8), device: Array("phone".utf8)))
        var connections = SmallService.start(
            Configuration(), reader.finish(), clock, network, disk, Logger(label: "test"), at: now)
        connections.withHost { host, now in host.begin(at: now) {} }
        network.monotonicMilliseconds += 60_000
        for _ in 0..<3 { connections.turnEnded() }
        #expect(network.armed.map { $0 > network.monotonicMilliseconds } ?? true)
        #expect(connections.link.host.engine.currentStats.sessions == 1)
        connections.withHost { host, now in host.report(disk.settle(isFailing: false), at: now) }
        connections.turnEnded()
        let armed = network.armed ?? 0
        #expect(armed > network.monotonicMilliseconds, "the whole of the grace, from now on")
    }
}
