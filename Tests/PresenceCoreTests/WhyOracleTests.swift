import PresenceCore
import Testing

@Suite struct `What why tells of random histories` {
    /// Small fans only: of a large one, a newcomer is told by his state what others are sent.
    @Test(arguments: 1...150)
    func `is what has happened`(seed: Int) {
        let run = OracleRun(seed: UInt64(seed), relations: .without)
        guard run.world.settings.subscribersPerSlice == 1_000 else { return }
        for _ in 0..<200 { run.step() }
        for subscriber in ["a", "b", "c", "d"] {
            for publisher in ["a", "b", "c", "d", "e"] where publisher != subscriber {
                check(run.world, subscriber, publisher, seed)
            }
        }
    }

    private func check(_ world: World, _ subscriber: String, _ publisher: String, _ seed: Int) {
        let (report, _) = world.why(subscriber, publisher)
        let own = Set(report.subscriber.sessions.map(\.entry.session))
            .union(report.subscriber.ended.map(\.session))
        for event in report.events {
            for (connection, session) in world.sessionIDs where own.contains(session) {
                let wasSent = world.delivered[connection]?.contains(event.seq) == true
                let fate = event.fates.first { $0.session == session }?.what
                let isExplained =
                    switch fate {
                    case .sent, .uncertain: wasSent
                    case .listed: true
                    case nil: !wasSent
                    default: false
                    }
                #expect(
                    isExplained,
                    "seed \(seed): \(publisher) to \(subscriber): \(event), \(session)")
            }
        }
    }
}
