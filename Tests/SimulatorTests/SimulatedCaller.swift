import PresenceClient
import PresenceCore
import PresenceWire

@testable import PresenceServer

/// A caller in the process of a simulated service. It is answered within a few turns.
final class SimulatedCaller {
    private unowned let service: SimulatedService
    private let client: InProcessClient

    init(_ service: SimulatedService) {
        self.service = service
        let box = LinkBox(
            loop: service.hub.host.loops.index(ofLoopInProcess: 0), wakeHost: {}, wakeLoop: {})
        service.withHost { host, _ in host.add(box) }
        client = InProcessClient(
            Settings(), InProcessLimits(), box: box, number: 0, needsHandOver: {})
        client.receive()
    }

    /// Calls a method, and returns its result, or no members if it is rejected.
    func answer(_ method: MethodName, _ params: JSON) -> JSON? {
        var call = MethodCall(method)
        call.body = Array(params.text.utf8)
        call.bodyMembers = Rejection.Field.allCases
        var answer: JSON?
        client.call(call) { answer = (try? $0.get()).flatMap(JSON.init) ?? [:] }
        client.handOver()
        for _ in 0..<50 where answer == nil {
            service.takeInProcess()
            service.turnEnded()
            service.settleLinks()
            client.receive()
        }
        return answer
    }
}

extension JSON {
    /// The result of a call; nil if it was rejected.
    fileprivate init?(_ response: InProcessResponse) {
        guard case .result(let bytes) = response else { return nil }
        try? self.init(parsing: bytes.bytes)
    }
}
