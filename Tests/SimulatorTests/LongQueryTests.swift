import PresenceClient
import PresenceCore
import PresenceWire
import Testing

@testable import PresenceServer

@Suite struct `A query that a frame does not hold` {
    private let service = SmallService { $0.engine.limits.serverFrameBytesMax = 4_000 }
    private var names: [JSON] { (0..<20).map { .string("p\($0)") } }

    init() {
        let backend = service.connectAppServer()
        let ext = JSON.string(String(repeating: "x", count: 1_000))
        for name in names {
            _ = service.ask(
                "publish", ["account": name, "type": 1, "value": 10_000, "ext": ext], on: backend)
        }
    }

    @Test func `is rejected, and one that it does hold is not`() {
        let backend = service.connectAppServer()
        let rejection = service.ask("query", ["type": 1, "accounts": .array(names)], on: backend)
        #expect(rejection["data"]?["reason"] == "too_many")
        #expect(rejection["data"]?["field"] == nil)
        let fit = Int(rejection["data"]?["limit"]?.integer ?? 0)
        #expect((1..<20).contains(fit))
        let some = JSON.array(Array(names.prefix(fit)))
        let result = service.ask("query", ["type": 1, "accounts": some], on: backend)
        #expect(result["states"]?.array?.count == fit)
        #expect(service.messages(backend).isEmpty)
    }

    @Test func `is answered whole to a caller in process`() throws {
        let box = LinkBox(loop: 1, wakeHost: {}, wakeLoop: {})
        service.connections.withHost { host, _ in host.add(box) }
        let client = InProcessClient(
            Settings(), InProcessLimits(), box: box, number: 0, needsHandOver: {})
        var call = MethodCall(.query)
        call.body = Array(JSON.object(["type": 1, "accounts": .array(names)]).text.utf8)
        call.bodyMembers = [.type, .accounts]
        var result: JSON?
        client.call(call) {
            guard case .success(.result(let bytes)) = $0 else { return }
            result = try? JSON(parsing: bytes.bytes)
        }
        client.handOver()
        service.connections.withHost { host, now in host.takeInProcess(at: now) }
        client.receive()
        #expect(result?["states"]?.array?.count == 20)
    }
}
