import Connections
import EventLoop
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `A session that reads a little now and then` {
    @Test func `keeps no topics that its account does not watch any more`() {
        let service = SmallService {
            $0.connection.outboxBytesMax = 500
            $0.engine.limits.subscriptionsPerAccountMax = 10
        }
        let slow = service.login("alice", "slow", roomBytes: 500)
        let quick = service.login("alice", "quick")
        let backend = service.connectAppServer()
        let ext = JSON.string(String(repeating: "x", count: 400))
        for round in 0..<30 {
            let publishers = (0..<10).map { JSON.string("p\(round)-\($0)") }
            let watch: JSON = ["type": 1, "expiry": 3_600, "publishers": .array(publishers)]
            #expect(service.ask("subscribe", watch, on: quick)["count"] == 10)
            for name in publishers {
                for _ in 0..<3 {
                    _ = service.ask(
                        "publish",
                        [
                            "account": name, "type": 1, "value": 10_000, "ext": ext,
                            "onlineOnly": false,
                        ], on: backend)
                }
            }
            _ = service.messages(quick)
            _ = service.network.read(slow, bytesMax: 1)
            let behind = service.topicsMissed(by: slow)
            #expect(behind <= 11, "round \(round)")
            #expect(service.ask("unsubscribe", ["type": 1], on: quick)["removed"] == 10)
        }
        let behind = service.topicsMissed(by: slow)
        #expect(behind > 0, "it is behind")
    }

    @Test func `is not behind without a topic that matters to it`() {
        let service = SmallService {
            // As soon as one client reads nothing, every outbox counts as full.
            $0.connection.outboxBytesInAllMax = 0
            $0.connection.progressSeconds = 600
            $0.engine.heartbeatSeconds = 600
        }
        let slow = service.login("alice", roomBytes: 700)
        let backend = service.connectAppServer()
        let publishers: [JSON] = ["bob", "carol"]
        for name in publishers {
            let status: JSON = [
                "account": name, "type": 1, "value": 10_000, "onlineOnly": false, "expiry": 60,
            ]
            #expect(service.ask("publish", status, on: backend)["seq"] != nil)
        }
        service.network.monotonicMilliseconds += 5_000
        service.network.wallMilliseconds += 5_000
        let watch: JSON = ["type": 1, "expiry": 60, "publishers": .array(publishers)]
        #expect(service.ask("subscribe", watch, on: slow)["count"] == 2)
        for _ in 0..<100 { service.send("ping", on: slow) }
        service.commit()
        #expect(service.bytesBlocked > 0)
        // The statuses expire, and what watches them does in the same turn.
        service.network.monotonicMilliseconds += 90_000
        service.network.wallMilliseconds += 90_000
        service.commit()
        #expect(service.connections.link.host.engine.tallies.sessionsConflated > 0)
        #expect(service.ask("subscriptions", ["account": "alice"], on: backend)["count"] == 0)
        #expect(service.topicsMissed(by: slow) == 0)
    }
}
