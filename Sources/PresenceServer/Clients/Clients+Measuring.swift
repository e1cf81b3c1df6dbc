import Connections
import PresenceCore

// The loop's part of answers about the service.

extension Clients {
    /// Measures everything but the loop itself. The cost is proportional to the outboxes that are
    /// to be written.
    func report(_ question: LoopQuestion) -> LoopReport {
        var report = LoopReport(loop: number.index, measured: measure())
        switch question {
        case .nothing: break
        case .bytesWaiting(let connections):
            for connection in connections {
                guard let slot = slot(of: connection), number.has(connection) else { continue }
                report.bytesWaiting[connection] = table.bytesWaiting(for: slot)
            }
        case .slowest(let countMax):
            report.slowest = table.slowest(countMax: countMax).map { reader in
                let address = transport.peerAddress(of: table.id(of: reader.slot)) ?? ""
                return (connectionID(reader.slot), address, reader)
            }
        }
        return report
    }

    private func measure() -> LoopMeasurements {
        var measured = LoopMeasurements()
        measured.counters = counters
        measured.connections = transport.streamCount
        measured.addresses = admission.addressCount
        measured.xmppConnections = xmpp?.clientCount ?? 0
        measured.table = table.measure()
        measured.largeInputBytes = largeInputs.bytes
        measured.tls = transport.tlsCounters
        measured.tlsExpiresSeconds = transport.tlsExpiresSeconds
        measured.processorMicroseconds = Int(clamping: transport.threadMicroseconds)
        return measured
    }
}
