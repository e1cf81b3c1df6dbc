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
        let backend = service.connectInternally()
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
            let behind = service.reactor.connections[Int(slow.slot)].behind
            #expect(behind.count <= 11, "round \(round)")
            #expect(service.ask("unsubscribe", ["type": 1], on: quick)["removed"] == 10)
        }
        let behind = service.reactor.connections[Int(slow.slot)].behind
        #expect(!behind.isEmpty, "it is behind")
    }
}
