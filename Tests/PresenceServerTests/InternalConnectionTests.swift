import Foundation
import PresenceClient
import PresenceCore
import PresenceServer
import Testing

@Suite struct `Internal connections` {
    @Test func `are app servers without a login`() throws {
        try withService { service in
            let backend = try Client(socket: service.connectInternally())
            #expect(try backend.next("synced")["count"] == 0)
            let bob = try service.login("bob")
            let states = try backend.call("query", ["type": 1, "accounts": ["bob", "carol"]])
            #expect(states["states"]?.array?.count == 2)
            #expect(states["states"]?.array?.first?["value"] == 1)
            #expect(backend.refusal("login", ["client": "server"]) == "401 already_logged_in")
            withExtendedLifetime(bob) {}
        }
    }

    @Test func `have no rate limit`() throws {
        try withService(
            { $0.admission.appServerRequestPace = .init(perSecond: 1, burst: 1) },
            { service in
                let backend = try Client(socket: service.connectInternally())
                for _ in 0..<20 { _ = try backend.call("ping") }
                #expect(try backend.call("stats")["throttled"] == 0)
            })
    }

    @Test func `are closed with 4503 at shutdown`() throws {
        try withDirectory { directory in
            let service = RunningService(directory)
            let backend = try Client(socket: service.connectInternally())
            _ = try backend.call("ping")
            service.stop()
            #expect(try backend.closing() == "4503 shutting_down")
            #expect(backend.end())
            #expect(throws: ServiceError.self) { try service.connectInternally() }
        }
    }
}
