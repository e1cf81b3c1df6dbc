import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `Questions about the service` {
    @Test(arguments: ["top", "why", "metrics", "stats"])
    func `are answered one a turn, however many ask`(method: String) {
        let service = SmallService()
        let backends = (0..<4).map { _ in service.connectAppServer() }
        service.commit()
        for id in backends { _ = service.messages(id) }
        let params: JSON =
            method == "why" ? ["subscriber": "alice", "publisher": "bob", "type": 1] : [:]
        for id in backends {
            for _ in 0..<2 { service.send(method, params, on: id) }
            service.send("ping", on: id)
        }
        var answered: [Int] = []
        for _ in 0..<12 {
            service.connections.turnEnded()
            #expect(
                service.network.armed.map { $0 <= service.network.monotonicMilliseconds }
                    ?? false || answered.reduce(0, +) > 8)
            answered.append(backends.reduce(0) { $0 + service.messages($1).count })
        }
        // The answer to `ping` comes in the turn of the question before it.
        #expect(answered.prefix(8).allSatisfy { $0 <= 2 }, "\(answered)")
        #expect(answered.reduce(0, +) == 12)
    }
}
