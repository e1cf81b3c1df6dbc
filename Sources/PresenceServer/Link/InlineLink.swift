import Connections
import PresenceCore

/// The engine host on the thread of the one connection loop: no lock and no queue.
struct InlineLink<Disk: Persistence, Resources: ProcessResources>: ~Copyable, EngineLink {
    var host: EngineHost<Disk, Resources>

    init(_ host: consuming EngineHost<Disk, Resources>) {
        self.host = host
    }

    mutating func exchange(
        _ inbound: inout Inbound, into outbound: inout Outbound, at now: Moment
    ) -> Int {
        host.take(inbound, at: now)
        inbound.removeAll()
        let work = host.output.takeWork()
        host.handOver(into: &outbound)
        return work
    }

    mutating func advance(to now: Moment, heardUpTo: Mono, into outbound: inout Outbound) {
        host.advance(to: now, heardUpTo: heardUpTo)
        host.handOver(into: &outbound)
    }

    mutating func endTurn(
        at now: Moment, _ progress: WriteProgress, into outbound: inout Outbound
    ) {
        host.holdFanOuts(progress)
        host.endTurn(at: now)
        host.handOver(into: &outbound)
    }

    func nextDeadline(at now: Moment) -> Mono? { host.nextDeadline(at: now) }
}

extension ConnectionLoop where Link: ~Copyable {
    /// Gives the engine host input that is not from connections, and carries out the output.
    mutating func withHost<Disk: Persistence, Resources: ProcessResources>(
        _ body: (inout EngineHost<Disk, Resources>, Moment) -> Void
    ) where Link == InlineLink<Disk, Resources> {
        assertAtRest()
        let now = now()
        body(&link.host, now)
        link.host.handOver(into: &outbound)
        carryOut(at: now)
        exchange(at: now)
    }
}
