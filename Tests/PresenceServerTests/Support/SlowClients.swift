import EventLoop
import PresenceClient
import Testing

extension Client {
    /// Publishes many long statuses, one after the other.
    func publishLong(_ count: Int) throws {
        let ext = JSON.string(String(repeating: "x", count: 4_000))
        for number in 0..<count {
            _ = try call(
                "publish",
                ["type": 1, "value": .integer(Int64(10_000 + number)), "ext": ext])
        }
    }
}

extension RunningService {
    /// As `login`, with a client whose kernel keeps little of what it does not read.
    func loginWithoutBuffer(_ account: String, _ device: String = "d1") throws -> Client {
        let socket = try connectedSocket(address.host, address.port, bytesUnreadMax: 4_096)
        return try login(account, device, over: Client(socket: socket))
    }

    /// Has a client publish until another one, which does not read, falls behind and stays there:
    /// the kernels may accept a little more for a while.
    func fallBehind(publisher: Client) throws {
        let server = try appServer()
        var before: Int64 = 0
        for _ in 0..<200 {
            let now = try server.call("stats")["fellBehind"]?.integer ?? 0
            if now > 0, now == before { return }
            before = now
            try publisher.publishLong(100)
        }
        Issue.record("no client falls behind")
    }

    /// Lets time pass until a client that takes nothing is closed, and keeps `clients` alive.
    func closeTooSlow(keepingAlive clients: [Client]) throws {
        let server = try appServer()
        for _ in 0..<20 where try server.call("stats")["closedTooSlow"] == 0 {
            pass(seconds: 4)
            for client in clients { try client.keepAlive() }
        }
    }
}
