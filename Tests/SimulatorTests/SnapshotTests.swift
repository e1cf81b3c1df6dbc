import EventLoop
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `A snapshot of the feed` {
    /// A publisher that has no session, no status and no subscriber has no topic. Its next one may
    /// be one that the snapshot has not reached yet.
    @Test func `ends with the last time at which a publisher was there`() {
        let service = SmallService {
            $0.feed.topicsPerFrame = 1
            $0.connection.listFramesPerTurn = 1
        }
        let first = service.login("ben")
        for number in 0..<20 { _ = service.login("a\(number)") }
        let reader = service.connect(roomBytes: 200)
        service.send("login", ["client": "server"], on: reader)
        service.commit()
        _ = service.messages(reader)
        service.send("feed", on: reader)
        var messages: [JSON] = []
        for _ in 0..<9 where !messages.contains(where: { isAbout("ben", $0) }) {
            service.commit()
            messages += service.messages(reader)
        }
        #expect(messages.contains { isAbout("ben", $0) }, "the snapshot has passed ben")
        #expect(!messages.contains { isAbout("a9", $0) }, "and not the others")
        _ = service.ask("logout", on: first)
        // It has the place of the topic that ben had.
        _ = service.login("eve")
        let second = service.login("ben")
        service.network.monotonicMilliseconds += 1_000
        service.network.wallMilliseconds += 1_000
        _ = service.ask("logout", on: second)
        for _ in 0..<200 {
            messages += service.messages(reader)
            service.commit()
        }
        #expect(messages.contains { $0["params"]?["synced"] == true })
        let told = messages.flatMap { $0["params"]?["events"]?.array ?? [] }
            .last { $0["publisher"] == "ben" }
        let backend = service.connectAppServer()
        let truth = service.ask("query", ["type": 1, "accounts": ["ben"]], on: backend)
        let state = truth["states"]?.array?.first
        #expect(state?["lastSeen"] != nil && told?["lastSeen"] == state?["lastSeen"])
    }

    private func isAbout(_ name: JSON, _ message: JSON) -> Bool {
        message["params"]?["events"]?.array?.contains { $0["publisher"] == name } ?? false
    }
}
