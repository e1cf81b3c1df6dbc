import Foundation
import PresenceClient
import Testing

@testable import porchlight

@Suite struct `A publisher whose service restarts` {
    /// The program that was built beside these tests, being bob.
    func publisher(at address: String, saying said: Pipe) throws -> Process {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let process = Process()
        process.executableURL = URL(filePath: tests).deletingLastPathComponent()
            .appending(path: "porchlight")
        process.arguments = ["publish", "10001", "--account", "bob", "--connect", address]
        process.environment = [:]
        process.standardOutput = said
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// By what cannot be blocked: a child has the signals blocked that the thread had that made it.
    func end(_ process: Process) { kill(process.processIdentifier, SIGKILL) }

    /// Lets bob in and takes his status.
    func startListening(_ service: ScriptedService, seq: Int64) throws -> (
        client: Client, status: JSON
    ) {
        let client = try service.accept()
        _ = try client.answer("login", ["account": "bob"])
        return (client, try client.answer("publish", ["seq": .integer(seq)]))
    }

    func wait(for words: String, in pipe: Pipe) -> String {
        var said = ""
        while !said.contains(words) {
            let more = pipe.fileHandleForReading.availableData
            guard !more.isEmpty else { break }
            said += String(decoding: more, as: UTF8.self)
        }
        return said
    }

    @Test(.timeLimit(.minutes(10))) func `comes back and publishes again`() throws {
        let service = try ScriptedService()
        let said = Pipe()
        let process = try publisher(at: service.address, saying: said)
        defer { end(process) }
        let first = try startListening(service, seq: 7)
        try first.client.send([
            "jsonrpc": "2.0", "method": "close",
            "params": ["code": 4_503, "reason": "shutting_down", "message": "The service stops."],
        ])
        first.client.disconnect()
        let second = try startListening(service, seq: 9)
        #expect(second.status == first.status)
        #expect(wait(for: "seq 9", in: said).contains("published as bob, seq 7\n"))
    }

    @Test(.timeLimit(.minutes(10))) func `logs out when its status is rejected`() throws {
        let service = try ScriptedService()
        let process = try publisher(at: service.address, saying: Pipe())
        defer { end(process) }
        let client = try service.accept()
        _ = try client.answer("login", ["account": "bob"])
        let request = try #require(try client.nextMessage(withinMilliseconds: 30_000))
        try client.send([
            "jsonrpc": "2.0", "id": request["id"] ?? .null,
            "error": [
                "code": 414, "message": "The value is out of range.",
                "data": ["reason": "bad_value"],
            ],
        ])
        _ = try client.answer("logout")
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
    }

    @Test(arguments: [(5, 2.5), (6, 3), (20, 10), (300, 10), (nil, 10)])
    func `sends keep-alives twice per heartbeat`(heartbeatSeconds: Int64?, interval: Double) {
        let signs = KeepAlive(heartbeatSeconds: heartbeatSeconds)
        #expect(signs.intervalSeconds == interval)
    }

    @Test(.timeLimit(.minutes(10))) func `ends where it is not wanted back`() throws {
        let service = try ScriptedService()
        let process = try publisher(at: service.address, saying: Pipe())
        defer { end(process) }
        let first = try startListening(service, seq: 7)
        try first.client.send([
            "jsonrpc": "2.0", "method": "close",
            "params": ["code": 4_410, "reason": "kicked", "message": "Go."],
        ])
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
    }
}
