import Connections
import EventLoop
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

/// An answer counts for the rate limit of its connection by its size.
@Suite struct `A long answer` {
    private static let pace = Pace(perSecond: 10, burst: 200)

    /// A client with as many contacts, each with a name of 200 bytes.
    private func service(contacts: Int) -> (SmallService, StreamID) {
        let service = SmallService { $0.admission.requestPace = Self.pace }
        let backend = service.connectAppServer()
        let name = JSON.string(String(repeating: "n", count: 200))
        for number in 0..<contacts {
            let relation: JSON = [
                "account": "alice", "contact": .string("contact\(number)"), "action": "describe",
                "name": name,
            ]
            #expect(service.ask("relate", relation, on: backend)["message"] == nil)
        }
        let alice = service.login("alice")
        service.pass(milliseconds: 20_000)
        _ = service.messages(alice)
        return (service, alice)
    }

    private func missing(_ service: SmallService, _ id: StreamID) -> Int {
        let now = Mono(milliseconds: service.network.monotonicMilliseconds)
        return service.connections.clients.table.tokensMissing(Int(id.slot), Self.pace, at: now)
    }

    private func isLight(_ service: SmallService, _ id: StreamID) -> Bool {
        service.connections.clients.isLight(Int(id.slot), bytesWaiting: 80)
    }

    @Test func `of a list ends at 64 KiB of texts, and the next page goes on`() {
        let (service, alice) = service(contacts: 400)
        var listed = 0
        var pages: [Int] = []
        var cursor: JSON?
        repeat {
            var params: [String: JSON] = ["limit": 1_000]
            params["cursor"] = cursor
            let page = service.ask("contacts", .object(params), on: alice)
            pages.append(page["contacts"]?.array?.count ?? 0)
            listed += pages[pages.count - 1]
            cursor = page["cursor"]
            service.pass(milliseconds: 20_000)
        } while cursor != nil && pages.count < 10
        #expect(listed == 400)
        #expect(pages.count == 2)
        #expect(pages[0] > 300 && pages[0] < 330)
    }

    @Test func `counts as as many messages as it has KiB`() {
        let (service, alice) = service(contacts: 100)
        _ = service.ask("ping", on: alice)
        #expect(missing(service, alice) == 1)
        service.pass(milliseconds: 20_000)
        let answer = service.ask("contacts", ["limit": 1_000], on: alice)
        #expect(answer["contacts"]?.array?.count == 100)
        // 100 × 260 bytes, and 1,600 visits.
        #expect((20...40).contains(missing(service, alice)))
    }

    @Test func `makes the connection one that has cost much, until its tokens have come back`() {
        let (service, alice) = service(contacts: 400)
        _ = service.ask("ping", on: alice)
        #expect(isLight(service, alice))
        _ = service.ask("contacts", ["limit": 1_000], on: alice)
        #expect(!isLight(service, alice))
        service.pass(milliseconds: 20_000)
        #expect(isLight(service, alice))
    }
}
