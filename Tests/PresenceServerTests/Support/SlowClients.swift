import PresenceClient

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
    /// Has a client publish until another one, which does not read, falls behind.
    func fallBehind(publisher: Client) throws {
        let server = try appServer()
        for _ in 0..<200 where try server.call("stats")["fellBehind"] == 0 {
            try publisher.publishLong(100)
        }
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
