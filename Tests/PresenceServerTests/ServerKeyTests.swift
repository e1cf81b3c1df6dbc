import Foundation
import PresenceClient
import PresenceServer
import Testing

@Suite struct ServerKeyTests {
    static let first = "the-first-secret-key-of-all"
    static let second = "another-secret-key-to-rotate-to"

    func service(_ body: (RunningService) throws -> Void) throws {
        try withService(
            { configuration in
                configuration.authenticator = Credentials(
                    serverKeys: [Self.first: "first", Self.second: "second"])
            }, body)
    }

    @Test func `any of the keys lets an app server in, and nothing else does`() throws {
        try service { service in
            for key in [Self.first, Self.second] {
                let client = try service.connect()
                let result = try client.call("login", ["key": .string(key)])
                #expect(result["session"] != nil)
                #expect(try client.call("stats")["appServers"]?.integer ?? 0 >= 1)
            }
            let wrong = [
                String(Self.first.dropLast()), Self.first + "x", Self.first.uppercased(),
                "x" + Self.first.dropFirst(), "another key altogether",
            ]
            for key in wrong {
                let client = try service.connect()
                #expect(client.rejection("login", ["key": .string(key)]) == "401 invalid_token")
                #expect(client.rejection("stats") == "401 not_logged_in")
            }
        }
    }

    @Test func `a key for reading lets nothing be changed`() throws {
        try withService(
            { configuration in
                configuration.authenticator = Credentials(
                    serverKeys: [Self.first: "first"], readingKeys: [Self.second: "console"])
            }
        ) { service in
            let client = try service.connect()
            _ = try client.call("login", ["key": .string(Self.second)])
            let kick: JSON = ["account": "bob"]
            #expect(client.rejection("kick", kick) == "403 read_only_key")
            // Before its parameters are looked at.
            #expect(client.rejection("publish", ["value": "x"]) == "403 read_only_key")
            #expect(try client.call("sessions", kick)["sessions"] == [])
            #expect(try client.call("feed")["reset"] == true)
            let other = try service.connect()
            _ = try other.call("login", ["key": .string(Self.first)])
            #expect(try other.call("kick", kick) == ["kicked": 0])
        }
    }

    @Test func `keys appear nowhere`() throws {
        try service { service in
            let client = try service.connect()
            _ = try client.call("login", ["key": .string(Self.first)])
            let stats = try client.call("stats").text
            #expect(!stats.contains("secret"))
            let other = try service.connect()
            let body = #"{"jsonrpc":"2.0","id":1,"method":"login","params":{"key":"secret"}}"#
            try other.sendFrame(Array(body.utf8))
            let answer = try other.nextMessage(withinMilliseconds: 60_000)
            #expect(answer?["error"] != nil)
            #expect(answer?.text.contains("secret") == false)
            for file in try FileManager.default.subpathsOfDirectory(atPath: service.directory)
            where !file.hasSuffix(".socket") {
                let content = try Data(contentsOf: URL(filePath: "\(service.directory)/\(file)"))
                #expect(content.range(of: Data(Self.first.utf8)) == nil, "\(file)")
            }
        }
    }
}
