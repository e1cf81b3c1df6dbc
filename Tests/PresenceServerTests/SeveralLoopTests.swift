import EventLoop
import Foundation
import PresenceClient
import PresenceCore
import PresenceServer
import Synchronization
import Testing

/// Runs `body` with a service that has three connection loops.
private func withLoops(
    _ adjust: @escaping @Sendable (inout Configuration) -> Void = { _ in },
    _ body: (RunningService) throws -> Void
) throws {
    try withService(
        {
            $0.loops = 3
            adjust(&$0)
        }, body)
}

@Suite struct `A service with several connection loops` {
    @Test func `delivers in order between connections of all loops`() throws {
        try withLoops { service in
            let watchers = try (0..<6).map { try service.login("w\($0)") }
            let publishers = try (0..<3).map { try service.login("p\($0)") }
            for watcher in watchers { _ = try watcher.subscribe(["p0", "p1", "p2"]) }
            for value in 0..<50 {
                for publisher in publishers {
                    _ = try publisher.call(
                        "publish", ["type": 1, "value": .integer(Int64(10_000 + value))])
                }
            }
            for watcher in watchers {
                var last: [String: Int64] = [:]
                for _ in 0..<150 {
                    let event = try watcher.nextEvent()
                    let name = event["publisher"]?.string ?? ""
                    let value = event["value"]?.integer ?? 0
                    #expect(value == (last[name] ?? 9_999) + 1)
                    last[name] = value
                }
            }
        }
    }

    @Test func `keeps the limits on connections exact`() throws {
        try withLoops({ $0.admission.connectionsPerAddressMax = 6 }) { service in
            var clients = try (0..<6).map { try service.login("a\($0)") }
            #expect(try service.connect().closing() == "4504 overloaded")
            clients[3].disconnect()
            clients.remove(at: 3)
            // The service notices the end of a connection at some time.
            var late: Client?
            for _ in 0..<1_000 where late == nil {
                let client = try service.connect()
                do {
                    _ = try client.call("login", ["account": "late", "device": "d"])
                    late = client
                } catch { client.disconnect() }
            }
            #expect(late != nil)
            #expect(try service.connect().closing() == "4504 overloaded")
            withExtendedLifetime((clients, late)) {}
        }
    }

    @Test func `answers questions about the connections of all loops`() throws {
        try withLoops { service in
            let clients = try (0..<5).map { try service.login("a\($0)") }
            _ = try clients[0].subscribe(["a1", "a2"])
            let server = try service.appServer()
            #expect(try server.call("stats")["connections"] == 6)
            let why = try server.call(
                "why", ["subscriber": "a0", "publisher": "a1", "type": 1])
            #expect(why.text.contains("a1"))
            _ = try server.call("top")
            let text = try #require(try server.call("metrics")["text"]?.string)
            for loop in 0..<3 {
                #expect(text.contains("porchlight_loop_connections{loop=\"\(loop)\"} 2\n"))
            }
            #expect(text.contains("porchlight_loops_stalled 0\n"))
        }
    }

