import EventLoop
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

/// What many have asked for is committed at once.
@Suite struct `Answers after a commit` {
    /// Some have subscribed to a hundred accounts with large statuses, with sync; the commit is
    /// done, and none has been told.
    private func waiting(_ service: SmallService, clients: Int) -> [StreamID] {
        let names = (0..<100).map { JSON.string("p\($0)") }
        let backend = service.connectAppServer()
        let text = JSON.string(String(repeating: "x", count: 4_000))
        for name in names {
            let status: JSON = [
                "account": name, "type": 100, "value": 10_001, "ext": text, "onlineOnly": false,
            ]
            #expect(service.ask("publish", status, on: backend)["message"] == nil)
        }
        let ids = (0..<clients).map { service.login("c\($0)", roomBytes: 1 << 22) }
        let watch: JSON = [
            "type": 100, "expiry": 3_600, "publishers": .array(names), "sync": true,
        ]
        for id in ids { service.send("subscribe", watch, on: id) }
        service.connections.turnEnded()
        return ids
    }

    @Test func `are given in parts, each to the end`() {
        let service = SmallService()
        let ids = waiting(service, clients: 6)
        var queue = OutcomeQueue()
        queue.append(service.disk.settle(isFailing: false))
        var parts = 0
        while !queue.isEmpty, parts < 100 {
            service.connections.withHost { host, now in
                queue.report(to: &host, at: now)
                #expect(host.output.byteCount < 2 * 450_000, "one answer, and no second")
            }
            parts += 1
        }
        #expect(parts == 6)
        service.connections.turnEnded()
        for id in ids {
            let states = service.messages(id).first { $0["id"] != nil }?["result"]?["states"]
            #expect(states?.array?.count == 100)
        }
    }
}
