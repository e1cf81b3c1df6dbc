import Foundation
import PresenceClient
import PresenceServer
import Testing

/// Sessions that were begun with a token.
@Suite struct TokenTests {
    static let tokens = ["a1": "alice", "a2": "alice", "b1": "bob"]

    /// Whoever shows no token or key is let in nowhere.
    func service(
        access: AccessMode = .credentials, gate: Gate? = nil, tokensMax: Int = 1_000,
        _ body: (RunningService) throws -> Void
    ) throws {
        try withService(
            { configuration in
                configuration.access = access
                configuration.admission.tokensMax = tokensMax
                configuration.authenticator = Credentials(
                    serverKeys: ["a-key-of-our-backend": "backend"], tokens: Self.tokens,
                    gate: gate)
            }, body)
    }

    func login(_ token: String, device: String = "d1") -> JSON {
        ["token": .string(token), "device": .string(device)]
    }

    func server(_ service: RunningService) throws -> Client {
        let client = try service.connect()
        _ = try client.call("login", ["key": "a-key-of-our-backend"])
        return client
    }

    @Test func `a token says who it is, and until when`() throws {
        try service { service in
            let client = try service.connect()
            let result = try client.call("login", login("a1"))
            let time = try #require(result["time"]?.integer)
            let expires = try #require(result["expires"]?.integer)
            #expect(result["account"] == "alice")
            #expect((time - 1_000...time).contains(expires - Credentials.lifeMilliseconds))
            #expect(try client.next("synced")["count"] == 0)
            let states = try server(service).call("query", ["type": 1, "accounts": ["alice"]])
            #expect(states["states"]?.array?.first?["value"] == 1)
        }
    }

    @Test func `tokens are verified on a thread of this name`() throws {
        try withService(
            { configuration in
                configuration.access = .credentials
                configuration.authenticator = ThreadNamer()
            }
        ) { service in
            for number in 1...3 {
                let result = try service.connect().call("login", login("t", device: "d\(number)"))
                #expect(result["account"] == "tokens")
            }
        }
    }

