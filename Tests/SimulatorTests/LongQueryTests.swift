import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `A query that a frame does not hold` {
    private let service = SmallService { $0.engine.limits.serverFrameBytesMax = 4_000 }
    private var names: [JSON] { (0..<20).map { .string("p\($0)") } }

    init() {
        let backend = service.connectInternally()
        let ext = JSON.string(String(repeating: "x", count: 1_000))
        for name in names {
            _ = service.ask(
                "publish", ["account": name, "type": 1, "value": 10_000, "ext": ext], on: backend)
        }
    }

    @Test func `is refused, and one that it does hold is not`() {
        let backend = service.connect()
        _ = service.ask("login", ["client": "server"], on: backend)
        let refusal = service.ask("query", ["type": 1, "accounts": .array(names)], on: backend)
        #expect(refusal["data"]?["reason"] == "too_many")
        #expect(refusal["data"]?["field"] == nil)
        let fit = Int(refusal["data"]?["limit"]?.integer ?? 0)
        #expect((1..<20).contains(fit))
        let some = JSON.array(Array(names.prefix(fit)))
        let result = service.ask("query", ["type": 1, "accounts": some], on: backend)
        #expect(result["states"]?.array?.count == fit)
        #expect(service.messages(backend).isEmpty)
    }

    @Test func `is answered in parts to a connection of this process`() {
        let backend = service.connectInternally()
        service.commit()
        _ = service.messages(backend)
        service.send("query", ["type": 1, "accounts": .array(names)], on: backend)
        service.commit()
        let messages = service.messages(backend)
        let first = messages.first?["result"]?["states"]?.array?.count ?? 0
        let rest = messages.dropFirst().reduce(0) {
            $0 + ($1["params"]?["events"]?.array?.count ?? 0)
        }
        #expect(first > 0)
        #expect(first + rest == 20)
    }
}
