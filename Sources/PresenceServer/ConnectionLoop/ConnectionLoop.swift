// One loop: its clients on one side, the link to the engine host on the other. The rules of
// presence are in the engine, not here.
//
// A turn of the loop:
//     bytes → messages → requests → `clients.inbound` → the link             +Input
//     the link → `outbound` → messages in outboxes, connections closed       +Output
//     at its end: what is due, then outboxes, each once                      +Turn, +Writing

import Connections
import Containers
import EventLoop
import Logging
import PresenceCore

/// Owns the clients of a loop, on the loop's thread.
///
/// It is a value, and there is one for each loop: the compiler proves exclusive access to its
/// properties, which in a class would be looked up and checked at run time on each use.
struct ConnectionLoop<Network: Transport, Link: EngineLink & ~Copyable>: ~Copyable {
    let loop: Network
    var clients: Clients
    /// The way to the engine host.
    var link: Link
    /// Output of the engine host for this loop, filled by the link.
    var outbound = Outbound()
    /// The other buffer for that; nil while it is carried out.
    private var spareOutbound: Outbound? = Outbound()
    /// Input that had arrived by then has been processed.
    var heardUpTo: Mono
    var loopTimes = LoopTimes()

    init(
        _ configuration: Configuration, number: LoopNumber = .only, link: consuming Link,
        clock: ServiceClock, loop: Network, heard: HeardTable, counts: ConnectionCounts? = nil,
        logger: Logger, seed: UInt64
    ) {
        self.loop = loop
        self.link = link
        heardUpTo = Mono(milliseconds: clock.shifted(loop.monotonicMilliseconds))
        clients = Clients(
            configuration, number: number, clock: clock, transport: loop, heard: heard,
            admission: Admission(counts: counts, loop: number.index, seed: seed), logger: logger)
    }

    var configuration: Configuration { clients.configuration }
    var phase: LoopPhase { clients.phase }

    /// Enters another phase.
    mutating func enter(_ next: LoopPhase) {
        precondition(phase.mayBecome(next), "a loop that is \(phase) becomes \(next)")
        clients.phase = next
    }

    /// The current time by both clocks.
    mutating func now() -> Moment { clients.now() }

    /// Arms the loop's timer for a time by the service's clock.
    mutating func armTimer(at deadline: Mono?) {
        loopTimes.awaited = nil
        guard let deadline else { return loop.disarmTimer() }
        // A deadline that has passed already fires in the next turn, by design.
        if deadline > heardUpTo { loopTimes.awaited = deadline }
        loop.armTimer(atMonotonicMilliseconds: clients.loopMilliseconds(of: deadline))
    }

    // MARK: Sockets

    /// Admits a new connection.
    mutating func accept(_ id: StreamID, on listener: ListenerKind = .native) {
        let slot = clients.open(id, on: listener)
        guard phase.endsSessions else { return clients.closeAtOnce(slot, .shuttingDown) }
        if clients.admit(slot) { clients.listenForLogin(of: slot) }
    }

    /// Takes over a connection that the loop that accepts has admitted and counted at `address`.
    mutating func accept(
        _ id: StreamID, from address: ConnectionsPerNetwork.Entry, on listener: ListenerKind
    ) {
        let slot = clients.open(id, on: listener)
        clients.table.setAddress(of: slot, address)
        guard phase.endsSessions else { return clients.closeAtOnce(slot, .shuttingDown) }
        clients.listenForLogin(of: slot)
    }

    /// Takes over a connection above a limit.
    mutating func reject(_ id: StreamID, on listener: ListenerKind) {
        clients.reject(clients.open(id, on: listener))
    }

    mutating func acceptFailed(_ error: UVError) {
        clients.counters.acceptFailures += 1
        clients.logger.log(
            .warning, "cannot accept connections", times: clients.counters.acceptFailures,
            error: error)
    }

    mutating func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        guard let slot = clients.table.slot(of: id) else { return }
        guard reason == .endOfFile else { return clients.end(slot, .lost, .lost, .atOnce) }
        switch clients.table.phase(of: slot) {
        case .anonymous, .serving:
            clients.table.noteInputEnd(of: slot)
            clients.endIfReadUp(slot)
        // The peer has closed its WebSocket before.
        case .ending: break
        // What it is sent last may not be written yet: with several loops it may have arrived in
        // this turn. The connection is closed when that has been written.
        case .closing: break
        case .free: preconditionFailure("the end of a stream that is not in use")
        }
    }

    mutating func streamDrained(_ id: StreamID) {
        guard let slot = clients.table.slot(of: id) else { return }
        clients.table.noteProgress(of: slot, at: now().mono)
        clients.table.drained(slot)
    }

    mutating func streamClosed(_ id: StreamID) {
        guard let slot = clients.table.slot(of: id) else { return }
        clients.free(slot)
        // Now: the slot may be reused by another connection, which logs in, before the turn ends.
        exchange(at: now())
    }

    // MARK: The link

    /// Exchanges input for output with the engine host, and carries out the output, until both are
    /// empty. Returns the units of work that the engine has had for it on this thread, which are
    /// charged to the turn.
    @discardableResult
    mutating func exchange(at now: Moment) -> Int {
        var work = 0
        while !clients.inbound.isEmpty {
            work += link.exchange(&clients.inbound, into: &outbound, at: now)
            carryOut(at: now)
        }
        clients.budget.spend(work)
        return work
    }

    /// Does what the engine host has handed over later.
    mutating func take(_ output: inout Outbound) {
        assertAtRest()
        swap(&output, &outbound)
        let now = now()
        carryOut(at: now)
        swap(&output, &outbound)
        exchange(at: now)
    }

    /// Carries out what is in `outbound`. What follows from that is in `clients.inbound`.
    mutating func carryOut(at now: Moment) {
        guard !outbound.isEmpty else { return }
        var batch = spareOutbound.take() ?? Outbound()
        swap(&batch, &outbound)
        for item in batch.own.items { carryOut(item, of: batch, at: now) }
        guard Link.reusesOutput else { return }
        batch.removeAll()
        spareOutbound = consume batch
    }
}