    @Test func `nobody is believed at his word`() throws {
        try service { service in
            let client = try service.connect()
            #expect(
                client.rejection("login", ["account": "alice", "device": "d"])
                    == "401 invalid_token")
            #expect(client.rejection("login", ["client": "server"]) == "401 invalid_token")
            #expect(client.rejection("login", login("x")) == "401 invalid_token")
            #expect(client.rejection("stats") == "401 not_logged_in")
            _ = try client.call("login", login("a1"))
            #expect(client.rejection("login", login("a1")) == "401 already_logged_in")
        }
    }

    @Test func `an open service takes tokens, too, and without keys it takes none`() throws {
        try service(access: .open) { service in
            _ = try service.login("carol")
            #expect(try service.connect().call("login", login("a1"))["account"] == "alice")
        }
        try withService { service in
            let client = try service.connect()
            #expect(client.rejection("login", login("a1")) == "401 invalid_token")
        }
    }

    @Test func `a session ends with its token, and who comes back in time was never away`() throws {
        try service { service in
            let bob = try service.connect()
            _ = try bob.call("login", login("b1"))
            _ = try bob.subscribe(["alice"])
            let alice = try service.connect()
            _ = try alice.call("login", login("a1"))
            #expect(try bob.nextEvent()["cause"] == "login")
            try pass(seconds: 600, service, [alice, bob]) { try refresh(bob, "b1") }
            service.pass(seconds: 31)
            #expect(try alice.closing() == "4402 token_expired")
            #expect(alice.end())
            let again = try service.connect()
            _ = try again.call("login", login("a2"))
            service.pass(seconds: 6)
            _ = try again.call("publish", ["type": 1, "value": 10_000])
            #expect(try bob.nextEvent()["cause"] == "publish")
        }
    }

    @Test func `a refresh puts the end off`() throws {
        try service { service in
            let alice = try service.connect()
            let before = try alice.call("login", login("a1"))["expires"]?.integer ?? 0
            try pass(seconds: 600, service, [alice]) {}
            let after = try refresh(alice, "a2")
            #expect(after - before >= 600_000)
            try pass(seconds: 600, service, [alice]) {}
            _ = try alice.call("ping")
            service.pass(seconds: 31)
            #expect(try alice.closing() == "4402 token_expired")
        }
    }

    @Test func `a token of somebody else refreshes nothing`() throws {
        try service { service in
            let alice = try service.connect()
            _ = try alice.call("login", login("a1"))
            #expect(alice.rejection("refresh", ["token": "b1"]) == "403 forbidden")
            #expect(alice.rejection("refresh", ["token": "x"]) == "401 invalid_token")
            #expect(alice.rejection("refresh") == "414 missing_field")
            try pass(seconds: 600, service, [alice]) {}
            service.pass(seconds: 31)
            #expect(try alice.closing() == "4402 token_expired")
        }
    }

    @Test func `who has no token has none to refresh`() throws {
        try service(access: .open) { service in
            let carol = try service.login("carol")
            #expect(carol.rejection("refresh", ["token": "a1"]) == "401 invalid_token")
            let server = try server(service)
            #expect(server.rejection("refresh", ["token": "a1"]) == "403 forbidden")
            let nobody = try service.connect()
            #expect(nobody.rejection("refresh", ["token": "a1"]) == "401 not_logged_in")
        }
    }

    @Test func `a connection may go while its token is judged`() throws {
        let gate = Gate()
        try service(gate: gate) { service in
            let server = try server(service)
            let gone = try service.connect()
            try gone.send(["jsonrpc": "2.0", "id": 1, "method": "login", "params": login("a1")])
            gate.awaitArrival()
            gone.disconnect()
            // Who only stops sending is waited for, but not for ever.
            try waitUntil("the connection is gone") {
                service.pass(seconds: 1)
                return try server.call("stats")["connections"] == 1
            }
            // Its slot goes to somebody else, who must not get what it asked for.
            let next = try service.connect()
            try next.keepAlive()
            _ = try next.nextFrame(withinMilliseconds: 60_000)
            gate.open()
            try waitUntil("the verdict has come") {
                try server.call("stats")["tokensInVerification"] == 0
            }
            #expect(next.rejection("ping") == "401 not_logged_in")
            #expect(try server.call("stats")["sessions"] == 0)
        }
    }

    @Test func `who stops sending is still answered`() throws {
        let gate = Gate()
        try service(gate: gate) { service in
            let client = try service.connect()
            try client.send(["jsonrpc": "2.0", "id": 7, "method": "login", "params": login("a1")])
            client.finishSending()
            gate.awaitArrival()
            gate.open()
            let answer = try client.nextMessage(withinMilliseconds: 60_000)
            #expect(answer?["id"] == 7)
            #expect(answer?["result"]?["account"] == "alice")
            #expect(client.end())
        }
    }

    @Test func `only so many wait to be judged, and others are told when to come`() throws {
        let gate = Gate()
        try service(gate: gate, tokensMax: 2) { service in
            let waiting = try (0..<2).map { _ in try service.connect() }
            for client in waiting {
                try client.send([
                    "jsonrpc": "2.0", "id": 1, "method": "login", "params": login("b1"),
                ])
            }
            for _ in waiting { gate.awaitArrival() }
            let third = try service.connect()
            #expect(third.rejection("login", login("a1")) == "503 overloaded")
            gate.open()
            for client in waiting {
                #expect(try client.nextMessage(withinMilliseconds: 60_000)?["result"] != nil)
            }
            #expect(try third.call("login", login("a1"))["account"] == "alice")
        }
    }

    @Test func `a refresh that came in time is looked at before the session ends`() throws {
        let gate = Gate()
        gate.open()
        try service(gate: gate) { service in
            let server = try server(service)
            for (token, isGood) in [("a2", true), ("x", false)] {
                let alice = try service.connect()
                _ = try alice.call("login", login("a1"))
                try pass(seconds: 600, service, [alice, server]) {}
                gate.close()
                try alice.send(
                    [
                        "jsonrpc": "2.0", "id": 2, "method": "refresh",
                        "params": ["token": .string(token)],
                    ])
                gate.awaitArrival()
                try pass(seconds: 31, service, [server]) {}
                gate.open()
                if isGood {
                    _ = try alice.call("ping")
                } else {
                    #expect(try alice.closing() == "4402 token_expired")
                }
            }
        }
    }

    @discardableResult
    private func refresh(_ client: Client, _ token: String) throws -> Int64 {
        let result = try client.call("refresh", ["token": .string(token)])
        return try #require(result["expires"]?.integer)
    }

    /// Lets time pass in steps in which all show that they are there.
    private func pass(
        seconds: Int, _ service: RunningService, _ clients: [Client], each: () throws -> Void
    ) throws {
        for start in stride(from: 0, to: seconds, by: 20) {
            service.pass(seconds: Double(min(20, seconds - start)))
            for client in clients { _ = try client.call("ping") }
            try each()
        }
    }
}
