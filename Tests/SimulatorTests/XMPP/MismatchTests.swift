import Connections
import EventLoop
import PresenceCore
import PresenceWire
import Testing

@testable import PresenceServer

/// What the engine host answers is not what a client has asked. That is a defect; the connection
/// ends, and is counted, where a client that went on waiting would never be read again.
@Suite struct `An answer to no request` {
    private static let answers: [@Sendable (inout Clients, Int) -> Void] = [
        { $0.answer($1, Answer.done, in: Effects()) },
        { $0.answer($1, QuestionAnswer.passwordRemoved(true), in: Effects()) },
        { $0.reject($1, Rejection(.forbidden), in: Effects()) },
        { $0.answer($1, CredentialAnswer.claimed) },
        { $0.answer($1, CardAnswer.replaced) },
        { $0.send(.beganUndelivered(FeedCursor(epoch: 1, seq: 0)), to: $1, from: SharedOutput()) },
    ]

    /// Whether the answer closes the connection, and is counted.
    private func closes(
        _ id: StreamID, of service: SmallService, _ answer: (inout Clients, Int) -> Void
    ) -> Bool {
        let slot = Int(id.slot)
        guard service.connections.clients.table.phase(of: slot) == .serving else { return false }
        answer(&service.connections.clients, slot)
        return service.connections.clients.table.phase(of: slot) == .closing
            && service.connections.clients.counters.answersMismatched == 1
    }

    @Test(arguments: answers.indices)
    func `closes a native connection`(place: Int) {
        let service = SmallService { _ in }
        let id = service.login("alice", "first")
        #expect(closes(id, of: service, Self.answers[place]))
    }

    @Test(arguments: answers.indices)
    func `closes an XMPP connection`(place: Int) {
        let service = SmallService { SmallXMPPClient.allow(in: &$0) }
        let client = SmallXMPPClient(of: service, sending: "<presence/>")
        #expect(closes(client.stream, of: service, Self.answers[place]))
    }
}
