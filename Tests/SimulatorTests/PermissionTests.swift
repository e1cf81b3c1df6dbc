import Logging
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `Permission` {
    /// What is logged.
    private final class Lines: LogHandler, @unchecked Sendable {
        // SAFETY: one thread.
        var lines: [String] = []
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }
        func log(event: LogEvent) { lines.append("\(event.message)") }
    }

    private struct OneKey: Authenticator {
        func appServer(withKey candidate: [UInt8]) -> AppServerKey? {
            AppServerKey(name: "backend")
        }
        func verify(_ token: [UInt8], at now: Wall) async -> Result<TokenHolder, CredentialError> {
            .failure(.signature)
        }
    }

    @Test func `is checked before names are interned`() {
        let service = SmallService { $0.engine.limits.accountsMax = 2 }
        let alice = service.login("alice")
        let watch: JSON = ["type": 1, "expiry": 60, "publishers": ["bob"]]
        #expect(service.ask("subscribe", watch, on: alice)["count"] == 1)
        let stranger = service.connect()
        let other: JSON = ["type": 1, "expiry": 60, "publishers": ["carol"]]
        #expect(service.ask("subscribe", other, on: stranger)["data"]?["reason"] == "not_logged_in")
        let others: JSON = ["type": 1, "expiry": 60, "publishers": ["bob"], "account": "carol"]
        #expect(service.ask("subscribe", others, on: alice)["data"]?["reason"] == "forbidden")
        let own: JSON = ["type": 1, "expiry": 60, "publishers": ["bob"], "account": "alice"]
        #expect(service.ask("subscribe", own, on: alice)["count"] == 1)
        #expect(service.ask("subscribe", other, on: alice)["data"]?["reason"] == "overloaded")
        let backend = service.connectAppServer()
        #expect(service.ask("subscribe", other, on: backend)["data"]?["reason"] == "missing_field")
    }

    @Test func `is checked before a login is logged`() {
        let lines = Lines()
        let service = SmallService(Logger(label: "test", factory: { _ in lines })) {
            $0.authenticator = OneKey()
        }
        let backend = service.connect()
        #expect(service.ask("login", ["key": "0123456789abcdef"], on: backend)["session"] != nil)
        #expect(lines.lines == ["app server logged in"])
        let again = service.ask("login", ["key": "0123456789abcdef"], on: backend)
        #expect(again["data"]?["reason"] == "already_logged_in")
        #expect(lines.lines == ["app server logged in"])
    }
}