    @Test func `shuts down in order, and restores its sessions`() throws {
        try withDirectory { directory in
            let first = RunningService(directory) { $0.loops = 3 }
            let clients = try (0..<6).map { try first.login("a\($0)") }
            _ = try clients[0].subscribe(["a1"])
            first.stop()
            #expect(first.failure == nil)
            for client in clients { #expect(try client.closing() == "4503 shutting_down") }

            let second = RunningService(directory) { $0.loops = 2 }
            let watcher = try second.login("a0")
            second.pass(seconds: 31)
            let event = try watcher.nextEvent()
            #expect(event["publisher"] == "a1" && event["cause"] == "restart")
            second.stop()
            #expect(second.failure == nil)
        }
    }

    @Test func `closes clients that are silent, on every loop`() throws {
        try withLoops({ $0.engine.heartbeatSeconds = 5 }) { service in
            let clients = try (0..<6).map { try service.login("a\($0)") }
            service.pass(seconds: 8)
            for client in clients { #expect(try client.closing() == "4408 idle_timeout") }
        }
    }

    /// Clients that open connections, move to others and close them, while the service stops and
    /// starts again: in the end, a query and what a subscriber was sent say what is true.
    @Test(arguments: [2, 4])
    func `survives connections that come and go while it stops and starts`(loops: Int) throws {
        try withDirectory { directory in
            let crowd = Crowd()
            for round in 0..<3 {
                let service = RunningService(directory) {
                    $0.loops = loops
                    $0.switchOffPace()
                }
                try #require(service.failure == nil, "round \(round)")
                crowd.move(to: service.address)
                if round == 0 { crowd.start() }
                // A new one: events for an older subscription would come before the response.
                let watcher = try service.login("watcher \(round)")
                var seen = Seen()
                try seen.take(watcher.subscribe(Crowd.accounts, sync: true)["states"])
                let target = crowd.loginCount + 100
                while crowd.loginCount < target { _ = try watcher.call("ping") }
                if round == 2 {
                    crowd.stop()
                    try checkConvergence(service, watcher, seen)
                }
                service.stop()
                #expect(service.failure == nil)
            }
        }
    }

    /// In the end, none of the crowd is online.
    private func checkConvergence(
        _ service: RunningService, _ watcher: Client, _ before: Seen
    ) throws {
        var online = -1
        // The grace of those that were cut off begins when the service notices it.
        // After each jump of the clock the service takes itself for suspended, for a second.
        for round in 0..<10_000 where online != 0 {
            if round.isMultiple(of: 100) { service.pass(seconds: 30) }
            _ = try watcher.call("ping")
            let server = try service.appServer()
            let states = try server.call(
                "query", ["type": 1, "accounts": .array(Crowd.accounts.map { .string($0) })])
            let lists = states["states"]?.array?.map { $0["online"]?.array ?? [] } ?? []
            online = lists.count == Crowd.accounts.count ? lists.count { !$0.isEmpty } : -1
        }
        #expect(online == 0)
        var seen = before
        while !seen.areOffline(Crowd.accounts) { try seen.take(watcher.next("events")["events"]) }
    }
}

/// What a subscriber was sent last of each publisher.
private struct Seen {
    private var newest: [String: (seq: Int64, isOnline: Bool)] = [:]

    /// Takes events, whose numbers must not decrease.
    mutating func take(_ events: JSON?) throws {
        for event in try #require(events?.array) {
            let publisher = try #require(event["publisher"]?.string)
            let seq = event["seq"]?.integer ?? 0
            #expect(seq >= newest[publisher]?.seq ?? 0, "older after newer: \(event.text)")
            newest[publisher] = (seq, isOnline: event["online"]?.array?.isEmpty == false)
        }
    }

    func areOffline(_ accounts: [String]) -> Bool {
        accounts.allSatisfy { newest[$0]?.isOnline == false }
    }
}

/// Threads whose clients log in, publish and leave, each as one account with two devices, until
/// they are told to stop.
private final class Crowd: Sendable {
    static let accounts = (0..<4).map { "c\($0)" }
    private let address = Mutex(ListenAddress(host: "127.0.0.1", port: 1))
    private let isOver = Atomic(false)
    private let logins = Atomic(0)
    private let ended = DispatchSemaphore(value: 0)

    var loginCount: Int { logins.load(ordering: .relaxed) }

    func move(to address: ListenAddress) { self.address.withLock { $0 = address } }

    func start() {
        for account in Self.accounts {
            Thread.detachNewThread { [self] in
                var round = 0
                while !isOver.load(ordering: .relaxed) {
                    visit(account, round)
                    round += 1
                }
                ended.signal()
            }
        }
    }

    func stop() {
        isOver.store(true, ordering: .relaxed)
        for _ in Self.accounts { ended.wait() }
    }

    /// Logs in twice with the same device, so that the session moves to another connection, and
    /// leaves by a logout, or without one.
    private func visit(_ account: String, _ round: Int) {
        let address = address.withLock { $0 }
        // A service that is about to end rejects and disconnects: then the next one is asked.
        do {
            let first = try Client(host: address.host, port: address.port)
            let params: JSON = ["account": .string(account), "device": "d"]
            _ = try first.call("login", params)
            _ = try first.call("publish", ["type": 1, "value": 10_000])
            let second = try Client(host: address.host, port: address.port)
            _ = try second.call("login", params)
            logins.add(2, ordering: .relaxed)
            if round.isMultiple(of: 2) { _ = try second.call("logout") }
            second.disconnect()
        } catch {}
    }
}
