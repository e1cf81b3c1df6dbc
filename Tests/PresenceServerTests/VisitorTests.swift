import Foundation
import PresenceClient
import PresenceCore
import PresenceServer
import Testing

/// Connections from the service's own process.
@Suite struct VisitorTests {
    @Test func `a visitor is an app server without a login`() throws {
        try withService { service in
            let visitor = try Client(socket: service.visit())
            #expect(try visitor.next("synced")["count"] == 0)
            let bob = try service.login("bob")
            let states = try visitor.call("query", ["type": 1, "accounts": ["bob", "carol"]])
            #expect(states["states"]?.array?.count == 2)
            #expect(states["states"]?.array?.first?["value"] == 1)
            #expect(visitor.refusal("login", ["client": "server"]) == "401 already_logged_in")
            withExtendedLifetime(bob) {}
        }
    }

    @Test func `pace does not bind a visitor`() throws {
        try withService(
            { $0.admission.appServerRequestPace = .init(perSecond: 1, burst: 1) },
            { service in
                let visitor = try Client(socket: service.visit())
                for _ in 0..<20 { _ = try visitor.call("ping") }
                #expect(try visitor.call("stats")["throttled"] == 0)
            })
    }

    @Test func `a visitor is told of the end`() throws {
        try withDirectory { directory in
            let service = RunningService(directory)
            let visitor = try Client(socket: service.visit())
            _ = try visitor.call("ping")
            service.stop()
            #expect(try visitor.closing() == "4503 shutting_down")
            #expect(visitor.end())
            #expect(throws: ServiceRefusal.self) { try service.visit() }
        }
    }
}
